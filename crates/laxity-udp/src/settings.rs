//! Settings of a sink.

use laxity::units::Nanos;

/// Settings of a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpSettings {
    /// The time of the engine's rate that one message of several datagrams may take at most; with
    /// `None` each datagram is a message. Datagrams are put together that follow one another to one
    /// destination, with the same length and marks, and the kernel cuts them apart (`UDP_SEGMENT`,
    /// from Linux 4.18 on).
    pub segmentation: Option<Nanos>,
    /// How long a turn waits for room in a socket's buffer before a datagram counts as lost. The
    /// other sockets wait meanwhile.
    pub patience: Nanos,
    /// Whether the kernel is told when each datagram is to start.
    pub transmit_time: TransmitTime,
    /// Whether the kernel says when datagrams have left: see [`Departure`](crate::Departure).
    /// Nobody else may send by the same sockets then, because it is told by numbers of messages.
    pub departures: bool,
    /// Whether the kernel says that a queue of this machine has dropped a datagram (`IP_RECVERR`).
    /// Who receives by the same socket then gets errors that others have sent, such as those of
    /// ports that are closed.
    pub local_drops: bool,
}

/// Whether the kernel is told when each datagram is to start (`SO_TXTIME`, from Linux 4.19 on).
///
/// The engine's [lead](laxity_engine::Spacing::lead) and batch say how long before. Each datagram
/// is a message of its own then, because a message has one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "as many as there are disciplines that listen")]
pub enum TransmitTime {
    /// It is not told: a datagram leaves when the engine's thread hands it over.
    #[default]
    Off,
    /// On the monotonic clock, for an interface with the discipline `fq`.
    Fq,
    /// On the clock of international atomic time, for an interface with the discipline `etf`. It
    /// takes `CAP_NET_ADMIN`. What comes after its time, or less than the discipline's `delta`
    /// before it, is dropped and counted as [missed](crate::UdpStatistics::missed).
    Etf,
}

impl UdpSettings {
    /// Whether the kernel says anything afterwards.
    pub(crate) fn has_reports(&self) -> bool {
        self.departures || self.local_drops || self.transmit_time != TransmitTime::Off
    }
}

impl Default for UdpSettings {
    fn default() -> Self {
        UdpSettings {
            segmentation: Some(Nanos(1_000_000)),
            patience: Nanos(1_000_000),
            transmit_time: TransmitTime::Off,
            departures: false,
            local_drops: false,
        }
    }
}

/// Why a sink cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("socket {socket} does not take {option}: {cause}")]
pub struct SocketError {
    /// The number of the socket.
    pub socket: usize,
    /// What it does not take.
    pub option: &'static str,
    /// What the system says.
    #[source]
    pub cause: std::io::Error,
}
