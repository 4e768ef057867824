//! `laxity live --port`: routers among hosts in namespaces of the test's own.

mod faults;
mod network;
mod operation;
mod regulated;

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
    for (more, says) in [("--ledger", "a simulator repeats"), ("--capture", "for a link")] {
        let ended = folder.laxity(&["live", "plan.toml", "--port", "r1:a=lo", more, "books"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(more) && ended.stderr.contains(says), "{}", ended.stderr);
    }
    let ended = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("--port"), "{}", ended.stderr);
    let both = ["live", "plan.toml", "--port", "r1:a=lo", "--in", "lo"];
    let ended = folder.laxity(&both);
    assert!(ended.code == Some(2) && ended.stderr.contains("cannot be used"), "{}", ended.stderr);
    let full = Folder::with_plan(&PLAN.replace("2ms", "2us"));
    let ended = full.laxity(&["live", "plan.toml", "--port", "r1:a=lo"]);
    assert!(ended.code == Some(1) && ended.stdout.contains("NOT ADMITTED"), "{}", ended.stdout);
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
