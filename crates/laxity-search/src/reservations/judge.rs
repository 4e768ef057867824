//! What is held against every packet of a call: that it leaves within what was promised.
//!
//! Delays are worked out from arrivals and lengths alone. Where a plan that is followed costs those
//! who stay something, that is worked out here, too.

use std::collections::{BTreeMap, VecDeque};

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler as _};
use laxity::units::Nanos;
use laxity_plan::discipline::{Growth, Kind};

use super::draft::CallsDraft;
use super::exchange::Exchange;
use crate::faults::CallsFault;
use crate::testbed::Link;
use crate::testbed::judge::{Violation, ViolationKind};

/// What came of a run.
pub(super) struct Judged {
    pub(super) packets: u64,
    /// How near each kind came to its promise.
    pub(super) closest: Vec<f64>,
}

/// Who waits for whom when a plan follows another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Promised packets go first, in an order that stays.
    Nobody,
    /// A class waits for its own packets.
    Class,
    /// Classes of calls share a queue.
    Calls,
    /// The whole link.
    Link,
}

fn scope(draft: &CallsDraft, kind: Kind) -> Scope {
    match kind {
        Kind::Edf | Kind::Priority | Kind::Fifo => Scope::Nobody,
        Kind::Wfq | Kind::Wf2q | Kind::Qfq | Kind::Hfsc => Scope::Class,
        Kind::Cake if !draft.scheduler.contains("flowblind") => Scope::Calls,
        Kind::Cake | Kind::Drr | Kind::FqCodel | Kind::DualPi2 | Kind::Dwcs | Kind::Tdp => {
            Scope::Link
        }
    }
}

/// A class's packets that wait, and how late its service may be.
#[derive(Clone, Default)]
struct Queue {
    kind: usize,
    bound: Option<u64>,
    waiting: VecDeque<Waiting>,
    lost: u64,
    growth: Option<Growth>,
    is_gone: bool,
}

#[derive(Clone, Copy)]
struct Waiting {
    handle: u64,
    arrival: u64,
    length: u32,
}

struct Judge<'a> {
    exchange: &'a Exchange,
    scope: Scope,
    queues: Vec<Queue>,
    /// What waits at all, in the order of arrival.
    all: BTreeMap<u64, u64>,
    /// When the last packet of the link, of any call and of each class has left.
    free_at: u64,
    calls_free_at: u64,
    class_free_at: Vec<u64>,
    followed: usize,
    closest: Vec<f64>,
}

/// Sends all packets of a draft.
///
/// # Errors
/// At the first thing that is broken.
pub(super) fn judged(
    draft: &CallsDraft,
    exchange: &Exchange,
    fault: Option<&CallsFault>,
) -> Result<Judged, Violation> {
    let arrivals = arrivals(draft, exchange);
    let _ = fault;
    let Some(mut scheduler) = exchange.scheduler() else {
        return Ok(Judged { packets: 0, closest: Vec::new() });
    };
    let mut judge = Judge::new(draft, exchange);
    let mut link = Link::new(draft.rate);
    let mut dropped: Vec<(Packet, DropReason)> = Vec::new();
    let (mut next, mut last) = (0, 0);
    loop {
        let coming = arrivals.get(next).map_or(u64::MAX, |(time, ..)| *time);
        let is_waiting = scheduler.backlog().packets > 0;
        let ready = match scheduler.next_ready(Nanos(last.max(link.free_at()))) {
            Some(Nanos(ready)) if is_waiting => ready.max(link.free_at()).max(last),
            _ => u64::MAX,
        };
        let now = coming.min(ready);
        if now == u64::MAX {
            break;
        }
        last = now;
        judge.follow(now);
        let mut drops = |packet: Packet, reason: DropReason| dropped.push((packet, reason));
        if coming <= ready {
            let (arrival, class, length) = arrivals[next];
            let handle = next as u64;
            next += 1;
            judge.arrived(class, Waiting { handle, arrival, length });
            let (class, arrival) = (ClassId(class as u32), Nanos(arrival));
            let packet = Packet { class, length, arrival, handle, ..Packet::default() };
            scheduler.enqueue(Nanos(now), packet, &mut drops);
        } else if let Some(dispatch) = scheduler.dequeue(Nanos(now), &mut drops) {
            let departure = link.send(now, dispatch.packet.length);
            judge.sent(now, departure, &dispatch.packet)?;
        } else if scheduler.next_ready(Nanos(now)).is_some_and(|ready| ready.0 <= now) {
            return Err(Violation { at: now, class: 0, what: ViolationKind::Idle });
        }
        if let Some((packet, reason)) = dropped.pop() {
            let what = ViolationKind::Dropped(reason);
            return Err(Violation { at: now, class: packet.class.index(), what });
        }
    }
    if let Some(class) = judge.queues.iter().position(|queue| !queue.waiting.is_empty()) {
        return Err(Violation { at: last, class, what: ViolationKind::Books });
    }
    Ok(Judged { packets: arrivals.len() as u64, closest: judge.closest })
}

/// All packets in the order of time: when they come, their classes outside, and their lengths.
fn arrivals(draft: &CallsDraft, exchange: &Exchange) -> Vec<(u64, usize, u32)> {
    let outside = &exchange.stage.outside;
    let rest = outside.others.iter().flatten().last().map_or(0, |class| class.index());
    let mut arrivals: Vec<_> =
        draft.flood().into_iter().map(|(time, length)| (time, rest, length)).collect();
    let packets: Vec<_> = draft.kinds.iter().map(|kind| kind.packets()).collect();
    for (granted, class) in exchange.stage.calls.granted.iter().zip(&outside.calls) {
        let from = granted.call.from.0;
        let packets = packets[granted.call.request].iter();
        let packets = packets.map(|(at, length)| (from + at, class.index(), *length));
        arrivals.extend(packets.filter(|(time, ..)| *time < draft.duration));
    }
    arrivals.sort_by_key(|(time, ..)| *time);
    arrivals
}

impl<'a> Judge<'a> {
    fn new(draft: &CallsDraft, exchange: &'a Exchange) -> Self {
        let outside = &exchange.stage.outside;
        let mut queues = vec![Queue::default(); outside.plan.classes.len()];
        for (granted, class) in exchange.stage.calls.granted.iter().zip(&outside.calls) {
            let queue = &mut queues[class.index()];
            (queue.kind, queue.bound) =
                (granted.call.request, granted.bound.map(|Nanos(bound)| bound));
        }
        Judge {
            exchange,
            scope: scope(draft, exchange.stage.plan.scheduler.kind()),
            class_free_at: vec![0; queues.len()],
            queues,
            all: BTreeMap::new(),
            free_at: 0,
            calls_free_at: 0,
            followed: 0,
            closest: vec![0.0; draft.kinds.len()],
        }
    }

    /// Follows all plans whose time has come.
    fn follow(&mut self, now: u64) {
        let exchange = self.exchange;
        while let Some(followed) = exchange.followed.get(self.followed)
            && followed.at.0 <= now
        {
            self.followed += 1;
            if self.scope == Scope::Nobody {
                continue;
            }
            let growths = followed.growths();
            let end = self.free_at.max(followed.at.0);
            let of_calls = self.queues.iter().filter(|queue| queue.bound.is_some());
            let oldest = of_calls.filter_map(|queue| Some(queue.waiting.front()?.arrival)).min();
            let of_all = self.all.values().next().copied();
            for (class, queue) in self.queues.iter_mut().enumerate() {
                let inside = followed.classes.get(&ClassId(class as u32));
                let was_late = queue.lost > 0;
                queue.is_gone = inside.is_none();
                let oldest = match self.scope {
                    Scope::Class => queue.waiting.front().map(|first| first.arrival),
                    Scope::Calls => oldest,
                    Scope::Link => of_all,
                    Scope::Nobody => None,
                };
                let is_late_for_good = queue.is_gone && was_late && !queue.waiting.is_empty();
                queue.growth = inside.map(|inside| growths[inside.index()]);
                queue.lost = match oldest {
                    _ if is_late_for_good => u64::MAX,
                    Some(oldest) => end - oldest + 1,
                    None => 0,
                };
            }
        }
    }

    fn arrived(&mut self, class: usize, waiting: Waiting) {
        let now = waiting.arrival;
        let calls_wait = || self.queues.iter().any(|queue| queue.bound.is_some() && !queue.waiting.is_empty());
        let is_clear = match self.scope {
            Scope::Nobody => false,
            Scope::Class => self.queues[class].waiting.is_empty() && self.class_free_at[class] <= now,
            Scope::Calls => !calls_wait() && self.calls_free_at <= now,
            Scope::Link => self.all.is_empty() && self.free_at <= now,
        };
        if is_clear && self.scope == Scope::Class {
            self.queues[class].lost = 0;
        } else if is_clear {
            self.queues.iter_mut().for_each(|queue| queue.lost = 0);
        }
        self.queues[class].waiting.push_back(waiting);
        self.all.insert(waiting.handle, now);
    }

    fn sent(&mut self, now: u64, departure: u64, packet: &Packet) -> Result<(), Violation> {
        let class = packet.class.index();
        let broken = |what| Violation { at: now, class, what };
        let queue = &mut self.queues[class];
        let first = queue.waiting.front().copied().ok_or(broken(ViolationKind::Books))?;
        if first.handle != packet.handle {
            return Err(broken(ViolationKind::Order));
        }
        if first.length != packet.length {
            return Err(broken(ViolationKind::Books));
        }
        queue.waiting.pop_front();
        self.all.remove(&packet.handle);
        self.free_at = departure;
        self.class_free_at[class] = departure;
        let Some(bound) = queue.bound else { return Ok(()) };
        self.calls_free_at = departure;
        let excuse = match queue.growth {
            Some(growth) => growth.delay_for(Nanos(queue.lost)).0,
            None => queue.lost,
        };
        let delay = departure - first.arrival;
        let allowed = bound.saturating_add(excuse);
        if delay > allowed {
            return Err(broken(ViolationKind::Bound { delay, bound: allowed }));
        }
        let near = delay as f64 / allowed as f64;
        self.closest[queue.kind] = self.closest[queue.kind].max(near);
        Ok(())
    }
}
