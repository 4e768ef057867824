//! A link at half load for as long as one likes, with plans that change and an interface that
//! flaps.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::link::{Link, SetAtEnd};
use crate::folder::Folder;

const PLAN: &str = "version = 1
link = { rate = '20mbit', overhead = 'ethernet' }
scheduler.kind = 'edf'
[class.call]
deadline = '10ms'
arrival = { bucket = '6kB', rate = '2mbit', packet = '400b' }
match = 'udp dport 5000'
police = 'demote'
[class.rest]
queue = { kind = 'droptail', limit = 400 }
";

/// Ten seconds, or as many as `LAXITY_SOAK_SECONDS` says, up to two hours: an hour has a reload
/// every minute.
pub(super) fn length() -> Duration {
    let seconds = std::env::var("LAXITY_SOAK_SECONDS").ok();
    Duration::from_secs(seconds.map_or(10, |seconds| seconds.parse().unwrap()))
}

/// Counters add up, what is queued at a reload is sent, memory stays flat, every packet keeps its
/// bound, and the simulator does the same.
#[test]
fn a_link_soaks() {
    let folder = Folder::with_plan(PLAN);
    let written = ["--ledger", "books", "--control", "control"];
    let Some(link) = Link::start(&folder, &written) else { return };
    link.pass(0, 5000, 1);
    let stop = AtomicBool::new(false);
    let [early, late] = thread::scope(|scope| {
        let _stop = SetAtEnd(&stop);
        scope.spawn(|| half_load(&link, &stop));
        disturb(&folder, &link, length())
    });
    assert!(late < early + early / 10, "from {early} to {late} kB");

    // What is queued takes a quarter of a second.
    thread::sleep(Duration::from_secs(1));
    let status = folder.laxity(&["status", "--control", "control", "--json"]).printed(0);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["events_lost"], 0, "{status}");
    let classes = status["ways"][0]["classes"].as_array().unwrap();
    assert!(classes.iter().all(|class| class["queued"] == 0), "{status}");
    let interface = &status["interfaces"][1];
    let lost = interface["lost"].as_object().unwrap().values().map(|lost| lost.as_u64().unwrap());
    let handed_over = interface["sent"].as_u64().unwrap() + lost.sum::<u64>();

    let printed = link.end();
    assert!(!printed.contains("took longer than"), "{printed}");
    let ledger = std::fs::read_dir(folder.path("books")).unwrap().next().unwrap().unwrap();
    let replay = ["replay", &ledger.path().display().to_string(), "--json"];
    let replayed: Value = serde_json::from_str(&folder.laxity(&replay).printed(0)).unwrap();
    let count = |what: &str| replayed[what].as_u64().unwrap();
    assert_eq!(count("arrived"), count("sent") + count("dropped"), "{replayed}");
    assert!(count("sent") >= handed_over, "{replayed} {handed_over}");
    // The kernel's own frames may come between the two counts.
    assert!(count("sent") < handed_over + 10, "{replayed} {handed_over}");
    assert!(count("reloads") >= 9, "{replayed}");
}

/// Calls and larger packets, 10 Mbit/s in all.
fn half_load(link: &Link, stop: &AtomicBool) {
    let far = |port| SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), port));
    let near = link.hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    let _far = [5000, 6000].map(|port| link.hosts[1].run(|| UdpSocket::bind(far(port)).unwrap()));
    let mut due = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        // The network may be away for a moment.
        let _ = [250, 250].map(|length| near.send_to(&vec![1; length], far(5000)));
        let _ =
            [1400, 1000, 1400, 60, 1400].map(|length| near.send_to(&vec![2; length], far(6000)));
        due += Duration::from_millis(5);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// Has another plan followed now and then, and the far interface flap. Tells how many kB the
/// process held after the first third and at the end.
fn disturb(folder: &Folder, link: &Link, length: Duration) -> [u64; 2] {
    let begin = Instant::now();
    let period = (length / 10).min(Duration::from_secs(60));
    // Under WFQ what is demoted stays before its class's other packets, which then have no bound.
    let wfq = PLAN.replace("'edf'", "'wfq'").replace("'demote'", "'drop'");
    let plans = [wfq, PLAN.to_string()];
    let mut early = None;
    for round in 1.. {
        let due = begin + period * round;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        std::fs::write(folder.path("plan.toml"), &plans[round as usize % 2]).unwrap();
        folder.laxity(&["reload", "--control", "control"]).printed(0);
        if round % 3 == 0 {
            link.between.switch("b", false).unwrap();
            thread::sleep(Duration::from_millis(50));
            link.between.switch("b", true).unwrap();
        }
        if begin.elapsed() > length / 3 {
            early.get_or_insert_with(|| memory(link));
        }
        if begin.elapsed() >= length {
            break;
        }
    }
    [early.unwrap(), memory(link)]
}

/// What the process holds, in kB.
fn memory(link: &Link) -> u64 {
    let held = link.running.of_threads("VmRSS:");
    held[0].trim_end_matches(" kB").parse().unwrap()
}
