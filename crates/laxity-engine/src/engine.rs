//! A running engine, from its start to its end.

use std::any::Any;
use std::sync::Arc;

use crate::handle::{Handle, RequestQueue};
use crate::lane::Gate;
use crate::queue::Queue;
use crate::settings::{Settings, StartError};
use crate::sink::Sink;
use crate::sync::{Clock, JoinHandle, spawn};
use crate::worker::{EngineResult, Worker};

/// A running scheduler thread.
///
/// If the engine is dropped without [`shutdown`](Self::shutdown), the thread runs on until its
/// producers are gone and all packets are sent.
#[derive(Debug)]
pub struct Engine<S, T: Send, K> {
    handle: Handle<S, T>,
    /// Taken by `shutdown`.
    thread: Option<JoinHandle<EngineResult<S, K>>>,
}

/// The scheduler thread panicked: in the sink, the scheduler or a call. Packets that it had not
/// sent are lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scheduler thread panicked: {0}")]
pub struct WorkerPanic(String);

impl<S, T, K> Engine<S, T, K>
where
    S: Queue<T> + Send + 'static,
    T: Send + 'static,
    K: Sink<T> + Send + 'static,
{
    /// Starts a scheduler thread.
    ///
    /// # Errors
    /// If a setting is out of its range or the system starts no thread.
    pub fn start(scheduler: S, sink: K, settings: Settings) -> Result<Self, StartError> {
        settings.check()?;
        let (requests, gate, clock) =
            (Arc::new(RequestQueue::new()), Arc::new(Gate::new()), Clock::start());
        let worker = Worker::new(scheduler, sink, &settings, clock, requests.clone(), gate.clone());
        let thread = spawn(move || worker.run())?;
        let handle = Handle::new(requests, gate, clock, settings);
        Ok(Engine { handle, thread: Some(thread) })
    }

    /// Adds producers and reaches the scheduler; clone it for use elsewhere.
    pub fn handle(&self) -> &Handle<S, T> {
        &self.handle
    }

    /// Waits until all producers are dropped and all their packets have been sent, or dropped by
    /// the scheduler. No packet is lost. No new producers are accepted meanwhile.
    ///
    /// # Errors
    /// If the scheduler thread panicked. The call then returns without waiting for producers, which
    /// find that it has stopped.
    pub fn shutdown(mut self) -> Result<EngineResult<S, K>, WorkerPanic> {
        self.handle.close();
        let thread = self.thread.take().expect("only this takes it");
        thread.join().map_err(|panic| WorkerPanic(message(&*panic)))
    }
}

impl<S, T: Send, K> Drop for Engine<S, T, K> {
    fn drop(&mut self) {
        self.handle.close();
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}
