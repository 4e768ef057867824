//! Shared by the tests of several disciplines: random traffic, a naive link whose books balance,
//! the fluid of fair queueing, and random sets of real-time classes.

mod fluid;
mod served;
mod systems;
pub(crate) mod trees;

pub(crate) use fluid::{EXACT_GRAIN, EXACT_RATE, EXACT_WEIGHT, Fluid};
pub(crate) use served::served_by;
pub(crate) use systems::{
    LARGEST, Proportions, Way, any_class, conforming, meter, systems, two_lines,
};

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Backlog, Dispatch, DropReason, Scheduler};
use crate::units::{Nanos, Rate};

/// The number of rounds: `sample`, or `all` where LAXITY_WHOLE is set.
pub(crate) fn rounds(sample: u32, all: u32) -> u32 {
    if std::env::var_os("LAXITY_WHOLE").is_some() { all } else { sample }
}

/// A packet to come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    pub time: Nanos,
    pub class: u32,
    pub length: u32,
    pub demoted: bool,
    /// Whether it comes just after the link, if that is free at the same instant, has chosen.
    pub after_choice: bool,
}

/// Bursts at one instant, instants next to each other, and gaps up to a hundred `unit`s.
pub(crate) fn gaps(unit: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        5 => Just(0),
        1 => 1..=2u64,
        4 => 0..=2 * unit,
        1 => 0..=100 * unit,
    ]
}

/// Arrivals of some classes in order of time, their gaps on the scale of `unit` ns. Lengths are
/// multiples of `grain`.
pub(crate) fn arrivals(
    classes: u32,
    lengths: RangeInclusive<u32>,
    grain: u32,
    unit: u64,
    count: usize,
) -> impl Strategy<Value = Vec<Arrival>> {
    let one = (gaps(unit), 0..classes, lengths, prop::bool::weighted(0.1), any::<bool>());
    vec(one, 1..=count).prop_map(move |steps| {
        let mut time = Nanos::ZERO;
        let arrival = |(gap, class, length, demoted, after_choice)| {
            time += Nanos(gap);
            Arrival { time, class, length: length * grain, demoted, after_choice }
        };
        steps.into_iter().map(arrival).collect()
    })
}

/// A packet that a link has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub dispatch: Dispatch,
    /// How many packets had arrived when it was chosen.
    pub arrived: usize,
    pub start: Nanos,
    pub departure: Nanos,
}

impl SentPacket {
    /// From its last bit in to its last bit out.
    pub(crate) fn delay(&self) -> Nanos {
        self.departure - self.dispatch.packet.arrival
    }
}

/// The fate of all arrivals. A packet's handle is its position among them.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub sent: Vec<SentPacket>,
    pub dropped: Vec<(Packet, DropReason)>,
}

/// Sends all arrivals, in order of time, through a scheduler and a link, and checks on the way
/// that the link is never idle with a backlog and that no class ever has a packet lost, invented,
/// changed or sent before it came.
pub(crate) fn drive(scheduler: &mut dyn Scheduler, rate: Rate, arrivals: &[Arrival]) -> Run {
    let mut port =
        TestPort { scheduler, link: Link::new(rate), arrived: 0, books: Books::default() };
    let mut now = Nanos::ZERO;
    for (handle, arrival) in arrivals.iter().enumerate() {
        port.send_until(now, arrival.time, arrival.after_choice);
        now = arrival.time;
        port.enqueue(Packet {
            class: ClassId(arrival.class),
            length: arrival.length,
            demoted: arrival.demoted,
            arrival: now,
            handle: handle as u64,
            ..Packet::default()
        });
    }
    port.send_until(now, Nanos::MAX, false);
    assert!(port.books.queued.is_empty(), "the backlog is never sent");
    port.books.run
}

struct TestPort<'a> {
    scheduler: &'a mut dyn Scheduler,
    link: Link,
    arrived: usize,
    books: Books,
}

impl TestPort<'_> {
    fn enqueue(&mut self, packet: Packet) {
        self.arrived += 1;
        self.books.queued.insert(packet.handle, packet);
        let books = &mut self.books;
        let now = packet.arrival;
        self.scheduler.enqueue(now, packet, &mut |packet, reason| books.drop(packet, reason));
        self.books.check(self.scheduler.backlog());
    }

    /// Lets the link send from `now` until `end`, at which it chooses only if `inclusive`.
    fn send_until(&mut self, now: Nanos, end: Nanos, inclusive: bool) {
        loop {
            let start = self.link.free_at().max(now);
            if start > end || (start == end && !inclusive) || self.books.queued.is_empty() {
                return;
            }
            assert_eq!(self.scheduler.next_ready(start), Some(start));
            let books = &mut self.books;
            let dispatch =
                self.scheduler.dequeue(start, &mut |packet, reason| books.drop(packet, reason));
            let Some(dispatch) = dispatch else {
                assert!(self.books.queued.is_empty(), "a backlogged link is not idle");
                self.books.check(self.scheduler.backlog());
                return;
            };
            self.books.remove(&dispatch.packet);
            assert!(dispatch.packet.arrival <= start);
            let departure = self.link.transmit(start, dispatch.packet.length);
            let sent = SentPacket { dispatch, arrived: self.arrived, start, departure };
            self.books.run.sent.push(sent);
            self.books.check(self.scheduler.backlog());
        }
    }
}

/// Every packet by its handle, from its arrival until it is sent or dropped.
#[derive(Default)]
struct Books {
    queued: BTreeMap<u64, Packet>,
    run: Run,
}

impl Books {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.remove(&packet);
        self.run.dropped.push((packet, reason));
    }

    fn remove(&mut self, packet: &Packet) {
        assert_eq!(self.queued.remove(&packet.handle).as_ref(), Some(packet));
    }

    fn check(&self, backlog: Backlog) {
        let bytes = self.queued.values().map(|packet| u64::from(packet.length)).sum();
        assert_eq!(backlog, Backlog { packets: self.queued.len(), bytes });
    }
}
