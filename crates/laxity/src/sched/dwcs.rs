//! Dynamic window-constrained scheduling (West, Schwan, Poellabauer 1999, *Scalable scheduling
//! support for loss and delay constrained media streams*).
//!
//! Every stream has an interpacket gap T, which spaces the deadlines of its packets, and a loss
//! tolerance x/y: of any y consecutive packets at most x may be late or lost. The current tolerance
//! x'/y' shrinks with every missed deadline of the stream and grows with every packet served. The
//! stream with the lowest current tolerance is served next (Table 1).
//!
//! A deadline is the latest time at which service of a packet may begin. The deadline of a stream's
//! n-th packet, which arrives at a_n, is `D_n = max(D', a_n) + T`, where D' is the previous
//! deadline as it stood when that packet left. So while packets queue, deadlines are T apart; after
//! a silence they count from the arrival.
//!
//! As in section 4 of the paper, streams are in two ordered structures, by deadline and by
//! precedence, and each missed deadline is paid for once.

mod explain;
mod join;
mod precedence;
mod settings;
mod slots;
#[cfg(test)]
mod tests;
mod tolerance;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::explain::Explain;
use crate::packet::{ClassId, Packet};
use crate::queue::{Fifos, Position, SeatId, Tournament, WinnerTree};
pub use crate::sched::Late;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;
use crate::window::Loss;
use precedence::{Key, NEVER};
pub use settings::{DwcsSettings, Precedence, Violation};
use slots::Slots;
use tolerance::Tolerance;

/// The requirements of a stream of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// T, more than zero: the service of a packet commences at most this much after the time at
    /// which that of its predecessor had to. `None` if the packets have no deadlines; the stream
    /// then keeps its tolerance as it is.
    pub gap: Option<Nanos>,
    /// How many packets of any window may be late or lost.
    pub loss: Loss,
    /// How packets are treated after their deadline.
    pub late: Late,
}

/// A class of alike streams. A packet belongs to the stream with the number of its flow, modulo
/// their count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// The requirements of each of them.
    pub stream: Stream,
    /// How many they are, at least 1.
    pub count: u32,
}

/// DWCS.
///
/// A service and a packet that comes to an empty stream take logarithmic time in the number of
/// streams with packets, the most since there were none, and a missed deadline in the number of
/// all; a packet that comes to others takes constant time. Tolerances are compared exactly. Ties
/// are broken by the arrival of the head packets.
///
/// Where a head packet is late by several gaps, its misses are counted at once; packets that are
/// dropped for being late come out in no particular order.
#[derive(Clone, Debug)]
pub struct Dwcs {
    settings: DwcsSettings,
    /// Services until missed deadlines are looked for.
    until_check: u32,
    classes: Vec<Class>,
    /// Numbers of classes that are gone.
    free: BTreeSet<ClassId>,
    slots: Slots,
    streams: Vec<State>,
    packets: Fifos<Next, Packet>,
    /// Streams with packets.
    precedence: Tournament<Key>,
    /// The key of the stream that was served last, as it was chosen.
    served: Key,
    /// Streams that have or had packets with deadlines, at their deadline or an earlier one. An
    /// entry is corrected when it comes up, so that packets served in time need no sorting. `None`
    /// if deadlines lead the precedence.
    deadlines: Option<WinnerTree<u64>>,
    /// No stream misses its deadline before this.
    none_late_until: u64,
    /// Packets that have arrived.
    arrivals: u64,
    backlog: Backlog,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    first: StreamId,
    /// Streams; none of a class that is gone.
    count: u32,
    /// The class takes no more packets; the number of its streams that still hold some. `None` for
    /// an open class.
    leaving: Option<u32>,
}

crate::id! {
    /// A stream of any class: its position in [`Dwcs::streams`]. The numbers of a class that is
    /// gone go to a later one.
    struct StreamId;
}

/// A stream, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct State {
    /// T; [`NEVER`] if it has no deadlines.
    gap: u64,
    /// The head packet's; without one, the deadline of the packet that left last.
    deadline: u64,
    /// The head packet's place among all arrivals.
    order: u64,
    /// That of `tolerance`.
    rank: u64,
    tolerance: Tolerance,
    class: ClassId,
    /// Where it sits among those with packets, if it is one.
    seat: SeatId,
    drops_late: bool,
    has_packets: bool,
    /// Whether `deadlines` knows it.
    is_listed: bool,
    /// Whether its class takes no more packets.
    is_leaving: bool,
}

/// The key of a packet that comes to the head.
#[derive(Clone, Copy, Debug, Default)]
struct Next {
    arrival: u64,
    /// Its place among all arrivals.
    order: u64,
}

impl Scheduler for Dwcs {
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.backlog.packets == 0 {
            return None;
        }
        if self.until_check == 0 {
            self.until_check = self.settings.check_every;
            if self.none_late_until < now.0 {
                self.adjust_late(now.0, drops);
            }
        }
        self.until_check -= 1;
        self.served = self.precedence.first()?;
        let id = self.served.stream();
        let stream = &mut self.streams[id.index()];
        let deadline = (stream.deadline != NEVER).then_some(Nanos(stream.deadline));
        if stream.gap != NEVER && stream.tolerance.serve(self.settings.precedence) {
            stream.rank = stream.tolerance.rank();
        }
        let packet = self.take_head(id)?;
        let stream = &self.streams[id.index()];
        if stream.has_packets {
            let key = stream.key(id, self.settings.precedence);
            self.precedence.change_first(stream.seat, key);
        } else {
            self.precedence.leave(stream.seat);
        }
        Some(Dispatch { packet, deadline, criterion: Criterion::WindowConstraint })
    }

    fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Class>()
            + self.streams.capacity() * size_of::<State>()
            + self.packets.footprint()
            + self.precedence.footprint()
            + self.deadlines.as_ref().map_or(0, WinnerTree::footprint)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Dwcs {
    /// The deadlines of a stream count from the arrivals of its packets.
    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        self.place(packet.arrival.min(now), packet, drops)
    }

    #[inline(always)]
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let Some(id) = self.stream_of(&packet) else {
            return turn_away(packet, DropReason::NoClass, drops);
        };
        self.backlog.add(packet.length);
        self.arrivals += 1;
        let next = Next { arrival: now.0, order: self.arrivals };
        let place = self.packets.push(id.index(), next, packet);
        if place.is_at_front() {
            let stream = &mut self.streams[id.index()];
            stream.lead(next);
            stream.has_packets = true;
            let key = stream.key(id, self.settings.precedence);
            stream.seat = self.precedence.join(key);
            self.list(id);
        }
        Some(place)
    }

    /// A packet that is withdrawn counts neither as served nor as lost, like one that its limit
    /// turns away. If it was at the head of its stream, its deadline has been used up.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let id = self.queued_in(self.packets.get(place))?;
        let (packet, withdrawn) = self.packets.withdraw(id.index(), place)?;
        self.backlog.remove(packet.length);
        if let Position::Front(next) = withdrawn {
            self.lead(id, next);
            self.rank(id);
        }
        Some(packet)
    }
}

impl Dwcs {
    /// For each stream that misses its deadline: rule (B), and its head packet is dropped or sent
    /// later, until the deadline is not missed any more.
    #[inline(never)]
    fn adjust_late(&mut self, now: u64, drops: &mut dyn DropSink) {
        while let Some(id) = self.first_late(now) {
            if self.streams[id.index()].drops_late {
                self.drop_late(id, now, drops);
            } else {
                self.streams[id.index()].postpone(now, self.settings.violation);
            }
            self.rank(id);
        }
    }

    fn drop_late(&mut self, id: StreamId, now: u64, drops: &mut dyn DropSink) {
        while self.streams[id.index()].is_late(now) {
            self.streams[id.index()].miss(1, self.settings.violation);
            if let Some(packet) = self.take_head(id) {
                drops.dropped(packet, DropReason::Late);
            }
        }
    }

    /// A stream with a head packet that has missed its deadline.
    fn first_late(&mut self, now: u64) -> Option<StreamId> {
        let Some(deadlines) = &mut self.deadlines else {
            let id = self.precedence.first()?.stream();
            return self.streams[id.index()].is_late(now).then_some(id);
        };
        loop {
            let (at, listed) = deadlines.winner().unwrap_or((0, NEVER));
            if listed >= now {
                self.none_late_until = listed;
                return None;
            }
            let stream = &mut self.streams[at];
            if stream.is_late(now) {
                return Some(StreamId::from_index(at));
            }
            stream.is_listed = stream.has_packets;
            deadlines.set(at, if stream.has_packets { stream.deadline } else { NEVER });
        }
    }

    /// Makes the deadline of a stream known, if no earlier one is.
    fn list(&mut self, id: StreamId) {
        let stream = &mut self.streams[id.index()];
        if let Some(deadlines) = &mut self.deadlines
            && stream.gap != NEVER
            && !stream.is_listed
        {
            stream.is_listed = true;
            deadlines.set(id.index(), stream.deadline);
            self.none_late_until = self.none_late_until.min(stream.deadline);
        }
    }

    /// A stream has another key, or no packets any more.
    fn rank(&mut self, id: StreamId) {
        let stream = &self.streams[id.index()];
        if stream.has_packets {
            let key = stream.key(id, self.settings.precedence);
            self.precedence.change(stream.seat, key);
        } else {
            self.precedence.leave(stream.seat);
        }
    }

    /// Takes a stream's head packet; the one behind it comes to the head.
    #[inline(always)]
    fn take_head(&mut self, id: StreamId) -> Option<Packet> {
        let (packet, next) = self.packets.pop(id.index())?;
        self.backlog.remove(packet.length);
        self.lead(id, next);
        Some(packet)
    }

    /// This packet, or none, comes to a stream's head.
    #[inline]
    fn lead(&mut self, id: StreamId, next: Option<Next>) {
        let stream = &mut self.streams[id.index()];
        match next {
            Some(next) => stream.lead(next),
            None => {
                stream.has_packets = false;
                if stream.is_leaving {
                    self.drained(id);
                }
            }
        }
    }
}

impl State {
    /// A packet comes to the head.
    fn lead(&mut self, packet: Next) {
        self.deadline = self.deadline.max(packet.arrival).saturating_add(self.gap);
        self.order = packet.order;
    }

    fn key(&self, id: StreamId, precedence: Precedence) -> Key {
        let (rank, lost) = (self.rank, self.tolerance.lost());
        Key::new(precedence, rank, lost, self.deadline, self.order).with_stream(id)
    }

    fn miss(&mut self, times: u64, violation: Violation) {
        self.tolerance.miss(times, violation);
        self.rank = self.tolerance.rank();
    }

    fn is_late(&self, now: u64) -> bool {
        self.has_packets && self.deadline < now
    }

    /// The head packet, which is late, will be sent late: its deadline moves on, and every one that
    /// it misses counts.
    fn postpone(&mut self, now: u64, violation: Violation) {
        let misses = (now - self.deadline).div_ceil(self.gap);
        self.miss(misses, violation);
        self.deadline = self.deadline.saturating_add(misses.saturating_mul(self.gap));
    }
}
