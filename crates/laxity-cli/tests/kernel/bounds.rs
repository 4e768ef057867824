//! Random plans in the kernel, under real traffic that does its worst: no packet exceeds the bound
//! that was proved.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_search::discipline::Discipline;
use laxity_search::draft::Draft;
use laxity_search::edge;
use rand::SeedableRng;
use serde_json::Value;

use crate::lab::{only, plan as file, route, says};
use crate::traffic::{FIRST_PORT, HEADERS, send};
use crate::uml::{inside_alone, whole};

const LIMIT: Duration = Duration::from_secs(1800);
/// A tick of the kernel's timer in ns: HZ is 100.
const TICK: u64 = 10_000_000;
/// Lateness of timers that bounds allow for, in ns.
const TIMER: u64 = 1_000_000;
/// The most that is sent by this kernel without losing time of its own, in bit/s.
const FASTEST: u64 = 10_000_000;
/// The disciplines that bound delays and that Linux has, too.
pub(crate) const KINDS: [Kind; 4] = [Kind::Hfsc, Kind::Drr, Kind::Priority, Kind::Qfq];
/// How often a plan is measured again that the machine stood still for.
const TRIES: u32 = 5;

#[test]
fn no_packet_exceeds_what_was_proved() {
    inside_alone("bounds::no_packet_exceeds_what_was_proved", LIMIT, || {
        route();
        let (mut packets, mut judged, mut again, mut unjudged) = (0, 0, 0, 0);
        let mut closest = 0.0f64;
        let seed = std::env::var("LAXITY_KERNEL_SEED").ok().and_then(|seed| seed.parse().ok());
        let mut draw = laxity_search::Generator::seed_from_u64(seed.unwrap_or(2024));
        for number in 0..whole(4, 200) {
            let text = drawn(KINDS[number % KINDS.len()], &mut draw);
            for tries in 1.. {
                let measured = measure(&text);
                packets += measured.packets;
                let Some((class, delay, bound)) = measured.worst else { break };
                if delay <= bound + TICK {
                    judged += 1;
                    closest = closest.max(delay as f64 / bound as f64);
                    break;
                }
                // What the machine takes from all is in no bound, and adds up while the link is
                // full.
                let lost = measured.lost;
                assert!(lost > TICK, "{class} took {delay} ns, its bound is {bound} ns\n{text}");
                if tries == TRIES {
                    println!(
                        "{class}: {delay} ns, bound {bound} ns, of which the machine took {lost} ns"
                    );
                    unjudged += 1;
                    break;
                }
                again += 1;
            }
        }
        println!(
            "{judged} plans with bounds, {packets} packets, nearest {closest:.2} of a bound; measured again {again} \
             times, {unjudged} plans never without the machine standing still"
        );
        assert!(judged > 20 * unjudged && packets > 1_000);
    });
}

struct Measurement {
    packets: u64,
    /// The class whose longest delay comes nearest to its bound, or exceeds it most.
    worst: Option<(String, u64, u64)>,
    /// For how long nothing ran beyond what bounds count, in ns, all in all.
    lost: u64,
}

fn measure(text: &str) -> Measurement {
    let path = file("random.toml", text);
    let plan = Plan::parse(text, "random.toml", Path::new(".")).expect("a plan");
    says(0, &["apply", &path, "--dev", "left", "--drop-queues"]);
    let status: Value =
        serde_json::from_str(&only(&["status", "--dev", "left", "--json"])).expect("JSON");
    let bounds: BTreeMap<String, u64> = status["classes"]
        .as_array()
        .expect("classes")
        .iter()
        .filter_map(|class| Some((class["class"].as_str()?.into(), class["bound_ns"].as_u64()?)))
        .collect();

    let mut watch = Command::new(env!("CARGO_BIN_EXE_laxity"))
        .args(["watch", &path, "--in", "in0", "--out", "left", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("watch starts");
    let mut said = BufReader::new(watch.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("watching between") {
        line.clear();
        assert!(said.read_line(&mut line).expect("text") > 0, "watch ended: {text}");
    }
    let still = StandsStill::start();
    let packets = send(&plan, "10.0.2.2", 3, Duration::from_millis(300));
    thread::sleep(Duration::from_millis(500));
    let lost = still.end();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(watch.id() as i32),
        nix::sys::signal::Signal::SIGINT,
    )
    .expect("it runs");
    let mut seen = String::new();
    watch.stdout.take().expect("a pipe").read_to_string(&mut seen).expect("text");
    let _ended = watch.wait();
    let seen: Value = serde_json::from_str(&seen).expect("JSON");
    let classes = seen["ways"][0]["classes"].as_array().expect("classes");
    let of = |class: &Value| {
        let (name, delay) = (class["name"].as_str()?, class["delay_ns"]["max"].as_u64()?);
        Some((name.to_string(), delay, *bounds.get(name)?))
    };
    let excess = |it: &(String, u64, u64)| it.1 as i64 - it.2 as i64;
    let worst = classes.iter().filter_map(of).max_by_key(excess);
    Measurement { packets, worst, lost }
}

/// An admitted plan that this kernel can be sent the traffic of, a port for each leaf.
pub(crate) fn drawn(kind: Kind, draw: &mut laxity_search::Generator) -> String {
    loop {
        let mut draft = Discipline::Kind(kind).draw(draw).expect("a kind has drafts");
        if draft.rate > FASTEST || draft.max_packet > 1_514 {
            continue;
        }
        for class in &mut draft.classes {
            if let Some(arrival) = &mut class.arrival {
                arrival.packet = arrival.packet.max(HEADERS + 22);
                arrival.bucket = arrival.bucket.max(arrival.packet);
            }
        }
        let Some(draft) = edge::loosened(draft) else { continue };
        let draft = edge::pushed(draft, 2, draw).inside;
        let text = matched(&draft);
        // At the edge, what the kernel adds may be too much.
        let path = file("drawn.toml", &text);
        let tried = crate::lab::laxity(&["apply", &path, "--dev", "left", "--dry-run"]);
        if tried.status.success() {
            return text;
        }
    }
}

fn matched(draft: &Draft) -> String {
    let text = draft.text();
    let plan = Plan::parse(&text, "drawn.toml", Path::new(".")).expect("a plan");
    plan.leaves().enumerate().fold(text, |text, (number, (_, class))| {
        let head = format!("[class.{}]\n", class.name);
        let port = FIRST_PORT + number as u16;
        text.replace(&head, &format!("{head}match = \"udp dport {port}\"\n"))
    })
}

/// Looks for how long nothing of this machine runs.
struct StandsStill {
    ends: Arc<AtomicBool>,
    thread: thread::JoinHandle<u64>,
}

impl StandsStill {
    fn start() -> StandsStill {
        let ends = Arc::new(AtomicBool::new(false));
        let shared = ends.clone();
        let thread = thread::spawn(move || {
            let mut lost = 0;
            while !shared.load(Ordering::Relaxed) {
                let since = Instant::now();
                thread::sleep(Duration::from_nanos(TIMER));
                lost += (since.elapsed().as_nanos() as u64).saturating_sub(2 * TIMER);
            }
            lost
        });
        StandsStill { ends, thread }
    }

    fn end(self) -> u64 {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().expect("it ends")
    }
}
