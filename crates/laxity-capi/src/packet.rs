//! What crosses for a packet.

use laxity::packet::{AckTag, ClassId, Ecn, FlowId, Packet};
use laxity::scheduler::Dispatch;
use laxity::units::Nanos;

use crate::error::Failure;
use crate::reason::criterion;
use crate::sized::sized;
use crate::status::lx_status::*;

/// The latest time that a call takes, in ns: about 292 years. A clock that counts from 1970 is far
/// below it.
pub const LX_TIME_MAX: u64 = i64::MAX as u64;

/// No time: a deadline that is not there, an end that does not come.
pub const LX_NEVER: u64 = u64::MAX;

/// No ticket: the packet is not queued.
pub const LX_NO_TICKET: u64 = 0;

/// The ECN bits of an IP header, in the `ecn` of a packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_ecn {
    /// Not-ECT: congestion drops this packet.
    LX_ECN_NOT_CAPABLE = 0,
    /// ECT(1): the same as ECT(0), and marked early and often (L4S).
    LX_ECN_L4S = 1,
    /// ECT(0): congestion may mark this packet where it would drop it.
    LX_ECN_CAPABLE = 2,
    /// CE: a queue has marked this packet.
    LX_ECN_EXPERIENCED = 3,
}

/// A packet. Payloads do not cross: `handle` says which one it is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_packet {
    /// `sizeof(lx_packet)`.
    pub size: u32,
    /// The number of its class in the plan.
    pub class_id: u32,
    /// The flow within the class, as the caller numbers it.
    pub flow: u32,
    /// Length on the link in bytes, at least 1.
    pub length: u32,
    /// When its last bit arrived, in ns; not after `now`.
    pub arrival: u64,
    /// The caller's own mark, which comes out unchanged.
    pub handle: u64,
    /// How an acknowledgement of TCP stands to those before it, for CAKE's filter; 0 for none. See
    /// `lx_ack_tag`.
    pub ack: u16,
    /// An `lx_ecn`: the two bits of the IP header.
    pub ecn: u8,
    /// 1 if the packet broke its class's arrival curve and goes as best effort.
    pub demoted: u8,
    /// Zero.
    pub reserved: u32,
}

/// Why a packet was chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_choice {
    /// `sizeof(lx_choice)`.
    pub size: u32,
    /// An `lx_criterion`: the rule that chose it.
    pub criterion: u32,
    /// The deadline that ordered it, in ns; `LX_NEVER` without one.
    pub deadline: u64,
}

sized! {
    lx_packet = 40, "packet";
    lx_choice = 16, "choice";
}

impl lx_packet {
    /// The packet as schedulers know it.
    #[inline(always)]
    pub(crate) fn checked(&self) -> Result<Packet, Failure> {
        let (Some(ecn), Some(ack)) = (ecn(self.ecn), AckTag::from_bits(self.ack)) else {
            return Err(refusal(self));
        };
        if self.length == 0 || self.demoted > 1 || self.reserved != 0 {
            return Err(refusal(self));
        }
        Ok(Packet {
            class: ClassId(self.class_id),
            flow: FlowId(self.flow),
            length: self.length,
            demoted: self.demoted == 1,
            ecn,
            ack,
            arrival: Nanos(self.arrival),
            handle: self.handle,
        })
    }
}

#[cold]
fn refusal(packet: &lx_packet) -> Failure {
    let message = if packet.length == 0 {
        "the packet's length is 0: it is at least 1".into()
    } else if packet.demoted > 1 || packet.reserved != 0 {
        format!(
            "the packet's demoted is {} and its reserved {}: demoted is 0 or 1, reserved 0",
            packet.demoted, packet.reserved
        )
    } else {
        format!(
            "the packet's ecn is {} and its ack {}: ecn is an lx_ecn, ack 0 or an lx_ack_tag",
            packet.ecn, packet.ack
        )
    };
    Failure::new(LX_ERR_ARGUMENT, message)
}

impl From<Packet> for lx_packet {
    #[inline(always)]
    fn from(packet: Packet) -> lx_packet {
        lx_packet {
            size: size_of::<lx_packet>() as u32,
            class_id: packet.class.0,
            flow: packet.flow.0,
            length: packet.length,
            arrival: packet.arrival.0,
            handle: packet.handle,
            ack: packet.ack.bits(),
            ecn: ecn_bits(packet.ecn),
            demoted: u8::from(packet.demoted),
            reserved: 0,
        }
    }
}

impl From<&Dispatch> for lx_choice {
    #[inline(always)]
    fn from(dispatch: &Dispatch) -> lx_choice {
        lx_choice {
            size: size_of::<lx_choice>() as u32,
            criterion: criterion(dispatch.criterion) as u32,
            deadline: dispatch.deadline.map_or(LX_NEVER, |Nanos(deadline)| deadline),
        }
    }
}

/// The ECN bits of a number; `None` if it has more.
#[inline(always)]
pub(crate) fn ecn(bits: u8) -> Option<Ecn> {
    Some(match bits {
        0 => Ecn::NotCapable,
        1 => Ecn::L4s,
        2 => Ecn::Capable,
        3 => Ecn::Experienced,
        _ => return None,
    })
}

/// Their number.
#[inline(always)]
pub(crate) fn ecn_bits(ecn: Ecn) -> u8 {
    let bits = match ecn {
        Ecn::NotCapable => lx_ecn::LX_ECN_NOT_CAPABLE,
        Ecn::L4s => lx_ecn::LX_ECN_L4S,
        Ecn::Capable => lx_ecn::LX_ECN_CAPABLE,
        Ecn::Experienced => lx_ecn::LX_ECN_EXPERIENCED,
    };
    bits as u8
}

/// The time `now` of a call, which is never before the one of the call before.
#[inline(always)]
pub(crate) fn advance(last: &mut Nanos, now: u64) -> Result<Nanos, Failure> {
    if now < last.0 || now > LX_TIME_MAX {
        return Err(not_a_time(now, *last));
    }
    *last = Nanos(now);
    Ok(*last)
}

#[cold]
fn not_a_time(now: u64, Nanos(last): Nanos) -> Failure {
    let message = if now > LX_TIME_MAX {
        format!("the time {now} is above LX_TIME_MAX, {LX_TIME_MAX}")
    } else {
        format!("the time goes back: it is {now}, and was {last} before")
    };
    Failure::new(LX_ERR_TIME, message)
}

/// The `ack` of a packet that acknowledges, for CAKE's filter of acknowledgements.
///
/// Acknowledgements without data are numbered in each flow. `number` is that of this one if
/// `is_numbered` is not 0, else that of the last one before it. It makes the last `reach` numbered
/// ones before it superfluous, at most 4.
#[unsafe(no_mangle)]
pub extern "C" fn lx_ack_tag(number: u16, is_numbered: u32, reach: u16) -> u16 {
    AckTag::new(number, is_numbered != 0, reach).bits()
}
