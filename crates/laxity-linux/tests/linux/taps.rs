//! Taps on the interfaces of a bridge.

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::packet::{self, Mmsg, Options, Way};

use crate::laboratory::{bridged, ends, eventually, taps};

#[test]
fn a_tap_shows_what_goes_its_way_and_when() {
    let Some((here, [a, b])) = taps(1500) else { return };
    let [first, second] = ends(&here);
    let opened = here.run(|| {
        let tap = |at, way| packet::Tap::open(at, way, 1 << 20).expect("opened");
        let taps = [tap(&first, Way::In), tap(&second, Way::Out), tap(&first, Way::Out)];
        let options = Options { bypass_qdisc: false, ..Options::default() };
        (Mmsg::open([&first, &second], &options).expect("opened"), taps)
    });
    let (mut backend, [mut before, mut after, mut never]) = opened.expect("entered");
    let frame = |number: u8| {
        let tag = [0x81, 0, 0, number, 0x88, 0xb5];
        [[2, 0, 0, 0, 0, 11].as_slice(), &[2, 0, 0, 0, 0, 10], &tag, &[number; 40]].concat()
    };
    // It takes a moment until the kernel stamps frames.
    bridged(&mut backend, || {
        eventually("frames are stamped", || {
            a.write(&frame(0));
            b.read().expect("it passes");
            let stamped = |tap: &mut packet::Tap| {
                let mut some = false;
                tap.look(|_| some = true).expect("looked");
                some
            };
            stamped(&mut before) & stamped(&mut after)
        });
    });
    let unseen = [&mut before, &mut after].map(|tap| tap.missed().expect("counted"));

    const COUNT: u8 = 100;
    let started = Clock::Realtime.now();
    bridged(&mut backend, || {
        for number in 0..COUNT {
            a.write(&frame(number));
            b.read().expect("it passes");
        }
    });
    let ended = Clock::Realtime.now();
    let stamps = |tap: &mut packet::Tap| {
        let mut stamps: Vec<Nanos> = Vec::new();
        eventually("all are seen", || {
            let look = tap.look(|passed| {
                assert_eq!(passed.bytes, frame(stamps.len() as u8));
                stamps.push(passed.at);
            });
            look.expect("looked");
            stamps.len() == usize::from(COUNT)
        });
        stamps
    };
    let (arrived, left) = (stamps(&mut before), stamps(&mut after));
    let in_time = |at: &Nanos| (started..=ended).contains(at);
    for at in arrived.iter().chain(&left) {
        assert!(in_time(at), "{at} lies outside of {started} to {ended}");
    }
    assert!(arrived.iter().zip(&left).all(|(arrived, left)| arrived <= left));
    assert!(arrived.is_sorted() && left.is_sorted());
    assert_eq!(never.look(|_| ()).expect("looked"), 0);
    assert_eq!([&mut before, &mut after].map(|tap| tap.missed().expect("counted")), unseen);
}
