//! An engine from its start to its end.

use std::any::Any;
use std::sync::Arc;

use laxity::scheduler::Scheduler;
use laxity::units::Rate;

use crate::handle::{Board, Handle};
use crate::lane::Gate;
use crate::sync::{Clock, JoinHandle, spawn};
use crate::worker::Worker;
use crate::{Sink, Statistics};

/// A running scheduler thread.
///
/// Dropping it without [`shutdown`](Self::shutdown) lets the thread go on by itself until its
/// producers are gone and everything is sent.
#[derive(Debug)]
pub struct Engine<S, T: Send, K> {
    handle: Handle<S, T>,
    /// Taken by `shutdown`.
    thread: Option<JoinHandle<Finished<S, K>>>,
}

/// How an engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What spaces packets.
    pub pace: Pace,
    /// How many packets each producer's ring holds, 1 to [`Settings::MOST`].
    pub ring: usize,
    /// How many packets may be in the scheduler, 1 to [`Settings::MOST`]. When there are so many,
    /// packets stay in the rings and producers find these full. Memory for their payloads is taken
    /// at the start.
    pub backlog: usize,
    /// How many packets at most go to the sink between two looks at the rings and the clock, at
    /// least 1. One for sinks that block; more for sinks that are faster than a look.
    pub burst: u32,
    /// The latency of one packet in so many is measured, on average and in random distances; at
    /// least 1.
    pub time_one_in: u32,
}

/// What spaces packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The sink, by how long it takes.
    Sink,
    /// A link of this rate: a packet goes to the sink when the transmission of the one before would
    /// have ended.
    Link(Rate),
}

impl Settings {
    /// The most packets that a ring or a backlog can be asked to hold.
    pub const MOST: usize = 1 << 24;

    fn check(&self) -> Result<(), StartError> {
        let is_held = |packets: usize| (1..=Settings::MOST).contains(&packets);
        if !is_held(self.ring) {
            return Err(StartError::Packets { what: "ring", packets: self.ring });
        }
        if !is_held(self.backlog) {
            return Err(StartError::Packets { what: "backlog", packets: self.backlog });
        }
        if self.burst == 0 {
            return Err(StartError::Zero("burst"));
        }
        if self.time_one_in == 0 {
            return Err(StartError::Zero("time_one_in"));
        }
        if self.pace == Pace::Link(Rate(0)) {
            return Err(StartError::Zero("link rate"));
        }
        Ok(())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings { pace: Pace::Sink, ring: 1024, backlog: 16_384, burst: 64, time_one_in: 16 }
    }
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A ring or backlog of no packets or of too many.
    #[error("a {what} of {packets} packets cannot be had: it holds 1 to {}", Settings::MOST)]
    Packets {
        /// What was to hold them.
        what: &'static str,
        /// How many.
        packets: usize,
    },
    /// A setting is zero.
    #[error("{0} is zero: it must be at least 1")]
    Zero(&'static str),
    /// The system starts no thread.
    #[error("the scheduler thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// What is left of an engine.
#[derive(Debug)]
pub struct Finished<S, K> {
    /// The scheduler, empty.
    pub scheduler: S,
    /// The sink.
    pub sink: K,
    /// What was counted.
    pub statistics: Statistics,
}

/// The scheduler thread panicked: in the sink, the scheduler or a call. Packets that it had not
/// sent are lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scheduler thread panicked: {0}")]
pub struct Panicked(String);

impl<S, T, K> Engine<S, T, K>
where
    S: Scheduler + Send + 'static,
    T: Send + 'static,
    K: Sink<T> + Send + 'static,
{
    /// Starts a scheduler thread.
    ///
    /// # Errors
    /// If a setting is out of its range or the system starts no thread.
    pub fn start(scheduler: S, sink: K, settings: Settings) -> Result<Self, StartError> {
        settings.check()?;
        let (board, gate, clock) = (Arc::new(Board::new()), Arc::new(Gate::new()), Clock::start());
        let worker = Worker::new(scheduler, sink, &settings, clock, board.clone(), gate.clone());
        let thread = spawn(move || worker.run())?;
        let handle = Handle::new(board, gate, clock, settings.ring, settings.time_one_in);
        Ok(Engine { handle, thread: Some(thread) })
    }

    /// Adds producers and reaches the scheduler; clone it for use elsewhere.
    pub fn handle(&self) -> &Handle<S, T> {
        &self.handle
    }

    /// Waits until all producers are dropped and all their packets have been sent or dropped by
    /// the scheduler. Nothing is lost on the way. No new producers are accepted meanwhile.
    ///
    /// # Errors
    /// If the scheduler thread panicked; this returns then without waiting for producers, which
    /// find that it has stopped.
    pub fn shutdown(mut self) -> Result<Finished<S, K>, Panicked> {
        self.handle.close();
        let thread = self.thread.take().expect("only this takes it");
        thread.join().map_err(|panic| Panicked(message(&*panic)))
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
