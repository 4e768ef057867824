//! Earliest deadline first, non-preemptive, with deadlines for best effort (Chakraborty, Gries,
//! Thiele 2002).
//!
//! A packet of a real-time class is due at its arrival plus the class's deadline. Best-effort
//! classes pass through a scheduler of their own that puts them in order; the packet at the head of
//! that order gets a deadline out of the capacity that the real-time classes leave, and competes
//! with them by it.

mod deadline;
mod lines;
mod two_line_fast;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::packet::Packet;
use crate::queue::{Fifos, WinnerTree};
use crate::scheduler::{Backlog, Criterion, Dispatch, DropSink, Scheduler};
use crate::units::Nanos;

pub use deadline::Deadlines;
pub use lines::{Line, TwoLines};
pub use two_line_fast::TwoLineFast;

/// The scheduler.
pub struct Edf {
    /// By class number; `None` for best effort.
    real_time: Vec<Option<RealTime>>,
    /// One first-in-first-out queue for each relative deadline: classes with the same deadline are
    /// due in the order of their arrival. The longest deadline comes first, so that of two packets
    /// due at one instant the tree prefers the one that arrived first.
    queues: Fifos<Due>,
    fronts: WinnerTree<u64>,
    best_effort: BestEffort,
    backlog: Backlog,
}

/// A real-time class.
#[derive(Clone, Copy, Debug)]
struct RealTime {
    deadline: Nanos,
    queue: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Due {
    packet: Packet,
    deadline: Nanos,
}

/// How best-effort packets are ordered among themselves and against real-time ones.
pub struct BestEffort {
    order: Box<dyn Scheduler + Send>,
    /// Whether `order` keeps the order of arrival, so that a deadline may count from it.
    by_arrival: bool,
    assign: Assign,
    head: Option<Head>,
}

struct Head {
    packet: Packet,
    /// `None` behind all real-time packets.
    deadline: Option<Nanos>,
    /// When its deadline counts from.
    since: Nanos,
}

/// Where the deadlines of best-effort packets come from.
#[derive(Clone, Debug)]
pub enum Assign {
    /// From nowhere: best effort is served when nothing real-time waits, the paper's standard
    /// scheme.
    Background,
    /// Algorithm 1 on a curve: the effective residual capacity itself, or a line (sections 4.1 and
    /// 4.2) or two (Algorithm 2) below it.
    Curve(Deadlines),
    /// Algorithm 3.
    TwoLineFast(TwoLineFast),
}

impl BestEffort {
    /// Best-effort packets in the order in which they arrive. Their deadlines count from their
    /// arrival.
    pub fn by_arrival(assign: Assign) -> Self {
        let order = Box::new(super::Fifo::new());
        BestEffort { order, by_arrival: true, assign, head: None }
    }

    /// Best-effort packets in the order of another scheduler. A packet's deadline counts from when
    /// it comes to the head of that order: only then is its place in the sequence known.
    pub fn ordered_by(order: Box<dyn Scheduler + Send>, assign: Assign) -> Self {
        BestEffort { order, by_arrival: false, assign, head: None }
    }

    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.order.enqueue(now, packet, drops);
        if self.head.is_none() {
            self.promote(now, drops);
        }
    }

    /// Brings the next packet to the head and gives it its deadline.
    fn promote(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        self.head = self.order.dequeue(now, drops).map(|Dispatch { packet, .. }| {
            let since = if self.by_arrival { packet.arrival } else { now };
            let deadline = match &mut self.assign {
                Assign::Background => None,
                Assign::Curve(deadlines) => Some(deadlines.assign(since, packet.length)),
                Assign::TwoLineFast(deadlines) => Some(deadlines.assign(since, packet.length)),
            };
            Head { packet, deadline: deadline.filter(|&d| d < Nanos::MAX), since }
        });
    }

    fn reset(&mut self) {
        match &mut self.assign {
            Assign::Background => {}
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
        let real_time = |deadline: Nanos| {
            let queue = relative_deadlines.partition_point(|&longer| longer > deadline) as u32;
            RealTime { deadline, queue }
        };
        Edf {
            real_time: deadlines.iter().map(|deadline| deadline.map(real_time)).collect(),
            queues: Fifos::new(relative_deadlines.len()),
            fronts: WinnerTree::new(relative_deadlines.len(), u64::MAX),
            best_effort,
            backlog: Backlog::default(),
        }
    }

    /// Of two packets due at one instant the one that came first goes first.
    fn best_effort_is_first(&self, queue: usize, real_time_deadline: u64) -> bool {
        let Some(Head { deadline: Some(deadline), since, .. }) = self.best_effort.head else {
            return false;
        };
        if deadline.0 != real_time_deadline {
            return deadline.0 < real_time_deadline;
        }
        let front =
            self.queues.front(queue).and_then(|due| self.real_time[due.packet.class.index()]);
        front.is_some_and(|class| since.0 < real_time_deadline - class.deadline.0)
    }

    fn dequeue_real_time(&mut self, queue: usize) -> Option<Dispatch> {
        let Due { packet, deadline } = self.queues.pop(queue)?;
        let next = self.queues.front(queue).map_or(u64::MAX, |due| due.deadline.0);
        self.fronts.set(queue, next);
        let criterion = Criterion::EarliestDeadline;
        Some(Dispatch { packet, deadline: Some(deadline), criterion })
    }

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

impl Scheduler for Edf {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.backlog.add(packet.length);
        let real_time = self.real_time[packet.class.index()].filter(|_| !packet.demoted);
        let Some(RealTime { deadline, queue }) = real_time else {
            let backlog = &mut self.backlog;
            return self.best_effort.enqueue(now, packet, &mut |packet: Packet, reason| {
                backlog.remove(packet.length);
                drops.dropped(packet, reason);
            });
        };
        let queue = queue as usize;
        let deadline = now.saturating_add(deadline);
        if self.queues.push(queue, Due { packet, deadline }) {
            self.fronts.set(queue, deadline.0);
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let dispatch = match self.fronts.winner() {
            Some((queue, deadline)) if !self.best_effort_is_first(queue, deadline) => {
                self.dequeue_real_time(queue)
            }
            _ => self.dequeue_best_effort(now, drops),
        }?;
        self.backlog.remove(dispatch.packet.length);
        if self.backlog.packets == 0 {
            self.best_effort.reset();
        }
        Some(dispatch)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        let deadlines = match &self.best_effort.assign {
            Assign::Curve(deadlines) => deadlines.footprint(),
            Assign::Background | Assign::TwoLineFast(_) => 0,
        };
        self.queues.footprint()
            + self.fronts.footprint()
            + self.best_effort.order.footprint()
            + deadlines
            + self.real_time.capacity() * size_of::<Option<RealTime>>()
    }
}
