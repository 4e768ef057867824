//! The end of an engine at which packets enter.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use laxity::packet::Packet;
use laxity_engine::{Refusal, SendError};

use crate::engine::lx_engine;
use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::{Failure, Outcome, lx_error};
use crate::packet::lx_packet;
use crate::sized::read_by;
use crate::status::lx_status::{self, *};

/// Hands packets to an engine, through a ring of its own. It belongs to one thread at a time, any
/// thread, and its packets keep their order on the way to the scheduler.
pub struct lx_producer(Handle<Producer>);
held!(lx_producer(Producer), b"prod", "producer");

/// A producer that its engine counts.
pub struct Producer {
    producer: laxity_engine::Producer<()>,
    /// Kept behind it, so that the ring is closed before its engine counts it out.
    _counted: Counted,
}

/// One more that is there, as long as this is.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count.clone())
    }
}

/// Refuses to end what has producers.
pub(crate) fn none_left(producers: &AtomicUsize) -> Result<(), Failure> {
    match producers.load(Ordering::Acquire) {
        0 => Ok(()),
        count => {
            let message = format!("producers are to be freed first: there are {count}");
            Err(Failure::new(LX_ERR_BUSY, message))
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// What a producer does with a packet while its ring is full.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_send_mode {
    /// Gives it back at once: `LX_FULL`.
    LX_SEND_TRY = 0,
    /// Sleeps until there is room.
    LX_SEND_WAIT = 1,
    /// Drops it, and counts that: `LX_FULL`.
    LX_SEND_DROP = 2,
}

/// A new producer of an engine, with a ring of its own. It may outlive the engine's handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_producer(
    engine: *const lx_engine,
    producer: *mut *mut lx_producer,
    error: *mut *mut lx_error,
) -> lx_status {
    make(producer, error, || {
        // SAFETY: the caller gives NULL or an engine that is not freed.
        let engine = unsafe { shared(engine) }?;
        // Counted first: an engine that is shut down meanwhile does not wait for it.
        let counted = Counted::new(&engine.producers);
        Ok(Producer { producer: engine.producer()?, _counted: counted })
    })
}

/// Frees a producer; NULL is none. Packets in its ring are still scheduled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_producer_free(producer: *mut lx_producer) {
    // SAFETY: the caller gives NULL or a producer that is not freed, and that no call uses.
    unsafe { free(producer) };
}

/// Sends a packet; `mode` is an `lx_send_mode`. Its `arrival` is not looked at: it becomes the time
/// at which the scheduler thread takes it. `LX_FULL` if the ring is full and the packet was not
/// taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_producer_send(
    producer: *mut lx_producer,
    packet: *const lx_packet,
    mode: u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Producer| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let packet = unsafe { read_by(packet, lx_packet::checked) }??;
        send_by(&mut of.producer, packet, (), mode)
    };
    // SAFETY: the caller gives NULL or a producer that is not freed, on one thread at a time.
    unsafe { enter_with(producer, error, body) }
}

/// Sends as an `lx_send_mode` says.
pub(crate) fn send_by<T: Send>(
    producer: &mut laxity_engine::Producer<T>,
    packet: Packet,
    payload: T,
    mode: u32,
) -> Outcome {
    let sent = match mode {
        0 => producer.try_send(packet, payload),
        1 => producer.send_or_wait(packet, payload),
        2 if producer.is_stopped() => return Err(stopped()),
        2 => {
            return Ok(if producer.send_or_drop(packet, payload) { LX_OK } else { LX_FULL });
        }
        mode => {
            let message = format!("{mode} is no lx_send_mode: there are 0, 1 and 2");
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
    };
    match sent {
        Ok(()) => Ok(LX_OK),
        Err(SendError { why: Refusal::Full, .. }) => Ok(LX_FULL),
        Err(SendError { why: Refusal::Stopped, .. }) => Err(stopped()),
    }
}

#[cold]
fn stopped() -> Failure {
    Failure::new(LX_ERR_STOPPED, Refusal::Stopped)
}
