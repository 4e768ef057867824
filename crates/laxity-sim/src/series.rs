//! Results over time and delay distributions, for figures. Memory is bounded for any run.

use std::ops::Range;

use laxity::histogram::Delays;
use laxity::packet::{ClassId, Packet};
use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::record::{Fate, Observer, Record};

/// Everything a report draws, of the classes that have packets, in the plan's order.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Width of a time bin in ns; bin i covers `[i width, (i + 1) width)`.
    pub bin_ns: u64,
    /// One entry a class.
    pub classes: Vec<ClassSeries>,
}

/// One class's results over time.
#[derive(Clone, Debug, Default)]
pub struct ClassSeries {
    /// Bytes by the time of their transmission, the rest by time of departure.
    pub bins: Vec<Bin>,
    /// The share of packets whose delay exceeds a value: (delay in ns, share), delays ascending.
    pub exceedance: Vec<(u64, f64)>,
}

/// What departed in one time bin. Bytes count all packets, the rest those that are measured. A
/// link's classes have no more bytes together than it carries in the time of a bin: a packet that
/// is sent across the edge of two is split between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Their delays' sum in ns.
    pub delay_sum: u64,
    /// The largest of their delays in ns.
    pub delay_max: u64,
}

/// Builds a [`Series`] from the packets of a run.
///
/// Bins start narrow and double whenever the run outgrows them, so that there are always between
/// half of [`SeriesRecorder::BINS`] and all of them.
#[derive(Clone, Debug)]
pub struct SeriesRecorder {
    series: Series,
    delays: Vec<Delays>,
    leaves: Vec<ClassId>,
    measured_from: Nanos,
}

impl SeriesRecorder {
    /// The most bins there are.
    pub const BINS: usize = 600;

    /// A recorder for the classes of a plan.
    pub fn new(plan: &Plan) -> Self {
        let classes = plan.classes.len();
        SeriesRecorder {
            series: Series { bin_ns: 1 << 16, classes: vec![ClassSeries::default(); classes] },
            delays: vec![Delays::default(); classes],
            leaves: plan.leaves().map(|(id, _)| id).collect(),
            measured_from: plan.run.warm_up,
        }
    }

    /// What was recorded.
    pub fn finish(self) -> Series {
        let Series { bin_ns, mut classes } = self.series;
        let bins = classes.iter().map(|class| class.bins.len()).max().unwrap_or(0);
        let class = |id: ClassId| {
            let mut class = std::mem::take(&mut classes[id.index()]);
            class.bins.resize(bins, Bin::default());
            class.exceedance = exceedance(&self.delays[id.index()]);
            class
        };
        Series { bin_ns, classes: self.leaves.into_iter().map(class).collect() }
    }

    /// Adds a packet and the `bytes` that leave with it, evenly over a time that ends with its
    /// departure.
    pub(crate) fn add(&mut self, packet: &Packet, bytes: u64, sent: Range<Nanos>) {
        let departure = sent.end;
        while departure.0 / self.series.bin_ns >= Self::BINS as u64 {
            self.widen();
        }
        let width = self.series.bin_ns;
        let delay = departure - packet.arrival;
        let (first, last) = ((sent.start.0 / width) as usize, (departure.0 / width) as usize);
        let class = packet.class.index();
        let bins = &mut self.series.classes[class].bins;
        if bins.len() <= last {
            bins.resize(last + 1, Bin::default());
        }
        let mut counted = 0;
        for (bin, end) in (first..last).zip((first as u64 + 1..).map(|edge| edge * width)) {
            let until_then = share(bytes, end - sent.start.0, departure.0 - sent.start.0);
            bins[bin].bytes += until_then - counted;
            counted = until_then;
        }
        bins[last].bytes += bytes - counted;
        if packet.arrival >= self.measured_from {
            let one = Bin { packets: 1, bytes: 0, delay_sum: delay.0, delay_max: delay.0 };
            bins[last] = Bin::together(&[bins[last], one]);
            self.delays[class].record(delay);
        }
    }

    fn widen(&mut self) {
        self.series.bin_ns *= 2;
        for class in &mut self.series.classes {
            class.bins = class.bins.chunks(2).map(Bin::together).collect();
        }
    }
}

/// Of a link what leaves it. Of a network what comes from end to end: bytes that arrive for the
/// first time, and delays of the packets that arrive.
impl Observer for SeriesRecorder {
    fn record(&mut self, record: &Record) {
        if let (None, Fate::Sent { start, departure }) = (record.hop, record.fate) {
            self.add(&record.packet, record.packet.length.into(), start..departure);
        }
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.add(packet, bytes, now..now);
    }
}

impl Bin {
    fn together(bins: &[Bin]) -> Bin {
        bins.iter().fold(Bin::default(), |sum, bin| Bin {
            packets: sum.packets + bin.packets,
            bytes: sum.bytes + bin.bytes,
            delay_sum: sum.delay_sum.saturating_add(bin.delay_sum),
            delay_max: sum.delay_max.max(bin.delay_max),
        })
    }
}

/// `part / whole` of `bytes`, rounded down.
fn share(bytes: u64, part: u64, whole: u64) -> u64 {
    (u128::from(bytes) * u128::from(part) / u128::from(whole)) as u64
}

/// The share of packets above each bucket's upper edge.
fn exceedance(delays: &Delays) -> Vec<(u64, f64)> {
    let total = delays.count();
    let mut above = total;
    let mut points = Vec::new();
    for (delay, count) in delays.buckets() {
        above -= count;
        points.push((delay.min(delays.max().0), above as f64 / total as f64));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::testing::plan;
    use laxity::packet::Packet;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn sent(class: u32, arrival: u64, departure: u64) -> Record {
        let packet = Packet {
            class: ClassId(class),
            length: 100,
            arrival: Nanos(arrival),
            ..Packet::default()
        };
        let fate = Fate::Sent { start: Nanos(arrival), departure: Nanos(departure) };
        Record { packet, set_out: packet.arrival, hop: None, deadline: None, fate }
    }

    proptest! {
        /// Packets of any length one right after another at 8 kbit/s to 8 Gbit/s.
        #[test]
        fn no_bin_has_more_bytes_than_the_link_carries(
            lengths in vec((0u32..2, 1u32..9000, 0u64..3), 1..400),
            byte_ns in select(vec![1u64, 7, 80, 1_000, 1_000_000]),
        ) {
            let mut recorder = SeriesRecorder::new(&plan(&["a", "b"]));
            let mut now = 0;
            for &(class, length, pause) in &lengths {
                let start = now + pause * 1_000 * byte_ns;
                now = start + u64::from(length) * byte_ns;
                let mut record = sent(class, start, now);
                record.packet.length = length;
                recorder.record(&record);
            }
            let Series { bin_ns, classes } = recorder.finish();
            let together = |bin: usize| classes.iter().map(|class| class.bins[bin].bytes).sum();
            let bytes: Vec<u64> = (0..classes[0].bins.len()).map(together).collect();
            // Bytes are whole: those under way at the edges of a bin count in one of two.
            prop_assert!(bytes.iter().all(|bytes| *bytes <= bin_ns / byte_ns + 2), "{bytes:?}");
            let all: u64 = lengths.iter().map(|(_, length, _)| u64::from(*length)).sum();
            prop_assert_eq!(bytes.iter().sum::<u64>(), all);
        }
    }

    #[test]
    fn every_packet_is_in_a_bin_however_long_the_run() {
        let mut recorder = SeriesRecorder::new(&plan(&["busy", "quiet"]));
        for i in 0..10_000u64 {
            recorder.record(&sent(0, i * 3_000_000, i * 3_000_000 + 1_000 + i));
        }
        recorder.record(&sent(1, 5, 2_000));
        let series = recorder.finish();
        let bins = &series.classes[0].bins;
        assert!(bins.len() <= SeriesRecorder::BINS && bins.len() > SeriesRecorder::BINS / 2 - 1);
        assert_eq!(bins.iter().map(|bin| bin.packets).sum::<u64>(), 10_000);
        assert_eq!(bins.iter().map(|bin| bin.delay_max).max(), Some(10_999));
        assert_eq!(series.classes[1].bins.len(), bins.len());
        assert_eq!(series.classes[1].exceedance, [(1_995, 0.0)]);
        let exceedance = &series.classes[0].exceedance;
        assert!(exceedance.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
    }
}
