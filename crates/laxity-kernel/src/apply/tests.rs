//! Changes that were left half done or settled, at interfaces that stayed and that were made anew.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;

use super::*;
use crate::record::VERSION;

/// A number that the kernel does not give by itself soon.
const INDEX: &str = "4711";

/// Runs a test in a network namespace of its own, where there may be one.
fn apart(test: impl FnOnce(&Path) + Send) {
    let folder = tempfile::tempdir().unwrap();
    match Namespace::new() {
        Ok(namespace) => namespace.run(|| test(folder.path())).unwrap(),
        Err(error) if error.is_permission() => eprintln!("SKIPPED: {error}"),
        Err(error) => panic!("{error}"),
    }
}

fn run(words: &str) {
    let mut words = words.split(' ');
    let program = words.next().unwrap();
    let ran = Command::new(program).args(words).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Makes the interface, with a token bucket of someone else's, unless it is to be bare.
fn make(bucket: Option<&str>) {
    run(&format!("ip link add v0 index {INDEX} type veth peer name v1"));
    run("ip link set v0 up");
    run("ip link set v1 up");
    if let Some(rate) = bucket {
        run(&format!("tc qdisc add dev v0 root handle 9: tbf rate {rate} burst 2kb limit 60kb"));
    }
}

fn begin(folder: &Path) -> Session {
    let records = || Records::within(folder.to_path_buf(), "v0").unwrap();
    let since = Instant::now();
    loop {
        match Session::with_records(records(), "v0", false) {
            // A program that another test starts has the lock of this one until it has begun.
            Err(ApplyError::Busy(_)) if since.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            session => return session.unwrap(),
        }
    }
}

/// What the interface had with a bucket of this rate in the place of its own.
fn wanted(rate: &str) -> Setup {
    run(&format!("tc qdisc change dev v0 root handle 9: tbf rate {rate} burst 2kb limit 60kb"));
    Device::named("v0").unwrap().read(false).unwrap().setup
}

fn record(session: &Session, after: &Setup, to_be_confirmed: bool) -> Record {
    Record {
        version: VERSION,
        index: session.index(),
        plan: Some("uplink".into()),
        promises: Vec::new(),
        names: BTreeMap::new(),
        contracts: String::new(),
        ingress: None,
        before: session.shown().setup.clone(),
        original: None,
        after: after.clone(),
        to_be_confirmed,
    }
}

/// Gives the interface of 8 Mbit/s one of 4 Mbit/s, and leaves it so.
fn change(folder: &Path, to_be_confirmed: bool) -> Setup {
    let after = wanted("4mbit");
    wanted("8mbit");
    let mut session = begin(folder);
    let before = session.shown().setup.clone();
    session.prepare(&record(&session, &after, to_be_confirmed)).unwrap();
    session.take(&session.change(&after), &after).unwrap();
    if !to_be_confirmed {
        session.settle().unwrap();
    }
    before
}

#[test]
fn what_nobody_confirmed_is_taken_back_where_it_was_done() {
    apart(|folder| {
        make(Some("8mbit"));
        let before = change(folder, true);
        let session = begin(folder);
        assert_eq!(session.made_good(), Some(Recovery::TakenBack));
        assert_eq!(session.shown().setup, before);
    });
}

#[test]
fn nothing_is_put_onto_an_interface_that_was_made_anew() {
    apart(|folder| {
        for to_be_confirmed in [true, false] {
            make(Some("8mbit"));
            change(folder, to_be_confirmed);
            run("ip link del v0");
            make(None);
            let session = begin(folder);
            assert_eq!(session.made_good(), to_be_confirmed.then_some(Recovery::Gone));
            assert!(session.shown().setup.is_empty());
            let refused = session.undoable().unwrap_err();
            assert_eq!(matches!(refused, ApplyError::Gone(_)), !to_be_confirmed, "{refused}");
            run("ip link del v0");
        }
    });
}

#[test]
fn what_was_settled_is_undone_where_it_is() {
    apart(|folder| {
        make(Some("8mbit"));
        let before = change(folder, false);
        assert_eq!(begin(folder).undoable().unwrap().before, before);
        // Someone else changed a parameter.
        wanted("5mbit");
        assert_eq!(begin(folder).undoable().unwrap().before, before);
    });
}

#[test]
fn only_packets_that_wait_are_lost() {
    apart(|folder| {
        make(Some("100kbit"));
        run("ip addr add 10.9.0.1/24 dev v0");
        run("ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0");
        let bare = Setup::default();
        let lost = || {
            let session = begin(folder);
            session.shown().lost_packets(&session.change(&bare))
        };
        let settled = |is_settled: &dyn Fn() -> bool| {
            let since = Instant::now();
            while !is_settled() {
                assert!(since.elapsed() < Duration::from_secs(20), "{} packets wait", lost());
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        // The kernel's own packets at the start of an interface leave first.
        settled(&|| lost() == 0);
        let socket = UdpSocket::bind("10.9.0.1:0").unwrap();
        for _ in 0..10 {
            socket.send_to(&[0; 1000], "10.9.0.2:9").unwrap();
        }
        assert!(lost() >= 5);
        settled(&|| lost() == 0);
    });
}
