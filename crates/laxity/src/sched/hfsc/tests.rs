//! H-FSC against its definition, and what the paper proves of it.

mod cases;
mod dispatches;
mod examples;
mod guarantees;
mod known_curve;
mod reference;
mod sharing;
mod times;

use std::vec::Vec;

use self::cases::{Case, What};
use super::{ClassSpec, Curves};
use crate::explain::Explain;
use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::sched::Hfsc;
use crate::scheduler::{Dispatch, Scheduler};
use crate::service::ServiceCurve;
use crate::units::{Nanos, Rate};

/// What a scheduler and its link do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Arrival(Packet),
    Sent { dispatch: Dispatch, start: Nanos, departure: Nanos },
}

/// Plays a case to its end and returns all events. Only the packets of the case matter.
fn play(case: &Case) -> Vec<Event> {
    let mut events = Vec::new();
    let mut hfsc = Hfsc::new(&case.classes).unwrap();
    play_on(&mut hfsc, case, |_, event| events.push(event));
    events
}

/// Plays a case to its end and calls `tell` just after every event. Only the packets of the case
/// matter.
fn play_on<S: Scheduler>(scheduler: &mut S, case: &Case, tell: impl FnMut(&S, Event)) {
    let mut player = Player { scheduler, link: Link::new(case.rate), tell };
    let (mut now, mut handle) = (Nanos::ZERO, 0);
    for step in &case.steps {
        player.send_until(now, step.at, step.after_choice);
        now = step.at;
        let (classes, length) = match step.what {
            What::Arrive { class, length } => (class.0..class.0 + 1, length),
            What::ArriveEverywhere { length } => (0..case.classes.len() as u32, length),
            _ => continue,
        };
        for class in classes.filter(|&class| case.is_leaf(ClassId(class))) {
            let class = ClassId(class);
            player.arrive(Packet { class, length, arrival: now, handle, ..Packet::default() });
            handle += 1;
        }
    }
    player.send_until(now, Nanos::MAX, false);
    assert_eq!(player.scheduler.backlog().packets, 0);
}

/// The virtual time of a class while it takes part in link-sharing.
fn virtual_time(hfsc: &Hfsc, class: ClassId) -> Option<u128> {
    hfsc.virtual_time(class)
}

/// Two leaves with shares of 1 and 3 Mbit/s: after a packet of 1000 bytes each the virtual times
/// are 8 ms and 2.667 ms, which counts for the next packets, too.
#[test]
fn virtual_times_are_told() {
    let leaf = |rate| {
        let link_share = Some(ServiceCurve::linear(Rate(rate)));
        ClassSpec { parent: None, curves: Curves { link_share, ..Curves::default() } }
    };
    let mut hfsc = Hfsc::new(&[leaf(1_000_000), leaf(3_000_000)]).unwrap();
    for handle in 0..4 {
        let class = ClassId(handle as u32 % 2);
        let packet = Packet { class, length: 1000, handle, ..Packet::default() };
        hfsc.enqueue(Nanos::ZERO, packet, &mut |_, _| panic!("nothing is dropped"));
    }
    let mut told = Vec::new();
    for _ in 0..4 {
        hfsc.dequeue(Nanos::ZERO, &mut |_, _| panic!("nothing is dropped")).unwrap();
        let times = hfsc.explain().and_then(Explain::virtual_times).unwrap();
        told.push([0, 1, 2].map(|class| times.virtual_time(ClassId(class))));
    }
    let first = Some(8_000_000);
    let second = Some(2_666_667);
    assert_eq!(
        told,
        [[first, Some(0), None], [first, second, None], [first, None, None], [None, None, None],]
    );
}

struct Player<'a, S, T> {
    scheduler: &'a mut S,
    link: Link,
    tell: T,
}

impl<S: Scheduler, T: FnMut(&S, Event)> Player<'_, S, T> {
    fn arrive(&mut self, packet: Packet) {
        self.scheduler.enqueue(packet.arrival, packet, &mut |_, _| panic!("a leaf takes packets"));
        (self.tell)(self.scheduler, Event::Arrival(packet));
    }

    /// Lets the link send from `now` until `end`, at which it chooses only if `inclusive`.
    fn send_until(&mut self, mut now: Nanos, end: Nanos, inclusive: bool) {
        loop {
            let start = self.link.free_at().max(now);
            if start > end || (start == end && !inclusive) {
                return;
            }
            let dispatch = self.scheduler.dequeue(start, &mut |_, _| panic!("nothing is dropped"));
            let Some(dispatch) = dispatch else {
                match self.scheduler.next_ready(start) {
                    Some(ready) => now = ready,
                    None => return,
                }
                continue;
            };
            let departure = self.link.transmit(start, dispatch.packet.length);
            (self.tell)(self.scheduler, Event::Sent { dispatch, start, departure });
        }
    }
}
