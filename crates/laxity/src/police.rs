//! Token buckets: whether a packet conforms to its class's arrival curve, and if not, when it
//! would. And the policer, which holds packets to these curves at the entrance.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::memory::prefetch;
use crate::packet::{ClassId, Packet};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// A line that the traffic of any interval stays under, `bucket + rate t`: one of the buckets of a
/// TSpec (Shenker and Wroclawski 1997).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// The burst.
    pub bucket: Bytes,
    /// The sustained rate.
    pub rate: Rate,
}

impl TokenBucket {
    /// The one of several lines that the traffic of long intervals stays under: the slowest.
    pub fn slowest(lines: &[TokenBucket]) -> Option<TokenBucket> {
        lines.iter().copied().min_by_key(TokenBucket::in_the_long_run)
    }

    /// Whether nothing keeps to it but nothing at all.
    pub fn is_nothing(&self) -> bool {
        self.bucket == Bytes(0) && self.rate == Rate(0)
    }

    /// The key by which [`slowest`](Self::slowest) chooses: the rate, and for equal rates the
    /// burst.
    pub fn in_the_long_run(&self) -> (Rate, Bytes) {
        (self.rate, self.bucket)
    }
}

/// A line that bounds the number of packets in any interval of length `t`, independent of their
/// lengths: `at_once + packets * t / every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a line is a burst and a rate, and nothing else")]
pub struct PacketLine {
    /// The packets of a burst.
    pub at_once: u64,
    /// The packets that come in the long run in each `every`.
    pub packets: u64,
    /// In nanoseconds; more than 0.
    pub every: u128,
}

/// The state of a token bucket, exact to a billionth of a bit: full at the start, filling at its
/// rate, never above its size.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    /// In tokens.
    bucket: u128,
    /// In tokens a nanosecond.
    rate: u64,
    tokens: u128,
    filled_at: Nanos,
    /// The tokens that a byte takes: one for each billionth of a bit, or none.
    per_byte: u64,
    /// The tokens that each packet takes besides.
    per_packet: u128,
}

impl Level {
    fn from_bucket(TokenBucket { bucket, rate }: TokenBucket) -> Self {
        Level::new(nanobits(bucket.0), rate.0, NANOBITS_PER_BYTE, 0)
    }

    fn from_packets(PacketLine { at_once, packets, every }: PacketLine) -> Self {
        Level::new(u128::from(at_once).saturating_mul(every), packets, 0, every)
    }

    fn new(bucket: u128, rate: u64, per_byte: u64, per_packet: u128) -> Self {
        Level { bucket, rate, tokens: bucket, filled_at: Nanos::ZERO, per_byte, per_packet }
    }

    fn cost(&self, length: u32) -> u128 {
        u128::from(length) * u128::from(self.per_byte) + self.per_packet
    }

    fn tokens_at(&self, now: Nanos) -> u128 {
        let gained = u128::from(self.rate) * u128::from(now.saturating_sub(self.filled_at).0);
        self.tokens.saturating_add(gained).min(self.bucket)
    }

    /// The first time from `now` on at which the bucket holds `length` bytes; `None` if it is too
    /// small to ever do so.
    fn earliest(&self, now: Nanos, length: u32) -> Option<Nanos> {
        let wanted = self.cost(length);
        if wanted > self.bucket {
            return None;
        }
        let missing = wanted.saturating_sub(self.tokens_at(now));
        if missing == 0 {
            return Some(now);
        }
        let rate = u128::from(self.rate);
        let wait = (missing + rate.saturating_sub(1)).checked_div(rate)?;
        Some(now.saturating_add(Nanos(u64::try_from(wait).ok()?)))
    }

    /// Takes the tokens of a packet of `length` bytes at `now`; the bucket must hold them.
    fn take(&mut self, now: Nanos, length: u32) {
        self.tokens = self.tokens_at(now) - self.cost(length);
        self.filled_at = now;
    }
}

fn nanobits(bytes: u64) -> u128 {
    u128::from(bytes) * u128::from(NANOBITS_PER_BYTE)
}

/// The token buckets of one class. A packet conforms if all of them hold enough tokens for it; so
/// the traffic of any interval stays below the minimum of their lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    levels: Vec<Level>,
    /// In bytes.
    lengths: RangeInclusive<u32>,
}

impl Meter {
    /// A meter with all buckets full.
    pub fn new(buckets: impl IntoIterator<Item = TokenBucket>) -> Self {
        Meter {
            levels: buckets.into_iter().map(Level::from_bucket).collect(),
            lengths: 0..=u32::MAX,
        }
    }

    /// The same meter, to which a packet of any other length, in bytes, never conforms.
    #[must_use]
    pub fn with_lengths(self, lengths: RangeInclusive<u32>) -> Self {
        Meter { lengths, ..self }
    }

    /// The same meter, to which packets conform only while their number stays under this line, too.
    #[must_use]
    pub fn with_packets(mut self, line: PacketLine) -> Self {
        self.levels.push(Level::from_packets(line));
        self
    }

    /// The first time from `now` on at which a packet of `length` bytes conforms; `None` if it
    /// never will.
    pub fn earliest(&self, now: Nanos, length: u32) -> Option<Nanos> {
        if !self.lengths.contains(&length) {
            return None;
        }
        // A bucket that holds the packet goes on holding it until something is taken.
        self.levels.iter().try_fold(now, |at, level| Some(at.max(level.earliest(now, length)?)))
    }

    /// Takes a conforming packet's tokens and says true, or takes nothing and says false.
    pub fn consume(&mut self, now: Nanos, length: u32) -> bool {
        let conforms = self.lengths.contains(&length)
            && self.levels.iter().all(|level| level.tokens_at(now) >= level.cost(length));
        if conforms {
            for level in &mut self.levels {
                level.take(now, length);
            }
        }
        conforms
    }
}

/// How a class treats packets that break its arrival curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a packet gets in as it is, as less, or not")]
pub enum Police {
    /// They are counted and travel on.
    Count,
    /// They travel as best effort.
    Demote,
    /// They are dropped.
    Drop,
}

/// The verdict of a [`Policer`] on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a packet conforms or not, and gets in or not")]
#[must_use = "what does not get in is dropped for its contract"]
pub enum Entry {
    /// It keeps to its class's arrival curve.
    Conforming,
    /// It breaks the curve and gets in, as best effort only if [demoted](Packet::demoted).
    Nonconforming,
    /// It breaks the curve and does not get in.
    Refused,
}

/// The entrance to a link or a network, where packets are held to the arrival curves of their
/// classes.
#[derive(Clone, Debug)]
pub struct Policer {
    /// By class number.
    classes: Vec<(Option<Meter>, Police)>,
    nonconforming: Vec<u64>,
    /// Packets that come before are not counted.
    measured_from: Nanos,
}

impl Policer {
    /// An entrance for these classes, in the order of their numbers; one without a meter has no
    /// curve to break. Packets that come before `measured_from` are not counted.
    pub fn new(
        classes: impl IntoIterator<Item = (Option<Meter>, Police)>,
        measured_from: Nanos,
    ) -> Self {
        let classes: Vec<_> = classes.into_iter().collect();
        Policer { nonconforming: alloc::vec![0; classes.len()], classes, measured_from }
    }

    /// Whether a packet that comes now conforms and gets in; marks it if it does so as best effort
    /// only. A class that is unknown has no curve.
    #[inline]
    pub fn police(&mut self, now: Nanos, packet: &mut Packet) -> Entry {
        let class = packet.class.index();
        let Some((Some(meter), police)) = self.classes.get_mut(class) else {
            return Entry::Conforming;
        };
        if meter.consume(now, packet.length) {
            return Entry::Conforming;
        }
        self.nonconforming[class] += u64::from(now >= self.measured_from);
        packet.demoted |= *police == Police::Demote;
        if *police == Police::Drop { Entry::Refused } else { Entry::Nonconforming }
    }

    /// Prefetches what is known of a class.
    #[inline(always)]
    pub fn prefetch(&self, class: ClassId) {
        if let Some(meter) = self.classes.get(class.index()) {
            prefetch(meter);
        }
    }

    /// Meters a packet that has got in before and stays, as when a plan is replaced by another: it
    /// is demoted where others would be refused, and not counted.
    pub fn keep(&mut self, packet: &mut Packet) {
        if packet.demoted {
            return;
        }
        let Some((Some(meter), police)) = self.classes.get_mut(packet.class.index()) else {
            return;
        };
        packet.demoted = !meter.consume(packet.arrival, packet.length) && *police != Police::Count;
    }

    /// Goes on with the meter of a class of another policer, where the class may have another
    /// number: what its buckets hold stays.
    pub fn go_on(&mut self, class: ClassId, last: &Policer, number: ClassId) {
        let known = last.classes.get(number.index());
        if let (Some((meter, _)), Some((known, _))) = (self.classes.get_mut(class.index()), known) {
            meter.clone_from(known);
        }
    }

    /// Number of packets that broke their class's arrival curve, by class number. Refused and
    /// demoted packets count as well.
    pub fn nonconforming(&self) -> &[u64] {
        &self.nonconforming
    }

    /// The same without the meters.
    pub fn into_nonconforming(self) -> Vec<u64> {
        self.nonconforming
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// All traffic that is let in keeps to the arrival curve over every interval.
        #[test]
        fn admitted_traffic_is_under_the_curve(
            bucket in 100u64..5_000, rate in 1_000u64..10_000_000,
            packets in prop::collection::vec((0u64..5_000_000, 1u32..1500), 1..60),
        ) {
            let mut meter = Meter::new([TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }]);
            let (mut now, mut admitted) = (Nanos::ZERO, Vec::new());
            for (gap, length) in packets {
                now += Nanos(gap);
                if meter.consume(now, length) {
                    admitted.push((now, length));
                }
            }
            for first in 0..admitted.len() {
                let mut sum = 0;
                for &(time, length) in &admitted[first..] {
                    sum += nanobits(u64::from(length));
                    let span = u128::from((time - admitted[first].0).0);
                    prop_assert!(sum <= nanobits(bucket) + u128::from(rate) * span);
                }
            }
        }

        /// However short they are, no more packets are admitted in any interval than the line has.
        #[test]
        fn admitted_packets_are_under_their_line(
            at_once in 1u64..5, packets in 1u64..10, every in 1u128..10_000_000,
            gaps in prop::collection::vec(0u64..5_000_000, 1..60),
        ) {
            let line = PacketLine { at_once, packets, every };
            let mut meter = Meter::new([]).with_packets(line);
            let (mut now, mut admitted, mut refused) = (Nanos::ZERO, Vec::new(), 0);
            for gap in gaps {
                now += Nanos(gap);
                if meter.consume(now, 1) { admitted.push(now) } else { refused += 1 }
            }
            for (first, begin) in admitted.iter().enumerate() {
                for (last, end) in admitted.iter().enumerate().skip(first) {
                    let (count, span) = ((last + 1 - first) as u128, u128::from((*end - *begin).0));
                    prop_assert!(count * every <= u128::from(at_once) * every + u128::from(packets) * span);
                }
            }
            prop_assert!(admitted.len() as u64 >= at_once.min(admitted.len() as u64 + refused));
        }

        /// `earliest` is the first nanosecond at which the packet is admitted.
        #[test]
        fn earliest_is_the_first_conforming_instant(
            rate in 1_000u64..10_000_000, first in 1u32..1000, second in 1u32..1000,
        ) {
            let mut meter = Meter::new([
                TokenBucket { bucket: Bytes(1000), rate: Rate(rate) },
                TokenBucket { bucket: Bytes(1200), rate: Rate(rate / 2 + 1) },
            ]);
            prop_assert!(meter.consume(Nanos(7), first));
            let at = meter.earliest(Nanos(7), second).unwrap();
            prop_assert!(at == Nanos(7) || !meter.clone().consume(Nanos(at.0 - 1), second));
            prop_assert!(meter.consume(at, second));
        }
    }

    /// Of two packets at once only the first conforms. The second is treated as its class says, and
    /// is counted if it arrives within the measured time.
    #[test]
    fn what_breaks_its_curve_is_treated_as_its_class_says() {
        let bucket = TokenBucket { bucket: Bytes(100), rate: Rate(8_000) };
        let metered = [Police::Count, Police::Demote, Police::Drop];
        let classes = metered.map(|police| (Some(Meter::new([bucket])), police));
        let free = [(None, Police::Drop)];
        let mut policer = Policer::new(classes.into_iter().chain(free), Nanos(1_000_000_000));
        let mut second_of = |now: Nanos, class: u32| {
            let mut packet = Packet { class: ClassId(class), length: 100, ..Packet::default() };
            assert_eq!(policer.police(now, &mut packet), Entry::Conforming);
            assert!(!packet.demoted);
            (policer.police(now, &mut packet), packet.demoted)
        };
        for now in [Nanos::ZERO, Nanos(1_000_000_000)] {
            let fates: Vec<_> = (0..5).map(|class| second_of(now, class)).collect();
            let wanted = [
                (Entry::Nonconforming, false),
                (Entry::Nonconforming, true),
                (Entry::Refused, false),
                (Entry::Conforming, false),
                (Entry::Conforming, false),
            ];
            assert_eq!(fates, wanted);
        }
        assert_eq!(policer.nonconforming(), [1, 1, 1, 0]);
    }

    #[test]
    fn a_packet_of_another_length_never_conforms_and_takes_nothing() {
        let bucket = TokenBucket { bucket: Bytes(100), rate: Rate(8) };
        let mut meter = Meter::new([bucket]).with_lengths(64..=99);
        assert!(!meter.consume(Nanos::ZERO, 63));
        assert_eq!(meter.earliest(Nanos::ZERO, 63), None);
        assert!(!meter.consume(Nanos::ZERO, 100));
        assert!(meter.consume(Nanos::ZERO, 99));
        assert_eq!(meter.earliest(Nanos::ZERO, 64), Some(Nanos(63_000_000_000)));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_never_conforms() {
        let meter = Meter::new([TokenBucket { bucket: Bytes(100), rate: Rate(1_000) }]);
        assert_eq!(meter.earliest(Nanos(5), 101), None);
    }
}
