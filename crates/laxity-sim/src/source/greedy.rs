//! Sources that send as fast as their class's arrival curve allows (Chakraborty, Gries, Thiele
//! 2002, appendix).

use laxity::police::Meter;
use laxity::units::{Bytes, Nanos};
use laxity_plan::model::{Dist, ModelSource, Plan};

use super::copies::TrafficModel;
use super::lengths::Lengths;
use super::random::{Generator, Sampler};
use super::sampling::sampler;
use crate::error::SourceProblem;

/// Inside a burst a packet is sent as soon as all token buckets of the class hold it. The first
/// burst begins at once; a spacing follows, then a burst, and so on. Buckets are full at the start
/// and fill on during spacings. Every copy has buckets of its own.
///
/// A packet that conforms only when its burst is over stays the first of the next burst.
pub(super) struct Greedy {
    meter: Meter,
    lengths: Lengths,
    burst: Sampler<Nanos>,
    spacing: Sampler<Nanos>,
}

impl Greedy {
    /// After this many bursts in which a waiting packet did not conform, a burst begins when it
    /// does: bursts far shorter than the time of its tokens must not stop the clock.
    const PATIENCE: u32 = 10_000;

    /// The model of a source.
    pub(super) fn new(
        plan: &Plan,
        source: &ModelSource,
        lengths: Lengths,
        burst: Dist<Nanos>,
        spacing: Dist<Nanos>,
    ) -> Result<Self, SourceProblem> {
        let class = &plan.classes[source.class.index()];
        let lines = class.arrival.iter().flat_map(|arrival| &arrival.buckets);
        let Some(smallest) = lines.clone().map(|line| line.bucket).min() else {
            return Err(SourceProblem::NoArrivalCurve { class: class.name.clone() });
        };
        if smallest == Bytes(0) {
            return Err(SourceProblem::EmptyBucket { class: class.name.clone() });
        }
        let burst = sampler("burst", burst)?;
        if burst.is_always_zero() {
            return Err(SourceProblem::NeverOn { field: "burst" });
        }
        Ok(Greedy {
            meter: Meter::new(lines.copied()),
            lengths: lengths.at_most(smallest),
            burst,
            spacing: sampler("spacing", spacing)?,
        })
    }
}

/// One copy.
pub(super) struct State {
    generator: Generator,
    meter: Meter,
    /// The last packet, or the burst's beginning.
    now: Nanos,
    burst_ends: Nanos,
    /// Of the packet that waits to conform.
    length: u32,
}

impl TrafficModel for Greedy {
    type Copy = State;

    fn begin(&self, mut generator: Generator) -> State {
        let burst_ends = self.burst.draw(&mut generator);
        let length = self.lengths.draw(&mut generator);
        State { generator, meter: self.meter.clone(), now: Nanos::ZERO, burst_ends, length }
    }

    fn next_packet(&self, copy: &mut State) -> (Nanos, u32) {
        let length = copy.length;
        for _ in 0..Self::PATIENCE {
            let conforms = copy.meter.earliest(copy.now, length).unwrap_or(Nanos::MAX);
            if conforms < copy.burst_ends || conforms == Nanos::MAX {
                return self.send(copy, conforms);
            }
            self.begin_burst(copy, None);
        }
        let conforms = copy.meter.earliest(copy.now, length).unwrap_or(Nanos::MAX);
        self.begin_burst(copy, Some(conforms));
        self.send(copy, conforms)
    }
}

impl Greedy {
    fn send(&self, copy: &mut State, now: Nanos) -> (Nanos, u32) {
        let length = copy.length;
        copy.meter.consume(now, length);
        copy.now = now;
        copy.length = self.lengths.draw(&mut copy.generator);
        (now, length)
    }

    /// Begins the next burst, after a drawn spacing unless its time is given.
    fn begin_burst(&self, copy: &mut State, at: Option<Nanos>) {
        let spacing = self.spacing.draw(&mut copy.generator);
        copy.now = at.unwrap_or(copy.burst_ends.saturating_add(spacing));
        copy.burst_ends = copy.now.saturating_add(self.burst.draw(&mut copy.generator));
    }
}
