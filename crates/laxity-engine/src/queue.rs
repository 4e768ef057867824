//! What the scheduler thread takes packets into and chooses from.

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropSink, Scheduler};
use laxity::units::{Nanos, Rate};

/// Packets that wait, with payloads of type `T`: every [`Scheduler`] is one, and
/// [`Deadlines`](crate::Deadlines).
///
/// `now` never decreases from one call to the next.
pub trait Queue<T> {
    /// What it reads from a payload, which it does not keep.
    type Terms;

    /// Reads it.
    fn terms(payload: &T) -> Self::Terms;

    /// Takes in a packet, or drops it or others.
    fn push(&mut self, now: Nanos, packet: Packet, terms: Self::Terms, drops: &mut dyn DropSink);

    /// Takes out the packet to send now, or `None` if none may be sent.
    fn pop(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch>;

    /// From when on [`pop`](Self::pop) may return a packet without another arrival; `None` if
    /// nothing waits.
    fn ready_at(&self, now: Nanos) -> Option<Nanos>;

    /// How many packets wait.
    fn waiting(&self) -> u64;

    /// Drops what is of no use any more. Default nothing.
    fn expire(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        let _ = (now, drops);
    }

    /// When [`expire`](Self::expire) will drop something. Default never.
    fn next_expiry(&self) -> Option<Nanos> {
        None
    }

    /// Learns the rate of the engine's link, at the start and whenever it changes; `None` if there
    /// is no rate. Default nothing.
    fn set_rate(&mut self, rate: Option<Rate>) {
        let _ = rate;
    }
}

impl<S: Scheduler, T> Queue<T> for S {
    type Terms = ();

    fn terms(_: &T) {}

    fn push(&mut self, now: Nanos, packet: Packet, (): (), drops: &mut dyn DropSink) {
        self.enqueue(now, packet, drops);
    }

    fn pop(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.dequeue(now, drops)
    }

    fn ready_at(&self, now: Nanos) -> Option<Nanos> {
        self.next_ready(now)
    }

    fn waiting(&self) -> u64 {
        self.backlog().packets as u64
    }
}
