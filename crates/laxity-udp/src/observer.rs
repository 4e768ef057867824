//! Who hears what becomes of datagrams.

use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use crate::{Datagram, Loss};

/// Hears what becomes of each datagram, on the engine's thread, so it must not take long. Every
/// datagram comes back exactly once, by `sent`, `lost` or `dropped`. `()` listens to nothing.
pub trait Observer<B> {
    /// The kernel has taken it.
    fn sent(&mut self, packet: Packet, datagram: Datagram<B>) {
        let _ = (packet, datagram);
    }

    /// It was not sent, or the kernel has dropped it at once.
    fn lost(&mut self, packet: Packet, datagram: Datagram<B>, loss: Loss) {
        let _ = (packet, datagram, loss);
    }

    /// The engine's queue has dropped it, such as when it expired.
    fn dropped(&mut self, packet: Packet, reason: DropReason, datagram: Datagram<B>) {
        let _ = (packet, reason, datagram);
    }

    /// A datagram that was sent has left, as the kernel says.
    fn departed(&mut self, departure: Departure) {
        let _ = departure;
    }
}

impl<B> Observer<B> for () {}

/// When a datagram has left. Times count from the engine's start.
///
/// It is the time at which the driver of the interface got it. Datagrams of one message have the
/// time of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by callers")]
pub struct Departure {
    /// The handle of its packet.
    pub handle: u64,
    /// When its transmission was to start, by the engine's rate.
    pub planned: Nanos,
    /// When it left.
    pub left: Nanos,
}
