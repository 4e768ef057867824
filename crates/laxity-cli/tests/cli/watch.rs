//! `laxity watch` between two hosts in namespaces of the test's own.

use std::io::{BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::folder::Folder;
use crate::live::PLAN;
use crate::live::link::{Running, hosts, wait_for};

const WATCH: [&str; 6] = ["watch", "plan.toml", "--in", "a", "--out", "b"];

#[test]
fn what_cannot_be_watched_is_bad_input() {
    let folder = Folder::with_plan(PLAN);
    let ended = folder.laxity(&["watch", "plan.toml", "--in", "lo", "--out", "nowhere"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
    let network = format!("{}/../../examples/dumbbell.toml", env!("CARGO_MANIFEST_DIR"));
    let ended = folder.laxity(&["watch", &network, "--in", "lo", "--out", "lo"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("of a network"), "{}", ended.stderr);
    for timeout in ["0s", "-1s", "5"] {
        let ended = folder.laxity(&[&WATCH[..], &["--timeout", timeout]].concat());
        assert_eq!(ended.code, Some(2), "{timeout}: {}", ended.stderr);
    }
}

/// Starts watching calls that a bridge of the kernel's forwards, lets some pass, and ends it. What it
/// printed, and its exit code.
fn watched(plan: &str, more: &[&str], calls: usize) -> Option<(String, Option<i32>)> {
    let (between, [a, b]) = hosts()?;
    between.bridge("bridge", &["a", "b"]).unwrap();
    let folder = Folder::with_plan(plan);
    let mut command = folder.command(&[&WATCH[..], more].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(between.run(|| command.spawn().unwrap()).unwrap());
    let mut said = BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut said, "watching between a and b");
    let is_none = |left: &String| left.trim_start_matches('0').is_empty();
    assert!(running.of_threads("CapEff:").iter().all(is_none));
    assert!(running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));
    call(&a, &b, calls);
    running.signal("-INT");
    let mut printed = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    Some((printed, running.0.wait().unwrap().code()))
}

fn call(from: &Namespace, to: &Namespace, count: usize) {
    let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 5000));
    let receiver = to.run(|| UdpSocket::bind(address).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let sender = from.run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    for number in 0..count {
        sender.send_to(&[number as u8; 100], address).unwrap();
        receiver.recv(&mut [0; 200]).unwrap();
    }
}

#[test]
fn calls_within_their_bound() {
    let Some((printed, code)) = watched(PLAN, &[], 30) else { return };
    let row = printed.lines().find(|line| line.starts_with("call ")).expect("a row");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[1..4], ["30", "30", "0"], "{printed}");
    // A machine that stands still for so long would break it.
    match cells[10] {
        "0" => assert!(code == Some(0) && printed.contains("No packet took longer"), "{printed}"),
        above => assert!(code == Some(1) && printed.contains(above), "{printed}"),
    }
}

/// No bridge forwards in less time than a link of 1 Tbit/s takes for a packet.
#[test]
fn calls_above_their_bound() {
    let plan = PLAN.replace("20mbit", "1tbit").replace("10ms", "100ns").replace("demote", "count");
    let Some((printed, code)) = watched(&plan, &["--json"], 30) else { return };
    assert_eq!(code, Some(1), "{printed}");
    let lines: Vec<_> = printed.lines().map(str::trim).collect();
    for line in ["\"broken\": 30,", "\"sent\": 30,", "\"scheduler\": \"edf/exact\","] {
        assert!(lines.contains(&line), "{line} in {printed}");
    }
}
