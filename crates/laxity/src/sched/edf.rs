//! Earliest deadline first, non-preemptive, with deadlines for best effort (Chakraborty, Gries,
//! Thiele 2002).
//!
//! A packet of a real-time class is due at its arrival plus the class's deadline. Best-effort
//! packets first pass an inner scheduler that puts them in order. The head of that order gets a
//! deadline out of the capacity that the real-time classes leave, and competes with their packets
//! by it.

#[cfg(feature = "admission")]
mod deadline;
mod explain;
mod join;
mod lines;
mod order;
mod two_line_fast;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

#[cfg(feature = "admission")]
use crate::admit::edf::System;
use crate::explain::Explain;
use crate::memory::{self, FirstHalf, SecondHalf};
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::queue::SortedFifos;
use crate::sched::Late;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;

#[cfg(feature = "admission")]
pub use deadline::Deadlines;
use join::Roll;
pub use lines::{Line, TwoLines};
use order::Order;
pub use two_line_fast::TwoLineFast;

/// Earliest deadline first. Constant time per packet in the number of queued packets, logarithmic
/// in the number of different relative deadlines.
pub struct Edf {
    /// By class number.
    classes: Vec<Class>,
    /// One queue for each relative deadline, sorted by absolute deadline: classes with the same
    /// relative one are due in the order of their arrival. Of [`new`](Self::new) the longest comes
    /// first, so that of two packets due at one instant the one that arrived first is preferred.
    /// Queues that are added later come behind.
    queues: SortedFifos<u64, Packet>,
    roll: Roll,
    best_effort: BestEffort,
    late: Late,
    backlog: Backlog,
    /// The latest arrival of what was taken over.
    taken_over: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    /// Relative; [`Nanos::MAX`] for best effort, and for a class that takes no packets.
    deadline: Nanos,
    /// [`BEST_EFFORT`](join::BEST_EFFORT) for best effort.
    queue: u32,
    /// Whether a packet of it was ever demoted.
    has_demoted: bool,
}

/// The order of best-effort packets, and the deadlines by which they compete with real-time
/// packets.
pub struct BestEffort {
    order: Order,
    assign: Assign,
    /// No deadline counts from an earlier time.
    counts_from: Nanos,
    head: Option<Head>,
}

struct Head {
    packet: Packet,
    /// `None` behind all real-time packets.
    deadline: Option<Nanos>,
    /// When its deadline counts from.
    since: Nanos,
}

/// The source of deadlines for best-effort packets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Assign {
    /// No deadlines: best effort is sent when no real-time packet waits, the paper's standard
    /// scheme.
    Background,
    /// Algorithm 1 on a curve: the effective residual capacity itself, or a line (sections 4.1 and
    /// 4.2) or two (Algorithm 2) below it.
    #[cfg(feature = "admission")]
    Curve(Deadlines),
    /// Algorithm 3.
    TwoLineFast(TwoLineFast),
}

impl Assign {
    /// The deadline of the next packet, which counts from `since`.
    #[inline(always)]
    fn deadline(&mut self, since: Nanos, length: u32) -> Option<Nanos> {
        let deadline = match self {
            Assign::Background => None,
            #[cfg(feature = "admission")]
            Assign::Curve(deadlines) => Some(deadlines.assign(since, length)),
            Assign::TwoLineFast(deadlines) => Some(deadlines.assign(since, length)),
        };
        deadline.filter(|&deadline| deadline < Nanos::MAX)
    }
}

impl BestEffort {
    /// Best-effort packets in the order in which they arrive. Their deadlines count from their
    /// arrival.
    pub fn by_arrival(assign: Assign) -> Self {
        let order = Order::Arrival(super::Fifo::new());
        BestEffort { order, assign, counts_from: Nanos::ZERO, head: None }
    }

    /// Best-effort packets in the order of another scheduler. A packet's deadline counts from when
    /// it comes to the head of that order: only then is its place in the sequence known.
    pub fn ordered_by(order: Box<dyn Withdraw + Send>, assign: Assign) -> Self {
        let order = Order::Scheduler(order);
        BestEffort { order, assign, counts_from: Nanos::ZERO, head: None }
    }

    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if self.head.is_none() && self.order.is_by_arrival() {
            self.lead(now, packet);
            return Some(Place::at_front(0));
        }
        let place = self.order.place(now, packet, drops);
        if self.head.is_none() {
            self.promote(now, drops);
        }
        place
    }

    /// The head has left the order, where another packet may have its place now.
    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        handle: u64,
        drops: &mut dyn DropSink,
    ) -> Option<Packet> {
        match self.head.take_if(|head| head.packet.handle == handle) {
            Some(head) => {
                self.promote(now, drops);
                Some(head.packet)
            }
            None => self.order.scheduler_mut().withdraw(now, place, handle, drops),
        }
    }

    /// Brings the next packet to the head and gives it its deadline.
    fn promote(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        match self.order.dequeue(now, drops) {
            Some(packet) => self.lead(now, packet),
            None => self.head = None,
        }
    }

    /// Makes a packet the head and gives it its deadline.
    #[inline(always)]
    fn lead(&mut self, now: Nanos, packet: Packet) {
        let is_by_arrival = self.order.is_by_arrival();
        let since = if is_by_arrival { packet.arrival.max(self.counts_from) } else { now };
        let deadline = self.assign.deadline(since, packet.length);
        self.head = Some(Head { packet, deadline, since });
    }

    /// Gives deadlines by another rule to all that is queued and comes, from now on.
    fn exchange(&mut self, now: Nanos, assign: Assign) {
        self.assign = assign;
        self.counts_from = now;
        if let Some(head) = &mut self.head {
            head.since = now;
            head.deadline = self.assign.deadline(now, head.packet.length);
        }
    }

    fn is_empty(&self) -> bool {
        self.head.is_none() && self.order.scheduler().backlog().packets == 0
    }

    fn reset(&mut self) {
        match &mut self.assign {
            Assign::Background => {}
            #[cfg(feature = "admission")]
            Assign::Curve(deadlines) => deadlines.reset(),
            Assign::TwoLineFast(deadlines) => deadlines.reset(),
        }
    }
}

impl Edf {
    /// Classes by their relative deadlines, in the order of the class numbers; those without one
    /// are best effort.
    pub fn new(deadlines: &[Option<Nanos>], best_effort: BestEffort) -> Self {
        let mut relative_deadlines: Vec<Nanos> = deadlines.iter().flatten().copied().collect();
        relative_deadlines.sort_unstable_by(|a, b| b.cmp(a));
        relative_deadlines.dedup();
        let class = |deadline: &Option<Nanos>| {
            let Some(deadline) = *deadline else { return Class::BEST_EFFORT };
            let queue = relative_deadlines.partition_point(|&longer| longer > deadline) as u32;
            Class { deadline, queue, has_demoted: false }
        };
        let classes: Vec<Class> = deadlines.iter().map(class).collect();
        Edf {
            queues: SortedFifos::new(relative_deadlines.len(), u64::MAX),
            roll: Roll::new(relative_deadlines, &classes),
            classes,
            best_effort,
            late: Late::Send,
            backlog: Backlog::default(),
            taken_over: Nanos::ZERO,
        }
    }

    /// EDF for a system that is admitted, with the lowest delay for best effort that the system
    /// leaves: its deadlines are exact (Algorithm 1 on the effective residual capacity). Real-time
    /// classes have the numbers 0, 1, ... in the system's order, and best effort has the next one.
    ///
    /// `None` if the system is not admitted.
    #[cfg(feature = "admission")]
    pub fn for_system(system: &System) -> Option<Self> {
        let left = system.effective_residual_capacity();
        if !system.test(&left).admitted {
            return None;
        }
        let deadlines =
            Deadlines::new(&left).expect("whole rates, sizes and times make a fit curve");
        let real_time = system.real_time.iter().map(|class| Some(class.deadline));
        let classes: Vec<_> = real_time.chain([None]).collect();
        Some(Edf::new(&classes, BestEffort::by_arrival(Assign::Curve(deadlines))))
    }

    /// Sets how real-time packets are treated if their deadline has passed when they would be sent.
    /// Best-effort packets are never late.
    pub fn with_late(self, late: Late) -> Self {
        Edf { late, ..self }
    }

    /// Of two packets due at one instant the one that came first goes first.
    #[inline(always)]
    fn best_effort_is_first(&self, queue: usize, real_time_deadline: u64) -> bool {
        let Some(Head { deadline: Some(deadline), since, .. }) = self.best_effort.head else {
            return false;
        };
        if deadline.0 != real_time_deadline {
            return deadline.0 < real_time_deadline;
        }
        since.0 < real_time_deadline - self.roll.relative_deadline(queue).0
    }

    #[cold]
    fn drop_late(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        while let Some((queue, _)) = self.queues.least().filter(|&(_, deadline)| deadline < now.0) {
            if let Some(packet) = self.queues.pop(queue) {
                self.leave(packet.length);
                drops.dropped(packet, DropReason::Late);
            }
        }
    }

    /// Counts a packet out.
    #[inline(always)]
    fn leave(&mut self, length: u32) {
        self.backlog.remove(length);
        if self.backlog.packets == 0 {
            self.best_effort.reset();
        }
    }

    #[inline(never)]
    fn place_best_effort(
        &mut self,
        now: Nanos,
        first: FirstHalf,
        second: SecondHalf,
        drops: &mut dyn DropSink,
    ) -> Option<Place> {
        let backlog = &mut self.backlog;
        let mut drops = |packet: Packet, reason| {
            backlog.remove(packet.length);
            drops.dropped(packet, reason);
        };
        let packet = memory::join(first, second);
        let Place(place) = self.best_effort.place(now, packet, &mut drops)?;
        Some(Place(place << 1 | 1))
    }

    #[inline(never)]
    fn dequeue_best_effort(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let Head { packet, deadline, .. } = self.best_effort.head.take()?;
        self.best_effort.promote(now, drops);
        let criterion = match deadline {
            Some(_) => Criterion::EarliestDeadline,
            None => Criterion::Background,
        };
        Some(Dispatch { packet, deadline, criterion })
    }
}

impl Withdraw for Edf {
    /// Real-time packets are due as they were. Deadlines of best effort count from now, so that in
    /// any time it demands no more than its curve.
    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        self.best_effort.counts_from = now;
        let class = self.classes.get(packet.class.index());
        if packet.demoted || class.is_none_or(|class| class.deadline == Nanos::MAX) {
            return self.place(now, packet, drops);
        }
        // Packets that came over several wires at once may be handed over in any order.
        let is_first = self.queues.least().is_none();
        let before = if is_first { Nanos::ZERO } else { self.taken_over };
        self.taken_over = packet.arrival.max(before);
        self.place(self.taken_over, packet, drops)
    }

    #[inline(always)]
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let Some(&class) = self.classes.get(packet.class.index()) else {
            return turn_away(packet, DropReason::NoClass, drops);
        };
        if packet.demoted || class.deadline == Nanos::MAX {
            if class.queue != join::BEST_EFFORT && !self.accepts_demoted(packet.class) {
                return turn_away(packet, DropReason::NoClass, drops);
            }
            self.backlog.add(packet.length);
            let (first, second) = memory::split(packet);
            return self.place_best_effort(now, first, second, drops);
        }
        self.backlog.add(packet.length);
        let deadline = now.saturating_add(class.deadline);
        let Place(place) = self.queues.push(class.queue as usize, deadline.0, packet);
        Some(Place(place << 1))
    }

    /// The next best-effort packet gets a deadline of its own when it becomes the head in place of
    /// one that is withdrawn; the capacity that was set aside for that one is not given out again.
    fn withdraw(
        &mut self,
        now: Nanos,
        Place(place): Place,
        handle: u64,
        drops: &mut dyn DropSink,
    ) -> Option<Packet> {
        let within = Place(place >> 1);
        let packet = if place & 1 == 1 {
            let backlog = &mut self.backlog;
            let mut drops = |packet: Packet, reason| {
                backlog.remove(packet.length);
                drops.dropped(packet, reason);
            };
            self.best_effort.withdraw(now, within, handle, &mut drops)?
        } else {
            let class = self.queues.get(within).class;
            self.queues.withdraw(self.classes[class.index()].queue as usize, within)?
        };
        self.leave(packet.length);
        Some(packet)
    }
}

impl Scheduler for Edf {
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.late == Late::Drop {
            self.drop_late(now, drops);
        }
        let (packet, deadline, criterion) = match self.queues.least() {
            Some((queue, deadline)) if !self.best_effort_is_first(queue, deadline) => {
                let packet = self.queues.pop(queue)?;
                (packet, Some(Nanos(deadline)), Criterion::EarliestDeadline)
            }
            _ => {
                let dispatch = self.dequeue_best_effort(now, drops)?;
                let (first, second) = memory::split(dispatch.packet);
                (memory::join(first, second), dispatch.deadline, dispatch.criterion)
            }
        };
        self.leave(packet.length);
        Some(Dispatch { packet, deadline, criterion })
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.best_effort.order.scheduler_mut().introduce(class, flow, hosts);
    }

    fn footprint(&self) -> usize {
        let deadlines = match &self.best_effort.assign {
            #[cfg(feature = "admission")]
            Assign::Curve(deadlines) => deadlines.footprint(),
            Assign::Background | Assign::TwoLineFast(_) => 0,
        };
        self.queues.footprint()
            + self.best_effort.order.scheduler().footprint()
            + deadlines
            + self.classes.capacity() * size_of::<Class>()
            + self.roll.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}
