//! Interfaces that go and come back while frames are forwarded.

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::{Change, Changes, Interface};
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_linux::wait::{Waiter, WakeReason};
use laxity_linux::xdp;

use crate::laboratory::{Tap, bridged, ends, eventually, taps, xdp};

#[test]
fn recvmmsg_survives_interfaces_that_go_and_come() {
    survives(Mmsg::open);
}

#[test]
fn the_ring_survives_interfaces_that_go_and_come() {
    survives(Ring::open);
}

fn survives<B: Backend + Send>(
    open: impl FnOnce([&Interface; 2], &Options) -> Result<B, Error> + Send,
) {
    let Some((here, [a, b])) = taps(1500) else { return };
    let options = Options { frames: 512, ..Options::default() };
    let [first, second] = ends(&here);
    let opened = here.run(|| (open([&first, &second], &options), Changes::new()));
    let (backend, changes) = opened.expect("entered");
    let (mut backend, mut changes) = (backend.expect("opened"), changes.expect("heard"));

    flap(&mut backend, &here, &a, &b);

    // Unplugged: another interface of its name comes and takes its place.
    drop(b);
    assert_quiet(&mut backend);
    let b = Tap::new(&here, "b", 1500);
    let mut back = None;
    eventually("it has come back", || {
        while let Some(change) = changes.hear().expect("heard") {
            if let Change::Appeared(now) = change {
                back = Some(now);
            }
        }
        back.is_some()
    });
    let back = back.expect("it appeared");
    assert!(back.name == "b" && back.index != second.index);
    // The thread is in no namespace of the test's: a socket keeps its own.
    backend.reattach(Side::B, &back).expect("reattached");
    assert_passes(&mut backend, &a, &b);
}

/// Leaves the interface `b` down and called `b2`.
fn flap<B: Backend + Send>(backend: &mut B, here: &Namespace, a: &Tap, b: &Tap) {
    // Off and on again, each side in turn, while frames come.
    for name in ["a", "b"] {
        bridged(backend, || {
            for _ in 0..5 {
                here.switch(name, false).expect("off");
                b.try_write(&frame(0));
                a.try_write(&frame(0));
                std::thread::sleep(std::time::Duration::from_millis(5));
                here.switch(name, true).expect("on");
            }
        });
        assert_passes(backend, a, b);
    }

    // Another name changes nothing.
    here.switch("b", false).expect("off");
    here.rename("b", "b2").expect("renamed");
    here.switch("b2", true).expect("on");
    assert_passes(backend, a, b);

    // What is sent while an interface is down is counted.
    let before = backend.statistics(Side::B).expect("counted").down;
    here.switch("b2", false).expect("off");
    a.write(&frame(1));
    let mut frames = Vec::new();
    eventually("a frame arrives", || backend.receive(Side::A, &mut frames).expect("received") > 0);
    frames.drain(..).for_each(|frame| backend.send(Side::B, frame));
    assert_eq!(backend.flush(Side::B).expect("flushed"), 0);
    assert_eq!(backend.statistics(Side::B).expect("counted").down, before + 1);
}

#[test]
fn xdp_survives_interfaces_that_are_switched_and_says_when_one_is_gone() {
    let Some((here, [a, b])) = taps(1500) else { return };
    let [first, second] = ends(&here);
    let opened = here.run(|| xdp([&first, &second], &xdp::Options::default()));
    let Some(mut backend) = opened.expect("entered") else { return };
    flap(&mut backend, &here, &a, &b);
    drop(b);
    assert_quiet(&mut backend);
    let text = backend.reattach(Side::B, &second).expect_err("it cannot").to_string();
    assert!(text.contains("AF_XDP sockets stay with their interface"), "{text}");
}

/// Frames pass both ways, and afterwards nothing keeps a waiter awake.
fn assert_passes(backend: &mut (impl Backend + Send), a: &Tap, b: &Tap) {
    bridged(backend, || {
        for number in 1..10 {
            for (from, to) in [(a, b), (b, a)] {
                from.write(&frame(number));
                // What was sent while interfaces came and went may or may not have arrived.
                let passed = std::iter::from_fn(|| to.read()).find(|passed| *passed != frame(0));
                assert_eq!(passed.expect("it passes"), frame(number));
            }
        }
    });
    assert_quiet(backend);
}

/// Once what has happened was taken note of, nothing keeps a waiter awake.
fn assert_quiet(backend: &mut (impl Backend + Send)) {
    let mut waiter = Waiter::default();
    let mut frames = Vec::new();
    eventually("it is quiet", || {
        for side in Side::BOTH {
            backend.receive(side, &mut frames).expect("received");
        }
        frames.drain(..).for_each(|frame| backend.release(frame));
        let descriptors = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
        let until = Clock::Monotonic.now() + Nanos(20_000_000);
        waiter.wait(descriptors, Some(until)).expect("waited") == WakeReason::Time
    });
}

fn frame(number: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a, 0x88, 0xb5];
    frame.extend([number; 50]);
    frame
}
