//! Interfaces of a namespace of the test's own.

use std::os::fd::AsFd;

use laxity::units::Nanos;
use laxity_linux::bypass;
use laxity_linux::clock::Clock;
use laxity_linux::interface::{Change, Changes, Interface, Offload, driver, offload, set_offload};
use laxity_linux::namespace::Namespace;
use laxity_linux::wait::{Waiter, WakeReason};

use crate::laboratory;

#[test]
fn an_interface_says_what_it_is() {
    let Some(here) = laboratory::namespace() else { return };
    let there = laboratory::namespace().expect("a second one");
    here.veth("left", &there, "right").expect("a cable");
    here.mtu("left", 9000).expect("jumbo frames");
    let left = here.run(|| Interface::named("left")).expect("entered").expect("found");
    assert!(left.up && left.mac.is_some() && !left.xdp);
    assert_eq!((left.mtu, left.largest_frame(), left.receive_queues), (9000, 9022, 1));
    let right = there.run(|| Interface::named("right")).expect("entered").expect("found");
    assert!(right.mtu == 1500 && right.mac.is_some_and(|mac| Some(mac) != left.mac));
    let missing = here.run(|| Interface::named("eth9")).expect("entered").expect_err("none");
    assert!(missing.to_string().ends_with("there is none; there are lo, left"), "{missing}");
    assert_eq!(here.run(|| driver("left")).expect("entered").expect("it has one"), "veth");
    assert!(here.run(|| driver("a name that is too long")).expect("entered").is_err());
}

#[test]
fn a_namespace_is_the_same_however_it_is_opened() {
    let Some(here) = laboratory::namespace() else { return };
    let there = laboratory::namespace().expect("a second one");
    let again = here.run(Namespace::current).expect("entered").expect("opened");
    let named = here.run(|| Namespace::named("/proc/thread-self/ns/net"));
    assert_eq!((&here, &here), (&again, &named.expect("entered").expect("opened")));
    assert_ne!(here, there);
}

#[test]
fn offloads_are_what_they_were_set_to() {
    let Some(here) = laboratory::namespace() else { return };
    here.veth("left", &here, "right").expect("a cable");
    here.run(|| {
        for which in Offload::ALL {
            for on in [false, true] {
                set_offload("left", which, on).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(offload("left", which).expect("it is known"), on, "{which:?}");
            }
        }
        let on = offload("lo", Offload::TransmitChecksums).expect("it is known");
        set_offload("lo", Offload::TransmitChecksums, on).expect("nothing to do");
        let lo = set_offload("lo", Offload::TransmitChecksums, !on).expect_err("it cannot");
        assert!(lo.to_string().contains("cannot turn tx off at lo"), "{lo}");
    })
    .expect("entered");
}

#[test]
fn every_change_is_heard() {
    let Some(here) = laboratory::namespace() else { return };
    let mut changes = here.run(Changes::new).expect("entered").expect("heard");
    here.veth("left", &here, "right").expect("a cable");
    assert_heard(&mut changes, &["left appeared", "left up", "right appeared", "right up"]);
    // The end of a cable whose other end is switched off loses its carrier.
    here.switch("right", false).expect("down");
    assert_heard(&mut changes, &["left down", "right down"]);
    here.switch("right", true).expect("up");
    assert_heard(&mut changes, &["left up", "right up"]);
    here.switch("left", false).expect("down");
    assert_heard(&mut changes, &["left down", "right down"]);
    here.rename("left", "middle").expect("renamed");
    assert_heard(&mut changes, &["left renamed middle"]);
    here.remove("middle").expect("removed");
    assert_heard(&mut changes, &["middle removed", "right removed"]);
    assert_eq!(changes.known().len(), 1, "the loopback interface");
    assert!(changes.hear().expect("heard").is_none());
}

/// A bridge that lets an interface go says so by a message about that interface.
#[test]
fn an_interface_that_leaves_a_bridge_is_not_removed() {
    let Some(here) = laboratory::namespace() else { return };
    here.veth("a", &here, "b").expect("a cable");
    let mut changes = here.run(Changes::new).expect("entered").expect("heard");
    let bridge = || {
        bypass::raise(["a", "b"]).and_then(|()| bypass::lower(["a", "b"])).expect("bridged");
        Interface::named("a").expect("found").index
    };
    let index = here.run(bridge).expect("entered");
    here.rename("a", "c").expect("renamed");
    let mut heard = std::iter::from_fn(|| changes.hear().expect("heard"));
    let is_ours = |change: &Change| match change {
        Change::Appeared(now) | Change::Up(now) | Change::Down(now) | Change::Removed(now) => {
            !bypass::is_bypass(&now.name)
        }
        Change::Renamed { .. } => true,
    };
    let first = heard.find(is_ours).expect("a change");
    let Change::Renamed { from, to } = first else { panic!("{first:?}") };
    assert_eq!((from.as_str(), to.name.as_str(), to.index), ("a", "c", index));
    assert_eq!(heard.next(), None);
}

/// That the next changes are these; in which order different interfaces tell is the kernel's
/// affair.
fn assert_heard(changes: &mut Changes, expected: &[&str]) {
    let mut heard = Vec::new();
    let mut waiter = Waiter::default();
    let until = Clock::Monotonic.now() + Nanos(3_000_000_000);
    while heard.len() < expected.len()
        && waiter.wait([changes.as_fd()], Some(until)).expect("waited") == WakeReason::Ready
    {
        while let Some(change) = changes.hear().expect("heard") {
            heard.push(match change {
                Change::Appeared(now) => format!("{} appeared", now.name),
                Change::Up(now) => format!("{} up", now.name),
                Change::Down(now) => format!("{} down", now.name),
                Change::Renamed { from, to } => format!("{from} renamed {}", to.name),
                Change::Removed(then) => format!("{} removed", then.name),
            });
        }
    }
    heard.sort();
    assert_eq!(heard, expected);
}

#[test]
fn what_was_heard_too_late_is_looked_up() {
    let Some(here) = laboratory::namespace() else { return };
    let mut changes = here.run(Changes::new).expect("entered").expect("heard");
    here.veth("left", &here, "right").expect("a cable");
    for _ in 0..200 {
        here.switch("left", false).expect("down");
        here.switch("left", true).expect("up");
    }
    here.switch("right", false).expect("down");
    let mut last = None;
    while let Some(change) = changes.hear().expect("heard") {
        last = Some(change);
    }
    assert!(last.is_some());
    let mut states = changes.known().values().map(|now| (now.name.as_str(), now.up));
    assert!(states.all(|(name, up)| up == (name == "lo")), "{:?}", changes.known());
}
