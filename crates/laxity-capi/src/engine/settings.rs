//! Settings and counts of an engine.

use laxity_engine::{Pace, Settings, Statistics};

use crate::error::Failure;
use crate::pacer::rate;
use crate::sized::sized;
use crate::status::lx_status::*;

/// Settings of an engine. A field that is zero has its default, but for `bits_per_second`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_engine_settings {
    /// `sizeof(lx_engine_settings)`.
    pub size: u32,
    /// The most packets that are sent between two looks at the producers. Default 64.
    pub burst: u32,
    /// The rate of the link, which paces packets; 0 for as fast as events are received.
    pub bits_per_second: u64,
    /// Packets that each producer's ring holds, up to 2^24. Default 1024.
    pub ring: u64,
    /// Packets of each producer that may be in the scheduler, up to 2^24. Default 4096.
    pub backlog: u64,
    /// Events that wait to be received, up to 2^24. Default 4096.
    pub events: u64,
}

/// Counts of an engine: received = sent + dropped + queued.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_statistics {
    /// `sizeof(lx_statistics)`.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Packets that the scheduler thread took from producers.
    pub received: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that the scheduler dropped.
    pub dropped: u64,
    /// Packets that are in the scheduler.
    pub queued: u64,
    /// Producers that there were.
    pub producers: u64,
    /// How often a producer found its ring full.
    pub ring_full: u64,
    /// Packets that producers dropped because their ring was full; they never came in.
    pub ring_dropped: u64,
}

sized! {
    lx_engine_settings = 40, "settings";
    lx_statistics = 72, "statistics";
}

impl lx_engine_settings {
    /// The settings of the engine, and how many events wait to be received.
    pub(super) fn checked(self) -> Result<(Settings, usize), Failure> {
        let default = Settings::default();
        let or = |value: u64, default: usize| match value {
            0 => default,
            value => usize::try_from(value).unwrap_or(usize::MAX),
        };
        let settings = Settings {
            pace: pace(self.bits_per_second)?,
            ring: or(self.ring, default.ring),
            backlog: or(self.backlog, default.backlog),
            burst: if self.burst == 0 { default.burst } else { self.burst },
            ..default
        };
        let events = if self.events == 0 { default.backlog as u64 } else { self.events };
        Ok((settings, waiting_events(events)?))
    }
}

/// How many events wait to be received, if they are not too many.
pub(crate) fn waiting_events(events: u64) -> Result<usize, Failure> {
    let count = usize::try_from(events).ok().filter(|count| *count <= Settings::MOST);
    count.ok_or_else(|| {
        let message = format!("{events} events cannot wait: at most {}", Settings::MOST);
        Failure::new(LX_ERR_ARGUMENT, message)
    })
}

/// The pace of a link of a rate; 0 for none.
pub(crate) fn pace(bits_per_second: u64) -> Result<Pace, Failure> {
    if bits_per_second == 0 { Ok(Pace::Sink) } else { rate(bits_per_second).map(Pace::Link) }
}

impl From<&Statistics> for lx_statistics {
    fn from(of: &Statistics) -> lx_statistics {
        lx_statistics {
            size: size_of::<lx_statistics>() as u32,
            reserved: 0,
            received: of.received,
            sent: of.sent,
            bytes_sent: of.bytes_sent,
            dropped: of.dropped.iter().sum(),
            queued: of.queued,
            producers: of.producers,
            ring_full: of.ring_full,
            ring_dropped: of.ring_dropped,
        }
    }
}
