//! Connections of TCP.

use laxity::packet::{ClassId, Ecn};
use laxity::units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Dist, Hops};

/// `model = "tcp"`: greedy or repeated transfers by TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSource {
    /// The class of its segments and of their acknowledgements.
    pub class: ClassId,
    /// How many connections there are, each a flow of its own. Default as many as the class has
    /// streams.
    pub count: u32,
    /// The links from sender to receiver; acknowledgements come back the same way.
    pub path: Hops,
    /// How losses are found. Default by SACK blocks, under BBR by time.
    pub recovery: TcpRecovery,
    /// How windows grow and shrink. Default cubic.
    pub congestion: TcpCongestion,
    /// Length of every segment, headers included.
    pub packet: Bytes,
    /// Length of every acknowledgement. Default the link's shortest packet.
    pub ack: Bytes,
    /// What one transfer holds; without end when `None`.
    pub transfer: Option<Dist<Bytes>>,
    /// The time from the end of one transfer to the beginning of the next.
    pub pause: Dist<Nanos>,
    /// In its place, the time from when a connection is asked for one transfer to when it is asked
    /// for the next, and from the start to the first.
    pub every: Option<Dist<Nanos>>,
    /// The receiver's window in segments. Default 4000.
    pub window: u32,
    /// The initial window in segments. Default 10.
    pub initial_window: u32,
    /// How the first slow start ends. Default standard.
    pub slow_start: TcpSlowStart,
    /// Whether segments leave one by one at a rate. Default no, under BBR yes.
    pub pacing: bool,
    /// Whether every second segment is acknowledged. Default yes.
    pub delayed_acks: bool,
    /// Whether the first two duplicate acknowledgements let new segments go. Default yes.
    pub limited_transmit: bool,
    /// What its segments say of ECN, so that queues may mark them instead of dropping them. Default
    /// nothing, under DCTCP ECT(0).
    pub ecn: Ecn,
    /// The retransmission timer.
    pub timer: TcpTimer,
    /// The time from when a sender may send until it does. Default uniform, from none to what a
    /// segment takes on the slowest link of the path (Floyd, Jacobson 1992).
    pub jitter: Dist<Nanos>,
    /// When the first connection may begin. Default 0.
    pub start: Nanos,
    /// The time over which the connections' beginnings are spread at random. Default none.
    pub stagger: Nanos,
}

/// `variant = …`: a way to find losses and a window at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpVariant {
    /// Fast recovery on cumulative acknowledgements (RFC 6582).
    Newreno,
    /// Recovery by SACK blocks (RFC 6675).
    Sack,
    /// Recovery by SACK blocks, the window of RFC 9438.
    Cubic,
}

impl TcpVariant {
    /// How losses are found and windows grow.
    pub fn parts(self) -> (TcpRecovery, TcpCongestion) {
        match self {
            TcpVariant::Newreno => (TcpRecovery::Newreno, TcpCongestion::Reno),
            TcpVariant::Sack => (TcpRecovery::Sack, TcpCongestion::Reno),
            TcpVariant::Cubic => (TcpRecovery::Sack, TcpCongestion::Cubic),
        }
    }
}

/// `loss-detection = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpRecovery {
    /// Fast recovery on cumulative acknowledgements (RFC 6582).
    Newreno,
    /// By SACK blocks (RFC 6675).
    Sack,
    /// By the times at which segments were sent, with probes of the tail (RFC 8985).
    RackTlp,
}

/// `congestion = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpCongestion {
    /// The window of RFC 5681.
    Reno,
    /// The window of RFC 9438.
    Cubic,
    /// RFC 8257, with the accurate feedback of RFC 9768; needs ECN.
    Dctcp,
    /// BBR version 3 (draft-ietf-ccwg-bbr), which paces, and finds losses by `rack-tlp`.
    Bbr,
}

/// `slow-start = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpSlowStart {
    /// With a loss, an echo of congestion or the receiver's window (RFC 5681).
    Standard,
    /// As soon as round trips grow longer (RFC 9406).
    #[serde(rename = "hystart++")]
    Hystart,
}

/// How the retransmission timeout is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpTimer {
    /// RFC 6298: `min-timeout = "200ms"`, the default.
    Fine {
        /// How much longer than the smoothed round trip the timeout is at least.
        min: Nanos,
    },
    /// The clock of 2001: `tick = "100ms"`.
    Coarse {
        /// One tick.
        tick: Nanos,
    },
}
