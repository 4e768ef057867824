//! The sink with what C has asked for: order, events, counts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use laxity::packet::Packet;
use laxity::scheduler::{Criterion, Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::{Nanos, Rate};
use laxity_engine::{Deadlines, Engine, HasTerms, Queue, Sink, Terms};
use laxity_udp::{Datagram, Departure, Loss, Observer, UdpSink};

use super::settings::{loss, lx_udp_statistics};
use crate::engine::{lx_event, lx_event_kind};
use crate::packet::LX_NEVER;
use crate::replaceable::Replaceable;

/// What is sent, and how it was chosen.
pub(super) struct Payload {
    bytes: Box<[u8]>,
    chosen: Option<(Criterion, Option<Nanos>, Nanos)>,
}

impl Payload {
    pub(super) fn copied(bytes: &[u8]) -> Payload {
        Payload { bytes: bytes.into(), chosen: None }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The thread that sends.
pub(super) type Running = Engine<Order, Datagram<Payload>, Outgoing>;

/// What orders datagrams.
pub(super) enum Order {
    /// Their own deadlines and ranks.
    Deadlines(Deadlines),
    /// A plan.
    Plan(Replaceable),
}

impl Queue<Datagram<Payload>> for Order {
    type Terms = Terms;

    fn terms(datagram: &Datagram<Payload>) -> Terms {
        datagram.terms()
    }

    fn push(&mut self, now: Nanos, packet: Packet, terms: Terms, drops: &mut dyn DropSink) {
        match self {
            Order::Deadlines(queue) => by_terms(queue).push(now, packet, terms, drops),
            Order::Plan(scheduler) => scheduler.enqueue(now, packet, drops),
        }
    }

    fn pop(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        match self {
            Order::Deadlines(queue) => by_terms(queue).pop(now, drops),
            Order::Plan(scheduler) => scheduler.dequeue(now, drops),
        }
    }

    fn ready_at(&self, now: Nanos) -> Option<Nanos> {
        match self {
            Order::Deadlines(queue) => (!queue.queue().is_empty()).then_some(now),
            Order::Plan(scheduler) => scheduler.next_ready(now),
        }
    }

    fn waiting(&self) -> u64 {
        match self {
            Order::Deadlines(queue) => queue.queue().len() as u64,
            Order::Plan(scheduler) => scheduler.backlog().packets as u64,
        }
    }

    fn expire(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        if let Order::Deadlines(queue) = self {
            by_terms(queue).expire(now, drops);
        }
    }

    fn next_expiry(&self) -> Option<Nanos> {
        match self {
            Order::Deadlines(queue) => queue.queue().next_expiry(),
            Order::Plan(_) => None,
        }
    }

    fn set_rate(&mut self, rate: Option<Rate>) {
        if let Order::Deadlines(queue) = self {
            by_terms(queue).set_rate(rate);
        }
    }
}

/// The queue as one of our datagrams.
fn by_terms(queue: &mut Deadlines) -> &mut impl Queue<Datagram<Payload>, Terms = Terms> {
    queue
}

/// Counts that any thread reads.
#[derive(Default)]
pub(super) struct Counts {
    sink: Mutex<lx_udp_statistics>,
    events_lost: AtomicU64,
}

impl Counts {
    /// As of the last flush.
    pub(super) fn read(&self) -> lx_udp_statistics {
        // Nothing that runs under the lock panics.
        let counts = *self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        lx_udp_statistics { events_lost: self.events_lost.load(Ordering::Relaxed), ..counts }
    }
}

/// Writes events; what finds no room is counted, so that nobody who does not receive delays what is
/// sent.
pub(super) struct Reports {
    events: Option<SyncSender<lx_event>>,
    counts: Arc<Counts>,
}

impl Reports {
    pub(super) fn new(events: Option<SyncSender<lx_event>>, counts: Arc<Counts>) -> Reports {
        Reports { events, counts }
    }

    fn tell(&mut self, event: lx_event) {
        if self.events.as_ref().is_some_and(|events| events.try_send(event).is_err()) {
            self.counts.events_lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Observer<Payload> for Reports {
    fn sent(&mut self, packet: Packet, datagram: Datagram<Payload>) {
        let Some((criterion, deadline, starts_at)) = datagram.bytes.chosen else { return };
        self.tell(lx_event::sent(&Dispatch { packet, deadline, criterion }, starts_at));
    }

    fn lost(&mut self, packet: Packet, _: Datagram<Payload>, why: Loss) {
        self.tell(lx_event::new(lx_event_kind::LX_LOST, loss(why) as u32, packet));
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, _: Datagram<Payload>) {
        self.tell(lx_event::dropped(packet, reason));
    }

    fn departed(&mut self, Departure { handle, planned, left }: Departure) {
        let packet = Packet { handle, ..Packet::default() };
        let event = lx_event::new(lx_event_kind::LX_DEPARTED, 0, packet);
        let event = lx_event { arrival: LX_NEVER, starts_at: planned.0, left_at: left.0, ..event };
        self.tell(event);
    }
}

/// The sink, which remembers how each datagram was chosen and shows what it has counted.
pub(super) struct Outgoing {
    sink: UdpSink<Payload, Reports>,
    counts: Arc<Counts>,
}

impl Outgoing {
    pub(super) fn new(sink: UdpSink<Payload, Reports>, counts: Arc<Counts>) -> Outgoing {
        Outgoing { sink, counts }
    }

    /// Reads what the kernel says of the last datagrams.
    pub(super) fn end(mut self) {
        self.sink.read_reports();
        self.show();
    }

    fn show(&self) {
        let mut counts = self.counts.sink.lock().unwrap_or_else(PoisonError::into_inner);
        counts.count(self.sink.statistics());
    }
}

impl Sink<Datagram<Payload>> for Outgoing {
    fn start(&mut self, started: Instant) {
        self.sink.start(started);
    }

    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, mut datagram: Datagram<Payload>) {
        datagram.bytes.chosen = Some((dispatch.criterion, dispatch.deadline, starts_at));
        self.sink.sent(dispatch, starts_at, datagram);
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, datagram: Datagram<Payload>) {
        self.sink.dropped(packet, reason, datagram);
    }

    fn flush(&mut self) {
        self.sink.flush();
        self.show();
    }
}
