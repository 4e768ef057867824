//! Arrival curves fitted to recorded traffic: what a class's `arrival` must say for a recording to
//! keep to it.

use std::fmt;

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::model::TokenBucket;

use crate::error::SimError;
use crate::source::Arrivals;

/// What a fitted rate is above the mean, in percent, unless told otherwise.
pub const DEFAULT_HEADROOM_PERCENT: u32 = 10;

/// The most packets that are fitted at once, for they are held in memory at 16 bytes each.
pub const MOST_PACKETS: usize = 50_000_000;

/// Token buckets to which all recorded traffic of one class keeps. They display as the class's line
/// in a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedArrival {
    /// How many packets there were.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From the first packet to the last.
    pub duration: Nanos,
    /// Their bits a second over the duration, taken as 1 s when it is zero.
    pub mean_bps: f64,
    /// The largest packet.
    pub packet: Bytes,
    /// The smallest bucket at the mean rate and the headroom, rounded up to three digits; and if
    /// that is smaller, the smallest bucket at the link's rate. The first says what the class needs
    /// in the long run, the second what it may ask of the link within a deadline.
    pub buckets: Vec<TokenBucket>,
}

impl FittedArrival {
    /// What the key `arrival` of a class is to say, in TOML.
    pub fn value(&self) -> String {
        let packet = self.packet.0;
        let lines = self.buckets.iter().map(|TokenBucket { bucket, rate }| {
            format!("{{ bucket = \"{}b\", rate = \"{rate}\", packet = \"{packet}b\" }}", bucket.0)
        });
        match lines.collect::<Vec<_>>().as_slice() {
            [line] => line.clone(),
            lines => format!("[\n  {},\n]", lines.join(",\n  ")),
        }
    }
}

impl fmt::Display for FittedArrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arrival = {}", self.value())
    }
}

/// How to fit.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// How far the fitted rate lies above the mean, in percent.
    pub headroom_percent: u32,
    /// The rate of the link that the classes will share.
    pub link: Rate,
    /// Packets before this time are left out.
    pub from: Nanos,
}

impl Fit {
    /// Fits an arrival curve to each of a recording's `classes`, in the plan's order; `None` for
    /// those without packets.
    ///
    /// # Errors
    /// If the recording cannot be read to its end, or has more than [`MOST_PACKETS`].
    pub fn fit(
        &self,
        arrivals: &mut dyn Arrivals,
        classes: usize,
    ) -> Result<Vec<Option<FittedArrival>>, SimError> {
        let mut traffic = vec![Vec::new(); classes];
        let mut total = 0;
        while let Some(arrival) = arrivals.next_arrival()? {
            if arrival.time < self.from {
                continue;
            }
            total += 1;
            if total > MOST_PACKETS {
                return Err(SimError::TooLongToFit { limit: MOST_PACKETS });
            }
            traffic[arrival.class.index()].push((arrival.time, arrival.length));
        }
        Ok(traffic.iter().map(|packets| self.fit_class(packets)).collect())
    }

    fn fit_class(&self, packets: &[Timed]) -> Option<FittedArrival> {
        let (first, last) = (packets.first()?.0, packets.last()?.0);
        let bytes: u64 = packets.iter().map(|&(_, length)| u64::from(length)).sum();
        let duration = last - first;
        let span = if duration == Nanos::ZERO { SECOND } else { duration };
        let work = u128::from(bytes) * u128::from(NANOBITS_PER_BYTE);
        let wanted = work * u128::from(100 + u64::from(self.headroom_percent));
        let sustained = line(packets, readable(wanted.div_ceil(100 * u128::from(span.0))));
        let at_link_rate = line(packets, self.link);
        let steeper = at_link_rate.rate > sustained.rate && at_link_rate.bucket < sustained.bucket;
        Some(FittedArrival {
            packets: packets.len() as u64,
            bytes,
            duration,
            mean_bps: bytes as f64 * 8.0 / span.as_secs_f64(),
            packet: Bytes(packets.iter().map(|&(_, length)| u64::from(length)).max()?),
            buckets: [sustained].into_iter().chain(steeper.then_some(at_link_rate)).collect(),
        })
    }
}

/// The time and length of a packet.
type Timed = (Nanos, u32);

const SECOND: Nanos = Nanos(1_000_000_000);

/// The smallest bucket in which these packets conform at a rate: the largest backlog that they
/// make at a server of that rate, for that is the maximum over all i <= j of the bytes of packets
/// i to j less what the rate fills in from i to j.
fn line(packets: &[Timed], rate: Rate) -> TokenBucket {
    let (mut backlog, mut largest, mut before) = (0u128, 0, Nanos::ZERO);
    for &(time, length) in packets {
        let served = u128::from(rate.0) * u128::from((time - before).0);
        backlog = backlog.saturating_sub(served);
        backlog += u128::from(length) * u128::from(NANOBITS_PER_BYTE);
        largest = backlog.max(largest);
        before = time;
    }
    let bucket = u64::try_from(largest.div_ceil(NANOBITS_PER_BYTE.into())).unwrap_or(u64::MAX);
    TokenBucket { bucket: Bytes(bucket), rate }
}

/// A rate rounded up to three digits, within what a plan accepts.
fn readable(bits_per_second: u128) -> Rate {
    let digits = bits_per_second.checked_ilog10().unwrap_or(0) + 1;
    let step = 10u128.pow(digits.saturating_sub(3));
    let rounded = bits_per_second.div_ceil(step) * step;
    Rate(rounded.clamp(1, Rate::LIMIT.0.into()) as u64)
}

#[cfg(test)]
mod tests {
    use laxity::packet::{ClassId, FlowId};
    use laxity::police::Meter;
    use proptest::prelude::*;

    use super::*;
    use crate::source::Arrival;

    /// Packets of class 1 of two.
    struct PacketList<'a>(std::slice::Iter<'a, Timed>);

    impl Arrivals for PacketList<'_> {
        fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
            let (class, flow) = (ClassId(1), FlowId(0));
            Ok(self.0.next().map(|&(time, length)| Arrival {
                time,
                class,
                flow,
                length,
                ..Arrival::default()
            }))
        }
    }

    const FIT: Fit = Fit {
        headroom_percent: DEFAULT_HEADROOM_PERCENT,
        link: Rate(10_000_000),
        from: Nanos::ZERO,
    };

    fn fitted(packets: &[Timed]) -> FittedArrival {
        let mut arrivals = PacketList(packets.iter());
        let mut fitted = FIT.fit(&mut arrivals, 2).unwrap();
        assert_eq!((fitted.len(), &fitted[0]), (2, &None));
        fitted.remove(1).unwrap()
    }

    fn admits_all(packets: &[Timed], lines: &[TokenBucket]) -> bool {
        let mut meter = Meter::new(lines.iter().copied());
        packets.iter().all(|&(time, length)| meter.consume(time, length))
    }

    fn timed(gaps: &[(u64, u32)]) -> Vec<Timed> {
        let mut now = Nanos(5);
        let at = |&(gap, length): &(u64, u32)| {
            now += Nanos(gap);
            (now, length)
        };
        gaps.iter().map(at).collect()
    }

    #[test]
    fn a_constant_stream_is_a_bucket_of_one_packet() {
        let gaps = [(20_000_000, 160); 501];
        let fit = fitted(&timed(&gaps));
        assert_eq!((fit.packets, fit.bytes, fit.duration), (501, 80_160, Nanos(10_000_000_000)));
        assert_eq!(fit.mean_bps, 64_128.0);
        let expected = r#"arrival = { bucket = "160b", rate = "70.6kbit", packet = "160b" }"#;
        assert_eq!(fit.to_string(), expected);
    }

    #[test]
    fn a_bursty_stream_has_a_second_bucket() {
        // Three packets 1 ms apart, ten times a second.
        let gaps: Vec<_> = [(98_000_000, 1000), (1_000_000, 1000), (1_000_000, 1000)].repeat(50);
        let fit = fitted(&timed(&gaps));
        let expected = r#"arrival = [
  { bucket = "2933b", rate = "270kbit", packet = "1000b" },
  { bucket = "1000b", rate = "10mbit", packet = "1000b" },
]"#;
        assert_eq!(fit.to_string(), expected);
    }

    #[test]
    fn early_packets_can_be_left_out() {
        let packets = timed(&[(0, 1500), (0, 1500), (1_000_000_000, 500), (1_000_000_000, 500)]);
        let later = Fit { from: Nanos(1_000_000_000), ..FIT };
        let fitted = later.fit(&mut PacketList(packets.iter()), 2).unwrap().remove(1).unwrap();
        assert_eq!((fitted.packets, fitted.packet), (2, Bytes(500)));
    }

    proptest! {
        #[test]
        fn recorded_traffic_keeps_to_its_buckets_and_to_no_smaller_ones(
            gaps in prop::collection::vec((0u64..3_000_000, 1u32..1500), 1..200),
        ) {
            let packets = timed(&gaps);
            let fit = fitted(&packets);
            prop_assert!(admits_all(&packets, &fit.buckets));
            for line in &fit.buckets {
                let smaller = TokenBucket { bucket: Bytes(line.bucket.0 - 1), ..*line };
                prop_assert!(!admits_all(&packets, &[smaller]));
            }
        }
    }
}
