//! DualPI2, the dual queue coupled PI2 (De Schepper, Briscoe, White 2023, RFC 9332, appendix A; De
//! Schepper, Bondarenko, Tsang, Briscoe 2016, *PI2: A linearized AQM for both classic and scalable
//! TCP*).

mod explain;
#[cfg(test)]
mod tests;

use crate::aqm::{Fate, Limit};
use crate::error::{SetupError, check};
use crate::explain::Explain;
use crate::packet::{Ecn, Packet};
use crate::queue::Fifos;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;

/// How DualPI2 is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Settings {
    /// The queueing delay of the classic queue that is aimed at. 15 ms is recommended.
    pub target: Nanos,
    /// Tupdate, more than zero: how often the base probability p' is moved. 16 ms is usual.
    pub update: Nanos,
    /// The amount by which one second of delay above `target` raises p' with every update, in
    /// millionths, at most [`MOST_GAIN`](Self::MOST_GAIN). 0.16 suits round trips of up to 100 ms.
    pub alpha: u32,
    /// The same of one second by which the delay has grown. For round trips of up to 100 ms it is
    /// 3.2.
    pub beta: u32,
    /// k, 1 to [`MOST_COUPLING`](Self::MOST_COUPLING): packets of the L4S queue are marked with a
    /// probability of at least k p', those of the classic queue with one of p'^2. With 2 flows of
    /// both have rates of one order.
    pub coupling: u32,
    /// Packets of the L4S queue that have waited for longer are marked, unless there is no other
    /// behind. 1 ms is usual.
    pub threshold: Nanos,
    /// The share of the link for the classic queue, in millionths, while both queues have packets.
    /// A tenth is usual.
    pub classic_share: u32,
    /// Limit of both queues together.
    pub limit: Limit,
    /// The longest packet in bytes; the L4S queue has a lead of this length.
    pub packet: u32,
}

impl DualPi2Settings {
    /// As Linux 6.17 has it: gains for round trips of up to 100 ms, which RFC 9332, appendix A.1
    /// derives, and a step in place of a ramp of marks.
    pub const USUAL: DualPi2Settings = DualPi2Settings {
        target: Nanos(15_000_000),
        update: Nanos(16_000_000),
        alpha: 160_000,
        beta: 3_200_000,
        coupling: 2,
        threshold: Nanos(1_000_000),
        classic_share: 100_000,
        limit: Limit::Packets(10_000),
        packet: 1_514,
    };
    /// The largest gain: 1000.
    pub const MOST_GAIN: u32 = 1_000_000_000;
    /// The largest coupling factor.
    pub const MOST_COUPLING: u32 = 255;
}

impl Default for DualPi2Settings {
    fn default() -> Self {
        DualPi2Settings::USUAL
    }
}

/// Two queues that share a link: the L4S queue, for packets with ECT(1) or CE, and the classic
/// queue, for all others. Senders of L4S packets react to the fraction of marked packets, so their
/// queue is marked early and often and stays nearly empty. The classic queue is kept near a target
/// delay by the drops and marks of a PI controller. Its probability p' squared applies to the
/// classic queue, p' itself to the L4S queue as a minimum: so flows of both kinds get about the
/// same rate. No delay is guaranteed.
///
/// While both queues have packets, weights decide which one sends: the L4S queue goes first until
/// the classic queue has credit. Marks and drops are counted out instead of drawn (`recur` of
/// appendix A.1), so nothing is random. When p' reaches 1/k, marks do not suffice: the L4S queue
/// then drops as the classic queue does, and the classic queue marks no more (A.2).
///
/// Updates between packets are made up for at the next packet that arrives or leaves, at most 4096
/// of them, with the same result.
///
/// A packet takes constant time, amortised over dropped packets.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    settings: DualPi2Settings,
    /// How many classes there are.
    classes: usize,
    packets: Fifos<(), Packet>,
    backlog: Backlog,
    /// p', in parts.
    probability: i64,
    /// The delay at the last update.
    before: Nanos,
    next_update: Nanos,
    /// Probability carried over since the last mark or drop, by queue, in parts.
    counts: [i64; 2],
    /// In millionths of bytes, above zero where the classic queue goes first.
    credit: i64,
}

/// The L4S queue, and the classic one.
const L: usize = 0;
const C: usize = 1;
/// One, in the parts of probabilities.
const ONE: i64 = 1 << 56;
/// One, in the parts of shares.
const WHOLE: i64 = 1_000_000;
/// The inverse of the effect of a gain of one millionth per nanosecond.
const PER_PART: i128 = 1_000_000 * 1_000_000_000;
/// Longer delays count as this.
const LONGEST: u64 = 1_000_000_000_000;
/// Updates that are made up for at once.
const MOST_UPDATES: u64 = 4096;

impl DualPi2 {
    /// Empty queues for the packets of classes 0 to `classes - 1`.
    ///
    /// # Errors
    /// If there is no time between updates, a gain or the coupling factor is too large or zero, or
    /// a share is above one.
    pub fn new(classes: usize, settings: DualPi2Settings) -> Result<Self, SetupError> {
        let most_gain = DualPi2Settings::MOST_GAIN.into();
        let most_coupling = DualPi2Settings::MOST_COUPLING.into();
        check("DualPI2's update in ns", settings.update.0, 1..=u64::MAX)?;
        check("DualPI2's alpha in millionths", settings.alpha.into(), 0..=most_gain)?;
        check("DualPI2's beta in millionths", settings.beta.into(), 0..=most_gain)?;
        check("DualPI2's coupling factor", settings.coupling.into(), 1..=most_coupling)?;
        let share = settings.classic_share.into();
        check("the classic queue's share in millionths", share, 0..=WHOLE as u64)?;
        Ok(DualPi2 {
            settings,
            classes,
            packets: Fifos::new(2),
            backlog: Backlog::default(),
            probability: 0,
            before: Nanos::ZERO,
            next_update: settings.update,
            counts: [0; 2],
            credit: 0,
        })
    }

    /// The packet classifier: ECT(1) and CE.
    fn queue_of(packet: &Packet) -> usize {
        match packet.ecn {
            Ecn::L4s | Ecn::Experienced => L,
            Ecn::NotCapable | Ecn::Capable => C,
        }
    }

    /// The time has come to `now`.
    #[inline]
    fn advance(&mut self, now: Nanos) {
        if now >= self.next_update {
            self.catch_up(now);
        }
    }

    fn catch_up(&mut self, now: Nanos) {
        let Nanos(update) = self.settings.update;
        let due = 1 + (now - self.next_update).0 / update;
        for number in 0..due.min(MOST_UPDATES) {
            self.update(Nanos(self.next_update.0 + number * update));
        }
        self.next_update = Nanos(self.next_update.0.saturating_add(due.saturating_mul(update)));
    }

    /// dualpi2_update: by the longer one of both queues' delays.
    fn update(&mut self, at: Nanos) {
        let waited =
            |queue| self.packets.front(queue).map(|first| at.saturating_sub(first.arrival));
        let delay = waited(L).max(waited(C)).unwrap_or_default();
        let [now, before, target] =
            [delay, self.before, self.settings.target].map(|time| i128::from(time.0.min(LONGEST)));
        let gained = i128::from(self.settings.alpha) * (now - target)
            + i128::from(self.settings.beta) * (now - before);
        let step = (gained * i128::from(ONE) / PER_PART).clamp((-ONE).into(), ONE.into()) as i64;
        self.probability = (self.probability + step).clamp(0, ONE);
        self.before = delay;
    }

    /// scheduler(): the queue that sends next.
    fn chosen(&self) -> Option<usize> {
        match [L, C].map(|queue| self.packets.is_empty(queue)) {
            [true, true] => None,
            [false, true] => Some(L),
            [true, false] => Some(C),
            [false, false] => Some(if self.credit > 0 { C } else { L }),
        }
    }

    /// Charges a packet to the credit, if the other queue waited for it.
    fn pay(&mut self, queue: usize, length: u32) {
        let share = i64::from(self.settings.classic_share);
        let weight = if queue == L { share } else { share - WHOLE };
        if !self.packets.is_empty(1 - queue) {
            self.credit += weight * i64::from(length);
        }
    }

    /// dualpi2_dequeue, for a packet that has left its queue.
    fn judge(&mut self, now: Nanos, queue: usize, packet: &Packet) -> Fate {
        let squared = ((i128::from(self.probability) * i128::from(self.probability)) >> 56) as i64;
        let linear = i128::from(self.probability) * i128::from(self.settings.coupling);
        let coupled = linear.min(ONE.into()) as i64;
        let is_overloaded = coupled == ONE;
        if queue == C {
            let is_capable = packet.ecn != Ecn::NotCapable;
            return match self.recurs(C, squared) {
                false => Fate::Sent,
                true if is_capable && !is_overloaded => Fate::Marked,
                true => Fate::Dropped,
            };
        }
        if is_overloaded && self.recurs(L, squared) {
            return Fate::Dropped;
        }
        let native = if self.is_above(now, packet) { ONE } else { 0 };
        if self.recurs(L, native.max(coupled)) { Fate::Marked } else { Fate::Sent }
    }

    /// laqm(): whether a packet has waited for longer than it should, and is not alone.
    fn is_above(&self, now: Nanos, packet: &Packet) -> bool {
        now.saturating_sub(packet.arrival) > self.settings.threshold && !self.packets.is_empty(L)
    }

    /// recur(): true so often that it is as likely as said.
    fn recurs(&mut self, queue: usize, likelihood: i64) -> bool {
        let count = &mut self.counts[queue];
        *count += likelihood;
        let is_due = *count > ONE;
        if is_due {
            *count -= ONE;
        }
        is_due
    }
}

impl Scheduler for DualPi2 {
    by_place!();

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.advance(now);
        loop {
            let queue = self.chosen()?;
            let (mut packet, _) = self.packets.pop(queue)?;
            self.backlog.remove(packet.length);
            match self.judge(now, queue, &packet) {
                Fate::Dropped => {
                    drops.dropped(packet, DropReason::DualPi2);
                    continue;
                }
                Fate::Marked if packet.ecn != Ecn::Experienced => {
                    packet.mark();
                    drops.marked(packet.class, packet.arrival);
                }
                Fate::Marked | Fate::Sent => {}
            }
            self.pay(queue, packet.length);
            return Some(Dispatch { packet, deadline: None, criterion: Criterion::RoundRobin });
        }
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.settings.limit.check(self.backlog.and(ahead), packet).is_ok()
    }

    fn footprint(&self) -> usize {
        self.packets.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for DualPi2 {
    /// dualpi2_enqueue.
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        self.advance(now);
        match self.settings.limit.check(self.backlog, &packet) {
            Err(reason) if packet.class.index() < self.classes => turn_away(packet, reason, drops),
            _ => self.adopt(now, packet, drops),
        }
    }

    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if packet.class.index() >= self.classes {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.advance(now);
        if self.backlog.packets == 0 {
            let share = i64::from(self.settings.classic_share);
            self.credit = (2 * share - WHOLE) * i64::from(self.settings.packet);
        }
        self.backlog.add(packet.length);
        Some(self.packets.push(Self::queue_of(&packet), (), packet))
    }

    /// A withdrawn packet leaves no trace in marks, drops or credit.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let queue = Self::queue_of(self.packets.get(place));
        let (packet, _) = self.packets.withdraw(queue, place)?;
        self.backlog.remove(packet.length);
        Some(packet)
    }
}
