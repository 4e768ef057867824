//! Traffic of a simulation: open-loop arrivals, and sources that follow departures.

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::arrival::{Arrival, Arrivals, Introduction, Remarks};
use super::backlogged::Backlogged;
use crate::error::SimError;

laxity::id! {
    /// A feed of a run, among all. A plan's TCP sources have none, so that the feed of a source may
    /// have another number than the source.
    pub(crate) struct FeedId;
}

/// A source of a run. As [`Arrivals`] it has open-loop arrivals: none if it is backlogged.
pub enum Feed {
    /// Open-loop arrivals.
    Open(Stream),
    /// Packets that replace others that leave.
    Backlogged(Backlogged),
}

/// Arrivals with a look-ahead of one.
pub struct Stream {
    arrivals: Box<dyn Arrivals>,
    is_recording: bool,
    pending: Option<Arrival>,
}

impl Feed {
    /// Arrivals of any kind.
    pub fn new(arrivals: Box<dyn Arrivals>) -> Self {
        let is_recording = arrivals.is_recording();
        Feed::Open(Stream { arrivals, is_recording, pending: None })
    }
}

impl Feed {
    /// Recorded arrivals, less the packets of some classes.
    pub fn recorded_without(arrivals: Box<dyn Arrivals>, classes: &[ClassId]) -> Self {
        if classes.is_empty() {
            return Feed::new(arrivals);
        }
        Feed::new(Box::new(Filtered { arrivals, without: classes.to_vec() }))
    }
}

/// Recorded arrivals without those of some classes.
struct Filtered {
    arrivals: Box<dyn Arrivals>,
    without: Vec<ClassId>,
}

impl Arrivals for Filtered {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        loop {
            match self.arrivals.next_arrival()? {
                Some(arrival) if self.without.contains(&arrival.class) => {}
                other => return Ok(other),
            }
        }
    }

    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        let Filtered { arrivals, without } = self;
        arrivals.introduce(&mut |flow| {
            if !without.contains(&flow.class) {
                introduce(flow);
            }
        });
    }

    fn is_recording(&self) -> bool {
        self.arrivals.is_recording()
    }

    fn remarks(&self) -> Remarks {
        self.arrivals.remarks()
    }
}

impl Stream {
    /// Looks up the next arrival; returns its time.
    pub(crate) fn look_up(&mut self) -> Result<Option<Nanos>, SimError> {
        self.pending = self.arrivals.next_arrival()?;
        Ok(self.pending.map(|arrival| arrival.time))
    }

    /// Whether arrivals are recorded, and so may introduce flows.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Introduces the flows that have come into sight.
    pub(crate) fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        self.arrivals.introduce(introduce);
    }

    /// The arrival that was looked up.
    pub(crate) fn take(&mut self) -> Option<Arrival> {
        self.pending.take()
    }

    /// Whether an arrival was looked up and not yet taken.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }
}

impl Arrivals for Feed {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        match self {
            Feed::Open(stream) => match stream.take() {
                None => stream.arrivals.next_arrival(),
                pending => Ok(pending),
            },
            Feed::Backlogged(_) => Ok(None),
        }
    }

    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        if let Feed::Open(stream) = self {
            stream.introduce(introduce);
        }
    }

    fn is_recording(&self) -> bool {
        matches!(self, Feed::Open(stream) if stream.arrivals.is_recording())
    }

    fn remarks(&self) -> Remarks {
        match self {
            Feed::Open(stream) => stream.arrivals.remarks(),
            Feed::Backlogged(_) => Remarks::default(),
        }
    }
}
