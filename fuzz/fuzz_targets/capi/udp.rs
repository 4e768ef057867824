//! The UDP sink, by datagrams of any form. All have expired, so that none is sent.

use std::ptr::{null, null_mut};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use laxity_c::deadline_queue::lx_datagram;
use laxity_c::status::lx_status::{self, *};
use laxity_c::udp::*;

use super::Arguments;

/// One sink and producer for all inputs: a thread for each of them would take most of the time.
static HANDLES: LazyLock<[usize; 2]> = LazyLock::new(|| {
    let (mut sink, mut producer) = (null_mut(), null_mut());
    // SAFETY: places are of this function.
    unsafe {
        assert_eq!(lx_udp_sink_start(null(), 1, null(), &mut sink, null_mut()), LX_OK);
        assert_eq!(lx_udp_sink_producer(sink, &mut producer, null_mut()), LX_OK);
    }
    [sink as usize, producer as usize]
});

/// Datagrams that were taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Hands datagrams to the sink until the arguments end; each that was taken is dropped.
pub(super) fn send(arguments: &mut Arguments) -> Option<()> {
    let [sink, producer] = *HANDLES;
    // SAFETY: the handles are never freed.
    while let Some(status) = unsafe { step(producer as *mut lx_udp_producer, arguments) } {
        assert!(!matches!(status, LX_ERR_PANIC | LX_ERR_POISONED | LX_ERR_THREAD));
        TAKEN.fetch_add(u64::from(status == LX_OK), Ordering::Relaxed);
    }
    let (size, taken) = (size_of::<lx_udp_statistics>() as u32, TAKEN.load(Ordering::Relaxed));
    let mut counts = lx_udp_statistics { size, ..lx_udp_statistics::default() };
    while counts.received < taken {
        // SAFETY: the sink is never freed, and the struct is of this function.
        let status =
            unsafe { lx_udp_sink_statistics(sink as *const lx_udp_sink, &mut counts, null_mut()) };
        assert_eq!(status, LX_OK);
    }
    assert_eq!((counts.received, counts.sent), (counts.dropped, 0));
    Some(())
}

/// Sends a datagram; `None` if the arguments end.
///
/// # Safety
/// The producer is not freed.
unsafe fn step(producer: *mut lx_udp_producer, arguments: &mut Arguments) -> Option<lx_status> {
    let bytes = [7; 256];
    // The family of IPv4 or IPv6 in front as often as any other.
    let mut to = [0; 64];
    let family = match arguments.byte()? {
        short @ 0..=15 => u16::from(short),
        _ => arguments.number()? as u16,
    };
    to[..2].copy_from_slice(&family.to_ne_bytes());
    let mut terms = lx_datagram { size: 64, expires: 1, ..lx_datagram::default() };
    terms.deadline = arguments.number()?;
    terms.level = arguments.number()? as u32;
    let flags = arguments.byte()?;
    let or_null = |flag: u8, pointer| if flags & flag == 0 { pointer } else { null() };
    let datagram = lx_udp_datagram {
        size: size_of::<lx_udp_datagram>() as u32,
        // Others than these are refused before they are read.
        length: if flags & 8 == 0 { u32::from(arguments.byte()?) } else { 65_508 },
        bytes: or_null(1, bytes.as_ptr().cast()),
        to: or_null(2, to.as_ptr().cast()),
        terms: &terms,
        handle: arguments.number()?,
        to_length: u32::from(arguments.byte()? % 65),
        class_id: arguments.number()? as u32,
        flow: arguments.number()? as u32,
        link_length: arguments.number()? as u32,
        socket: u32::from(flags >> 7),
        dscp: arguments.byte()?,
        ecn: flags >> 5 & 3,
        reserved: 0,
    };
    // SAFETY: the producer is there, and what the datagram points to is of this function.
    Some(unsafe { lx_udp_send(producer, &datagram, u32::from(flags >> 4 & 1) * 2, null_mut()) })
}
