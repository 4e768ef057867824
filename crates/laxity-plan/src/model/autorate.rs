//! Links whose rate nobody knows.

use std::net::IpAddr;
use std::sync::Arc;

use laxity::autorate::{Second, Settings};
use laxity::link::{Link, Trace};
use laxity::units::{Bytes, Nanos};

use super::Dist;

/// `rate = { from = …, to = … }`: a rate that a controller finds.
#[derive(Clone, Debug, PartialEq)]
pub struct AutorateSpec {
    /// The controller's settings.
    pub settings: Settings,
    /// The hosts that answer probes of a live link.
    pub reflectors: Vec<IpAddr>,
    /// What a simulation puts behind the shaper.
    pub behind: BehindSpec,
}

/// The link behind a shaper, with one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct BehindSpec {
    /// How its rate changes. Default not at all: it is the highest of the shaper.
    pub trace: Option<Arc<Trace>>,
    /// How much waits there at most. Default no limit.
    pub buffer: Option<Bytes>,
    /// How long a probe takes to a reflector and back if nothing waits. Default 30 ms.
    pub round_trip: Nanos,
    /// How much longer it takes by chance. Default not at all.
    pub jitter: Option<Dist<Nanos>>,
}

impl AutorateSpec {
    /// The same before a link whose rate changes by this trace, if there is one.
    pub(crate) fn before(&self, trace: Option<Arc<Trace>>) -> Self {
        let trace = trace.or_else(|| self.behind.trace.clone());
        AutorateSpec { behind: BehindSpec { trace, ..self.behind.clone() }, ..self.clone() }
    }

    /// The link behind the shaper, idle.
    pub fn link_behind(&self) -> Link {
        super::transmitter(self.settings.to, self.behind.trace.as_ref())
    }

    /// How many bytes the link behind could carry in a second.
    pub fn carried_in(&self, second: &Second) -> u64 {
        let end = second.begins.saturating_add(Nanos(1_000_000_000));
        self.carried_by(end).saturating_sub(self.carried_by(second.begins))
    }

    /// How many bytes the link behind could carry by a time.
    pub fn carried_by(&self, time: Nanos) -> u64 {
        match &self.behind.trace {
            Some(trace) => trace.bytes_by(time),
            None => {
                let bits = u128::from(self.settings.to.0) * u128::from(time.0) / 8_000_000_000;
                u64::try_from(bits).unwrap_or(u64::MAX)
            }
        }
    }
}
