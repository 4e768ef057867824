//! Settings of an engine.

use laxity::units::{Nanos, Rate};

/// Settings of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The pace of packets.
    pub pace: Pace,
    /// How closely packets keep to the rate of [`Pace::Link`].
    pub spacing: Spacing,
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
    /// Nothing goes to the sink until the pace changes, as when congestion control lets nothing
    /// out. An engine that is shut down waits for that.
    Hold,
}

/// How closely packets keep to the rate of a link.
///
/// In any time, what goes to the sink is at most what the link carries in this time,
/// [`lead`](Self::lead), [`batch`](Self::batch) and [`catch_up`](Self::catch_up) together, and one
/// packet; also after the thread was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// The most that a busy link may be behind the clock. Of time that the thread loses to others
    /// this much is made up for, and the rest is lost.
    pub catch_up: Nanos,
    /// Packets go to the sink in batches of this time of the link, one after another, and the
    /// thread sleeps between them. With zero each packet goes when the link is free.
    pub batch: Nanos,
    /// How long before its start a batch goes to the sink: for sinks that tell the system when each
    /// packet is to leave.
    pub lead: Nanos,
}

impl Spacing {
    /// Each packet when the link is free; 10 ms are made up for.
    pub const EACH: Spacing =
        Spacing { catch_up: Nanos(10_000_000), batch: Nanos::ZERO, lead: Nanos::ZERO };
    /// At most a millisecond of the link at once, and one packet: batches of half a millisecond,
    /// and as much is made up for.
    pub const MILLISECOND: Spacing =
        Spacing { catch_up: Nanos(500_000), batch: Nanos(500_000), lead: Nanos::ZERO };
}

/// The room of one producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Room {
    /// As [`Settings::ring`].
    pub ring: usize,
    /// As [`Settings::backlog`].
    pub backlog: usize,
}

impl Settings {
    /// The most packets that a ring or a backlog can be asked to hold.
    pub const MOST: usize = 1 << 24;

    pub(crate) fn check(&self) -> Result<(), StartError> {
        self.room().check()?;
        if self.burst == 0 {
            return Err(StartError::Zero("burst"));
        }
        if self.time_one_in == 0 {
            return Err(StartError::Zero("time_one_in"));
        }
        self.pace.check()
    }

    /// The room of producers that ask for no other.
    pub(crate) fn room(&self) -> Room {
        Room { ring: self.ring, backlog: self.backlog }
    }
}

impl Room {
    pub(crate) fn check(self) -> Result<(), StartError> {
        for (what, packets) in [("ring", self.ring), ("backlog", self.backlog)] {
            if !(1..=Settings::MOST).contains(&packets) {
                return Err(StartError::Packets { what, packets });
            }
        }
        Ok(())
    }
}

impl Pace {
    pub(crate) fn check(self) -> Result<(), StartError> {
        match self {
            Pace::Link(Rate(0)) => Err(StartError::Zero("link rate")),
            Pace::Link(_) | Pace::Sink | Pace::Hold => Ok(()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            pace: Pace::Sink,
            spacing: Spacing::EACH,
            ring: 1024,
            backlog: 4096,
            burst: 64,
            time_one_in: 16,
        }
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
