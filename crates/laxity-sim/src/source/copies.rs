//! Many independent copies of one model, merged into one stream.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{ModelSource, SourceId};
use rand::RngExt;

use super::arrival::{Arrival, Arrivals};
use super::random::{Generator, generator};
use crate::error::SimError;

/// A traffic model: what all copies share. What one copy remembers is apart and small, for there
/// may be a million of them.
pub(super) trait TrafficModel: Send {
    /// What one copy remembers.
    type Copy: Send;

    /// A copy before its first packet, at time 0 of its own clock.
    fn begin(&self, generator: Generator) -> Self::Copy;

    /// The copy's next packet: its time on the copy's clock, not before the last one's, and its
    /// length.
    fn next_packet(&self, copy: &mut Self::Copy) -> (Nanos, u32);
}

/// Set in the stream numbers of the generators of beginnings, so that none is that of packets.
const STARTS: u64 = 1 << 63;

/// The copies of one source, each a flow of its own, merged by time and, at equal times, by the
/// copy's number.
pub(super) struct Copies<P: TrafficModel> {
    model: P,
    class: ClassId,
    /// When each copy begins.
    starts: Starts,
    stop: Nanos,
    copies: Vec<P::Copy>,
    /// The next packet of every copy that goes on.
    next: BinaryHeap<Reverse<NextPacket>>,
}

/// A copy's next packet. At one time that of the lower copy is first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct NextPacket {
    time: Nanos,
    copy: u32,
    length: u32,
}

impl Ord for NextPacket {
    // As one number: which part decides could not be predicted.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |next: &Self| u128::from(next.time.0) << 64 | u128::from(next.copy);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for NextPacket {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: TrafficModel> Copies<P> {
    /// All copies of a source.
    pub(super) fn new(model: P, source: &ModelSource, seed: u64, id: SourceId) -> Self {
        let all = 0..u64::from(source.count);
        let starts = match source.stagger {
            Nanos::ZERO => Starts::Together(source.start),
            stagger => {
                let drawn = |copy| {
                    generator(seed, STARTS | u64::from(id.0), copy).random_range(0..=stagger.0)
                };
                let start = |copy| source.start.saturating_add(Nanos(drawn(copy)));
                Starts::Apart(all.clone().map(start).collect())
            }
        };
        let mut copies: Vec<P::Copy> =
            all.map(|copy| model.begin(generator(seed, id.0.into(), copy))).collect();
        let stop = source.stop.unwrap_or(Nanos::MAX);
        let next = (0..).zip(&mut copies).filter_map(|(number, copy)| {
            let (time, length) = advance(&model, copy, starts.start(number), stop)?;
            Some(Reverse(NextPacket { time, copy: number, length }))
        });
        let next = next.collect();
        Copies { class: source.class, starts, stop, next, copies, model }
    }
}

/// When copies begin.
enum Starts {
    Together(Nanos),
    Apart(Box<[Nanos]>),
}

impl Starts {
    fn start(&self, copy: u32) -> Nanos {
        match self {
            Starts::Together(start) => *start,
            Starts::Apart(starts) => starts[copy as usize],
        }
    }
}

/// The copy's next packet on the run's clock, if that is before `stop`.
fn advance<P: TrafficModel>(
    model: &P,
    copy: &mut P::Copy,
    start: Nanos,
    stop: Nanos,
) -> Option<(Nanos, u32)> {
    let (time, length) = model.next_packet(copy);
    let time = start.saturating_add(time);
    (time < stop).then_some((time, length))
}

impl<P: TrafficModel> Arrivals for Copies<P> {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        let Some(mut first) = self.next.peek_mut() else { return Ok(None) };
        let Reverse(NextPacket { time, copy, length }) = *first;
        let state = &mut self.copies[copy as usize];
        match advance(&self.model, state, self.starts.start(copy), self.stop) {
            Some((time, length)) => *first = Reverse(NextPacket { time, copy, length }),
            None => {
                PeekMut::pop(first);
            }
        }
        let (class, flow) = (self.class, FlowId(copy));
        Ok(Some(Arrival { time, class, flow, length, ..Arrival::default() }))
    }
}
