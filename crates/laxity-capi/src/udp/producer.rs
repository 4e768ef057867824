//! The end of a UDP sink at which datagrams enter.

use laxity_udp::Datagram;

use super::datagram::lx_udp_datagram;
use super::lx_udp_sink;
use super::outgoing::Payload;
use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::lx_error;
use crate::producer::{Counted, send_by};
use crate::sized::read_by;
use crate::status::lx_status;

/// Hands datagrams to a UDP sink, through a ring of its own. It belongs to one thread at a time,
/// any thread.
pub struct lx_udp_producer(Handle<Producer>);
held!(lx_udp_producer(Producer), b"udpp", "UDP producer");

/// A producer that its sink counts.
pub struct Producer {
    producer: laxity_engine::Producer<Datagram<Payload>>,
    sockets: u32,
    /// Kept behind it, so that the ring is closed before its sink counts it out.
    _counted: Counted,
}

/// A new producer of a UDP sink, with a ring of its own. It may outlive the sink's handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_producer(
    sink: *const lx_udp_sink,
    producer: *mut *mut lx_udp_producer,
    error: *mut *mut lx_error,
) -> lx_status {
    make(producer, error, || {
        // SAFETY: the caller gives NULL or a sink that is not freed.
        let sink = unsafe { shared(sink) }?;
        // Counted first: a sink that is shut down meanwhile does not wait for it.
        let counted = Counted::new(&sink.producers);
        let producer = sink.handle.producer()?;
        Ok(Producer { producer, sockets: sink.sockets, _counted: counted })
    })
}

/// Frees a producer; NULL is none. Datagrams in its ring are still sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_producer_free(producer: *mut lx_udp_producer) {
    // SAFETY: the caller gives NULL or a producer that is not freed, and that no call uses.
    unsafe { free(producer) };
}

/// Sends a datagram; `mode` is an `lx_send_mode`. Its bytes are copied before the call returns.
/// `LX_FULL` if the ring is full and it was not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_send(
    producer: *mut lx_udp_producer,
    datagram: *const lx_udp_datagram,
    mode: u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Producer| {
        // SAFETY: the caller gives NULL or a struct of its size, and what it points to is there.
        let checked = unsafe { read_by(datagram, |given| given.checked(of.sockets)) };
        let (packet, datagram) = checked??;
        send_by(&mut of.producer, packet, datagram, mode)
    };
    // SAFETY: the caller gives NULL or a producer that is not freed, on one thread at a time.
    unsafe { enter_with(producer, error, body) }
}
