//! Arrival curves fitted to recorded traffic: what a class's `arrival` must say for a recording to
//! keep to it.

use std::fmt;

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

use crate::error::SimError;
use crate::source::Arrivals;

/// What a fitted rate is above the mean, in percent, unless told otherwise.
pub const DEFAULT_HEADROOM_PERCENT: u32 = 10;

/// The most packets that are fitted at once, for they are held in memory at 16 bytes each.
pub const MOST_PACKETS: usize = 50_000_000;

/// A TSpec to which all recorded traffic of one class keeps: `min(packet + peak t, bucket + rate t)`
/// in any interval of length t. It displays as the class's line in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The lowest rate at which one packet of bucket is enough, rounded up to three digits. `None`
    /// where no rate is, because packets arrived together, and where `rate` is, so that `bucket`
    /// alone says as much.
    pub peak: Option<Rate>,
    /// The smallest bucket that is enough at `rate`.
    pub bucket: Bytes,
    /// The mean rate and the headroom, rounded up to three digits.
    pub rate: Rate,
}

impl fmt::Display for FittedArrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FittedArrival { packet, bucket, rate, .. } = self;
        write!(f, "arrival = {{ bucket = \"{bucket}\", rate = \"{rate}\"")?;
        if let Some(peak) = self.peak {
            write!(f, ", packet = \"{packet}\", peak = \"{peak}\"")?;
        }
        f.write_str(" }")
    }
}

/// Fits an arrival curve to each of a recording's `classes`, in the plan's order; `None` for those
/// without packets. The rate is the mean's `100 + headroom_percent` percent.
///
/// # Errors
/// If the recording cannot be read to its end, or has more than [`MOST_PACKETS`].
pub fn fit(
    arrivals: &mut dyn Arrivals,
    classes: usize,
    headroom_percent: u32,
) -> Result<Vec<Option<FittedArrival>>, SimError> {
    let mut traffic = vec![Vec::new(); classes];
    let mut total = 0;
    while let Some(arrival) = arrivals.next_arrival()? {
        total += 1;
        if total > MOST_PACKETS {
            return Err(SimError::TooLongToFit { limit: MOST_PACKETS });
        }
        let index = arrival.class.index();
        if index >= traffic.len() {
            traffic.resize(index + 1, Vec::new());
        }
        traffic[index].push((arrival.time, arrival.length));
    }
    Ok(traffic.iter().map(|packets| fit_class(packets, headroom_percent)).collect())
}

/// The time and length of a packet.
type Timed = (Nanos, u32);

fn fit_class(packets: &[Timed], headroom_percent: u32) -> Option<FittedArrival> {
    let (first, last) = (packets.first()?.0, packets.last()?.0);
    let bytes: u64 = packets.iter().map(|&(_, length)| u64::from(length)).sum();
    let duration = last - first;
    let span = if duration == Nanos::ZERO { SECOND } else { duration };
    let work = u128::from(bytes) * u128::from(NANOBITS_PER_BYTE);
    let wanted = work * u128::from(100 + u64::from(headroom_percent));
    let rate = readable(wanted.div_ceil(100 * u128::from(span.0)));
    let packet = Bytes(packets.iter().map(|&(_, length)| u64::from(length)).max()?);
    Some(FittedArrival {
        packets: packets.len() as u64,
        bytes,
        duration,
        mean_bps: bytes as f64 * 8.0 / span.as_secs_f64(),
        packet,
        peak: peak(packets, packet, rate),
        bucket: bucket(packets, rate),
        rate,
    })
}

const SECOND: Nanos = Nanos(1_000_000_000);

/// The smallest bucket in which these packets conform at a rate: the largest backlog that they
/// make at a server of that rate, for that is the maximum over all i <= j of the bytes of packets
/// i to j less what the rate fills in from i to j.
fn bucket(packets: &[Timed], rate: Rate) -> Bytes {
    let (mut backlog, mut largest, mut before) = (0u128, 0, Nanos::ZERO);
    for &(time, length) in packets {
        let served = u128::from(rate.0) * u128::from((time - before).0);
        backlog = backlog.saturating_sub(served);
        backlog += u128::from(length) * u128::from(NANOBITS_PER_BYTE);
        largest = backlog.max(largest);
        before = time;
    }
    Bytes(u64::try_from(largest.div_ceil(NANOBITS_PER_BYTE.into())).unwrap_or(u64::MAX))
}

/// The lowest readable rate above `rate` at which a bucket of one packet is enough.
fn peak(packets: &[Timed], packet: Bytes, rate: Rate) -> Option<Rate> {
    let enough = |peak| bucket(packets, peak) <= packet;
    if enough(rate) || !enough(Rate::LIMIT) {
        return None;
    }
    let (mut too_low, mut high_enough) = (rate.0, Rate::LIMIT.0);
    while high_enough - too_low > 1 {
        let middle = too_low + (high_enough - too_low) / 2;
        match enough(Rate(middle)) {
            true => high_enough = middle,
            false => too_low = middle,
        }
    }
    Some(readable(high_enough.into()))
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
    use laxity::police::{Meter, TokenBucket};
    use proptest::prelude::*;

    use super::*;
    use crate::source::Arrival;

    /// Packets of class 1 of two.
    struct Listed<'a>(std::slice::Iter<'a, Timed>);

    impl Arrivals for Listed<'_> {
        fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
            let (class, flow) = (ClassId(1), FlowId(0));
            Ok(self.0.next().map(|&(time, length)| Arrival { time, class, flow, length }))
        }
    }

    fn fitted(packets: &[Timed]) -> FittedArrival {
        let mut arrivals = Listed(packets.iter());
        let fitted = fit(&mut arrivals, 2, DEFAULT_HEADROOM_PERCENT).unwrap();
        assert_eq!((fitted.len(), fitted[0]), (2, None));
        fitted[1].unwrap()
    }

    fn admits_all(packets: &[Timed], lines: &[(Bytes, Rate)]) -> bool {
        let mut meter = Meter::new(lines.iter().map(|&(b, r)| TokenBucket::new(b, r)));
        packets.iter().all(|&(time, length)| meter.admit(time, length))
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
        assert_eq!(fit.to_string(), r#"arrival = { bucket = "160b", rate = "70.6kbit" }"#);
    }

    #[test]
    fn a_bursty_stream_has_a_peak() {
        // Three packets 1 ms apart, ten times a second.
        let gaps: Vec<_> = [(98_000_000, 1000), (1_000_000, 1000), (1_000_000, 1000)].repeat(50);
        let fit = fitted(&timed(&gaps));
        let expected =
            r#"arrival = { bucket = "2.933kB", rate = "270kbit", packet = "1kB", peak = "8mbit" }"#;
        assert_eq!(fit.to_string(), expected);
    }

    #[test]
    fn packets_that_come_together_have_no_peak() {
        let fit = fitted(&timed(&[(0, 500), (0, 500), (1_000_000_000, 500)]));
        assert_eq!((fit.peak, fit.bucket), (None, Bytes(1000)));
        let one = fitted(&timed(&[(0, 500)]));
        assert_eq!((one.peak, one.bucket, one.rate), (None, Bytes(500), Rate(4400)));
    }

    proptest! {
        #[test]
        fn recorded_traffic_keeps_to_its_curve_and_to_no_smaller_one(
            gaps in prop::collection::vec((0u64..3_000_000, 1u32..1500), 1..200),
        ) {
            let packets = timed(&gaps);
            let fit = fitted(&packets);
            prop_assert!(admits_all(&packets, &[(fit.bucket, fit.rate)]));
            let smaller = Bytes(fit.bucket.0 - 1);
            prop_assert!(!admits_all(&packets, &[(smaller, fit.rate)]));
            if let Some(peak) = fit.peak {
                prop_assert!(admits_all(&packets, &[(fit.packet, peak), (fit.bucket, fit.rate)]));
                // Rounding to three digits adds at most one part in a hundred.
                prop_assert!(!admits_all(&packets, &[(fit.packet, Rate(peak.0 / 101 * 99))]));
            }
        }
    }
}
