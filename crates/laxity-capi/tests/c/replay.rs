//! Dispatches through the library are those of the scheduler in Rust.

use std::fmt::Write;
use std::path::Path;

use laxity::link::Link;
use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::program::{Program, Tools};

/// Queue management of class `c`.
pub(crate) const QUEUES: [&str; 4] = [
    "",
    "queue = { kind = 'droptail', limit = 9 }",
    "queue = { kind = 'choke', min = 3, max = 9, limit = 20 }",
    "queue = { kind = 'codel', limit = 40 }",
];

pub(crate) fn plan_text(queue: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = '10mbit', max-packet = '1500b' }}\nscheduler.kind = 'fifo'\n\
         [class.a]\ndeadline = '5ms'\narrival = {{ bucket = '3kB', rate = '1mbit' }}\n\
         [class.b]\ndeadline = '20ms'\narrival = {{ bucket = '6kB', rate = '2mbit' }}\n\
         [class.c]\n{queue}\n[class.d]\n"
    )
}

/// A time, class, flow, length and ECN bits each.
pub(crate) type Arrivals = Vec<(u64, u32, u32, u32, u8)>;

/// Bursts at a link that is full most of the time.
pub(crate) fn arrivals(seed: u64) -> Arrivals {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut time = 0;
    let mut arrive = |_| {
        time += if random.random_bool(0.3) { 0 } else { random.random_range(0..1_200_000) };
        let class = random.random_range(0..5);
        let (flow, length) = (random.random_range(0..6), random.random_range(40..=1500));
        (time, class, flow, length, random.random_range(0..4))
    };
    (0..1500).map(&mut arrive).collect()
}

/// What the scheduler in Rust does, in the words of `replay.c`.
fn expected(plan: &Plan, seed: u64, arrivals: &Arrivals) -> String {
    let mut side = Side {
        scheduler: plan.build_scheduler(seed),
        link: plan.link.transmitter(),
        written: String::new(),
        last: Nanos::ZERO,
    };
    for (handle, &(time, class, flow, length, ecn)) in (0..).zip(arrivals) {
        side.serve(Nanos(time));
        side.last = Nanos(time);
        let ecn = [Ecn::NotCapable, Ecn::L4s, Ecn::Capable, Ecn::Experienced][ecn as usize];
        let (class, flow, arrival) = (ClassId(class), FlowId(flow), Nanos(time));
        let packet = Packet { class, flow, length, ecn, arrival, handle, ..Packet::default() };
        side.scheduler.enqueue(arrival, packet, &mut drops(&mut side.written));
    }
    side.serve(Nanos(i64::MAX as u64));
    side.written
}

struct Side {
    scheduler: Box<dyn Scheduler + Send>,
    link: Link,
    written: String,
    /// The time of the last arrival.
    last: Nanos,
}

fn drops(written: &mut String) -> impl FnMut(Packet, DropReason) {
    |packet, reason| writeln!(written, "drop {} {}", packet.handle, reason.name()).unwrap()
}

impl Side {
    /// Sends what may be sent from the last arrival on and before a time.
    fn serve(&mut self, until: Nanos) {
        let Side { scheduler, link, written, last } = self;
        let mut last = *last;
        loop {
            let now = link.free_at().max(last);
            if now >= until {
                return;
            }
            let Some(now) = scheduler.next_ready(now).filter(|ready| *ready < until) else {
                return;
            };
            last = now;
            let Some(dispatch) = scheduler.dequeue(now, &mut drops(written)) else {
                let Some(next) = scheduler.next_ready(now) else { return };
                last = next.max(Nanos(now.0 + 1));
                continue;
            };
            let packet = dispatch.packet;
            link.transmit(now, packet.length);
            let ecn = match packet.ecn {
                Ecn::NotCapable => 0,
                Ecn::L4s => 1,
                Ecn::Capable => 2,
                Ecn::Experienced => 3,
            };
            let deadline = dispatch.deadline.map_or(u64::MAX, |deadline| deadline.0);
            let criterion = kebab(&format!("{:?}", dispatch.criterion));
            let handle = packet.handle;
            writeln!(written, "send {handle} at {} ecn {ecn} {criterion} {deadline}", now.0)
                .unwrap();
        }
    }
}

/// `EarliestDeadline` as `earliest-deadline`.
fn kebab(name: &str) -> String {
    let word = |letter: char| {
        let dash = if letter.is_uppercase() { "-" } else { "" };
        format!("{dash}{}", letter.to_lowercase())
    };
    name.chars().map(word).collect::<String>().trim_start_matches('-').to_string()
}

#[test]
fn dispatches_through_the_library_are_those_of_the_scheduler() {
    let program = Program::compile("replay.c", Tools::Sanitizers, &[]);
    let folder = tempfile::tempdir().unwrap();
    let mut sent = 0;
    for (number, queue) in QUEUES.iter().enumerate() {
        let text = plan_text(queue);
        let path = folder.path().join(format!("{number}.toml"));
        std::fs::write(&path, &text).unwrap();
        // Time-driven priority is there in networks only.
        for spec in SchedulerSpec::defaults().filter(|spec| spec.kind() != Kind::Tdp) {
            let plan = Plan::parse_for(&text, "plan.toml", Path::new(""), &[spec.kind()]).unwrap();
            let plan = plan.under(spec.name()).unwrap();
            for seed in 1..=3 {
                let arrivals = arrivals(seed + 10 * number as u64);
                let line = |&(time, class, flow, length, ecn)| {
                    format!("{time} {class} {flow} {length} {ecn}\n")
                };
                let input: String = arrivals.iter().map(line).collect();
                let path = path.to_str().unwrap();
                let replayed = program.run(&[path, spec.name(), &seed.to_string()], &input);
                let expected = expected(&plan, seed, &arrivals);
                let differs = replayed.lines().zip(expected.lines()).find(|(a, b)| a != b);
                assert!(replayed == expected, "{queue} {spec} {seed}: {differs:?}");
                sent += replayed.matches("send").count();
            }
        }
    }
    assert!(sent > 50_000, "{sent} packets were sent");
}
