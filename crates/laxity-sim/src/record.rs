//! What became of each packet, and who wants to know.

use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

/// The fate of one packet, told once it is known. The packet's handle is its number in the order
/// of arrival, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The packet.
    pub packet: Packet,
    /// When it is due: what its class is promised, or the deadline that best effort was given.
    pub deadline: Option<Nanos>,
    /// Sent, dropped or neither.
    pub fate: Fate,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was sent.
    Sent {
        /// When its first bit left.
        start: Nanos,
        /// When its last bit left.
        departure: Nanos,
    },
    /// It was dropped.
    Dropped(DropReason),
    /// It was still waiting when the run ended, as in a network; that of a link lasts until all have
    /// left.
    Queued,
}

/// Someone who watches packets: a trace file, a recorder of series.
pub trait Observer {
    /// Told once for every packet that arrives, in the order in which fates are decided: drops when
    /// they happen, transmissions when they begin; and at last what is still queued at the end.
    fn record(&mut self, record: &Record);
}

/// Nobody.
impl Observer for () {
    fn record(&mut self, _: &Record) {}
}

/// Any number of observers, told in turn.
impl Observer for Vec<&mut dyn Observer> {
    fn record(&mut self, record: &Record) {
        for observer in self {
            observer.record(record);
        }
    }
}
