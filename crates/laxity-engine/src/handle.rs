//! Requests to a running engine, from any thread.

use std::fmt;
use std::sync::{Arc, PoisonError};

use laxity::units::Nanos;

use crate::lane::{Gate, Item, Lane, Shared};
use crate::producer::Producer;
use crate::sync::{AtomicBool, Clock, Instant, Mutex, MutexGuard, Ordering, Sender, channel, ring};
use crate::worker::Payloads;
use crate::{Pace, Room, Settings, StartError, Statistics};

/// Adds producers to a running engine, and gives access to its scheduler. Cheap to clone.
///
/// Calls take a lock and allocate, which producers never do; the scheduler thread looks at the lock
/// only after a request. Calls wait for the scheduler thread, so a sink must not make them.
pub struct Handle<S, T> {
    requests: Arc<RequestQueue<S, T>>,
    gate: Arc<Gate>,
    clock: Clock,
    settings: Settings,
}

/// The error of requests to an engine that shuts down or whose thread has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has stopped")]
pub struct EngineStopped;

/// Why a producer with room of its own cannot join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Its room is out of range.
    #[error(transparent)]
    Setting(#[from] StartError),
    /// The engine has stopped.
    #[error(transparent)]
    Stopped(#[from] EngineStopped),
}

/// Why a pace cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum PaceError {
    /// The rate is zero.
    #[error(transparent)]
    Setting(#[from] StartError),
    /// The engine has stopped.
    #[error(transparent)]
    Stopped(#[from] EngineStopped),
}

impl<S, T: Send> Handle<S, T> {
    pub(crate) fn new(
        requests: Arc<RequestQueue<S, T>>,
        gate: Arc<Gate>,
        clock: Clock,
        settings: Settings,
    ) -> Self {
        Handle { requests, gate, clock, settings }
    }

    /// A new producer with a ring of its own and room of its own in the scheduler.
    ///
    /// Packets of one producer keep their order up to the scheduler, across classes. So a packet of
    /// a class with a promise waits behind earlier packets of the producer if they fill its room. A
    /// thread that sends both takes two producers.
    ///
    /// # Errors
    /// If the engine shuts down or has stopped.
    pub fn producer(&self) -> Result<Producer<T>, EngineStopped> {
        self.join(self.settings.room())
    }

    /// As [`producer`](Self::producer), with room of its own in place of the engine's settings.
    ///
    /// # Errors
    /// If the room is none or too much, or the engine shuts down or has stopped.
    pub fn producer_with(&self, room: Room) -> Result<Producer<T>, JoinError> {
        room.check()?;
        Ok(self.join(room)?)
    }

    fn join(&self, room: Room) -> Result<Producer<T>, EngineStopped> {
        let (writer, reader) = ring::<Item<T>>(room.ring);
        let shared = Arc::new(Shared::new());
        let lane = Lane { reader, capacity: room.ring, shared: shared.clone() };
        self.ask(Request::Join(lane, Payloads::new(room.backlog)))?;
        let (gate, time_one_in) = (self.gate.clone(), self.settings.time_one_in);
        Ok(Producer::new(writer, shared, gate, self.clock, time_one_in))
    }

    /// Changes the pace of packets, between two of them. If the scheduler or a proof depends on the
    /// rate, the caller has to [change](Self::call) the scheduler, too.
    ///
    /// # Errors
    /// If the rate is zero or the engine has stopped.
    pub fn set_pace(&self, pace: Pace) -> Result<(), PaceError> {
        pace.check()?;
        Ok(self.ask(Request::Pace(pace))?)
    }

    /// The time at which the engine started: the zero of all its times.
    pub fn started(&self) -> Instant {
        self.clock.started()
    }

    /// The time, counted from the engine's [start](Self::started).
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Runs a closure with the scheduler and the time on the scheduler thread, between two
    /// packets, and returns its result. This is how classes and streams are added, changed and
    /// removed. The closure must leave enqueueing and dequeueing to the engine, which keeps the
    /// payloads.
    ///
    /// # Errors
    /// If the engine has stopped, also when it does so because the closure panics.
    pub fn call<R: Send + 'static>(
        &self,
        call: impl FnOnce(&mut S, Nanos) -> R + Send + 'static,
    ) -> Result<R, EngineStopped> {
        let (answer, reply) = channel();
        let call = move |scheduler: &mut S, now| {
            // The caller waits for the answer, so sending it cannot fail.
            let _ = answer.send(call(scheduler, now));
        };
        self.ask(Request::Call(Box::new(call)))?;
        reply.recv().map_err(|_| EngineStopped)
    }

    /// Runs a closure as [`call`](Self::call) does, behind all packets that this producer has sent
    /// before: when the scheduler has them, or has dropped them. Does not wait for it. An engine
    /// whose thread panics drops the closure.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub fn call_behind_packets(
        &self,
        producer: &Producer<T>,
        call: impl FnOnce(&mut S, Nanos) + Send + 'static,
    ) -> Result<(), EngineStopped> {
        self.post_behind(producer.shared(), call)
    }

    /// The same for the packets in the ring with this state.
    pub(crate) fn post_behind(
        &self,
        ring: Arc<Shared>,
        call: impl FnOnce(&mut S, Nanos) + Send + 'static,
    ) -> Result<(), EngineStopped> {
        self.ask(Request::Behind(ring, Box::new(call)))
    }

    /// Runs a closure as [`call`](Self::call) does, and does not wait for it.
    pub(crate) fn post(
        &self,
        call: impl FnOnce(&mut S, Nanos) + Send + 'static,
    ) -> Result<(), EngineStopped> {
        self.ask(Request::Call(Box::new(call)))
    }

    /// The statistics of the engine so far.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub fn statistics(&self) -> Result<Statistics, EngineStopped> {
        let (answer, reply) = channel();
        self.ask(Request::Report(answer))?;
        reply.recv().map_err(|_| EngineStopped)
    }

    /// Lets the engine end once its producers are gone and all packets are sent. Calls are answered
    /// until then; new producers are refused.
    pub(crate) fn close(&self) {
        let mut state = self.requests.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
        }
        drop(state);
        self.requests.has_changed.store(true, Ordering::Release);
        self.gate.wake();
    }

    fn ask(&self, request: Request<S, T>) -> Result<(), EngineStopped> {
        let mut state = self.requests.lock();
        let is_accepted = match state.phase {
            Phase::Open => true,
            Phase::Closing => !matches!(request, Request::Join(..)),
            Phase::Ended => false,
        };
        if !is_accepted {
            return Err(EngineStopped);
        }
        state.requests.push(request);
        drop(state);
        self.requests.has_changed.store(true, Ordering::Release);
        self.gate.wake();
        Ok(())
    }
}

impl<S, T> Clone for Handle<S, T> {
    fn clone(&self) -> Self {
        Handle { requests: self.requests.clone(), gate: self.gate.clone(), ..*self }
    }
}

impl<S, T> fmt::Debug for Handle<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// A request to the scheduler thread.
pub(crate) enum Request<S, T> {
    /// A producer joins, with room in the scheduler.
    Join(Lane<T>, Payloads<T>),
    /// Changes the pace.
    Pace(Pace),
    /// Runs a closure with the scheduler.
    Call(Call<S>),
    /// Runs a closure with the scheduler behind all packets that are in a ring.
    Behind(Arc<Shared>, Call<S>),
    /// Asks for the statistics.
    Report(Sender<Statistics>),
}

/// A closure to run with the scheduler.
pub(crate) type Call<S> = Box<dyn FnOnce(&mut S, Nanos) + Send>;

/// The queue of requests to the scheduler thread.
pub(crate) struct RequestQueue<S, T> {
    /// Set after every change below, so that the scheduler thread need not take the lock.
    has_changed: AtomicBool,
    state: Mutex<QueueState<S, T>>,
}

struct QueueState<S, T> {
    requests: Vec<Request<S, T>>,
    phase: Phase,
}

/// The phase of an engine's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It takes all requests.
    Open,
    /// It takes no more producers.
    Closing,
    /// Its thread takes no more requests.
    Ended,
}

impl<S, T> RequestQueue<S, T> {
    /// Nothing is asked yet.
    pub(crate) fn new() -> Self {
        let state = QueueState { requests: Vec::new(), phase: Phase::Open };
        RequestQueue { has_changed: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// Whether there may be something to [`take`](Self::take).
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed.load(Ordering::Acquire)
    }

    /// Takes the requests.
    pub(crate) fn take(&self) -> Vec<Request<S, T>> {
        self.has_changed.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.lock().requests)
    }

    /// Takes no more requests if the engine closes and none is left; returns whether it did.
    pub(crate) fn end_if_closing(&self) -> bool {
        let mut state = self.lock();
        if state.phase == Phase::Closing && state.requests.is_empty() {
            state.phase = Phase::Ended;
        }
        state.phase == Phase::Ended
    }

    /// Takes no more requests. Pending requests are dropped; callers that wait for an answer get an
    /// error.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.phase = Phase::Ended;
        let left = std::mem::take(&mut state.requests);
        drop(state);
        drop(left);
    }

    /// Nothing that runs under the lock panics.
    fn lock(&self) -> MutexGuard<'_, QueueState<S, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
