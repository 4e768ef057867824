//! The outputs of a router.

use std::mem;

use laxity::packet::{Hosts, Packet};
use laxity::scheduler::{DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::matching::Headers;

use super::event::{Departure, Marking, RouterEvent};
use super::framed_output::FramedOutput;
use crate::cache::Classification;
use crate::outlet::Outlet;
use crate::queued::PacketList;

/// Where a router sends over one link.
pub(super) enum Output {
    /// In the frames of time-driven priority.
    Framed(Box<FramedOutput>),
    /// Under any other discipline.
    Plain(Box<Plain>),
}

/// A packet that waits at an output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// With the caller's handle.
    pub packet: Packet,
    pub headers: Headers,
    /// The port at which it came.
    pub from: usize,
    /// Whether it came with a mark.
    pub is_marked: bool,
    /// The frame that is kept for it here.
    pub frame: Option<u64>,
}

/// Hears of what happens at an output, and of the packet that leaves it, if one does.
pub(super) type Tell<'a> = &'a mut dyn FnMut(Option<&Waiting>, RouterEvent);

impl Output {
    /// A packet joins those that wait, for its frame if it has one.
    pub(super) fn enqueue(&mut self, now: Nanos, waiting: Waiting, tell: Tell<'_>) {
        match self {
            Output::Framed(framed) => framed.enqueue(now, waiting, tell),
            Output::Plain(plain) => plain.enqueue(now, waiting, tell),
        }
    }

    /// Introduces a flow to the scheduler.
    pub(super) fn introduce(&mut self, found: Classification, hosts: Hosts) {
        let Classification { class, flow } = found;
        match self {
            Output::Framed(framed) => framed.introduce(class, flow, hosts),
            Output::Plain(plain) => plain.scheduler.introduce(class, flow, hosts),
        }
    }

    /// Sends what cannot wait for another output to take over.
    pub(super) fn send_due(&mut self, now: Nanos, tell: Tell<'_>) {
        if let Output::Framed(framed) = self {
            framed.send_due(now, tell);
        }
    }

    /// Changes everything that is queued, in that order.
    pub(super) fn update(&mut self, change: impl FnMut(&mut Waiting)) {
        match self {
            Output::Framed(framed) => framed.update(change),
            Output::Plain(plain) => plain.held.update(change),
        }
    }

    /// What is queued goes on under the scheduler of another output of the same link, which gets
    /// the one that it was under.
    pub(super) fn change(&mut self, now: Nanos, next: &mut Output, tell: Tell<'_>) {
        match (self, next) {
            (Output::Framed(framed), Output::Framed(next)) => framed.change(now, next, tell),
            (Output::Plain(plain), Output::Plain(next)) => plain.change(now, next, tell),
            _ => debug_assert!(false, "an output has frames or it has not"),
        }
    }

    /// Sends what may be sent by now, and says when to ask again.
    pub(super) fn poll(&mut self, now: Nanos, tell: Tell<'_>) -> Option<Nanos> {
        match self {
            Output::Framed(framed) => framed.poll(now, tell),
            Output::Plain(plain) => plain.poll(now, tell),
        }
    }
}

/// An output without frames.
pub(super) struct Plain {
    port: usize,
    /// Whether other outputs of the network divide time into frames: then nothing leaves with a
    /// mark that is not ours.
    clears_marks: bool,
    /// Of each class whether the code points of its packets are cleared.
    washes: Vec<bool>,
    scheduler: Box<dyn Scheduler + Send>,
    outlet: Outlet,
    held: PacketList<Waiting>,
}

impl Plain {
    /// With nothing queued, at a port of this number.
    pub(super) fn new(
        port: usize,
        clears_marks: bool,
        washes: Vec<bool>,
        scheduler: Box<dyn Scheduler + Send>,
        outlet: Outlet,
    ) -> Self {
        Plain { port, clears_marks, washes, scheduler, outlet, held: PacketList::new(0) }
    }

    fn enqueue(&mut self, now: Nanos, waiting: Waiting, tell: Tell<'_>) {
        let Plain { scheduler, outlet, held, .. } = self;
        if held.len() == 0 {
            outlet.arrives_alone(now);
        }
        let handle = held.insert(waiting);
        let packet = Packet { handle, ..waiting.packet };
        scheduler.enqueue(now, packet, &mut drops(held, tell));
        outlet.arrived(now, || scheduler.next_ready(now));
    }

    fn change(&mut self, now: Nanos, next: &mut Plain, tell: Tell<'_>) {
        mem::swap(&mut self.scheduler, &mut next.scheduler);
        mem::swap(&mut self.washes, &mut next.washes);
        let Plain { scheduler, outlet, held, .. } = self;
        for packet in in_order(held) {
            scheduler.take_over(now, packet, &mut drops(held, tell));
        }
        let oldest = held.oldest().map(|waiting| waiting.packet.arrival);
        outlet.changes_hands(now, scheduler.next_ready(now), oldest.map(|arrived| [arrived; 2]));
    }

    fn poll(&mut self, now: Nanos, tell: Tell<'_>) -> Option<Nanos> {
        let Plain { port, clears_marks, washes, scheduler, outlet, held } = self;
        loop {
            let due = outlet.due()?;
            if due > now {
                return Some(due);
            }
            let Some(dispatch) = scheduler.dequeue(now, &mut drops(held, tell)) else {
                outlet.idles(now, scheduler.next_ready(now));
                continue;
            };
            let arrival = dispatch.packet.arrival;
            let departure = outlet.start(arrival, due, now, dispatch.packet.length).departure;
            let waiting = sent(held.remove(dispatch.packet.handle), &dispatch.packet);
            let is_washed = washes.get(waiting.packet.class.index()) == Some(&true);
            let is_cleared = *clears_marks && waiting.is_marked;
            let event = RouterEvent::Sent(Departure {
                port: *port,
                packet: waiting.packet,
                mark: match is_cleared {
                    _ if is_washed => Marking::Wash,
                    true => Marking::Clear,
                    false => Marking::Leave,
                },
                is_framed: false,
                start: now,
                departure,
                frame: None,
                due: None,
            });
            tell(Some(&waiting), event);
            let oldest = held.oldest().map(|waiting| waiting.packet.arrival);
            outlet.goes_on(now, scheduler.next_ready(now), oldest);
        }
    }
}

/// A packet as its scheduler gives it back, under the caller's handle.
pub(super) fn sent(waiting: Waiting, packet: &Packet) -> Waiting {
    let handle = waiting.packet.handle;
    Waiting { packet: Packet { handle, ..*packet }, ..waiting }
}

/// What is held, as the scheduler knows it, in the order in which it was queued.
pub(super) fn in_order(held: &PacketList<Waiting>) -> Vec<Packet> {
    let packet = |(handle, waiting): (u64, &Waiting)| Packet { handle, ..waiting.packet };
    held.iter().map(packet).collect()
}

fn drops<'a>(held: &'a mut PacketList<Waiting>, tell: Tell<'a>) -> impl DropSink + 'a {
    move |packet: Packet, reason| {
        let waiting = held.remove(packet.handle);
        tell(Some(&waiting), RouterEvent::Dropped { packet: waiting.packet, reason });
    }
}
