//! Arrivals, one after another.

use laxity::packet::{AckTag, ClassId, Ecn, FlowId, Hosts};
use laxity::units::Nanos;
use laxity_plan::encapsulation::Opaque;
use laxity_plan::model::Source;

use crate::error::SimError;

/// A packet that arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When its last bit arrives.
    pub time: Nanos,
    /// The class that the model feeds, the file names or the capture's match finds.
    pub class: ClassId,
    /// The flow within the class.
    pub flow: FlowId,
    /// Length on the link in bytes, at least 1.
    pub length: u32,
    /// What congestion may do with it.
    pub ecn: Ecn,
    /// What it makes of earlier acknowledgements of its flow.
    pub ack: AckTag,
}

// What a packet costs grows with every word of it.
const _: () = assert!(size_of::<Arrival>() == 24);

/// A flow that has come into sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a flow goes between two hosts")]
pub struct Introduction {
    /// Its class.
    pub class: ClassId,
    /// The flow within that.
    pub flow: FlowId,
    /// Between which hosts it goes.
    pub hosts: Hosts,
}

/// A stream of arrivals with non-decreasing times, the same on every run with the same seed.
pub trait Arrivals: Send {
    /// The next arrival, or `None` when the stream has ended.
    ///
    /// # Errors
    /// When a recording cannot be read on, with the place in it.
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError>;

    /// Introduces the flows that have come into sight since the last call, if hosts are known. Some
    /// may be those of arrivals to come.
    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        let _ = introduce;
    }

    /// Whether the traffic was recorded, and so is over when the stream ends.
    fn is_recording(&self) -> bool {
        false
    }

    /// What was seen so far in a recording that is no arrival but worth telling.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}

/// What a recording held besides arrivals in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Frames that passed the source's `match` but that of no class.
    pub unmatched: u64,
    /// Packets and frames that stand behind one of a later time, and were put in order.
    pub reordered: u64,
    /// The most by which one was earlier than one before it.
    pub furthest: Nanos,
    /// Frames of each [kind](Opaque::ALL) that is not looked into.
    pub opaque: [u64; Opaque::ALL.len()],
    /// Recordings that end in the middle of a frame, which is left out.
    pub cut: u64,
}

impl std::iter::Sum for Remarks {
    fn sum<I: Iterator<Item = Remarks>>(all: I) -> Remarks {
        all.fold(Remarks::default(), |sum, one| Remarks {
            unmatched: sum.unmatched + one.unmatched,
            reordered: sum.reordered + one.reordered,
            furthest: sum.furthest.max(one.furthest),
            opaque: std::array::from_fn(|kind| sum.opaque[kind] + one.opaque[kind]),
            cut: sum.cut + one.cut,
        })
    }
}

/// The class of a source's flows and their number; `None` for a recording.
pub(crate) fn flows_of(source: &Source) -> Option<(ClassId, u32)> {
    match source {
        Source::Model(source) => Some((source.class, source.count)),
        Source::Tcp(source) => Some((source.class, source.count)),
        Source::Recording(_) => None,
    }
}
