//! What a bridge did is what the simulator makes of the same arrivals and the same wake-ups.

use std::io::Cursor;
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_api::repeat;
use laxity_forward::ledger::Writer;
use laxity_forward::{Event, PreparedPlan, Settings};
use laxity_linux::frames::Side;
use laxity_live::{Bridge, Forwarding, Options, Way};
use laxity_plan::discipline::Kind;

use crate::hosts::{Hosts, plan, text};
use crate::traffic::{datagrams, scheduled, start};

/// Events that come too fast leave a gap. Once a scheduler has begun anew, with what is queued, all
/// that follows is repeated.
#[test]
fn the_simulator_repeats_what_follows_a_gap() {
    let Some(hosts) = Hosts::new() else { return };
    let options = Options { priority: None, events: 400, ..Options::default() };
    let bridge = Bridge::new(hosts.ring(), [scheduled(&plan("edf")), Way::Plain]);
    let (forwarding, mut recorder) = Forwarding::start(bridge, options).expect("a thread");
    let mut ledger = Writer::new(Vec::new(), Settings::default().into()).expect("room in memory");
    ledger.plan(&text("edf")).expect("room in memory");
    let mut write = |recorder: &mut laxity_live::Recorder| {
        recorder.read(|report| {
            if report.lost_before > 0 {
                ledger.gap(report.lost_before).expect("room in memory");
            }
            ledger.write(&report.event.event).expect("room in memory");
        });
    };
    let (a, b) = (&hosts.a, &hosts.b);
    assert!(datagrams(a, b, 6000, 600) > 0);
    write(&mut recorder);
    let resumed = thread::scope(|scope| {
        let flood = scope.spawn(move || datagrams(a, b, 6000, 600));
        let mut resumed = 0;
        while !flood.is_finished() {
            if resumed == 0 && recorder.lost > 0 || resumed == 7 {
                let next = PreparedPlan::new(plan("edf"), &Settings::default()).expect("a link");
                forwarding.reload((Side::A, next.anew())).expect("it follows");
            }
            resumed += 1;
            write(&mut recorder);
            thread::sleep(Duration::from_millis(2));
        }
        assert!(flood.join().expect("sent") > 0);
        resumed
    });
    assert!(resumed > 7);
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    write(&mut recorder);
    assert!(recorder.lost > 0, "some were lost");
    let repeated = repeat(Cursor::new(ledger.into_inner())).expect("a link that was there");
    assert!(repeated.difference.is_none(), "{:?}", repeated.difference);
    assert!(!repeated.gaps.is_empty() && repeated.gaps[0].until_ns.is_some(), "{repeated:?}");
    assert!(repeated.sent > 300, "{repeated:?}");
}

/// Every dispatch and drop, across reloads to other disciplines, while packets are queued.
#[test]
fn the_simulator_repeats_what_was_forwarded() {
    let Some(hosts) = Hosts::new() else { return };
    let of_links = Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks);
    let kinds: Vec<_> = of_links.map(|kind| kind.word()).collect();
    let (forwarding, mut recorder) = start(hosts.ring(), [scheduled(&plan(kinds[0])), Way::Plain]);
    thread::scope(|scope| {
        for (port, count) in [(5000, 300), (6000, 600)] {
            let (a, b) = (&hosts.a, &hosts.b);
            scope.spawn(move || assert!(datagrams(a, b, port, count) > 0));
        }
        for kind in &kinds[1..] {
            thread::sleep(Duration::from_millis(40));
            let next =
                PreparedPlan::new(plan(kind), &Settings::default()).expect("a plan of a link");
            forwarding.reload((Side::A, next)).expect("it follows");
        }
    });
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");

    let mut plans = kinds.iter().map(|kind| text(kind));
    let mut ledger = Writer::new(Vec::new(), Settings::default().into()).expect("room in memory");
    ledger.plan(&plans.next().expect("the first")).expect("room in memory");
    recorder.read(|report| {
        let event = &report.event.event;
        if let Event::Reloaded { .. } = event {
            ledger.plan(&plans.next().expect("the next")).expect("room in memory");
        }
        ledger.write(event).expect("room in memory");
    });
    assert_eq!(recorder.lost, 0);
    let repeated = repeat(Cursor::new(ledger.into_inner())).expect("a link that was there");
    assert!(repeated.difference.is_none(), "{:?}", repeated.difference);
    assert!(repeated.sent + repeated.dropped >= 900, "{repeated:?}");
    let reloads = kinds.len() as u64 - 1;
    assert_eq!((repeated.reloads, repeated.sent + repeated.dropped), (reloads, repeated.arrived));
}
