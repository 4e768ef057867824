//! A queue of deadlines in an engine.

use laxity::deadline_queue::{Budget, Datagram, DeadlineQueue, Rank, Reason};
use laxity::packet::Packet;
use laxity::scheduler::{Criterion, Dispatch, DropReason, DropSink};
use laxity::units::{Bytes, Nanos, Rate};
use slab::Slab;

use crate::Queue;

/// What a payload asks of the queue. Times count from the engine's
/// [start](crate::Handle::started).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Terms {
    /// When the packet is due; `None` if it only has a share of what others leave.
    pub deadline: Option<Nanos>,
    /// From when on it is of no use; `None` if it always is.
    pub expires: Option<Nanos>,
    /// Where it stands among others.
    pub rank: Rank,
}

/// A payload that says when it is due and when it expires.
pub trait HasTerms {
    /// What it says.
    fn terms(&self) -> Terms;
}

impl<T> HasTerms for (Terms, T) {
    fn terms(&self) -> Terms {
        self.0
    }
}

/// A [`DeadlineQueue`] in place of a scheduler: each payload says when its packet is due and when
/// it expires.
///
/// A packet that expires goes back to the sink at that time as [`Late`](DropReason::Late), also
/// while the link is busy or the engine's pace is [`Hold`](crate::Pace::Hold). So does one whose
/// turn it is that would arrive, at the rate of the engine's link, after it expires. One that finds
/// the queue full goes back as [`QueueFull`](DropReason::QueueFull).
///
/// ```
/// use laxity::deadline_queue::DeadlineQueue;
/// use laxity::packet::Packet;
/// use laxity::scheduler::{Dispatch, DropReason};
/// use laxity::units::Nanos;
/// use laxity_engine::{Deadlines, Engine, Pace, Settings, Sink, Terms};
///
/// struct Expired(Vec<&'static str>);
///
/// impl Sink<(Terms, &'static str)> for Expired {
///     fn sent(&mut self, _: Dispatch, _: Nanos, _: (Terms, &'static str)) {}
///     fn dropped(&mut self, _: Packet, _: DropReason, (_, name): (Terms, &'static str)) {
///         self.0.push(name);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Deadlines::new(DeadlineQueue::new(1000));
/// let settings = Settings { pace: Pace::Hold, ..Settings::default() };
/// let engine = Engine::start(queue, Expired(Vec::new()), settings)?;
/// let mut producer = engine.handle().producer()?;
/// for (name, lives) in [("long", 20_000_000), ("short", 5_000_000)] {
///     let expires = Some(engine.handle().now() + Nanos(lives));
///     let packet = Packet { length: 1200, ..Packet::default() };
///     producer.try_send(packet, (Terms { expires, ..Terms::default() }, name))?;
/// }
/// drop(producer);
/// assert_eq!(engine.shutdown()?.sink.0, ["short", "long"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Deadlines {
    queue: DeadlineQueue,
    /// The packets of the datagrams in the queue, by their handles there.
    packets: Slab<Packet>,
    rate: Option<Rate>,
}

impl Deadlines {
    /// Runs a queue that is empty: what is in it already has no packet, and is taken out.
    pub fn new(mut queue: DeadlineQueue) -> Self {
        queue.expire(Nanos::MAX, &mut |_, _| {});
        let budget = Budget { bytes: Bytes(u64::MAX), rate: None, in_flight: Bytes(0) };
        while queue.pop(Nanos::ZERO, budget, &mut |_, _| {}).is_some() {}
        Deadlines { queue, packets: Slab::new(), rate: None }
    }

    /// The queue, to ask for [forecasts](DeadlineQueue::forecast).
    pub fn queue(&self) -> &DeadlineQueue {
        &self.queue
    }

    /// What the engine's link lets out now.
    pub fn budget(&self) -> Budget {
        Budget { bytes: Bytes(u64::MAX), rate: self.rate, in_flight: Bytes(0) }
    }
}

impl<T: HasTerms> Queue<T> for Deadlines {
    type Terms = Terms;

    fn terms(payload: &T) -> Terms {
        payload.terms()
    }

    fn push(&mut self, _: Nanos, packet: Packet, terms: Terms, drops: &mut dyn DropSink) {
        let Terms { deadline, expires, rank } = terms;
        let place = self.packets.insert(packet);
        let datagram =
            Datagram { handle: place as u64, length: packet.length, rank, deadline, expires };
        if self.queue.push(datagram).is_err() {
            drops.dropped(self.packets.remove(place), DropReason::QueueFull);
        }
    }

    fn pop(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let budget = self.budget();
        let sent = self.queue.pop(now, budget, &mut give_back(&mut self.packets, drops))?.datagram;
        let packet = self.packets.remove(sent.handle as usize);
        let criterion = match sent.deadline {
            Some(_) => Criterion::EarliestDeadline,
            None => Criterion::VirtualFinish,
        };
        Some(Dispatch { packet, deadline: sent.deadline, criterion })
    }

    fn ready_at(&self, now: Nanos) -> Option<Nanos> {
        (!self.queue.is_empty()).then_some(now)
    }

    fn waiting(&self) -> u64 {
        self.queue.len() as u64
    }

    fn expire(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        self.queue.expire(now, &mut give_back(&mut self.packets, drops));
    }

    fn next_expiry(&self) -> Option<Nanos> {
        self.queue.next_expiry()
    }

    fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate;
    }
}

/// Drops the packets of datagrams that are of no use any more.
fn give_back(packets: &mut Slab<Packet>, drops: &mut dyn DropSink) -> impl FnMut(Datagram, Reason) {
    |datagram, _| drops.dropped(packets.remove(datagram.handle as usize), DropReason::Late)
}
