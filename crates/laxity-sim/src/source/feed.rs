//! What feeds a simulation: arrivals that come of themselves, and sources that follow departures.

use laxity::units::Nanos;

use super::arrival::{Arrival, Arrivals, Remarks};
use super::backlogged::Backlogged;
use crate::error::SimError;

/// A source of a run. As [`Arrivals`] it has those that come of themselves: none if it is
/// backlogged.
pub enum Feed {
    /// Its packets come whatever becomes of those before.
    Open(Stream),
    /// Its packets come when others leave.
    Backlogged(Backlogged),
}

/// Arrivals, of which the next may be looked up.
pub struct Stream {
    arrivals: Box<dyn Arrivals>,
    pending: Option<Arrival>,
}

impl Feed {
    /// Arrivals of any kind.
    pub fn new(arrivals: Box<dyn Arrivals>) -> Self {
        Feed::Open(Stream { arrivals, pending: None })
    }
}

impl Stream {
    /// Looks up the next arrival; tells when it comes.
    pub(crate) fn look_up(&mut self) -> Result<Option<Nanos>, SimError> {
        self.pending = self.arrivals.next_arrival()?;
        Ok(self.pending.map(|arrival| arrival.time))
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
