//! What an engine sends and drops, on its way to the thread that receives it.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::Nanos;
use laxity_engine::Sink;

use super::event::{Place, lx_event};

/// The end in the scheduler thread, which waits while there is no room.
pub struct Outlet(SyncSender<lx_event>);

/// The end that receives.
pub(crate) struct Inlet {
    events: Receiver<lx_event>,
    /// What came while the engine was shut down.
    kept: VecDeque<lx_event>,
    is_over: bool,
}

/// Both ends, with room for this many events in between.
pub(super) fn channel(events: usize) -> (Outlet, Inlet) {
    let (sender, receiver) = sync_channel(events);
    (Outlet(sender), Inlet::new(receiver))
}

impl Sink<()> for Outlet {
    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, (): ()) {
        // A caller that has freed the engine receives no more.
        let _ = self.0.send(lx_event::sent(&dispatch, starts_at));
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, (): ()) {
        let _ = self.0.send(lx_event::dropped(packet, reason));
    }
}

impl Inlet {
    pub(crate) fn new(events: Receiver<lx_event>) -> Inlet {
        Inlet { events, kept: VecDeque::new(), is_over: false }
    }

    /// Fills a place with events, and returns how many there are; waits for the first one no longer
    /// than this.
    pub(crate) fn fill(&mut self, place: &Place, timeout: Duration) -> usize {
        let Some(first) = self.wait(timeout) else { return 0 };
        place.write(0, first);
        let mut written = 1;
        while written < place.capacity()
            && let Some(event) = self.take()
        {
            place.write(written, event);
            written += 1;
        }
        written
    }

    /// The next event; waits for it no longer than this.
    fn wait(&mut self, timeout: Duration) -> Option<lx_event> {
        if let Some(event) = self.take() {
            return Some(event);
        }
        match self.events.recv_timeout(timeout) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.is_over = true;
                None
            }
        }
    }

    /// The next event, if there is one now.
    fn take(&mut self) -> Option<lx_event> {
        if let Some(event) = self.kept.pop_front() {
            return Some(event);
        }
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.is_over = true;
                None
            }
        }
    }

    /// Keeps the next event; waits for it no longer than this.
    pub(super) fn keep_one(&mut self, timeout: Duration) {
        self.kept.extend(self.events.recv_timeout(timeout));
    }

    /// Keeps everything that comes until the scheduler thread has ended.
    pub(super) fn keep_all(&mut self) {
        self.kept.extend(self.events.iter());
    }

    /// Whether the scheduler thread has ended and all was taken.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}
