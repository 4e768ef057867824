//! Weighted fair queueing: packetised generalised processor sharing (Demers, Keshav, Shenker 1989;
//! Parekh, Gallager 1993).

mod explain;
mod packets;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::error::{SetupError, check_of};
use crate::explain::Explain;
use crate::packet::{ClassId, Packet};
use crate::queue::{Order, Rank, SeatId, Tournament};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::{NANOBITS_PER_BYTE, Nanos, Rate};
use packets::Packets;

/// Shares a link among classes by weight, sending the packet that would finish first if the link
/// were a fluid that serves all backlogged classes at once.
#[derive(Clone, Debug)]
pub struct Wfq {
    gps: Gps,
    packets: Packets,
    backlog: Backlog,
}

impl Wfq {
    /// A scheduler for classes with these weights (ratios count, not sizes) on a link of `rate`.
    ///
    /// # Errors
    /// If a weight is zero.
    pub fn new(rate: Rate, weights: &[u64]) -> Result<Self, SetupError> {
        for (class, &weight) in (0..).map(ClassId).zip(weights) {
            check_of("the weight", class, weight, 1..=u64::MAX)?;
        }
        Ok(Wfq {
            gps: Gps::new(rate, weights),
            packets: Packets::new(weights.len()),
            backlog: Backlog::default(),
        })
    }
}

impl Scheduler for Wfq {
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let packet = self.packets.pop()?;
        self.gps.serve(now, self.backlog, packet.length);
        self.backlog.remove(packet.length);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::VirtualFinish })
    }

    fn footprint(&self) -> usize {
        self.packets.footprint() + self.gps.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Wfq {
    #[inline(always)]
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        if !self.packets.has_class(class) {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        let finish = self.gps.arrive(now, self.backlog, class, packet.length);
        let place = self.packets.push(finish, packet);
        self.backlog.add(packet.length);
        Some(place)
    }

    /// Virtual finishing times are fixed at arrival, so those of the packets behind stay. The fluid
    /// has less to do for the class, so its later arrivals finish earlier.
    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        _: u64,
        _: &mut dyn DropSink,
    ) -> Option<Packet> {
        let class = self.packets.get(place).class.index();
        let packet = self.packets.withdraw(place)?;
        self.gps.withdraw(now, self.backlog, class, packet.length);
        self.backlog.remove(packet.length);
        Some(packet)
    }
}

/// The fluid reference: every backlogged class is served in proportion to its weight.
///
/// The fluid serves as much as the link. Each dispatched packet grants it that packet's
/// transmission, to be used up at the link's rate from then on. On a link of its own that is
/// generalised processor sharing at the link's rate; behind a link shared with other traffic it is
/// the same for a server of variable rate.
///
/// A link is free within a nanosecond, and its next packet is chosen at the end of that. The fluid
/// goes on with the packets queued in between, so that it is exactly where arithmetic says.
#[derive(Clone, Debug)]
struct Gps {
    rate: i128,
    /// The last entry is no class and finishes later than all.
    classes: Vec<Share>,
    /// Virtual time: nanobits served for each unit of weight, times `scale`.
    virtual_time: u128,
    scale: u128,
    /// Work that is too little to move the virtual time by one unit, times `scale`.
    remainder: u128,
    /// Weights of the classes that the fluid has not finished.
    backlogged_weight: u128,
    /// Those classes, by when the fluid finishes the last packet they have.
    departures: Tournament<u32>,
    /// Nanobits of dispatched packets that the fluid has not served. Negative by the nanobits that
    /// the fluid has served of the next packet.
    granted: i128,
    served_until: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    /// Virtual time that one byte takes.
    per_byte: u128,
    /// Virtual time at which the fluid finishes the last packet.
    finish: u128,
    weight: u64,
    /// Among the departures; `PASSIVE` if the fluid has finished it.
    seat: SeatId,
}

/// No seat.
const PASSIVE: SeatId = SeatId(u32::MAX);

/// Classes by when the fluid finishes them.
struct ByFinish<'a>(&'a [Share]);

/// When the fluid finishes a class, and which.
type Departure = (u128, u32);

impl Order<u32> for ByFinish<'_> {
    type Player = Departure;

    #[inline(always)]
    fn player(&self, class: u32) -> Departure {
        (self.0[class as usize].finish, class)
    }

    #[inline(always)]
    fn rank(&self, (_, class): Departure) -> u32 {
        class
    }
}

impl Rank for Departure {
    #[inline(always)]
    fn owner(&self) -> u32 {
        self.1
    }

    #[inline(always)]
    fn is_before(&self, other: &Departure) -> bool {
        self.0 < other.0
    }

    #[inline(always)]
    fn or(&self, wins: bool, other: &Departure) -> Departure {
        (select_unpredictable(wins, self.0, other.0), select_unpredictable(wins, self.1, other.1))
    }
}

impl Gps {
    /// With weights whose least common multiple stays below this, a byte's virtual time is exact;
    /// beyond, it is rounded up by less than 2^-40 of a nanobit. A class that becomes backlogged
    /// again starts from a virtual time rounded down by less than a unit.
    const LARGEST_SCALE: u128 = 1 << 40;

    /// With weights above zero.
    fn new(rate: Rate, weights: &[u64]) -> Self {
        let common = weights.iter().fold(0, |divisor, &weight| gcd(divisor, u128::from(weight)));
        let scale = weights
            .iter()
            .map(|&weight| u128::from(weight) / common)
            .try_fold(1u128, |multiple, weight| {
                Some(multiple / gcd(multiple, weight) * weight)
                    .filter(|m| *m <= Self::LARGEST_SCALE)
            })
            .unwrap_or(Self::LARGEST_SCALE);
        let classes = weights.iter().map(|&weight| {
            let weight = u128::from(weight) / common;
            let per_byte = (u128::from(NANOBITS_PER_BYTE) * scale).div_ceil(weight);
            Share { weight: weight as u64, per_byte, finish: 0, seat: PASSIVE }
        });
        let nobody = Share { weight: 0, per_byte: 0, finish: u128::MAX, seat: PASSIVE };
        Gps {
            rate: i128::from(rate.0),
            classes: classes.chain([nobody]).collect(),
            virtual_time: 0,
            scale,
            remainder: 0,
            backlogged_weight: 0,
            departures: Tournament::new(weights.len(), weights.len() as u32),
            granted: 0,
            served_until: Nanos::ZERO,
        }
    }

    /// A packet arrives beside those that wait; returns its virtual finishing time.
    fn arrive(&mut self, now: Nanos, waiting: Backlog, class: usize, length: u32) -> u128 {
        self.advance(now, waiting);
        let share = &mut self.classes[class];
        let Share { weight, seat, .. } = *share;
        let is_passive = seat == PASSIVE;
        let begin = if is_passive { self.virtual_time } else { share.finish };
        let finish = begin + u128::from(length) * share.per_byte;
        share.finish = finish;
        let by_finish = ByFinish(&self.classes);
        if is_passive {
            self.backlogged_weight += u128::from(weight);
            let seat = self.departures.join_by(&by_finish, class as u32);
            self.classes[class].seat = seat;
        } else {
            self.departures.change_by(&by_finish, seat, class as u32);
        }
        finish
    }

    /// The link starts to send a packet of those that wait.
    fn serve(&mut self, now: Nanos, waiting: Backlog, length: u32) {
        self.advance(now, waiting);
        self.granted += nanobits(length.into());
    }

    /// Removes a waiting packet from the fluid. Fluid service that it has had counts for other
    /// packets of the class; if the class has none, it goes to other classes at once.
    fn withdraw(&mut self, now: Nanos, waiting: Backlog, class: usize, length: u32) {
        self.advance(now, waiting);
        let share = &mut self.classes[class];
        let packet = u128::from(length) * share.per_byte;
        let Share { finish, weight, seat, .. } = *share;
        let left = if seat == PASSIVE { 0 } else { finish - self.virtual_time };
        if left > packet {
            share.finish -= packet;
            let by_finish = ByFinish(&self.classes);
            return self.departures.change_by(&by_finish, seat, class as u32);
        }
        if left > 0 {
            self.finish(class);
        }
        self.perform((packet - left) * u128::from(weight));
    }

    /// Lets the fluid serve until `now`, while this waits.
    fn advance(&mut self, now: Nanos, waiting: Backlog) {
        let could = i128::from((now - self.served_until).0) * self.rate;
        self.served_until = now;
        let ahead = could - self.granted;
        let served = if ahead <= 0 {
            could
        } else if ahead < self.rate {
            // Something that waits is left to do, so that the fluid is not idle before the link.
            could.min(self.granted + nanobits(waiting.bytes) - 1).max(0)
        } else {
            self.granted.max(0)
        };
        self.granted -= served;
        self.perform(served as u128 * self.scale);
    }

    /// Lets the fluid do this much work, times `scale`.
    fn perform(&mut self, work: u128) {
        let mut work = work + self.remainder;
        while let Some(class) = self.departures.first_by(&ByFinish(&self.classes)) {
            let finish = self.classes[class as usize].finish;
            let needed = (finish - self.virtual_time) * self.backlogged_weight;
            if work < needed {
                self.virtual_time += work / self.backlogged_weight;
                self.remainder = work % self.backlogged_weight;
                return;
            }
            work -= needed;
            self.virtual_time = finish;
            self.finish(class as usize);
        }
        // The fluid is idle: nothing carries over into its next busy period.
        self.virtual_time = 0;
        self.remainder = 0;
        self.granted = self.granted.max(0);
    }

    /// The fluid has nothing of a class any more.
    fn finish(&mut self, class: usize) {
        let Share { weight, seat, .. } = self.classes[class];
        self.classes[class].seat = PASSIVE;
        self.departures.leave_by(&ByFinish(&self.classes), seat);
        self.backlogged_weight -= u128::from(weight);
    }

    fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Share>() + self.departures.footprint()
    }
}

fn nanobits(bytes: u64) -> i128 {
    i128::from(bytes) * i128::from(NANOBITS_PER_BYTE)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
