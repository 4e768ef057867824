//! What the words and numbers of records are.

use laxity::packet::{AckTag, Ecn, Packet};
use laxity::scheduler::DropReason;

use crate::event::LossCause;

/// Which event a record is of.
pub(super) const ARRIVED: u8 = 1;
pub(super) const SENT: u8 = 2;
pub(super) const DROPPED: u8 = 3;
pub(super) const IDLE: u8 = 4;
pub(super) const RELOADED: u8 = 5;
pub(super) const KEPT: u8 = 6;
pub(super) const PLAN: u8 = 7;
pub(super) const NONCONFORMING: u8 = 8;
pub(super) const LOST: u8 = 9;
pub(super) const DELIVERED: u8 = 10;
pub(super) const FILE: u8 = 11;
pub(super) const RATE: u8 = 12;
pub(super) const INTRODUCED: u8 = 13;
pub(super) const RESUMED: u8 = 14;
pub(super) const QUEUED: u8 = 15;
pub(super) const GAP: u8 = 16;

/// What a record says of a packet by one bit each, or two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub has_deadline: bool,
    pub demoted: bool,
    pub ecn: Ecn,
    pub is_under_way: bool,
    pub ack: AckTag,
}

impl Flags {
    /// Of a packet that is due at no time and on no wire.
    pub(super) fn new(packet: &Packet) -> Flags {
        Flags { demoted: packet.demoted, ecn: packet.ecn, ack: packet.ack, ..Flags::default() }
    }

    /// As one number.
    pub(super) fn number(self) -> u64 {
        let Flags { has_deadline, demoted, ecn, is_under_way, ack } = self;
        u64::from(has_deadline)
            | u64::from(demoted) << 1
            | u64::from(ecn_code(ecn)) << 2
            | u64::from(is_under_way) << 4
            | u64::from(ack.bits()) << 5
    }

    /// The inverse of [`number`](Self::number).
    pub(super) fn read(number: u64) -> Option<Flags> {
        let ecn = ecn(number >> 2 & 3)?;
        let flag = |bit: u32| number >> bit & 1 != 0;
        let ack = AckTag::from_bits((number >> 5) as u16)?;
        let (has_deadline, demoted, is_under_way) = (flag(0), flag(1), flag(4));
        let flags = Flags { has_deadline, demoted, ecn, is_under_way, ack };
        (flags.number() == number).then_some(flags)
    }
}

/// Whether a packet that is delivered is a copy, and whether its buffer is needed once more, as one
/// number.
pub(super) fn delivery(is_copy: bool, is_needed: bool) -> u64 {
    u64::from(is_copy) | u64::from(is_needed) << 1
}

/// The inverse of [`delivery`].
pub(super) fn read_delivery(number: u64) -> Option<(bool, bool)> {
    (number < 4).then_some((number & 1 != 0, number & 2 != 0))
}

/// The number of a cause of loss.
pub(super) fn cause_code(cause: LossCause) -> u64 {
    match cause {
        LossCause::Chance => 0,
        LossCause::NoRoom => 1,
    }
}

/// The cause of a number.
pub(super) fn cause(number: u64) -> Option<LossCause> {
    [LossCause::Chance, LossCause::NoRoom].get(usize::try_from(number).ok()?).copied()
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

/// What a packet says of congestion and of acknowledgements, as one number.
pub(super) fn signals(ecn: Ecn, ack: AckTag) -> u64 {
    u64::from(ecn_code(ecn)) | u64::from(ack.bits()) << 2
}

/// The inverse of [`signals`].
pub(super) fn read_signals(number: u64) -> Option<(Ecn, AckTag)> {
    let ack = AckTag::from_bits(u16::try_from(number >> 2).ok()?)?;
    Some((ecn(number & 3)?, ack))
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
