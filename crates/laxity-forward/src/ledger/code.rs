//! What the words and numbers of records are.

use laxity::packet::{Ecn, Packet};
use laxity::scheduler::DropReason;

/// Which event a record is of.
pub(super) const ARRIVED: u8 = 1;
pub(super) const SENT: u8 = 2;
pub(super) const DROPPED: u8 = 3;
pub(super) const IDLE: u8 = 4;
pub(super) const RELOADED: u8 = 5;
pub(super) const KEPT: u8 = 6;
pub(super) const PLAN: u8 = 7;
pub(super) const NONCONFORMING: u8 = 8;
pub(super) const RATE: u8 = 9;

/// Whether a packet is demoted, how it is marked, and whether it is due at some time, as one
/// number.
pub(super) fn flags(packet: &Packet, has_deadline: bool) -> u64 {
    u64::from(has_deadline) | u64::from(packet.demoted) << 1 | u64::from(ecn_code(packet.ecn)) << 2
}

/// The inverse of [`flags`]: whether a packet is demoted, its mark, and whether it is due.
pub(super) fn read_flags(flags: u64) -> Option<(bool, Ecn, bool)> {
    Some((flags & 2 != 0, ecn(flags >> 2)?, flags & 1 != 0))
}

/// What congestion does with a packet, by its number, which is never changed.
const ECN: [Ecn; 4] = [Ecn::NotCapable, Ecn::Capable, Ecn::Experienced, Ecn::L4s];

/// The number of what congestion does with a packet.
pub(super) fn ecn_code(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 1,
        Ecn::Experienced => 2,
        Ecn::L4s => 3,
    }
}

/// What congestion does with a packet, by its number.
pub(super) fn ecn(number: u64) -> Option<Ecn> {
    ECN.get(usize::try_from(number).ok()?).copied()
}

/// The number of a reason: its place among all, which is never changed.
pub(super) fn reason_code(reason: DropReason) -> u64 {
    reason as u64
}

/// The reason of a number.
pub(super) fn reason(number: u64) -> Option<DropReason> {
    DropReason::ALL.into_iter().find(|reason| *reason as u64 == number)
}

/// A difference that may be negative, small where it is near zero.
pub(super) fn zigzag(from: u64, to: u64) -> u64 {
    let difference = to.wrapping_sub(from) as i64;
    (difference << 1 ^ difference >> 63) as u64
}

/// The other way round.
pub(super) fn unzigzag(from: u64, difference: u64) -> u64 {
    from.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
}
