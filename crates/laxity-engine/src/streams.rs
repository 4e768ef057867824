//! Streams that ask before they send.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use laxity::packet::{ClassId, Packet};
use laxity::reserve::streams::{Grant, StreamScheduler};
use laxity::units::Nanos;

use crate::Producer;
use crate::handle::{EngineStopped, Handle};
use crate::lane::Shared;

/// Admits streams to a running engine, whose scheduler proves that all promises are kept with them.
/// Cheap to clone.
///
/// Calls wait for the scheduler thread, so a sink must not make them. A thread beside it computes
/// what would take too long between two packets.
pub struct Streams<S: StreamScheduler, T> {
    handle: Handle<S, T>,
    work: Sender<S::Work>,
}

/// A stream that was granted. Dropping it ends it: what its producer has sent of it is still sent
/// in time, and then its place may be promised again.
///
/// A program sends [its packets](Self::packet) by the [`Producer`] that it was admitted for. It
/// keeps to the contract, sends nothing before the stream [may](Self::wait), and nothing after it
/// has dropped it.
pub struct Stream<S: StreamScheduler + 'static, T: Send + 'static> {
    streams: Streams<S, T>,
    /// The ring of its packets.
    ring: Arc<Shared>,
    grant: Grant,
}

/// How often a stream that waits looks whether it may send.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Why a stream is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError<R> {
    /// A promise would not be kept.
    #[error("{0}")]
    Refused(R),
    /// The engine has stopped.
    #[error(transparent)]
    Stopped(#[from] EngineStopped),
}

impl<S, T> Streams<S, T>
where
    S: StreamScheduler + 'static,
    S::Contract: Clone + Send,
    S::Refusal: Send,
    T: Send + 'static,
{
    /// Admits streams to this engine.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn new(handle: &Handle<S, T>) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let handle = handle.clone();
        let worker = handle.clone();
        let thread = std::thread::Builder::new().name("laxity-streams".to_owned());
        thread.spawn(move || perform(&receiver, &worker))?;
        Ok(Streams { handle, work: sender })
    }

    /// Asks whether a stream may come that sends by this producer, and lets it come. A producer may
    /// have many streams.
    ///
    /// # Errors
    /// If it is refused, with what would fit, or the engine has stopped.
    pub fn admit(
        &self,
        producer: &Producer<T>,
        contract: &S::Contract,
    ) -> Result<Stream<S, T>, StreamError<S::Refusal>> {
        let (contract, work) = (contract.clone(), self.work.clone());
        let grant = self.handle.call(move |scheduler, now| {
            let grant = scheduler.admit(now, &contract);
            hand_on(scheduler, &work);
            grant
        });
        let grant = grant?.map_err(StreamError::Refused)?;
        Ok(Stream { streams: self.clone(), ring: producer.shared(), grant })
    }
}

impl<S, T> Stream<S, T>
where
    S: StreamScheduler + 'static,
    S::Contract: Clone + Send,
    S::Refusal: Send,
    T: Send + 'static,
{
    /// Waits until the stream may send. Packets that come to the scheduler earlier are dropped as
    /// those of no class.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub fn wait(&self) -> Result<(), EngineStopped> {
        let class = self.grant.class;
        while !self.streams.handle.call(move |scheduler, _| scheduler.has_begun(class))? {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Gives the stream another contract: what was sent keeps its promise, and what is sent when
    /// it [may send](Self::wait) again has the new one. Waits until the scheduler has what was
    /// sent.
    ///
    /// Without a break, admit a second stream and drop the first one when the second may send.
    ///
    /// # Errors
    /// If it is refused, with what would fit, or the engine has stopped. The stream is then as
    /// before.
    pub fn change(&mut self, contract: &S::Contract) -> Result<(), StreamError<S::Refusal>> {
        let (answer, reply) = channel();
        let (contract, work, class) =
            (contract.clone(), self.streams.work.clone(), self.grant.class);
        self.streams.handle.post_behind(self.ring.clone(), move |scheduler, now| {
            let grant = scheduler.change(now, class, &contract);
            hand_on(scheduler, &work);
            // The caller waits for the answer, so sending it cannot fail.
            let _ = answer.send(grant);
        })?;
        self.grant = reply.recv().map_err(|_| EngineStopped)?.map_err(StreamError::Refused)?;
        Ok(())
    }
}

impl<S: StreamScheduler, T: Send> Stream<S, T> {
    /// A packet of the stream, to be sent.
    pub fn packet(&self, length: u32) -> Packet {
        Packet { class: self.grant.class, length, ..Packet::default() }
    }

    /// The class of its packets.
    pub fn class(&self) -> ClassId {
        self.grant.class
    }

    /// The stream may send from then on at the latest, counted from the engine's
    /// [start](Handle::started). [`Nanos::MAX`] if nobody knows.
    pub fn from(&self) -> Nanos {
        self.grant.from
    }
}

impl<S: StreamScheduler + 'static, T: Send + 'static> Drop for Stream<S, T> {
    fn drop(&mut self) {
        let (class, work) = (self.grant.class, self.streams.work.clone());
        // An engine that has stopped has no streams.
        let _ = self.streams.handle.post_behind(self.ring.clone(), move |scheduler, now| {
            scheduler.end(now, class);
            hand_on(scheduler, &work);
        });
    }
}

/// Has computed beside the scheduler what is to be computed since streams have changed.
fn hand_on<S: StreamScheduler>(scheduler: &S, work: &Sender<S::Work>) {
    if let Some(more) = scheduler.work() {
        // The thread ends with the engine.
        let _ = work.send(more);
    }
}

/// Computes until nobody can ask for more or the engine has stopped; of several works the last one.
fn perform<S: StreamScheduler + 'static, T: Send>(work: &Receiver<S::Work>, handle: &Handle<S, T>) {
    while let Ok(first) = work.recv() {
        let last = work.try_iter().last().unwrap_or(first);
        let Some(outcome) = S::perform(last) else { continue };
        let adopt = move |scheduler: &mut S, now| scheduler.adopt(now, outcome);
        if handle.post(adopt).is_err() {
            return;
        }
    }
}

impl<S: StreamScheduler, T> Clone for Streams<S, T> {
    fn clone(&self) -> Self {
        Streams { handle: self.handle.clone(), work: self.work.clone() }
    }
}

impl<S: StreamScheduler, T> fmt::Debug for Streams<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

impl<S: StreamScheduler, T: Send> fmt::Debug for Stream<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("grant", &self.grant).finish_non_exhaustive()
    }
}
