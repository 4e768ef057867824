//! `laxity live` between two hosts in namespaces of the test's own.

mod bypass;
mod demo;
mod dev;
mod failing;
pub(crate) mod link;
mod orders;
mod programs;
mod reload;
mod reserve;
mod rsvp;
mod soak;
mod surroundings;
mod threads;
mod tls;

use std::io::{BufReader, Read};
use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use link::{Link, plug};

pub(crate) const PLAN: &str = "version = 1
link.rate = '20mbit'
scheduler.kind = 'edf'
[class.call]
deadline = '10ms'
arrival = { bucket = '3kB', rate = '2mbit', packet = '300b' }
match = 'udp dport 5000'
police = 'demote'
[class.rest]
";

#[test]
fn a_plan_that_does_not_fit_is_refused() {
    let folder = Folder::with_plan(&PLAN.replace("10ms", "1ms"));
    let refused = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]).printed(1);
    assert_eq!(refused, folder.laxity(&["check", "plan.toml"]).printed(1));
}

#[test]
fn an_interface_that_is_not_there() {
    let folder = Folder::with_plan(PLAN);
    let ended = folder.laxity(&["live", "plan.toml", "--in", "nowhere", "--out", "lo"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("nowhere") && ended.stderr.contains("there are lo"),
        "{}",
        ended.stderr
    );
}

/// What is said, forwarded, reloaded, counted and repeated; and no privilege is left meanwhile.
#[test]
fn a_link_from_start_to_end() {
    let folder = Folder::with_plan(PLAN);
    let systemd = UnixDatagram::bind(folder.path("notify")).unwrap();
    let written = ["--ledger", "books", "--capture", "frames.pcapng", "--core", "0"];
    let Some(mut link) = Link::start(&folder, &written) else { return };
    let left = link.running.of_threads("CapEff:");
    assert!(left.iter().all(|left| left.trim_start_matches('0').is_empty()));
    assert!(link.running.of_threads("Cpus_allowed_list:").contains(&"0".to_string()));
    assert!(link.running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));

    link.pass(0, 5000, 20);
    link.running.signal("-HUP");
    link.says("the plan is reloaded");
    link.pass(0, 5000, 30);
    std::fs::write(folder.path("plan.toml"), PLAN.replace("10ms", "1ms")).unwrap();
    link.running.signal("-HUP");
    link.says("the plan is not reloaded");
    link.pass(0, 5000, 5);
    let printed = link.end();
    let told = std::iter::from_fn(|| {
        let mut message = [0; 1000];
        systemd.set_nonblocking(true).unwrap();
        let length = uninterrupted(|| systemd.recv(&mut message)).ok()?;
        Some(String::from_utf8_lossy(&message[..length]).lines().next().unwrap().to_string())
    });
    let (alive, told): (Vec<_>, Vec<_>) = told.partition(|told| told == "WATCHDOG=1");
    assert_eq!(told, ["READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]);
    assert!(!alive.is_empty());
    let calls: Vec<_> = printed.lines().filter(|line| line.starts_with("call ")).collect();
    let counts = calls.iter().map(|line| line.split_whitespace().nth(2).unwrap());
    assert_eq!(counts.collect::<Vec<_>>(), ["20", "35"], "{printed}");
    assert_eq!(printed.matches("Every packet kept its bound").count(), 2, "{printed}");

    let ledgers: Vec<_> = std::fs::read_dir(folder.path("books")).unwrap().collect();
    let [Ok(ledger)] = &ledgers[..] else { panic!("one for the way with a plan: {ledgers:?}") };
    let ledger = ledger.path().display().to_string();
    let replayed = folder.laxity(&["replay", &ledger]).printed(0);
    assert!(replayed.contains("under 2 plans"), "{replayed}");
    assert!(replayed.contains("sends and drops the same"), "{replayed}");

    std::fs::write(folder.path("plan.toml"), PLAN).unwrap();
    let run = folder.laxity(&["run", "plan.toml", "--arrivals", "frames.pcapng"]).printed(0);
    let calls = run.lines().find(|line| line.starts_with("call ")).unwrap();
    assert_eq!(calls.split_whitespace().nth(1), Some("55"), "{run}");
    wireshark_shows(&folder, "frames.pcapng", "class call, delay ", 55);
}

/// Asserts that `count` frames of a capture have a comment that contains `comment`.
fn wireshark_shows(folder: &Folder, capture: &str, comment: &str, count: usize) {
    let fields = ["-T", "fields", "-e", "frame.comment"];
    let shown = Command::new("tshark").arg("-r").arg(folder.path(capture)).args(fields).output();
    let Ok(shown) = shown else {
        return eprintln!("SKIPPED: tshark is not installed, so no comment is looked at");
    };
    let text = String::from_utf8_lossy(&shown.stdout);
    assert_eq!(text.lines().filter(|line| line.contains(comment)).count(), count, "{text}");
}

/// One interface twice, or two processes between the same interfaces, would double every frame.
#[test]
fn an_interface_is_forwarded_from_once() {
    let folder = Folder::with_plan(PLAN);
    let twice = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]);
    assert_eq!((twice.code, twice.stdout.as_str()), (Some(2), ""), "{}", twice.stderr);
    let Some(link) = Link::start(&folder, &[]) else { return };
    for (from, to) in [("a", "b"), ("b", "a")] {
        let arguments = ["live", "plan.toml", "--in", from, "--out", to, "--control", "other"];
        let second = || folder.command(&arguments).args(["--priority", "0"]).output().unwrap();
        let second = link.between.run(second).unwrap();
        let said = String::from_utf8(second.stderr).unwrap();
        assert_eq!(second.status.code(), Some(3), "{said}");
        assert!(said.contains("it is forwarded from already"), "{said}");
    }
    link.pass(0, 5000, 3);
    link.end();
    Link::start(&folder, &[]).unwrap().end();
}

/// Switched off and on, renamed, unplugged and plugged in again: each is said, and then frames
/// pass.
#[test]
fn interfaces_come_and_go() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut link) = Link::start(&folder, &[]) else { return };
    link.pass(0, 5000, 3);
    link.between.switch("b", false).unwrap();
    link.says("b is down");
    link.between.switch("b", true).unwrap();
    link.says("b is up");
    link.pass(0, 5000, 3);

    link.between.rename("b", "b2").unwrap();
    link.says("b is now called b2");
    link.pass(0, 5000, 3);

    link.between.remove("b2").unwrap();
    link.says("b2 is gone");
    plug(&link.between, "b2", &link.hosts[1], 2);
    link.says("b2 is back");
    // The new host makes itself known first.
    link.pass(1, 5001, 1);
    link.pass(0, 5000, 3);
    link.end();
}

/// Frames that are longer than the plan says are announced at the start, and explained at the end.
#[test]
fn frames_that_do_not_fit_the_plan_are_said() {
    let shorter =
        PLAN.replace("link.rate = '20mbit'", "link = { rate = '20mbit', max-packet = '600b' }");
    let folder = Folder::with_plan(&shorter);
    let Some((between, hosts)) = link::hosts() else { return };
    let arguments = ["live", "plan.toml", "--in", "a", "--out", "b", "--priority", "0"];
    let started =
        || folder.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut running = link::Running::new(between.run(started).unwrap().unwrap());
    let mut said = BufReader::new(running.0.stderr.take().unwrap());
    link::wait_for(
        &mut said,
        "packets from a may have 1.514kB on the link, more than the plan's `max-packet`, 600",
    );
    link::wait_for(&mut said, "forwarding between a and b");
    let socket = hosts[0].run(|| UdpSocket::bind("10.0.0.1:0").unwrap()).unwrap();
    for _ in 0..20 {
        socket.send_to(&[0; 1000], "10.0.0.2:6000").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    running.signal("-TERM");
    let mut printed = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(printed.contains("too-long"), "{printed}");
    assert!(printed.contains("4 more for each VLAN"), "{printed}");
}
