//! A scheduler on a thread of its own.

mod event;
mod outlet;
mod settings;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, TryLockError};
use std::thread;
use std::time::Duration;

use laxity_engine::{Engine as Running, Statistics};

use crate::entry::{Handle, enter_shared, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::producer::none_left;
use crate::replaceable::{Built, Replaceable};
use crate::sized::{SizedOut, read};
use crate::status::lx_status::{self, *};

pub use event::{lx_event, lx_event_kind};
pub use outlet::Outlet;
pub use settings::{lx_engine_settings, lx_statistics};

pub(crate) use event::Place;
pub(crate) use outlet::Inlet;
pub(crate) use settings::{pace, waiting_events};

/// A scheduler on a thread of its own, with a clock that counts from its start. Producers hand
/// packets to it, each on any thread; the caller receives what it sends and drops.
///
/// Any number of threads use it at a time, but one receives: `lx_engine_receive` and
/// `lx_engine_shutdown` of a second one at the same time are `LX_ERR_THREAD`.
pub struct lx_engine(Handle<Engine>);
held!(lx_engine(Engine), b"engn", "engine");

/// How long a thread that waits for an answer looks elsewhere.
const LOOK: Duration = Duration::from_micros(50);

/// A running engine, or what is left of one.
pub struct Engine {
    handle: laxity_engine::Handle<Replaceable, ()>,
    /// Producers that are not freed.
    pub(crate) producers: Arc<AtomicUsize>,
    received: Mutex<Received>,
}

/// What one thread has at a time.
struct Received {
    running: Option<Running<Replaceable, (), Outlet>>,
    inlet: Inlet,
}

impl Engine {
    /// The end of a thread that receives.
    fn received(&self) -> Result<std::sync::MutexGuard<'_, Received>, Failure> {
        match self.received.try_lock() {
            Ok(received) => Ok(received),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::new(LX_ERR_THREAD, "another thread receives from this engine"))
            }
            Err(TryLockError::Poisoned(received)) => Ok(received.into_inner()),
        }
    }

    /// Waits for an answer of the scheduler thread, which may itself be waiting for room: what
    /// comes meanwhile is kept, if nobody else receives it. That is no more than the thread sends
    /// and drops between two looks at what it is asked.
    fn ask<R: Send>(&self, question: impl FnOnce() -> R + Send) -> Result<R, Failure> {
        thread::scope(|scope| {
            let asking = thread::Builder::new().name("laxity-ask".into());
            let asking = asking.spawn_scoped(scope, question);
            let asking = asking.map_err(|error| Failure::new(LX_ERR_STOPPED, error))?;
            while !asking.is_finished() {
                match self.received.try_lock() {
                    Ok(mut received) => received.inlet.keep_one(LOOK),
                    Err(_) => thread::sleep(LOOK),
                }
            }
            asking.join().map_err(|_| Failure::new(LX_ERR_PANIC, "the engine's answer"))
        })
    }

    /// A ring to hand packets in by.
    pub(crate) fn producer(&self) -> Result<laxity_engine::Producer<()>, Failure> {
        Ok(self.handle.producer()?)
    }
}

impl Received {
    /// Ends the engine, whose producers are gone, and keeps what it still sends and drops.
    fn shut_down(
        &mut self,
        running: Running<Replaceable, (), Outlet>,
    ) -> Result<Statistics, Failure> {
        let ending = thread::Builder::new().name("laxity-end".into());
        let ending = ending.spawn(move || {
            // With the outlet, so that what is received has an end.
            running.shutdown().map(|ended| ended.statistics)
        });
        let ending = ending.map_err(|error| Failure::new(LX_ERR_STOPPED, error))?;
        // The thread waits for room in what is received until it has sent everything.
        self.inlet.keep_all();
        let ended = ending.join().map_err(|_| Failure::new(LX_ERR_PANIC, "the engine's end"))?;
        ended.map_err(|panic| Failure::new(LX_ERR_STOPPED, panic))
    }
}

/// Starts an engine with the scheduler of a plan. `settings` may be NULL: then they are those of
/// `lx_engine_settings_default` for the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_start(
    plan: *const lx_plan,
    seed: u64,
    settings: *const lx_engine_settings,
    engine: *mut *mut lx_engine,
    error: *mut *mut lx_error,
) -> lx_status {
    make(engine, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let plan = unsafe { shared(plan) }?;
        let mut asked = lx_engine_settings::default();
        if !settings.is_null() {
            // SAFETY: the caller gives a struct of its size.
            asked = unsafe { read(settings) }?;
        }
        let (settings, events) = asked.checked()?;
        let scheduler = Replaceable::new(Built::new(&plan.plan, seed)?);
        let (outlet, inlet) = outlet::channel(events);
        let running = Running::start(scheduler, outlet, settings)?;
        let handle = running.handle().clone();
        let received = Mutex::new(Received { running: Some(running), inlet });
        Ok(Engine { handle, producers: Arc::default(), received })
    })
}

/// Frees an engine; NULL is none. Without `lx_engine_shutdown` before, it runs on until its
/// producers are freed and all is sent, and nobody receives it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_free(engine: *mut lx_engine) {
    // SAFETY: the caller gives NULL or an engine that is not freed, and that no call uses.
    unsafe { free(engine) };
}

/// Receives packets that were sent and dropped, in their order: writes 1 to `capacity` of them to
/// `events` and their number to `count`, or waits for the first one for up to `timeout` ns.
///
/// All structs of the array have the `size` of the first one. `LX_NONE` when the time is over,
/// `LX_END` when the engine was shut down and everything was received. The scheduler thread waits
/// while `events` of the settings are not received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_receive(
    engine: *const lx_engine,
    events: *mut lx_event,
    capacity: usize,
    timeout: u64,
    count: *mut usize,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |engine: &Engine| {
        // SAFETY: the caller gives NULL, or an array of structs and a place that can be written.
        let (place, out) = unsafe { (Place::new(events, capacity)?, Out::new(count)?) };
        out.write(0);
        let mut received = engine.received()?;
        let count = received.inlet.fill(&place, Duration::from_nanos(timeout));
        out.write(count);
        if count > 0 {
            return Ok(LX_OK);
        }
        let is_over = received.running.is_none() || received.inlet.is_over();
        Ok(if is_over { LX_END } else { LX_NONE })
    };
    // SAFETY: the caller gives NULL or an engine that is not freed.
    unsafe { enter_shared(engine, error, body) }
}

/// Lets another plan take over all that is queued, between two packets: see `lx_reconfigure`. The
/// link's rate is that of the settings until `lx_engine_set_rate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_reconfigure(
    engine: *const lx_engine,
    plan: *const lx_plan,
    seed: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |engine: &Engine| {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let next = Built::new(&unsafe { shared(plan) }?.plan, seed)?;
        // What the scheduler before held is freed here, not between two packets.
        let handle = &engine.handle;
        let replaced =
            engine.ask(|| handle.call(move |scheduler, now| scheduler.replace_later(now, next)))?;
        drop(replaced??);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or an engine that is not freed.
    unsafe { enter_shared(engine, error, body) }
}

/// Sets the rate of the link, in bits per second, from the next packet on; 0 for as fast as events
/// are received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_set_rate(
    engine: *const lx_engine,
    bits_per_second: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |engine: &Engine| {
        engine.handle.set_pace(pace(bits_per_second)?)?;
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or an engine that is not freed.
    unsafe { enter_shared(engine, error, body) }
}

/// The counts so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_statistics(
    engine: *const lx_engine,
    statistics: *mut lx_statistics,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |engine: &Engine| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::new(statistics) }?;
        let statistics = engine.ask(|| engine.handle.statistics())??;
        out.write((&statistics).into());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or an engine that is not freed.
    unsafe { enter_shared(engine, error, body) }
}

/// Ends an engine whose producers are all freed, else `LX_ERR_BUSY`: waits until all packets are
/// sent or dropped, and writes the counts, unless the place is NULL. No packet is lost: what was
/// not received is received afterwards, until `LX_END`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_engine_shutdown(
    engine: *const lx_engine,
    statistics: *mut lx_statistics,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |engine: &Engine| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::optional(statistics) }?;
        let mut received = engine.received()?;
        none_left(&engine.producers)?;
        let Some(running) = received.running.take() else {
            return Err(Failure::new(LX_ERR_STOPPED, "the engine was shut down before"));
        };
        let statistics = received.shut_down(running)?;
        if let Some(out) = out {
            out.write((&statistics).into());
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or an engine that is not freed.
    unsafe { enter_shared(engine, error, body) }
}
