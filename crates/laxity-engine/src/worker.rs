//! The scheduler thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason, DropSink};
use laxity::units::Nanos;
use slab::Slab;

use crate::handle::{Call, Request, RequestQueue};
use crate::lane::{Gate, Item, Lane, NOT_TIMED, Shared};
use crate::pacing::Pacing;
use crate::queue::Queue;
use crate::sync::{Clock, Ordering, SPINS, spin_loop};
use crate::{Settings, Sink, Statistics};

/// The parts of an engine that has ended.
#[derive(Debug)]
pub struct EngineResult<S, K> {
    /// The scheduler, empty.
    pub scheduler: S,
    /// The sink.
    pub sink: K,
    /// The counts of the engine.
    pub statistics: Statistics,
}

/// Packets taken from one ring before the next one has its turn.
const TAKEN_AT_ONCE: usize = 64;

/// Shorter waits are spent polling: falling asleep and waking up takes longer.
const SHORTEST_SLEEP: Nanos = Nanos(20_000);

/// The state of the scheduler thread.
pub(crate) struct Worker<S, T, K> {
    scheduler: S,
    outlet: Outlet<T, K>,
    lanes: Vec<ProducerLane<T>>,
    /// Closures that wait for packets in rings.
    waiting: Vec<Waiting<S>>,
    pacing: Pacing,
    burst: u32,
    clock: Clock,
    requests: Arc<RequestQueue<S, T>>,
    gate: Arc<Gate>,
}

/// A closure that runs behind packets.
struct Waiting<S> {
    /// The ring that they are in.
    ring: Arc<Shared>,
    /// How many have to be taken from it since its producer joined.
    until: u64,
    call: Call<S>,
}

/// A producer's ring, and its payloads.
struct ProducerLane<T> {
    lane: Lane<T>,
    producer: usize,
    /// Packets that were taken from its ring.
    taken: u64,
    /// When it last had no room in the scheduler for all that was in its ring.
    full_at: Option<Nanos>,
}

/// The sink, and the payloads of packets that are in the scheduler.
struct Outlet<T, K> {
    /// By producer.
    payloads: Slab<Payloads<T>>,
    sink: K,
    clock: Clock,
    statistics: Statistics,
}

/// The payloads of one producer's packets in the scheduler, with a limit of its own, so that no
/// producer waits because others have much to send.
pub(crate) struct Payloads<T> {
    queued: Slab<QueuedPayload<T>>,
    limit: usize,
}

struct QueuedPayload<T> {
    payload: T,
    /// The producer's own.
    handle: u64,
    sent_at: Nanos,
}

/// The position of a payload: the handle under which the scheduler knows its packet.
#[derive(Clone, Copy)]
struct Place {
    producer: usize,
    slot: usize,
}

impl Place {
    /// A slot is below [`Settings::MOST`].
    const SLOT_BITS: u32 = 32;

    fn handle(self) -> u64 {
        (self.producer as u64) << Place::SLOT_BITS | self.slot as u64
    }

    fn from_handle(handle: u64) -> Self {
        let slot = handle & ((1 << Place::SLOT_BITS) - 1);
        Place { producer: (handle >> Place::SLOT_BITS) as usize, slot: slot as usize }
    }
}

impl<T> ProducerLane<T> {
    fn is_of(&self, ring: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.lane.shared, ring)
    }
}

impl<T> Payloads<T> {
    /// Room for `limit` packets, which is taken now.
    pub(crate) fn new(limit: usize) -> Self {
        Payloads { queued: Slab::with_capacity(limit), limit }
    }

    fn room(&self) -> usize {
        self.limit - self.queued.len()
    }
}

impl<S: Queue<T>, T: Send, K: Sink<T>> Worker<S, T, K> {
    pub(crate) fn new(
        scheduler: S,
        sink: K,
        settings: &Settings,
        clock: Clock,
        requests: Arc<RequestQueue<S, T>>,
        gate: Arc<Gate>,
    ) -> Self {
        let (payloads, statistics) = (Slab::new(), Statistics::default());
        let outlet = Outlet { payloads, sink, clock, statistics };
        Worker {
            scheduler,
            outlet,
            lanes: Vec::new(),
            waiting: Vec::new(),
            pacing: Pacing::new(settings.pace, settings.spacing),
            burst: settings.burst,
            clock,
            requests,
            gate,
        }
    }

    /// Works until the engine is shut down. After a panic, producers and callers are told that the
    /// engine has stopped before the panic continues.
    pub(crate) fn run(mut self) -> EngineResult<S, K> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work()));
        self.gate.stop();
        self.requests.end();
        self.lanes.clear();
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
        let Outlet { sink, statistics, .. } = self.outlet;
        EngineResult { scheduler: self.scheduler, sink, statistics }
    }

    fn work(&mut self) {
        self.outlet.sink.start(self.clock.started());
        self.scheduler.set_rate(self.pacing.rate());
        let mut idle_turns = 0;
        loop {
            let now = self.clock.now();
            self.answer(now);
            let taken = self.take_in(now);
            self.call_waiting(now);
            let (sent, next) = self.serve(now);
            if sent > 0 {
                self.outlet.sink.flush();
            }
            if taken > 0 || sent > 0 {
                idle_turns = 0;
                continue;
            }
            if self.is_done() {
                return;
            }
            let wait = next.map(|next| next.saturating_sub(now));
            if idle_turns < SPINS || wait.is_some_and(|wait| wait < SHORTEST_SLEEP) {
                idle_turns += 1;
                spin_loop();
            } else {
                self.gate.sleep_unless(|| self.is_something_to_do(), wait);
            }
        }
    }

    fn answer(&mut self, now: Nanos) {
        if !self.requests.has_changed() {
            return;
        }
        let requests = self.requests.take().into_iter();
        let (joins, others): (Vec<_>, Vec<_>) =
            requests.partition(|request| matches!(request, Request::Join(..)));
        // Producers join first: if a call panics, they are among those that learn of it.
        for request in joins.into_iter().chain(others) {
            match request {
                Request::Join(lane, payloads) => {
                    self.outlet.statistics.producers += 1;
                    let producer = self.outlet.payloads.insert(payloads);
                    self.lanes.push(ProducerLane { lane, producer, taken: 0, full_at: None });
                }
                Request::Pace(pace) => {
                    self.pacing.set_pace(pace);
                    self.scheduler.set_rate(self.pacing.rate());
                }
                Request::Call(call) => call(&mut self.scheduler, now),
                Request::Behind(ring, call) => {
                    let found = self.lanes.iter().find(|joined| joined.is_of(&ring));
                    let until =
                        found.map_or(0, |joined| joined.taken + joined.lane.reader.slots() as u64);
                    self.waiting.push(Waiting { ring, until, call });
                }
                Request::Report(answer) => {
                    let mut statistics = self.outlet.statistics.clone();
                    statistics.queued = self.scheduler.waiting();
                    let joined = self.lanes.iter();
                    joined.for_each(|joined| statistics.add_producer(&joined.lane.shared));
                    // The caller waits for the answer, so sending it cannot fail.
                    let _ = answer.send(statistics);
                }
            }
        }
    }

    /// Takes packets from the rings, a bounded number from each, within the limit of its producer.
    /// Forgets producers that are gone with all their packets. Returns the number of packets taken.
    fn take_in(&mut self, now: Nanos) -> usize {
        let mut taken = 0;
        for ProducerLane { lane, producer, taken: in_all, full_at, .. } in &mut self.lanes {
            let room = self.outlet.payloads[*producer].room();
            if room < lane.reader.slots() {
                *full_at = Some(now);
            }
            let count = TAKEN_AT_ONCE.min(room).min(lane.reader.slots());
            if count == 0 {
                continue;
            }
            taken += count;
            *in_all += count as u64;
            let items = lane.reader.read_chunk(count);
            for item in items.expect("only this thread takes them") {
                if item.packet.arrival != NOT_TIMED && *full_at < Some(item.packet.arrival) {
                    let waited = now.saturating_sub(item.packet.arrival);
                    self.outlet.statistics.ring.record(waited);
                }
                let terms = S::terms(&item.payload);
                let packet = self.outlet.keep(*producer, item, now);
                self.scheduler.push(now, packet, terms, &mut self.outlet);
            }
            lane.offer_room();
        }
        self.lanes.retain(|joined| {
            let is_over = self.outlet.is_over(joined);
            if is_over {
                self.outlet.statistics.add_producer(&joined.lane.shared);
                self.outlet.payloads.remove(joined.producer);
            }
            !is_over
        });
        taken
    }

    /// Runs closures whose packets have been taken.
    fn call_waiting(&mut self, now: Nanos) {
        if self.waiting.is_empty() {
            return;
        }
        let due = |waiting: &mut Waiting<S>| {
            let found = self.lanes.iter().find(|joined| joined.is_of(&waiting.ring));
            found.is_none_or(|joined| joined.taken >= waiting.until)
        };
        let due: Vec<Waiting<S>> = self.waiting.extract_if(.., due).collect();
        due.into_iter().for_each(|waiting| (waiting.call)(&mut self.scheduler, now));
    }

    /// Sends the packets that may be sent now, up to a burst. Returns their number, and when there
    /// may be more without another arrival.
    fn serve(&mut self, now: Nanos) -> (u32, Option<Nanos>) {
        self.scheduler.expire(now, &mut self.outlet);
        let (sent, next) = self.send_due(now);
        (sent, [next, self.scheduler.next_expiry()].into_iter().flatten().min())
    }

    fn send_due(&mut self, now: Nanos) -> (u32, Option<Nanos>) {
        self.pacing.begin_turn(now);
        for sent in 0..self.burst {
            if let Err(next) = self.pacing.may_send(now) {
                return (sent, next);
            }
            let Some(dispatch) = self.scheduler.pop(now, &mut self.outlet) else {
                self.pacing.rest();
                return (sent, self.scheduler.ready_at(now));
            };
            let late = &mut self.outlet.statistics.late;
            let starts_at = self.pacing.send(now, dispatch.packet.length, late);
            let (packet, queued) = self.outlet.release(dispatch.packet);
            self.outlet.send(Dispatch { packet, ..dispatch }, starts_at, queued);
        }
        (self.burst, Some(now))
    }

    fn is_done(&self) -> bool {
        self.lanes.is_empty()
            && self.scheduler.waiting() == 0
            && self.waiting.is_empty()
            && self.requests.end_if_closing()
    }

    /// Whether the thread has work to do before it sleeps.
    fn is_something_to_do(&self) -> bool {
        let has_room = |joined: &ProducerLane<T>| self.outlet.payloads[joined.producer].room() > 0;
        self.requests.has_changed()
            || self.lanes.iter().any(|joined| {
                self.outlet.is_over(joined) || !joined.lane.reader.is_empty() && has_room(joined)
            })
    }
}

impl<T, K: Sink<T>> Outlet<T, K> {
    /// Whether a producer is gone and all its packets have left.
    fn is_over(&self, joined: &ProducerLane<T>) -> bool {
        joined.lane.is_drained() && self.payloads[joined.producer].queued.is_empty()
    }

    /// Keeps a payload, and returns the packet by which the scheduler knows it.
    fn keep(&mut self, producer: usize, item: Item<T>, now: Nanos) -> Packet {
        let Item { packet, payload } = item;
        self.statistics.received += 1;
        let queued = QueuedPayload { payload, handle: packet.handle, sent_at: packet.arrival };
        let slot = self.payloads[producer].queued.insert(queued);
        Packet { arrival: now, handle: Place { producer, slot }.handle(), ..packet }
    }

    /// Returns a packet with its producer's handle, and its payload.
    fn release(&mut self, packet: Packet) -> (Packet, QueuedPayload<T>) {
        let Place { producer, slot } = Place::from_handle(packet.handle);
        let queued = self.payloads[producer].queued.remove(slot);
        (Packet { handle: queued.handle, ..packet }, queued)
    }

    fn send(&mut self, dispatch: Dispatch, starts_at: Nanos, queued: QueuedPayload<T>) {
        self.statistics.sent += 1;
        self.statistics.bytes_sent += u64::from(dispatch.packet.length);
        if queued.sent_at != NOT_TIMED {
            let latency = self.clock.now().saturating_sub(queued.sent_at);
            self.statistics.latency.record(latency);
        }
        self.sink.sent(dispatch, starts_at, queued.payload);
    }
}

impl<T, K: Sink<T>> DropSink for Outlet<T, K> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let (packet, queued) = self.release(packet);
        self.statistics.dropped[reason as usize] += 1;
        self.sink.dropped(packet, reason, queued.payload);
    }
}

impl Statistics {
    fn add_producer(&mut self, shared: &Shared) {
        self.ring_full += shared.full.load(Ordering::Relaxed);
        self.ring_dropped += shared.dropped.load(Ordering::Relaxed);
    }
}
