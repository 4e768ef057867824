//! What a bridge did is what the simulator makes of the same arrivals and the same wake-ups.

use std::thread;
use std::time::Duration;

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_forward::{Event, Settings};
use laxity_linux::frames::Side;
use laxity_live::Way;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::replay::{Kept, Live, Step, replay};
use laxity_sim::source::Arrival;

use crate::hosts::{Hosts, plan};
use crate::traffic::{datagrams, scheduled, start};

#[derive(Default)]
struct Fates(Vec<(Packet, Fate)>);

impl Observer for Fates {
    fn record(&mut self, record: &Record) {
        self.0.push((record.packet, record.fate));
    }
}

fn steps(events: &[Event]) -> Vec<Step> {
    let mut steps = Vec::new();
    for event in events {
        match *event {
            Event::Arrived(arrived) => steps.push(Step::Arrival(Arrival {
                time: arrived.time,
                class: arrived.class,
                flow: arrived.flow,
                length: arrived.length,
            })),
            Event::Sent(sent) => steps.push(Step::Choice { lateness: sent.lateness }),
            Event::Idle { lateness, .. } => steps.push(Step::Choice { lateness }),
            Event::Dropped(_) => {}
            Event::Reloaded { time, .. } => steps.push(Step::Reload { time, kept: Vec::new() }),
            Event::Kept { number, class, flow } => match steps.last_mut() {
                Some(Step::Reload { kept, .. }) => kept.push(Kept { number, class, flow }),
                _ => panic!("what is kept follows a reload"),
            },
        }
    }
    steps
}

fn fates(events: &[Event]) -> Vec<(Packet, Fate)> {
    let fate = |event: &Event| match *event {
        Event::Sent(sent) => Some((
            Packet { handle: sent.number, ..sent.packet },
            Fate::Sent { start: sent.start, departure: sent.departure },
        )),
        Event::Dropped(dropped) => {
            let packet = Packet { handle: dropped.number, ..dropped.packet };
            Some((packet, Fate::Dropped(dropped.reason)))
        }
        Event::Arrived(_) | Event::Idle { .. } | Event::Reloaded { .. } | Event::Kept { .. } => {
            None
        }
    };
    events.iter().filter_map(fate).collect()
}

/// Every dispatch and drop, across reloads to other disciplines, while packets are queued.
#[test]
fn the_simulator_repeats_what_was_forwarded() {
    let Some(hosts) = Hosts::new() else { return };
    let plans = ["edf", "wfq", "priority", "drr"].map(plan);
    let (forwarding, mut recorder) = start(hosts.ring(), [scheduled(&plans[0]), Way::Plain]);
    thread::scope(|scope| {
        for (port, count) in [(5000, 300), (6000, 600)] {
            let (a, b) = (&hosts.a, &hosts.b);
            scope.spawn(move || assert!(datagrams(a, b, port, count) > 0));
        }
        for next in &plans[1..] {
            thread::sleep(Duration::from_millis(40));
            forwarding.reload(Side::A, next.clone()).expect("a plan of a link");
        }
    });
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut events = Vec::new();
    recorder.read(|happened| events.push(happened.event));
    assert_eq!(recorder.lost, 0);

    let Settings { seed, backlog, catch_up, .. } = Settings::default();
    let live = Live { plans: &plans, seed, backlog, catch_up };
    let mut simulated = Fates::default();
    replay(live, steps(&events), &mut simulated).expect("a link that was there");
    let forwarded = fates(&events);
    assert!(forwarded.len() >= 900, "{}", forwarded.len());
    for (at, (forwarded, simulated)) in forwarded.iter().zip(&simulated.0).enumerate() {
        assert_eq!(forwarded, simulated, "{at}");
    }
    assert_eq!(forwarded.len(), simulated.0.len());
}
