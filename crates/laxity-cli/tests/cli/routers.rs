//! `laxity live --port`: routers among hosts in namespaces of the test's own.

mod faults;
mod network;
mod operation;
mod regulated;
mod reserve;

use std::time::Duration;

use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use network::{PLAN, Routers};

#[test]
fn what_is_wrong_with_ports_is_said() {
    let folder = Folder::with_plan(PLAN);
    let refused = |ports: &[&str], says: &str| {
        let mut arguments = vec!["live", "plan.toml"];
        ports.iter().for_each(|port| arguments.extend(["--port", port]));
        let ended = folder.laxity(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    };
    refused(&["r1"], "NODE:NEIGHBOUR=INTERFACE");
    refused(&["r1:r3=lo"], "no node `r3`");
    refused(&["r1:b=lo"], "links lead to");
    refused(&["r1:a=lo", "r1:c=lo"], "r1:r2=INTERFACE");
    refused(&["r1:a=lo", "r1:r2=lo", "r1:a=lo"], "twice");
    refused(&["r1:a=nowhere", "r1:r2=lo"], "nowhere");
    refused(&[], "--in");
    let ended = folder.laxity(&["live", "plan.toml", "--port", "r1:a=lo", "--ledger", "books"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("a simulator repeats"), "{}", ended.stderr);
    let ended = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("--port"), "{}", ended.stderr);
    let both = ["live", "plan.toml", "--port", "r1:a=lo", "--in", "lo"];
    let ended = folder.laxity(&both);
    assert!(ended.code == Some(2) && ended.stderr.contains("cannot be used"), "{}", ended.stderr);
    let full = Folder::with_plan(&PLAN.replace("2ms", "2us"));
    let ended = full.laxity(&["live", "plan.toml", "--port", "r1:a=lo"]);
    assert!(ended.code == Some(1) && ended.stdout.contains("NOT ADMITTED"), "{}", ended.stdout);
}

/// A page for each plan that was followed, and every frame at every port that it left by.
#[test]
fn what_passed_routers_is_reported_and_captured() {
    let folder = Folder::with_plan(PLAN);
    let written = ["--report", "report.html", "--capture", "frames.pcapng"];
    let Some(mut routers) = Routers::start(&folder, &written) else { return };
    routers.pass(0, 1, 5000, 20);
    let counted = PLAN.replace("match = 'udp", "police = 'count'\nmatch = 'udp");
    std::fs::write(folder.path("plan.toml"), counted).unwrap();
    routers.running.signal("-HUP");
    routers.says(&["the plan is reloaded"]);
    routers.pass(0, 1, 5000, 30);
    let printed = routers.end();
    assert!(printed.ends_with("Report: report.html\n"), "{printed}");
    let report = std::fs::read_to_string(folder.path("report.html")).unwrap();
    let report = report.replace('\u{a0}', " ");
    assert_eq!(report.matches("network: tdp at 100 Mbit/s").count(), 2, "{report}");
    for wanted in ["r1, r2", "Admission", "Jitter of call", "frames", "last bit out of the last"] {
        assert!(report.contains(wanted), "{wanted} in {report}");
    }
    let capture = std::fs::read(folder.path("frames.pcapng")).unwrap();
    let count =
        |text: &str| capture.windows(text.len()).filter(|at| *at == text.as_bytes()).count();
    let sent = count("class call, delay ");
    assert!((100..110).contains(&sent), "{sent}: those of two routers, and what was sent again");
    for port in ["r1:a=host", "r1:r2=core", "r2:b=host"] {
        assert_eq!(count(port), 1, "{port}");
    }
}

/// Routers tell frames when they leave.
#[test]
fn no_arrivals_of_routers_are_captured() {
    let folder = Folder::with_plan(PLAN);
    let captured = ["--capture", "frames.pcapng", "--capture-at", "arrival"];
    let Some(mut routers) = Routers::spawn(&folder, &captured) else { return };
    routers.says(&["--capture-at arrival is for two interfaces"]);
    assert_eq!(routers.running.0.wait().unwrap().code(), Some(2));
    assert!(!folder.path("frames.pcapng").exists());
}

/// Two routers, the one in this command's namespace and the other in one that is named by a path.
#[test]
fn calls_come_through_two_routers() {
    let folder = Folder::with_plan(PLAN);
    let Some(routers) = Routers::start(&folder, &["--duration", "20s"]) else { return };
    let (sender, receiver, to) = routers.sockets(0, 1, 5000);
    receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    for _ in 0..50 {
        sender.send_to(&[7; 100], to).unwrap();
        uninterrupted(|| receiver.recv(&mut [0; 200])).unwrap();
    }
    let printed = routers.end();
    let call = printed.lines().find(|line| line.starts_with("call ")).unwrap();
    let counts: Vec<_> = call.split_whitespace().skip(1).take(4).collect();
    assert_eq!(counts, ["50", "50", "0", "0"], "{printed}");
    assert!(printed.contains("kept its bound, and its jitter below two frames"), "{printed}");
}
