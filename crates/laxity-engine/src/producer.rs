//! The end at which packets enter.

use std::fmt;
use std::sync::Arc;

use laxity::packet::Packet;
use rtrb::PushError;

use crate::lane::{Gate, Item, NOT_TIMED, Shared, count};
use crate::sync::{Clock, SPINS, Writer, spin_loop};

/// Sends packets to the scheduler thread through a ring of its own. It belongs to one thread at a
/// time; its packets keep their order on the way to the scheduler.
///
/// [`try_send`](Self::try_send) and [`send_or_drop`](Self::send_or_drop) are wait-free: they take a
/// bounded number of steps, independent of other threads, without a lock or an allocation. If the
/// scheduler thread sleeps they make the system call that wakes it.
///
/// Dropping a producer closes its ring; packets in it are still scheduled.
pub struct Producer<T> {
    writer: Writer<Item<T>>,
    shared: Arc<Shared>,
    gate: Arc<Gate>,
    timing: Timing,
}

/// A packet that was not sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the packet was not sent: {why}")]
pub struct SendError<T> {
    /// The packet.
    pub packet: Packet,
    /// Its payload.
    pub payload: T,
    /// Why it was not sent.
    pub why: Refusal,
}

/// Why a packet was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The ring is full.
    Full,
    /// The scheduler thread has ended: the sink, the scheduler or a call panicked.
    Stopped,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Full => "the ring is full",
            Refusal::Stopped => "the scheduler thread has ended",
        })
    }
}

impl<T: Send> Producer<T> {
    pub(crate) fn new(
        writer: Writer<Item<T>>,
        shared: Arc<Shared>,
        gate: Arc<Gate>,
        clock: Clock,
        time_one_in: u32,
    ) -> Self {
        Producer { writer, shared, gate, timing: Timing::new(clock, time_one_in) }
    }

    /// Sends a packet, or gives it back at once.
    ///
    /// The packet's `arrival` is not looked at: it becomes the time at which the scheduler thread
    /// takes it from the ring. Its `handle` is the caller's own and comes out at the sink
    /// unchanged.
    ///
    /// # Errors
    /// If the ring is full or the scheduler thread has ended.
    pub fn try_send(&mut self, packet: Packet, payload: T) -> Result<(), SendError<T>> {
        self.push(packet, payload).inspect_err(|unsent| {
            if unsent.why == Refusal::Full {
                count(&self.shared.full);
            }
        })
    }

    /// Sends a packet, and sleeps as long as the ring is full.
    ///
    /// # Errors
    /// If the scheduler thread has ended.
    pub fn send_or_wait(&mut self, packet: Packet, payload: T) -> Result<(), SendError<T>> {
        let mut sent = self.try_send(packet, payload);
        let mut spins = 0;
        while let Err(SendError { packet, payload, why: Refusal::Full }) = sent {
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                let has_changed = || !self.writer.is_full() || self.gate.is_stopped();
                self.shared.sleep_unless(has_changed);
            }
            sent = self.push(packet, payload);
        }
        sent
    }

    /// Sends a packet, or drops and counts it if the ring is full or the scheduler thread has
    /// ended; returns whether it was sent.
    pub fn send_or_drop(&mut self, packet: Packet, payload: T) -> bool {
        let sent = self.try_send(packet, payload).is_ok();
        if !sent {
            count(&self.shared.dropped);
        }
        sent
    }

    /// Whether the scheduler thread has ended, so that nothing can be sent any more.
    pub fn is_stopped(&self) -> bool {
        self.gate.is_stopped()
    }

    /// The state of its ring.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    fn push(&mut self, mut packet: Packet, payload: T) -> Result<(), SendError<T>> {
        if self.gate.is_stopped() {
            return Err(SendError { packet, payload, why: Refusal::Stopped });
        }
        let arrival = packet.arrival;
        packet.arrival = if self.timing.is_due() { self.timing.clock.now() } else { NOT_TIMED };
        match self.writer.push(Item { packet, payload }) {
            Ok(()) => {
                self.timing.count();
                self.gate.wake();
                Ok(())
            }
            Err(PushError::Full(Item { mut packet, payload })) => {
                packet.arrival = arrival;
                Err(SendError { packet, payload, why: Refusal::Full })
            }
        }
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.shared.close();
        self.gate.wake();
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
    }
}

/// Selects the packets that are timed: one in `(span + 1) / 2` on average, at random distances, so
/// that no pattern in the traffic can hide from it.
struct Timing {
    clock: Clock,
    /// Distances are uniform in 1..=span.
    span: u32,
    /// Packets until the next one that is timed.
    distance: u32,
    random: u32,
}

impl Timing {
    fn new(clock: Clock, one_in: u32) -> Self {
        let span = one_in.saturating_mul(2).saturating_sub(1);
        Timing { clock, span, distance: 1, random: 0x9E37_79B9 }
    }

    fn is_due(&self) -> bool {
        self.distance == 1
    }

    fn count(&mut self) {
        self.distance -= 1;
        if self.distance == 0 {
            // Xorshift (Marsaglia 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
            self.distance = 1 + self.random % self.span;
        }
    }
}
