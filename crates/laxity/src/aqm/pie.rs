//! PIE, proportional integral controller enhanced (Pan, Natarajan, Baker, White 2017, RFC 8033).

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::Limit;
use super::queue::{Admission, Applicant};
use crate::error::{SetupError, check};
use crate::packet::Packet;
use crate::scheduler::{Backlog, DropReason};
use crate::units::{Bytes, Nanos};

/// How PIE is set: arriving packets are dropped with a probability that is moved every `update`, by
/// how far the queueing delay is from `target` and by how much it has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    /// QDELAY_REF: the queueing delay that is aimed at. 15 ms is recommended.
    pub target: Nanos,
    /// T_UPDATE, more than zero: how often the probability is moved. 15 ms is recommended.
    pub update: Nanos,
    /// The amount by which one second of delay above `target` raises the probability with every
    /// update, in millionths, at most [`MOST_GAIN`](Self::MOST_GAIN). An eighth is recommended.
    pub alpha: u32,
    /// The same of one second by which the delay has grown. 1.25 is recommended.
    pub beta: u32,
    /// MAX_BURST: for how long nothing is dropped when a queue begins. 150 ms is recommended.
    pub burst: Nanos,
    /// Limit of the queue.
    pub limit: Limit,
    /// Packets that are capable of ECN are marked instead of dropped, as long as the probability is
    /// below a tenth.
    pub ecn: bool,
    /// MEAN_PKTSIZE: where no more than two packets of this length are queued, none is dropped.
    pub packet: Bytes,
}

impl Pie {
    /// The target that RFC 8033, section 4.2 recommends.
    pub const TARGET: Nanos = Nanos(15_000_000);
    /// The period that it recommends.
    pub const UPDATE: Nanos = Nanos(15_000_000);
    /// The gains that it recommends, in millionths.
    pub const GAINS: [u32; 2] = [125_000, 1_250_000];
    /// The burst that section 4.4 recommends.
    pub const BURST: Nanos = Nanos(150_000_000);
    /// The largest gain: 1000.
    pub const MOST_GAIN: u32 = 1_000_000_000;

    /// # Errors
    /// If there is no time between two updates, or a gain is too large.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        check("PIE's update in ns", self.update.0, 1..=u64::MAX)?;
        check("PIE's alpha in millionths", self.alpha.into(), 0..=Self::MOST_GAIN.into())?;
        check("PIE's beta in millionths", self.beta.into(), 0..=Self::MOST_GAIN.into())
    }
}

/// One, in the parts of probabilities.
const ONE: i64 = 1 << 56;
/// Bits of a draw that probabilities are finer than.
const FINER: u32 = 24;
/// Sums of probabilities since the last drop at which no draw decides: below, packets get in, and
/// from the second on they do not (section 5.4).
const LEAST_SUM: i64 = ONE / 100 * 85;
const MOST_SUM: i64 = ONE / 10 * 85;
/// Below which part of one the probability moves by how much less.
const SLOWER: [(i64, i128); 6] =
    [(1_000_000, 2048), (100_000, 512), (10_000, 128), (1_000, 32), (100, 8), (10, 2)];
/// The inverse of the effect of a gain of one millionth per nanosecond.
const PER_PART: i128 = 1_000_000 * 1_000_000_000;
/// Longer delays count as this.
const LONGEST: u64 = 1_000_000_000_000;

/// PIE at work on a queue. Nothing happens between packets that an update would not find later, so
/// updates are made up for when a packet comes or goes.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    pie: Pie,
    random: Pcg32,
    /// drop_prob, in parts.
    probability: i64,
    /// accu_prob: the sum of probabilities since the last drop.
    sum: i64,
    /// The delay of the packet that left last; none when nothing is queued (section 5.2: by time
    /// stamps).
    delay: Nanos,
    /// qdelay_old: that of the last update.
    before: Nanos,
    /// burst_allowance.
    allowance: Nanos,
    next_update: Nanos,
}

impl Controller {
    pub(super) fn new(pie: Pie, random: Pcg32) -> Result<Self, SetupError> {
        pie.check()?;
        Ok(Controller {
            pie,
            random,
            probability: 0,
            sum: 0,
            delay: Nanos::ZERO,
            before: Nanos::ZERO,
            allowance: pie.burst,
            next_update: pie.update,
        })
    }

    pub(super) fn limit(&self) -> Limit {
        self.pie.limit
    }

    /// The time has come to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Nanos) {
        if now >= self.next_update {
            self.catch_up(now);
        }
    }

    fn catch_up(&mut self, now: Nanos) {
        let due = 1 + (now - self.next_update).0 / self.pie.update.0;
        let mut left = due;
        while left > 0 {
            let alike = self.alike().min(left);
            self.update(alike);
            left -= alike;
        }
        self.next_update =
            Nanos(self.pie.update.0.saturating_mul(due).saturating_add(self.next_update.0));
    }

    /// How many updates in a row move the probability by the same, as long as no packet comes or
    /// goes: until it passes into where it moves faster or slower. So ages take as many calls as
    /// there are such places, or decays until nothing is left.
    fn alike(&self) -> u64 {
        let decays = self.delay == Nanos::ZERO && self.probability / 64 > 0;
        if self.before != self.delay || decays {
            return 1;
        }
        let step = self.step();
        let bounds = SLOWER.iter().map(|(below, _)| ONE / below);
        let from_to = match step.signum() {
            0 => return u64::MAX,
            1 => bounds.chain([ONE]).find(|bound| *bound > self.probability),
            _ => {
                let below = bounds.rev().find(|bound| *bound <= self.probability);
                below.map(|bound| bound - 1).or((self.probability > 0).then_some(0))
            }
        };
        from_to.map_or(u64::MAX, |to| to.abs_diff(self.probability).div_ceil(step.unsigned_abs()))
    }

    /// calculate_drop_prob (sections 4.2, 4.4 and 5.5), `times` times over while the step stays the
    /// same.
    fn update(&mut self, times: u64) {
        let [now, before] = [self.delay, self.before];
        let moved = i128::from(self.probability) + i128::from(self.step()) * i128::from(times);
        let mut probability = moved.clamp((-ONE).into(), (2 * ONE).into()) as i64;
        if now == Nanos::ZERO && before == Nanos::ZERO {
            probability -= probability / 64;
        }
        self.probability = probability.clamp(0, ONE);
        let passed = Nanos(self.pie.update.0.saturating_mul(times));
        self.allowance = self.allowance.saturating_sub(passed);
        let half = Nanos(self.pie.target.0 / 2);
        if self.probability == 0 && now < half && before < half {
            self.allowance = self.pie.burst;
        }
        self.before = now;
    }

    /// The step of the probability: smaller for small probabilities, as its effect is relative.
    fn step(&self) -> i64 {
        let pie = &self.pie;
        let [delay, before, target] =
            [self.delay, self.before, pie.target].map(|time| i128::from(time.0.min(LONGEST)));
        let gained =
            i128::from(pie.alpha) * (delay - target) + i128::from(pie.beta) * (delay - before);
        let slower = SLOWER.iter().find(|(below, _)| self.probability < ONE / below);
        let slower = slower.map_or(1, |(_, slower)| *slower);
        let step = gained * i128::from(ONE) / (PER_PART * slower);
        let most = if self.probability >= ONE / 10 { ONE / 50 } else { ONE };
        step.clamp((-ONE).into(), most.into()) as i64
    }

    /// Whether an arriving packet gets in, maybe marked: enque and drop_early (sections 4.1, 5.1
    /// and 5.4).
    pub(super) fn judge(
        &mut self,
        packet: Applicant,
        queued: Backlog,
    ) -> Result<Admission, DropReason> {
        packet.check(self.pie.limit, queued)?;
        if self.allowance > Nanos::ZERO || !self.drops_early(queued) {
            return Ok(Admission::Plain);
        }
        let marks = self.pie.ecn && self.probability < ONE / 10;
        packet.mark_or_drop(marks, DropReason::Pie)
    }

    fn drops_early(&mut self, queued: Backlog) -> bool {
        let is_short = self.before.0 < self.pie.target.0 / 2 && self.probability < ONE / 5;
        if is_short || queued.bytes <= self.pie.packet.0.saturating_mul(2) {
            return false;
        }
        if self.probability == 0 {
            self.sum = 0;
        }
        self.sum += self.probability;
        if self.sum < LEAST_SUM {
            return false;
        }
        let drops =
            self.sum >= MOST_SUM || i64::from(self.random.next_u32()) << FINER < self.probability;
        if drops {
            self.sum = 0;
        }
        drops
    }

    /// Nothing is queued.
    pub(super) fn idle(&mut self) {
        self.delay = Nanos::ZERO;
    }

    /// A packet has left for the link; `queued` stay.
    pub(super) fn left(&mut self, now: Nanos, packet: &Packet, queued: Backlog) {
        self.delay = match queued.packets {
            0 => Nanos::ZERO,
            _ => now.saturating_sub(packet.arrival),
        };
    }
}
