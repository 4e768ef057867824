//! Settings of an engine.

use laxity::units::Rate;

/// Settings of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The pace of packets.
    pub pace: Pace,
    /// Packets that each producer's ring holds, 1 to [`Settings::MOST`].
    pub ring: usize,
    /// Packets of each producer that may be in the scheduler, 1 to [`Settings::MOST`]. Further
    /// packets stay in the producer's ring, which may become full; no other producer waits for
    /// that. Memory for the payloads is allocated when the producer joins.
    pub backlog: usize,
    /// The most packets that go to the sink between two looks at the rings and the clock, at least
    /// 1. One for sinks that block; more for sinks that are faster than a look.
    pub burst: u32,
    /// One packet in `time_one_in` has its latency measured, on average and at random distances; at
    /// least 1.
    pub time_one_in: u32,
}

/// The pace at which packets go to the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the sink takes them.
    Sink,
    /// A link of this rate: a packet goes to the sink when the transmission of the one before would
    /// have ended.
    Link(Rate),
}

impl Settings {
    /// The most packets that a ring or a backlog can be asked to hold.
    pub const MOST: usize = 1 << 24;

    pub(crate) fn check(&self) -> Result<(), StartError> {
        let is_held = |packets: usize| (1..=Settings::MOST).contains(&packets);
        if !is_held(self.ring) {
            return Err(StartError::Packets { what: "ring", packets: self.ring });
        }
        if !is_held(self.backlog) {
            return Err(StartError::Packets { what: "backlog", packets: self.backlog });
        }
        if self.burst == 0 {
            return Err(StartError::Zero("burst"));
        }
        if self.time_one_in == 0 {
            return Err(StartError::Zero("time_one_in"));
        }
        self.pace.check()
    }
}

impl Pace {
    pub(crate) fn check(self) -> Result<(), StartError> {
        match self {
            Pace::Link(Rate(0)) => Err(StartError::Zero("link rate")),
            Pace::Link(_) | Pace::Sink => Ok(()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings { pace: Pace::Sink, ring: 1024, backlog: 4096, burst: 64, time_one_in: 16 }
    }
}

/// Why an engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A ring or backlog of no packets or of too many.
    #[error("a {what} of {packets} packets cannot be had: it holds 1 to {}", Settings::MOST)]
    Packets {
        /// The name of the setting.
        what: &'static str,
        /// Its value.
        packets: usize,
    },
    /// A setting is zero.
    #[error("{0} is zero: it must be at least 1")]
    Zero(&'static str),
    /// The system starts no thread.
    #[error("the scheduler thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}
