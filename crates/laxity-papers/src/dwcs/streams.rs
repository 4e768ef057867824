//! The paper's streams: eight classes, always backlogged, a packet a unit of logical time.

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::sched::Dwcs;
use laxity::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams, Violation};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;
use laxity::window::Loss;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Units of time per second of the paper's server: with 480 streams each gets 25 of them (Fig. 4).
pub(super) const PACKETS_A_SECOND: u64 = 12_000;

/// Classes of streams.
pub(super) const CLASSES: u32 = 8;

/// Streams of all classes alike, whose deadlines are a gap apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Number of streams; a multiple of [`CLASSES`].
    pub streams: u32,
    /// T, in units of time.
    pub gap: u64,
}

/// A packet is served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    /// When its service commences.
    pub at: u64,
    /// Its stream; its class is the remainder by [`CLASSES`].
    pub stream: usize,
    /// Deadlines that it missed.
    pub misses: u64,
}

impl Service {
    /// Its class.
    pub(super) fn class(&self) -> usize {
        self.stream % CLASSES as usize
    }
}

/// The loss tolerance of a class: 1/80, 1/90, … 1/150.
pub(super) fn loss(class: usize) -> Loss {
    Loss::new(1, 80 + 10 * class as u32).expect("windows of 80 to 150 packets")
}

/// A class as figures name it.
pub(super) fn name(class: usize) -> String {
    loss(class).to_string()
}

impl Load {
    /// The paper's DWCS, with a check for missed deadlines every `check_every` services.
    pub(super) fn dwcs(&self, check_every: u32) -> Dwcs {
        let settings = DwcsSettings {
            precedence: Precedence::LossFirst,
            violation: Violation::Favour,
            check_every,
        };
        let class = |class| Streams {
            stream: Stream { gap: Some(Nanos(self.gap)), loss: loss(class), late: Late::Send },
            count: self.streams / CLASSES,
        };
        let classes: Vec<_> = (0..CLASSES as usize).map(class).collect();
        Dwcs::new(settings, &classes).expect("streams with gaps, and looked at")
    }

    /// Serves `packets` packets. The seed draws the order in which streams begin, and the times
    /// within the first gap.
    pub(super) fn serve<S: Scheduler>(
        &self,
        scheduler: &mut S,
        seed: u64,
        packets: u64,
        mut watch: impl FnMut(Service),
    ) {
        let drops = &mut |_: Packet, _: DropReason| {};
        let begins = self.begins(seed);
        let mut due: Vec<u64> = vec![0; self.streams as usize];
        begins.iter().for_each(|&(begin, stream)| due[stream as usize] = begin);
        let mut begins = begins.into_iter().peekable();
        for at in 0..packets {
            while let Some((begin, stream)) = begins.next_if(|(begin, _)| *begin <= at) {
                scheduler.enqueue(Nanos(at), packet(stream, begin), drops);
                scheduler.enqueue(Nanos(at), packet(stream, begin), drops);
            }
            let Some(sent) = scheduler.dequeue(Nanos(at), drops) else { continue };
            let stream = sent.packet.flow.0 * CLASSES + sent.packet.class.0;
            // Every packet came before the deadline of the one before it.
            let due = &mut due[stream as usize];
            *due += self.gap;
            let misses = at.saturating_sub(*due).div_ceil(self.gap);
            *due += misses * self.gap;
            watch(Service { at, stream: stream as usize, misses });
            scheduler.enqueue(Nanos(at + 1), packet(stream, at + 1), drops);
        }
    }

    fn begins(&self, seed: u64) -> Vec<(u64, u32)> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut order: Vec<_> = (0..self.streams).collect();
        order.shuffle(&mut random);
        let mut times: Vec<_> = order.iter().map(|_| random.random_range(0..self.gap)).collect();
        times.sort_unstable();
        times.into_iter().zip(order).collect()
    }
}

fn packet(stream: u32, arrival: u64) -> Packet {
    let (class, flow) = (ClassId(stream % CLASSES), FlowId(stream / CLASSES));
    Packet { class, flow, length: 1, arrival: Nanos(arrival), ..Packet::default() }
}

/// Deadlines that were missed, stream by stream.
pub(super) struct Tally {
    streams: Vec<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    misses: u64,
    /// Deadlines missed beyond the tolerance, in consecutive windows.
    violations: u64,
    /// Packets and missed deadlines of the window that has begun.
    packets: u32,
    in_window: u64,
}

impl Tally {
    /// Nothing missed.
    pub(super) fn new(load: Load) -> Tally {
        Tally { streams: vec![Counts::default(); load.streams as usize] }
    }

    /// Counts a packet.
    pub(super) fn count(&mut self, served: Service) {
        let loss = loss(served.class());
        let counts = &mut self.streams[served.stream];
        counts.misses += served.misses;
        counts.in_window += served.misses;
        counts.packets += 1;
        if counts.packets == loss.window() {
            counts.violations += counts.in_window.saturating_sub(loss.lost().into());
            (counts.packets, counts.in_window) = (0, 0);
        }
    }

    /// Deadlines that all streams of a class missed.
    pub(super) fn misses(&self, class: usize) -> u64 {
        self.streams(class).map(|counts| counts.misses).sum()
    }

    /// How often their tolerance was violated.
    pub(super) fn violations(&self, class: usize) -> u64 {
        self.streams(class).map(|counts| counts.violations).sum()
    }

    /// Deadlines missed and violations of all classes.
    pub(super) fn totals(&self) -> [u64; 2] {
        let classes = || 0..CLASSES as usize;
        [
            classes().map(|class| self.misses(class)).sum(),
            classes().map(|class| self.violations(class)).sum(),
        ]
    }

    fn streams(&self, class: usize) -> impl Iterator<Item = &Counts> {
        self.streams.iter().skip(class).step_by(CLASSES as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity::sched::Fifo;

    #[test]
    fn in_turn_every_stream_misses_what_there_is_no_time_for() {
        for (streams, misses) in [(496, 0), (560, 60)] {
            let load = Load { streams, gap: 500 };
            let mut tally = Tally::new(load);
            let mut served = 0;
            load.serve(&mut Fifo::new(), 1, 560_000, |packet| {
                served += 1;
                tally.count(packet);
            });
            assert!(served > 559_500 && served <= 560_000);
            // A deadline every 500 units and a service every 560: of 1120 deadlines of a stream 120
            // are missed. At first packets wait for those of streams that began earlier: one miss
            // each.
            let steady = misses * 1120 * u64::from(streams) / 560;
            let [all, _] = tally.totals();
            let first = u64::from(streams);
            assert!(all <= steady + first && all >= steady * 99 / 100, "{all} of {steady}");
        }
    }

    #[test]
    fn violations_are_misses_beyond_the_tolerance_of_a_window() {
        let mut tally = Tally::new(Load { streams: CLASSES, gap: 1 });
        for at in 0..160 {
            let misses = match at {
                3 | 90 => 1,
                100 => 2,
                _ => 0,
            };
            tally.count(Service { at, stream: 0, misses });
        }
        assert_eq!((tally.misses(0), tally.violations(0)), (4, 2));
        assert_eq!(tally.totals(), [4, 2]);
    }
}
