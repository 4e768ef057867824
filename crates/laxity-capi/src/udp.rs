//! A sink that sends datagrams itself, paced, on a thread of its own.

mod datagram;
mod outgoing;
mod producer;
mod settings;

use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use laxity_engine::{Deadlines, Pace, Statistics};
use laxity_udp::{Datagram, UdpSink};

use crate::deadline_queue::lx_deadline_queue_settings;
use crate::engine::{Inlet, Place, lx_event, pace};
use crate::entry::{Handle, enter_shared, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::producer::none_left;
use crate::replaceable::{Built, Replaceable};
use crate::sized::{SizedOut, read};
use crate::status::lx_status::{self, *};

pub use datagram::lx_udp_datagram;
pub use producer::{lx_udp_producer, lx_udp_producer_free, lx_udp_send, lx_udp_sink_producer};
pub use settings::{lx_loss, lx_transmit_time, lx_udp_settings, lx_udp_statistics};

use outgoing::{Counts, Order, Outgoing, Payload, Reports, Running};

/// Sends datagrams by UDP, paced by a rate, on a thread of its own, with a clock that counts from
/// its start. Only on Linux. Producers hand datagrams to it, each on any thread. It never waits for
/// who receives events.
///
/// Any number of threads use it at a time, but one receives events: a second one at the same time
/// gets `LX_ERR_THREAD`.
pub struct lx_udp_sink(Handle<Sender>);
held!(lx_udp_sink(Sender), b"udps", "UDP sink");

/// A running sink, or what is left of one.
pub struct Sender {
    handle: laxity_engine::Handle<Order, Datagram<Payload>>,
    running: Mutex<Option<Running>>,
    /// What the engine had counted at its end.
    ended: Mutex<Option<Statistics>>,
    /// Without it nobody is told of events.
    inlet: Option<Mutex<Inlet>>,
    counts: Arc<Counts>,
    /// Producers that are not freed.
    producers: Arc<AtomicUsize>,
    sockets: u32,
}

impl Sender {
    /// # Safety
    /// The sockets of the settings are there.
    unsafe fn start(order: Order, rate: u64, asked: &lx_udp_settings) -> Result<Sender, Failure> {
        let (settings, udp, room) = (asked.engine(rate)?, asked.udp()?, asked.events()?);
        // SAFETY: as the caller promises.
        let sockets = unsafe { asked.sockets() }?;
        let count = sockets.len() as u32;
        let counts = Arc::new(Counts::default());
        let (events, inlet) = match room {
            0 => (None, None),
            room => {
                let (sender, receiver) = sync_channel(room);
                (Some(sender), Some(Mutex::new(Inlet::new(receiver))))
            }
        };
        let sink = UdpSink::new(sockets, udp);
        let sink = sink.map_err(|error| Failure::new(LX_ERR_SOCKET, error))?;
        let sink = sink.with_observer(Reports::new(events, counts.clone()));
        let running = Running::start(order, Outgoing::new(sink, counts.clone()), settings)?;
        Ok(Sender {
            handle: running.handle().clone(),
            running: Mutex::new(Some(running)),
            ended: Mutex::new(None),
            inlet,
            counts,
            producers: Arc::default(),
            sockets: count,
        })
    }

    fn statistics(&self) -> Result<lx_udp_statistics, Failure> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let engine = ended.map_or_else(|| self.handle.statistics(), Ok)?;
        Ok(self.counts.read().with_engine(&engine))
    }

    /// Waits until everything has left.
    fn shut_down(&self) -> Result<(), Failure> {
        none_left(&self.producers)?;
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else {
            return Err(Failure::new(LX_ERR_STOPPED, "the UDP sink was shut down before"));
        };
        let ended = running.shutdown().map_err(|panic| Failure::new(LX_ERR_STOPPED, panic))?;
        ended.sink.end();
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended.statistics);
        Ok(())
    }
}

/// Starts a UDP sink. With a plan of one link its scheduler orders datagrams by their classes, made
/// with `seed`, and its rate paces them. With NULL they go by their deadlines, expiries and ranks,
/// as in an `lx_deadline_queue`. `settings` may be NULL for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_start(
    plan: *const lx_plan,
    seed: u64,
    settings: *const lx_udp_settings,
    sink: *mut *mut lx_udp_sink,
    error: *mut *mut lx_error,
) -> lx_status {
    make(sink, error, || {
        let mut asked = lx_udp_settings::DEFAULT;
        if !settings.is_null() {
            // SAFETY: the caller gives a struct of its size.
            asked = unsafe { read(settings) }?;
        }
        let (order, rate) = if plan.is_null() {
            let size = size_of::<lx_deadline_queue_settings>() as u32;
            let queue = lx_deadline_queue_settings { size, limit: asked.limit }.queue()?;
            (Order::Deadlines(Deadlines::new(queue)), 0)
        } else {
            // SAFETY: the caller gives a plan that is not freed.
            let plan = &unsafe { shared(plan) }?.plan;
            let scheduler = Replaceable::new(Built::new(plan, seed)?);
            (Order::Plan(scheduler), plan.link.rate.0)
        };
        // SAFETY: the caller's sockets are there.
        unsafe { Sender::start(order, rate, &asked) }
    })
}

/// Frees a UDP sink; NULL is none. Without `lx_udp_sink_shutdown` before, it runs on until its
/// producers are freed and all is sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_free(sink: *mut lx_udp_sink) {
    // SAFETY: the caller gives NULL or a sink that is not freed, and that no call uses.
    unsafe { free(sink) };
}

/// The time on the sink's clock, in ns from its start: deadlines, expiries and events count so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_now(
    sink: *const lx_udp_sink,
    now: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(now) }?.write(sink.handle.now().0);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// Receives what became of datagrams, as `lx_engine_receive` does: `LX_NONE` when the time is over,
/// `LX_END` when the sink was shut down and everything was received. `events` of the settings say
/// how many are kept; others are lost, and counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_receive(
    sink: *const lx_udp_sink,
    events: *mut lx_event,
    capacity: usize,
    timeout: u64,
    count: *mut usize,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        // SAFETY: the caller gives NULL, or an array of structs and a place that can be written.
        let (place, out) = unsafe { (Place::new(events, capacity)?, Out::new(count)?) };
        out.write(0);
        let Some(inlet) = &sink.inlet else {
            let message = "the sink keeps no events: `events` of its settings is 0";
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        };
        let mut inlet = match inlet.try_lock() {
            Ok(inlet) => inlet,
            Err(TryLockError::Poisoned(inlet)) => inlet.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let message = "another thread receives from this UDP sink";
                return Err(Failure::new(LX_ERR_THREAD, message));
            }
        };
        let written = inlet.fill(&place, Duration::from_nanos(timeout));
        out.write(written);
        Ok(match written {
            0 if inlet.is_over() => LX_END,
            0 => LX_NONE,
            _ => LX_OK,
        })
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// Sets the rate of the link, in bits per second, from the next datagram on; 0 for as fast as the
/// sockets take them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_set_rate(
    sink: *const lx_udp_sink,
    bits_per_second: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        sink.handle.set_pace(pace(bits_per_second)?)?;
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// Sends nothing until `lx_udp_sink_set_rate`, as while the window of a congestion control is full.
/// Datagrams expire meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_hold(
    sink: *const lx_udp_sink,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        sink.handle.set_pace(Pace::Hold)?;
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// Lets another plan take over all that is queued, between two datagrams: see `lx_reconfigure`. The
/// rate stays. `LX_ERR_UNSUPPORTED` if the sink was started without a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_reconfigure(
    sink: *const lx_udp_sink,
    plan: *const lx_plan,
    seed: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let next = Built::new(&unsafe { shared(plan) }?.plan, seed)?;
        // What the scheduler before held is freed here, not between two datagrams.
        let replaced = sink.handle.call(move |order, now| match order {
            Order::Plan(scheduler) => scheduler.replace_later(now, next),
            Order::Deadlines(_) => {
                let message = "the UDP sink was started without a plan";
                Err(Failure::new(LX_ERR_UNSUPPORTED, message))
            }
        });
        drop(replaced??);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// The counts so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_statistics(
    sink: *const lx_udp_sink,
    statistics: *mut lx_udp_statistics,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::new(statistics) }?;
        out.write(sink.statistics()?);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}

/// Ends a UDP sink whose producers are all freed, else `LX_ERR_BUSY`: waits until all datagrams are
/// sent, lost or dropped, and writes the counts, unless the place is NULL. A sink that is held
/// waits until it has a rate, or all has expired. Events are received afterwards, until `LX_END`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_udp_sink_shutdown(
    sink: *const lx_udp_sink,
    statistics: *mut lx_udp_statistics,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |sink: &Sender| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::optional(statistics) }?;
        sink.shut_down()?;
        if let Some(out) = out {
            out.write(sink.statistics()?);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a sink that is not freed.
    unsafe { enter_shared(sink, error, body) }
}
