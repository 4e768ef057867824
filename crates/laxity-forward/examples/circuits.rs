//! What a packet, a circuit and a reload cost with few circuits and with many.
//!
//! `circuits KIND KEY CIRCUITS...`, such as
//! `circuits hfsc 'scheduler = { kind = "fq-codel" }' 10 10000`: `wf2q`, `hfsc` or `drr` shares the
//! link, and each circuit has the key. The least of five rounds counts; run it with a real-time
//! priority where others work.

#[path = "../tests/forward/circuits.rs"]
mod circuits;

use std::path::Path;
use std::time::{Duration, Instant};

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Settings};
use laxity_plan::Plan;
use laxity_plan::reader::PlanReader;

use circuits::Upper;

/// Flows of each circuit.
const FLOWS: u16 = 4;
/// Packets that a thread takes in at once.
const BATCH: u64 = 32;
const PACKETS: u64 = 1 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let upper = match arguments.next().as_deref() {
        Some("hfsc") => Upper::Hfsc,
        Some("drr") => Upper::Drr,
        Some("wf2q") => Upper::Wf2q,
        _ => panic!("wf2q, hfsc or drr"),
    };
    let key = arguments.next().expect("a key of each circuit");
    let settings = Settings { flows: 131_072, ..Settings::default() };
    let mut measured: Vec<_> = arguments
        .map(|count| count.parse().expect("a number of circuits"))
        .map(|circuits| {
            let before = resident();
            let text = circuits::plan(upper, &key, circuits);
            let (plan, read) = timed(|| Plan::parse(&text, "plan", Path::new(".")).expect("a plan"));
            let (_, proved) = timed(|| plan.bounds());
            let (forwarder, built) = timed(|| Forwarder::new(plan, settings).expect("a link"));
            println!("{circuits} circuits: read in {read:.1?}, proved in {proved:.1?}, built in {built:.1?}");
            let forwarder = Measured::new(forwarder, circuits);
            (forwarder, text, before)
        })
        .collect();
    for _ in 0..5 {
        for (measured, _, _) in &mut measured {
            measured.run();
        }
    }
    for (mut measured, text, before) in measured {
        let circuits = measured.circuits;
        let footprint = measured.forwarder.footprint();
        println!(
            "{circuits} circuits: {:.0} ns a packet to take in and {:.0} to send, {} B a circuit ({} B resident)",
            measured.least[0],
            measured.least[1],
            footprint / circuits,
            (resident() - before) / circuits,
        );
        let changed =
            text.replacen("[class.rest]\nweight = 0.01", "[class.rest]\nweight = 0.02", 1);
        let path = std::env::temp_dir().join(format!("circuits-{}.toml", std::process::id()));
        std::fs::write(&path, &changed).expect("a file");
        let plan = measured.forwarder.plan().clone();
        let mut reader = PlanReader::after(path.clone(), text, plan);
        let ((plan, _), read) = timed(|| reader.read().expect("a plan"));
        std::fs::remove_file(&path).expect("it is there");
        let (_, proved) = timed(|| plan.bounds());
        let (mut next, built) = timed(|| PreparedPlan::new(plan, &settings).expect("a link"));
        let now = measured.now;
        let (_, followed) =
            timed(|| measured.forwarder.reload(now, &mut next, &mut |_| {}).expect("a plan"));
        let (_, dropped) = timed(|| drop(next));
        println!(
            "reload: read in {read:.1?}, proved in {proved:.1?}, built in {built:.1?}, followed in {followed:.1?}, dropped in {dropped:.1?}"
        );
    }
}

/// A forwarder, and what a packet takes there.
struct Measured {
    forwarder: Forwarder,
    circuits: usize,
    now: Nanos,
    state: u64,
    /// Nanoseconds to take a packet in, and to send it.
    least: [f64; 2],
}

impl Measured {
    fn new(forwarder: Forwarder, circuits: usize) -> Self {
        Measured { forwarder, circuits, now: Nanos(1), state: 1, least: [f64::MAX; 2] }
    }

    /// Packets of 1000 bytes to random circuits, which fill nine tenths of the link.
    fn run(&mut self) {
        let mut took = [Duration::ZERO; 2];
        let mut sent = 0;
        let mut sink = |event: &Event| sent += u64::from(matches!(event, Event::Sent(_)));
        for _ in 0..PACKETS / BATCH {
            self.now += Nanos(BATCH * 888);
            let frames: [Frame; BATCH as usize] = std::array::from_fn(|handle| {
                self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let circuit = ((u128::from(self.state) * self.circuits as u128) >> 64) as usize;
                let headers = circuits::headers(circuit, (self.state >> 20) as u16 % FLOWS);
                Frame {
                    headers,
                    ecn: Ecn::NotCapable,
                    length: 1000,
                    handle: handle as u64,
                    ..Frame::default()
                }
            });
            let times = [
                timed(|| self.forwarder.arrive_together(self.now, &frames, &mut sink)).1,
                timed(|| self.forwarder.poll(self.now, &mut sink)).1,
            ];
            took.iter_mut().zip(times).for_each(|(took, time)| *took += time);
        }
        assert!(sent > PACKETS / 2);
        let each = took.map(|took| took.as_nanos() as f64 / PACKETS as f64);
        if each.iter().sum::<f64>() < self.least.iter().sum() {
            self.least = each;
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}

/// Bytes of this process in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}
