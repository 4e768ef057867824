//! What an engine has done with a packet.

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::Nanos;

use crate::error::Failure;
use crate::packet::{LX_NEVER, ecn_bits};
use crate::reason::{criterion, drop_reason};
use crate::sized::{SizedOut, size_of_struct, sized};
use crate::status::lx_status::*;

/// What an engine has done with a packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_event_kind {
    /// It was sent.
    LX_SENT = 0,
    /// It was dropped.
    LX_DROPPED = 1,
    /// A UDP sink could not send it.
    LX_LOST = 2,
    /// A datagram that was sent has left, as the kernel says. Only `handle`, `starts_at` and
    /// `left_at` are known.
    LX_DEPARTED = 3,
}

/// What an engine or a UDP sink has done with a packet. Times are in ns from its start.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_event {
    /// `sizeof(lx_event)`.
    pub size: u32,
    /// An `lx_event_kind`.
    pub kind: u32,
    /// An `lx_criterion` if it was sent, an `lx_drop_reason` if it was dropped, an `lx_loss` if it
    /// was lost.
    pub reason: u32,
    /// The number of its class, in the plan that is followed.
    pub class_id: u32,
    /// The flow within the class.
    pub flow: u32,
    /// Length on the link in bytes.
    pub length: u32,
    /// The producer's own mark.
    pub handle: u64,
    /// When the scheduler thread took it from its producer.
    pub arrival: u64,
    /// When its transmission starts; `LX_NEVER` if it was dropped or lost.
    pub starts_at: u64,
    /// The deadline that ordered it; `LX_NEVER` without one.
    pub deadline: u64,
    /// An `lx_ecn`.
    pub ecn: u8,
    /// 1 if it broke its class's arrival curve and went as best effort.
    pub demoted: u8,
    /// Zero.
    pub reserved: [u8; 6],
    /// When the driver of the interface got it; `LX_NEVER` if nobody knows.
    pub left_at: u64,
}

sized! {
    lx_event = 64, "event";
}

impl lx_event {
    pub(crate) fn new(kind: lx_event_kind, reason: u32, packet: Packet) -> lx_event {
        lx_event {
            size: size_of::<lx_event>() as u32,
            kind: kind as u32,
            reason,
            class_id: packet.class.0,
            flow: packet.flow.0,
            length: packet.length,
            handle: packet.handle,
            arrival: packet.arrival.0,
            starts_at: LX_NEVER,
            deadline: LX_NEVER,
            ecn: ecn_bits(packet.ecn),
            demoted: u8::from(packet.demoted),
            reserved: [0; 6],
            left_at: LX_NEVER,
        }
    }

    /// A packet that was sent.
    pub(crate) fn sent(dispatch: &Dispatch, starts_at: Nanos) -> lx_event {
        let reason = criterion(dispatch.criterion) as u32;
        let deadline = dispatch.deadline.map_or(LX_NEVER, |Nanos(deadline)| deadline);
        let event = lx_event::new(lx_event_kind::LX_SENT, reason, dispatch.packet);
        lx_event { starts_at: starts_at.0, deadline, ..event }
    }

    /// A packet that was dropped.
    pub(crate) fn dropped(packet: Packet, reason: DropReason) -> lx_event {
        lx_event::new(lx_event_kind::LX_DROPPED, drop_reason(reason) as u32, packet)
    }
}

/// An array of the caller's for events.
pub(crate) struct Place {
    first: *mut lx_event,
    /// Of each of them.
    size: usize,
    capacity: usize,
}

impl Place {
    /// # Safety
    /// `first` is NULL or the first of `capacity` structs of the size that stands in front of it.
    pub(crate) unsafe fn new(first: *mut lx_event, capacity: usize) -> Result<Place, Failure> {
        if capacity == 0 {
            return Err(Failure::new(LX_ERR_ARGUMENT, "there is no room for any event"));
        }
        // SAFETY: as the caller promises.
        let size = unsafe { size_of_struct(first) }?;
        if !size.is_multiple_of(align_of::<lx_event>()) {
            let message = format!("the size of the event is {size}, not a multiple of 8");
            return Err(Failure::new(LX_ERR_SIZE, message));
        }
        Ok(Place { first, size, capacity })
    }

    /// How many there are.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills one of them, within the capacity.
    pub(super) fn write(&self, index: usize, event: lx_event) {
        // SAFETY: as `new` was promised, it is there and has this size.
        unsafe {
            let to = self.first.byte_add(index * self.size);
            SizedOut::sized(to, self.size).write(event);
        }
    }
}
