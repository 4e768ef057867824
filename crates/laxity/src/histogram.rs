//! Distributions of delays: moments and extremes exact, quantiles to a stated part.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::units::Nanos;

/// A distribution of delays to one part in 128: what [`Port`](crate::port::Port) keeps of every
/// class, in at most 58 KB, and in 256 bytes for every octave as long as no bucket has more than
/// 65 535 delays.
pub type Delays = Histogram<128>;

/// A log-linear histogram of delays, with exact count, sum, variance, minimum and maximum.
///
/// Every octave (from a power of two nanoseconds to the next) has `PER_OCTAVE` buckets of equal
/// width, so that a [quantile](Self::quantile) is too high by at most one part in `PER_OCTAVE`.
/// Delays below `PER_OCTAVE` nanoseconds have a bucket each. The buckets of an octave are allocated
/// when its first delay is recorded, with two bytes each as long as that is enough for all buckets
/// of all octaves, then with eight. A histogram of all 64-bit delays takes at most
/// `8 * PER_OCTAVE * (65 - log2 PER_OCTAVE)` bytes. `PER_OCTAVE` is a power of two, or the program
/// does not compile: 1024 buckets give three decimal digits.
///
/// ```
/// use laxity::histogram::Histogram;
/// use laxity::units::Nanos;
/// let mut delays = Histogram::<1024>::default();
/// for delay in 1..=1_000 {
///     delays.record(Nanos(delay * 1_000));
/// }
/// assert_eq!(delays.mean(), 500_500.0);
/// assert_eq!(delays.max(), Nanos(1_000_000));
/// let median = delays.quantile(1, 2).0;
/// assert!((500_000..=500_500).contains(&median));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Histogram<const PER_OCTAVE: usize> {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    least: u64,
    greatest: u64,
    octaves: Vec<Option<Counts<PER_OCTAVE>>>,
}

/// How many delays the buckets of an octave have.
#[derive(Clone, Debug)]
enum Counts<const BUCKETS: usize> {
    Narrow(Box<[u16; BUCKETS]>),
    Wide(Box<[u64; BUCKETS]>),
}

impl<const PER_OCTAVE: usize> Histogram<PER_OCTAVE> {
    const PRECISION: u32 = {
        assert!(PER_OCTAVE.is_power_of_two());
        PER_OCTAVE.ilog2()
    };

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
        let (octave, bucket) = Self::place(delay);
        match self.octaves.get_mut(octave) {
            Some(Some(Counts::Narrow(counts))) if counts[bucket] < u16::MAX => counts[bucket] += 1,
            Some(Some(Counts::Wide(counts))) => counts[bucket] += 1,
            _ => self.add(octave, bucket, 1),
        }
    }

    /// Adds the delays of another histogram.
    pub fn merge(&mut self, other: &Self) {
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
            for bucket in (0..PER_OCTAVE).filter(|bucket| counts.get(*bucket) > 0) {
                self.add(octave, bucket, counts.get(bucket));
            }
        }
    }

    /// Adds to a bucket, which may have no memory yet, or too little.
    #[cold]
    fn add(&mut self, octave: usize, bucket: usize, count: u64) {
        if self.octaves.len() <= octave {
            self.octaves.resize_with(octave + 1, || None);
        }
        // All octaves are alike: which of them a delay is in could not be predicted.
        let is_wide = self.octaves.iter().flatten().any(Counts::is_wide);
        let nothing = || {
            if is_wide {
                Counts::Wide(Box::new([0; PER_OCTAVE]))
            } else {
                Counts::Narrow(Box::new([0; PER_OCTAVE]))
            }
        };
        let sum = self.octaves[octave].get_or_insert_with(nothing).get(bucket) + count;
        if sum > u64::from(u16::MAX) && !is_wide {
            self.octaves.iter_mut().flatten().for_each(Counts::widen);
        }
        if let Some(counts) = &mut self.octaves[octave] {
            counts.set(bucket, sum);
        }
    }

    /// Number of delays recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest delay; zero if none was recorded.
    pub fn min(&self) -> Nanos {
        Nanos(self.least)
    }

    /// The longest delay; zero if none was recorded.
    pub fn max(&self) -> Nanos {
        Nanos(self.greatest)
    }

    /// Sum of all delays in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean delay in nanoseconds; zero if none was recorded.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Variance over all recorded delays, in square nanoseconds; zero if none was recorded.
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

    /// The quantile `parts / of`, for example 999 and 1000 for the 99.9th percentile: at least that
    /// share of the packets had this delay or a shorter one. The result is the upper edge of the
    /// bucket that holds the exact quantile, and never above the longest delay. Zero if no delay
    /// was recorded.
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

    /// The buckets that are not empty, in ascending order: upper edge in nanoseconds, and number of
    /// delays.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let octaves = self.octaves.iter().enumerate();
        octaves.filter_map(|(octave, counts)| Some((octave, counts.as_ref()?))).flat_map(
            |(octave, counts)| {
                let each = (0..PER_OCTAVE).map(|bucket| (bucket, counts.get(bucket)));
                let held = each.filter(|(_, count)| *count > 0);
                held.map(move |(bucket, count)| (Self::upper_edge(octave, bucket), count))
            },
        )
    }

    /// The octave and the bucket of a delay. Octave 0 holds the delays below `PER_OCTAVE`; octave
    /// k > 0 those of `k + PRECISION` binary digits, by the digits behind the leading one.
    fn place(delay: u64) -> (usize, usize) {
        let octave = (u64::BITS - delay.leading_zeros()).saturating_sub(Self::PRECISION);
        let shift = octave.saturating_sub(1);
        (octave as usize, (delay >> shift) as usize % PER_OCTAVE)
    }

    /// The largest delay in a bucket.
    fn upper_edge(octave: usize, bucket: usize) -> u64 {
        match octave.checked_sub(1) {
            None => bucket as u64,
            Some(shift) => ((((PER_OCTAVE + bucket + 1) as u128) << shift) - 1) as u64,
        }
    }
}

impl<const BUCKETS: usize> Counts<BUCKETS> {
    fn get(&self, bucket: usize) -> u64 {
        match self {
            Counts::Narrow(counts) => counts[bucket].into(),
            Counts::Wide(counts) => counts[bucket],
        }
    }

    fn is_wide(&self) -> bool {
        matches!(self, Counts::Wide(_))
    }

    fn widen(&mut self) {
        if let Counts::Narrow(counts) = self {
            *self = Counts::Wide(Box::new(counts.map(u64::from)));
        }
    }

    /// Sets a count, which has room.
    fn set(&mut self, bucket: usize, count: u64) {
        match self {
            Counts::Narrow(counts) => counts[bucket] = count as u16,
            Counts::Wide(counts) => counts[bucket] = count,
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
            let (octave, bucket) = Delays::place(delay);
            let upper = Delays::upper_edge(octave, bucket);
            prop_assert!(delay <= upper);
            prop_assert_eq!(Delays::place(upper), (octave, bucket));
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
    fn a_bucket_counts_beyond_what_two_bytes_hold() {
        let mut recorded = Delays::default();
        (0..70_000).for_each(|number| recorded.record(Nanos(1_000_000 + number % 2)));
        recorded.record(Nanos(1_100_000));
        let mut twice = recorded.clone();
        twice.merge(&recorded);
        for (delays, times) in [(recorded, 1), (twice, 2)] {
            let counts: Vec<_> = delays.buckets().map(|(_, count)| count).collect();
            assert_eq!(counts, [70_000 * times, times]);
            assert_eq!(delays.count(), 70_001 * times);
        }
    }

    #[test]
    fn nothing_recorded_is_all_zero() {
        let none = Delays::default();
        assert_eq!((none.count(), none.min().0, none.max().0, none.quantile(1, 2).0), (0, 0, 0, 0));
        assert_eq!((none.mean(), none.variance()), (0.0, 0.0));
    }
}
