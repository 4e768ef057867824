//! Weighted fair queueing: packetised generalised processor sharing (Demers, Keshav, Shenker 1989;
//! Parekh, Gallager 1993).

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::error::{SetupError, check_of};
use crate::packet::{ClassId, Packet};
use crate::queue::{SortedFifos, WinnerTree};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, turn_away,
};
use crate::units::{NANOBITS_PER_BYTE, Nanos, Rate};

/// Shares a link among classes by weight, sending the packet that would finish first if the link
/// were a fluid that serves all backlogged classes at once.
#[derive(Clone, Debug)]
pub struct Wfq {
    gps: Gps,
    /// Sorted by virtual finishing time, then by arrival.
    packets: SortedFifos<(u128, u64), Packet>,
    arrivals: u64,
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
            packets: SortedFifos::new(weights.len(), (u128::MAX, u64::MAX)),
            arrivals: 0,
            backlog: Backlog::default(),
        })
    }
}

impl Scheduler for Wfq {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.admit(now, packet, drops);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let (class, _) = self.packets.least()?;
        let packet = self.packets.pop(class)?;
        self.gps.serve(now, packet.length);
        self.backlog.remove(packet.length);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::VirtualFinish })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.packets.footprint() + self.gps.footprint()
    }
}

impl Withdraw for Wfq {
    #[inline(always)]
    fn admit(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        if class >= self.gps.classes.len() {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        let finish = self.gps.arrive(now, class, packet.length);
        let place = self.packets.push(class, (finish, self.arrivals), packet);
        self.arrivals += 1;
        self.backlog.add(packet.length);
        Some(place)
    }

    /// Virtual finishing times are fixed at arrival, and those of the packets behind stay. The
    /// fluid has so much less to do for the class, whose next packets to arrive finish earlier.
    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        _: u64,
        _: &mut dyn DropSink,
    ) -> Option<Packet> {
        let class = self.packets.get(place).class.index();
        let packet = self.packets.withdraw(class, place)?;
        self.gps.withdraw(now, class, packet.length);
        self.backlog.remove(packet.length);
        Some(packet)
    }
}

/// The fluid reference: every backlogged class is served in proportion to its weight.
///
/// The fluid serves what the link serves. Each packet dispatched grants it that packet's
/// transmission, used up at the link's rate from then on; on a link of its own this is generalised
/// processor sharing at the link's rate, and behind a link that is shared with other traffic it is
/// the same for a server whose rate varies.
#[derive(Clone, Debug)]
struct Gps {
    rate: u128,
    classes: Vec<Share>,
    /// Virtual time: nanobits served for each unit of weight, times `scale`.
    virtual_time: u128,
    scale: u128,
    /// Work that is too little to move the virtual time by one unit, times `scale`.
    remainder: u128,
    /// Weights of the classes that the fluid has not finished.
    backlogged_weight: u128,
    /// Those classes, by when the fluid finishes the last packet they have.
    departures: WinnerTree<u128>,
    /// Nanobits of dispatched packets that the fluid has not served.
    granted: u128,
    served_until: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    weight: u128,
    /// Virtual time that one byte takes.
    per_byte: u128,
    /// Virtual time at which the fluid finishes the last packet.
    finish: u128,
}

impl Gps {
    /// With weights whose least common multiple stays under this a byte's virtual time is exact;
    /// beyond, it is rounded up by less than 2^-40 of a nanobit. A class that comes back starts
    /// from a virtual time rounded down by less than a unit.
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
            Share { weight, per_byte, finish: 0 }
        });
        Gps {
            rate: u128::from(rate.0),
            classes: classes.collect(),
            virtual_time: 0,
            scale,
            remainder: 0,
            backlogged_weight: 0,
            departures: WinnerTree::new(weights.len(), u128::MAX),
            granted: 0,
            served_until: Nanos::ZERO,
        }
    }

    /// A packet arrives; returns its virtual finishing time.
    fn arrive(&mut self, now: Nanos, class: usize, length: u32) -> u128 {
        self.advance(now);
        let share = &mut self.classes[class];
        if self.departures.key(class) == u128::MAX {
            self.backlogged_weight += share.weight;
            share.finish = self.virtual_time;
        }
        share.finish += u128::from(length) * share.per_byte;
        self.departures.set(class, share.finish);
        share.finish
    }

    /// The link starts to send a packet.
    fn serve(&mut self, now: Nanos, length: u32) {
        self.advance(now);
        self.granted += u128::from(length) * u128::from(NANOBITS_PER_BYTE);
    }

    /// A packet that has arrived will not be sent. What the fluid has done for it counts for the
    /// class's other packets, or else, if it has no more of them, is done for other classes at once.
    fn withdraw(&mut self, now: Nanos, class: usize, length: u32) {
        self.advance(now);
        let share = &mut self.classes[class];
        let packet = u128::from(length) * share.per_byte;
        let left = match self.departures.key(class) {
            u128::MAX => 0,
            finish => finish - self.virtual_time,
        };
        if left > packet {
            share.finish -= packet;
            return self.departures.set(class, share.finish);
        }
        let weight = share.weight;
        if left > 0 {
            self.departures.clear(class);
            self.backlogged_weight -= weight;
        }
        self.perform((packet - left) * weight);
    }

    /// Lets the fluid serve until `now`.
    fn advance(&mut self, now: Nanos) {
        let elapsed = u128::from((now - self.served_until).0);
        self.served_until = now;
        let served = self.granted.min(elapsed * self.rate);
        self.granted -= served;
        self.perform(served * self.scale);
    }

    /// Lets the fluid do so much work, times `scale`.
    fn perform(&mut self, work: u128) {
        let mut work = work + self.remainder;
        while let Some((class, finish)) = self.departures.winner() {
            let needed = (finish - self.virtual_time) * self.backlogged_weight;
            if work < needed {
                self.virtual_time += work / self.backlogged_weight;
                self.remainder = work % self.backlogged_weight;
                return;
            }
            work -= needed;
            self.virtual_time = finish;
            self.departures.clear(class);
            self.backlogged_weight -= self.classes[class].weight;
        }
        // The fluid is idle: nothing carries over into its next busy period.
        self.virtual_time = 0;
        self.remainder = 0;
    }

    fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Share>() + self.departures.footprint()
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
