//! Accounting around a scheduler: what arrived, what left, how late, and what was dropped and why.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::packet::{ClassId, Packet};
use crate::scheduler::{Dispatch, DropReason, DropSink, Scheduler};
use crate::units::Nanos;

/// A scheduler with its books kept by class. Once every transmission has been reported, for every
/// class arrived = sent + dropped + queued; packets of the warm-up count as queued alone.
#[derive(Debug)]
pub struct Port<S> {
    scheduler: S,
    books: Books,
}

/// The books of all classes.
#[derive(Clone, Debug)]
pub struct Books {
    accounts: Vec<Account>,
    /// Of packets of classes that there are not.
    strays: Account,
    /// Packets that arrive before are counted in `queued` only.
    measured_from: Nanos,
}

/// What a class is promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// The delay that its plan asks for.
    pub deadline: Option<Nanos>,
    /// The delay that an admission test proves.
    pub bound: Option<Nanos>,
}

/// The books of one class.
#[derive(Clone, Debug)]
pub struct Account {
    /// What its packets are promised, unless they are demoted to best effort.
    pub promise: Promise,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Boxed, for few classes have any and there may be a million.
    troubled: Option<Box<Troubled>>,
    /// Packets that were demoted to best effort, of those that were sent or dropped.
    pub demoted: u64,
    /// Packets that are in the scheduler, measured or not.
    pub queued: u64,
    /// Packets sent after their deadline, and those that still waited then.
    pub deadline_misses: u64,
    /// Packets delayed for longer than the bound, and those that waited longer.
    pub bound_misses: u64,
    /// The longest delay of any packet that was promised one.
    pub longest_promised: Nanos,
    /// From a packet's last bit in to its last bit out.
    pub delay: Delays,
}

/// Packets by reason.
type Dropped = [u64; DropReason::ALL.len()];

/// Packets that met congestion, or were not welcome.
#[derive(Clone, Copy, Debug, Default)]
struct Troubled {
    /// Those that were dropped, in the order of [`DropReason::ALL`].
    dropped: Dropped,
    /// Those that were marked.
    marked: u64,
}

impl<S: Scheduler> Port<S> {
    /// A port with these books.
    pub fn new(scheduler: S, books: Books) -> Self {
        Port { scheduler, books }
    }

    /// The books, by class number.
    pub fn accounts(&self) -> &[Account] {
        self.books.accounts()
    }

    /// The books of all packets whose class has none of its own.
    pub fn strays(&self) -> &Account {
        self.books.strays()
    }

    /// The books alone, without the scheduler.
    pub fn into_books(self) -> Books {
        self.books
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Hands a packet to the scheduler.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.scheduler.enqueue(now, packet, &mut Booking { books: &mut self.books, drops });
    }

    /// Hands a packet to the scheduler that another one had let in.
    pub fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.scheduler.take_over(now, packet, &mut Booking { books: &mut self.books, drops });
    }

    /// Counts a packet that was dropped before it reached the scheduler.
    pub fn refuse(&mut self, packet: Packet, reason: DropReason, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.books.dropped(&packet, reason);
        drops.dropped(packet, reason);
    }

    /// Takes the next packet from the scheduler.
    pub fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let dispatch =
            self.scheduler.dequeue(now, &mut Booking { books: &mut self.books, drops })?;
        self.books.dispatched(&dispatch.packet);
        Some(dispatch)
    }

    /// When the scheduler may have a packet.
    pub fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    /// Counts a packet whose last bit leaves at `departure`.
    pub fn sent(&mut self, packet: &Packet, departure: Nanos) {
        self.books.sent(packet, departure);
    }
}

/// Where a scheduler's drops and marks go: into the books, and on.
struct Booking<'a> {
    books: &'a mut Books,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Booking<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.books.dropped(&packet, reason);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(class, arrival);
        self.drops.marked(class, arrival);
    }
}

/// A packet that arrived in the measured time, was not demoted, and was sent, as books know it: 16
/// bytes.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Its class.
    pub class: ClassId,
    /// Its length in bytes.
    pub length: u32,
    /// From its arrival until its last bit left.
    pub delay: Nanos,
}

const _: () = assert!(size_of::<Carried>() == 16);

impl Books {
    /// Books of classes that are promised this; packets that arrive before `measured_from` are not
    /// measured.
    pub fn new(promises: impl IntoIterator<Item = Promise>, measured_from: Nanos) -> Self {
        let accounts = promises.into_iter().map(Account::new).collect();
        Books { accounts, strays: Account::new(Promise::default()), measured_from }
    }

    /// The books, by class number.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The books of all packets whose class has none of its own.
    pub fn strays(&self) -> &Account {
        &self.strays
    }

    fn account(&mut self, packet: &Packet) -> &mut Account {
        self.accounts.get_mut(packet.class.index()).unwrap_or(&mut self.strays)
    }

    /// A packet has arrived.
    pub fn arrived(&mut self, packet: &Packet) {
        let is_measured = packet.arrival >= self.measured_from;
        let account = self.account(packet);
        account.queued += 1;
        account.arrived += u64::from(is_measured);
    }

    /// A packet that had arrived was dropped.
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        let is_measured = packet.arrival >= self.measured_from;
        let account = self.account(packet);
        account.queued -= 1;
        if is_measured {
            account.demoted += u64::from(packet.demoted);
            account.troubled.get_or_insert_default().dropped[reason as usize] += 1;
        }
    }

    /// A packet that had arrived was marked: of this class, and come then.
    pub fn marked(&mut self, class: ClassId, arrival: Nanos) {
        if arrival >= self.measured_from {
            let account = self.accounts.get_mut(class.index()).unwrap_or(&mut self.strays);
            account.troubled.get_or_insert_default().marked += 1;
        }
    }

    /// A packet that had arrived goes to the link.
    pub fn dispatched(&mut self, packet: &Packet) {
        self.account(packet).queued -= 1;
    }

    /// A packet that was dispatched leaves, with its last bit at `departure`.
    pub fn sent(&mut self, packet: &Packet, departure: Nanos) {
        if packet.arrival < self.measured_from {
            return;
        }
        let delay = departure - packet.arrival;
        self.account(packet).sent(packet.length, packet.demoted, delay);
    }

    /// Packets have arrived, were dispatched and sent: what [`arrived`](Self::arrived),
    /// [`dispatched`](Self::dispatched) and [`sent`](Self::sent) count of each.
    pub fn carried(&mut self, packets: &[Carried]) {
        for alike in packets.chunk_by(|one, next| one.class == next.class) {
            let account = self.accounts.get_mut(alike[0].class.index()).unwrap_or(&mut self.strays);
            account.arrived += alike.len() as u64;
            for Carried { length, delay, .. } in alike {
                account.sent(*length, false, *delay);
            }
        }
    }

    /// A packet that had arrived is still waiting at the `end`: by then it has missed what it was
    /// promised to be sent before.
    pub fn waits(&mut self, packet: &Packet, end: Nanos) {
        if packet.arrival < self.measured_from || packet.demoted {
            return;
        }
        self.account(packet).miss(end - packet.arrival);
    }
}

impl Account {
    /// Packets that were dropped, in the order of [`DropReason::ALL`].
    pub fn dropped(&self) -> Dropped {
        self.troubled.as_deref().copied().unwrap_or_default().dropped
    }

    /// Packets that a queue marked as having met congestion (ECN), whatever became of them then.
    pub fn marked(&self) -> u64 {
        self.troubled.as_deref().map_or(0, |troubled| troubled.marked)
    }

    #[inline]
    fn sent(&mut self, length: u32, demoted: bool, delay: Nanos) {
        self.sent += 1;
        self.bytes_sent += u64::from(length);
        self.demoted += u64::from(demoted);
        if !demoted {
            self.miss(delay);
            self.longest_promised = self.longest_promised.max(delay);
        }
        self.delay.record(delay);
    }

    /// Counts what a packet has missed that was so long on its way.
    fn miss(&mut self, delay: Nanos) {
        let later_than = |limit: Option<Nanos>| limit.is_some_and(|limit| delay > limit);
        self.deadline_misses += u64::from(later_than(self.promise.deadline));
        self.bound_misses += u64::from(later_than(self.promise.bound));
    }

    fn new(promise: Promise) -> Self {
        Account {
            promise,
            arrived: 0,
            sent: 0,
            bytes_sent: 0,
            troubled: None,
            demoted: 0,
            queued: 0,
            deadline_misses: 0,
            bound_misses: 0,
            longest_promised: Nanos::ZERO,
            delay: Delays::default(),
        }
    }
}

/// A distribution of delays: extremes and moments exact, the rest to one part in 128.
///
/// Delays below 128 ns have a bucket each; above, every octave has 128 buckets, allocated when the
/// octave is first met.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    least: u64,
    greatest: u64,
    octaves: Vec<Option<Box<[u64; PER_OCTAVE]>>>,
}

const PRECISION: u32 = 7;
const PER_OCTAVE: usize = 1 << PRECISION;

impl Delays {
    /// Counts a delay.
    #[inline]
    pub fn record(&mut self, delay: Nanos) {
        let delay = delay.0;
        self.least = if self.count == 0 { delay } else { self.least.min(delay) };
        self.greatest = self.greatest.max(delay);
        self.count += 1;
        self.sum += u128::from(delay);
        let square = u128::from(delay) * u128::from(delay);
        self.sum_of_squares = self.sum_of_squares.saturating_add(square);
        let (octave, bucket) = place(delay);
        match self.octaves.get_mut(octave) {
            Some(Some(counts)) => counts[bucket] += 1,
            _ => self.open(octave)[bucket] += 1,
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Delays) {
        if other.count == 0 {
            return;
        }
        self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        self.greatest = self.greatest.max(other.greatest);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        for (octave, counts) in other.octaves.iter().enumerate() {
            let Some(counts) = counts else { continue };
            let own = match self.octaves.get_mut(octave) {
                Some(Some(own)) => own,
                _ => self.open(octave),
            };
            own.iter_mut().zip(counts.iter()).for_each(|(own, count)| *own += count);
        }
    }

    /// Makes the buckets of an octave that is first met.
    #[cold]
    fn open(&mut self, octave: usize) -> &mut [u64; PER_OCTAVE] {
        if self.octaves.len() <= octave {
            self.octaves.resize_with(octave + 1, || None);
        }
        self.octaves[octave].insert(Box::new([0; PER_OCTAVE]))
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest; zero if there is none.
    pub fn min(&self) -> Nanos {
        Nanos(self.least)
    }

    /// The longest; zero if there is none.
    pub fn max(&self) -> Nanos {
        Nanos(self.greatest)
    }

    /// All of them together, in ns.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in ns; zero if there is none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The variance in ns^2 over all that were counted; zero if there is none.
    pub fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let count = u128::from(self.count);
        // Saturation needs the spread of 2^64 delays of ten minutes; the square of a mean may not
        // be subtracted from the mean of squares in floating point, where they are nearly equal.
        let spread = self
            .sum_of_squares
            .saturating_mul(count)
            .saturating_sub(self.sum.saturating_mul(self.sum));
        spread as f64 / (self.count as f64 * self.count as f64)
    }

    /// The delay that at least `parts` of `of` packets do not exceed, 999 of 1000 say: the upper
    /// edge of its bucket, but never above the longest delay. Zero if there is none.
    pub fn quantile(&self, parts: u64, of: u64) -> Nanos {
        let rank = (u128::from(self.count) * u128::from(parts)).div_ceil(u128::from(of));
        let mut missing = (rank as u64).clamp(1, self.count.max(1));
        for (upper, count) in self.buckets() {
            if count >= missing {
                return Nanos(upper.min(self.greatest));
            }
            missing -= count;
        }
        Nanos(self.greatest)
    }

    /// The buckets that hold something, in ascending order: upper edge in ns, packets.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let octaves = self.octaves.iter().enumerate();
        octaves.filter_map(|(octave, counts)| Some((octave, counts.as_ref()?))).flat_map(
            |(octave, counts)| {
                let held = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                held.map(move |(bucket, &count)| (upper_edge(octave, bucket), count))
            },
        )
    }
}

/// The octave and the bucket of a delay. Octave 0 holds the delays below 128 ns; octave k > 0 those
/// of k + 7 binary digits, by the seven digits behind the leading one.
fn place(delay: u64) -> (usize, usize) {
    let octave = (u64::BITS - delay.leading_zeros()).saturating_sub(PRECISION);
    let shift = octave.saturating_sub(1);
    (octave as usize, (delay >> shift) as usize % PER_OCTAVE)
}

/// The largest delay in a bucket.
fn upper_edge(octave: usize, bucket: usize) -> u64 {
    match octave {
        0 => bucket as u64,
        _ => {
            let shift = octave as u32 - 1;
            let leading = (PER_OCTAVE + bucket) as u128;
            (((leading + 1) << shift) - 1) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_delay_lies_in_its_bucket(delay: u64) {
            let (octave, bucket) = place(delay);
            let upper = upper_edge(octave, bucket);
            prop_assert!(delay <= upper);
            prop_assert_eq!(place(upper), (octave, bucket));
            prop_assert!((upper - delay) as f64 <= delay as f64 / 128.0);
        }

        #[test]
        fn quantiles_are_right_to_a_bucket(
            mut delays in prop::collection::vec(0u64..10_000_000_000, 1..300),
            parts in 1u64..=1000,
        ) {
            let mut recorded = Delays::default();
            for &delay in &delays {
                recorded.record(Nanos(delay));
            }
            delays.sort_unstable();
            let rank = (parts as usize * delays.len()).div_ceil(1000);
            let exact = delays[rank - 1];
            let found = recorded.quantile(parts, 1000).0;
            prop_assert!(exact <= found && found as f64 <= exact as f64 * (1.0 + 1.0 / 128.0));
            prop_assert_eq!(recorded.max().0, delays[delays.len() - 1]);
            prop_assert_eq!(recorded.min().0, delays[0]);
            let mean = delays.iter().map(|&d| d as f64).sum::<f64>() / delays.len() as f64;
            prop_assert!((recorded.mean() - mean).abs() <= mean * 1e-9);
            let variance = delays.iter().map(|&d| (d as f64 - mean).powi(2)).sum::<f64>() / delays.len() as f64;
            prop_assert!((recorded.variance() - variance).abs() <= variance * 1e-6 + 1.0);
        }
    }

    proptest! {
        /// All at once is one by one, strays included.
        #[test]
        fn what_is_carried_has_arrived_and_was_sent(
            packets in prop::collection::vec((0u32..4, 1u32..2_000, 1u64..99), 0..40),
        ) {
            let promise = |limit| Promise { deadline: Some(Nanos(limit)), bound: Some(Nanos(limit / 2)) };
            let mut one_by_one = Books::new([50, 70].map(promise), Nanos(100));
            let mut at_once = one_by_one.clone();
            let carried = packets.into_iter().map(|(class, length, delay)| Carried {
                class: ClassId(class),
                length,
                delay: Nanos(delay),
            });
            let carried: Vec<_> = carried.collect();
            for &Carried { class, length, delay } in &carried {
                let arrival = Nanos(100);
                let packet = Packet { class, length, arrival, ..Packet::default() };
                one_by_one.arrived(&packet);
                one_by_one.dispatched(&packet);
                one_by_one.sent(&packet, arrival.saturating_add(delay));
            }
            at_once.carried(&carried);
            prop_assert_eq!(std::format!("{one_by_one:?}"), std::format!("{at_once:?}"));
        }
    }

    #[test]
    fn delays_without_end_are_counted() {
        let mut recorded = Delays::default();
        for _ in 0..3 {
            recorded.record(Nanos::MAX);
        }
        assert_eq!((recorded.count(), recorded.max()), (3, Nanos::MAX));
        assert_eq!(recorded.mean(), u64::MAX as f64);
    }

    #[test]
    fn nothing_recorded_is_all_zero() {
        let none = Delays::default();
        assert_eq!((none.count(), none.min().0, none.max().0, none.quantile(1, 2).0), (0, 0, 0, 0));
        assert_eq!((none.mean(), none.variance()), (0.0, 0.0));
    }
}
