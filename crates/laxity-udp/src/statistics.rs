//! What a sink counts.

use std::collections::BTreeMap;

use laxity::histogram::Delays;

/// Counts of a sink. Of the datagrams that were flushed, `taken = sent + lost`.
#[derive(Clone, Debug, Default)]
pub struct UdpStatistics {
    /// Datagrams that the engine has sent to the sink.
    pub taken: u64,
    /// Datagrams that the kernel has taken.
    pub sent: u64,
    /// Their bytes, without headers.
    pub bytes_sent: u64,
    /// Datagrams that were not sent, or that the kernel has dropped at once, by reason.
    pub lost: BTreeMap<Loss, u64>,
    /// Datagrams that the engine's queue has dropped.
    pub dropped: u64,
    /// Calls of `sendmmsg`.
    pub calls: u64,
    /// Messages in them that the kernel has taken. Each has one datagram or several.
    pub messages: u64,
    /// Messages of several datagrams that were refused, and sent again as one message a datagram.
    pub not_segmented: u64,
    /// How often the sink has waited for room in a socket's buffer.
    pub waits: u64,
    /// Calls that failed for an earlier datagram of the same socket, and were repeated.
    pub repeated: u64,
    /// Time from a datagram's planned start until it left, of those whose
    /// [departure](crate::Departure) the kernel has told. One that left early counts as zero.
    pub departures: Delays,
    /// Datagrams that a discipline below has dropped because they missed their transmit time.
    pub missed: u64,
}

/// Why a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// The sink has no socket of this number.
    NoSocket,
    /// The socket's buffer had no room in time (`EAGAIN`).
    NoRoom,
    /// A queue of this machine, or its memory, was full (`ENOBUFS`, `ENOMEM`).
    LocalQueue,
    /// It is too long for the path or for a datagram (`EMSGSIZE`).
    TooLong,
    /// There is no way to its destination, or nobody there (`ENETUNREACH`, `EHOSTUNREACH`,
    /// `ECONNREFUSED` and others).
    Unreachable,
    /// A filter or a right that is missing forbids it (`EPERM`, `EACCES`).
    Forbidden,
    /// Any other error.
    Other,
}

impl UdpStatistics {
    /// All datagrams that were lost.
    pub fn all_lost(&self) -> u64 {
        self.lost.values().sum()
    }

    pub(crate) fn lose(&mut self, loss: Loss) {
        *self.lost.entry(loss).or_default() += 1;
    }
}
