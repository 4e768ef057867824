//! What is held against every packet of a call: that it leaves within what was promised.
//!
//! Delays are worked out from arrivals and lengths alone. Where a plan that is followed costs those
//! who stay something, that is worked out here, too.

use std::collections::{BTreeMap, VecDeque};

use laxity::curve::{ceil_nanos, exact_bytes};
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler as _};
use laxity::units::{Bytes, Nanos};
use laxity_plan::discipline::Kind as Discipline;

use super::draft::{CallsDraft, Kind};
use super::exchange::Exchange;
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

fn scope(draft: &CallsDraft, kind: Discipline) -> Scope {
    match kind {
        Discipline::Edf | Discipline::Priority | Discipline::Fifo => Scope::Nobody,
        Discipline::Wfq | Discipline::Wf2q | Discipline::Qfq | Discipline::Hfsc => Scope::Class,
        Discipline::Cake if !draft.scheduler.contains("flowblind") => Scope::Calls,
        Discipline::Cake
        | Discipline::Drr
        | Discipline::FqCodel
        | Discipline::DualPi2
        | Discipline::Dwcs
        | Discipline::Tdp => Scope::Link,
    }
}

/// A class's packets that wait.
#[derive(Clone, Default)]
struct Queue {
    kind: usize,
    bound: Option<u64>,
    waiting: VecDeque<Waiting>,
    /// What waited when the plan was followed and has come since, in bytes.
    bytes: u64,
    /// How late the service of all that it waits for began.
    lost: u64,
    /// Its number in the plan that is followed.
    inside: Option<usize>,
}

#[derive(Clone, Copy)]
struct Waiting {
    handle: u64,
    arrival: u64,
    length: u32,
    /// What of its class is to be served up to it since the plan is followed.
    bytes: u64,
    /// Whether it lost its class when it was allowed to be late.
    is_excused: bool,
}

struct Judge<'a> {
    exchange: &'a Exchange,
    scope: Scope,
    queues: Vec<Queue>,
    /// What waits at all, in the order of arrival.
    all: BTreeMap<u64, u64>,
    /// The class and the arrival of the packet that was sent last, and its length.
    under_way: (usize, u64, u32),
    /// When the last packet of the link and of any call has left.
    free_at: u64,
    calls_free_at: u64,
    followed: usize,
    /// When the last plan was followed first.
    since: u64,
    closest: Vec<f64>,
}

/// Sends all packets of a draft.
///
/// # Errors
/// At the first thing that is broken.
pub(super) fn judged(draft: &CallsDraft, exchange: &Exchange) -> Result<Judged, Violation> {
    let arrivals = arrivals(draft, exchange);
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
            judge.arrived(class, [handle, arrival], length);
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
    let packets: Vec<_> = draft.kinds.iter().map(Kind::packets).collect();
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
            queues,
            all: BTreeMap::new(),
            under_way: (0, 0, 0),
            free_at: 0,
            calls_free_at: 0,
            followed: 0,
            since: 0,
            closest: vec![0.0; draft.kinds.len()],
        }
    }

    /// Follows all plans whose time has come.
    fn follow(&mut self, now: u64) {
        let exchange = self.exchange;
        while let Some(followed) = exchange.followed.get(self.followed)
            && followed.at.0 <= now
        {
            let allowed: Vec<Vec<bool>> = (0..self.queues.len())
                .map(|class| {
                    // Its class stays for as long as it is promised anything.
                    let bound = self.queues[class].bound.unwrap_or(0);
                    let is_allowed = |one: &Waiting| {
                        one.arrival + bound <= now && self.leaves_by(class, one) > now
                    };
                    self.queues[class].waiting.iter().map(is_allowed).collect()
                })
                .collect();
            self.followed += 1;
            self.since = now;
            let free_at = self.free_at.max(now);
            let under_way = Some(self.under_way).filter(|_| self.free_at > now);
            let is_call = |class: usize| self.queues[class].bound.is_some();
            let first = |class: usize| {
                let own = under_way.filter(|(of, ..)| *of == class).map(|(_, arrival, _)| arrival);
                own.or_else(|| Some(self.queues[class].waiting.front()?.arrival))
            };
            let oldest = match self.scope {
                Scope::Nobody | Scope::Class => None,
                Scope::Calls => {
                    (0..self.queues.len()).filter(|class| is_call(*class)).filter_map(first).min()
                }
                Scope::Link => (0..self.queues.len()).filter_map(first).min(),
            };
            for (class, (queue, allowed)) in self.queues.iter_mut().zip(allowed).enumerate() {
                let before = queue.inside;
                queue.inside = followed.classes.get(&ClassId(class as u32)).map(|id| id.index());
                queue.lost = oldest.map_or(0, |oldest| free_at - oldest + 1);
                let own = under_way.filter(|(of, ..)| *of == class);
                queue.bytes = own.map_or(0, |(.., length)| length.into());
                let goes = before.is_some() && queue.inside.is_none();
                for (one, is_allowed) in queue.waiting.iter_mut().zip(allowed) {
                    queue.bytes += u64::from(one.length);
                    one.bytes = queue.bytes;
                    one.is_excused |= goes && is_allowed;
                }
            }
        }
    }

    fn arrived(&mut self, class: usize, [handle, arrival]: [u64; 2], length: u32) {
        let mut of_calls = self.queues.iter().filter(|queue| queue.bound.is_some());
        let is_clear = match self.scope {
            Scope::Nobody | Scope::Class => false,
            Scope::Calls => {
                of_calls.all(|queue| queue.waiting.is_empty()) && self.calls_free_at <= arrival
            }
            Scope::Link => self.all.is_empty() && self.free_at <= arrival,
        };
        if is_clear {
            self.queues.iter_mut().for_each(|queue| queue.lost = 0);
        }
        let queue = &mut self.queues[class];
        queue.bytes += u64::from(length);
        let bytes = queue.bytes;
        queue.waiting.push_back(Waiting { handle, arrival, length, bytes, is_excused: false });
        self.all.insert(handle, arrival);
    }

    /// When a packet has left that may be late because of a plan that follows another.
    fn leaves_by(&self, class: usize, packet: &Waiting) -> u64 {
        let queue = &self.queues[class];
        let due = packet.arrival.saturating_add(queue.bound.unwrap_or(0));
        if packet.is_excused {
            return u64::MAX;
        }
        let proved = self.followed.checked_sub(1).map(|last| &self.exchange.followed[last].proved);
        let Some((proved, inside)) = proved.zip(queue.inside) else { return due };
        match self.scope {
            Scope::Nobody => due,
            Scope::Calls | Scope::Link => {
                due.saturating_add(proved.growths[inside].delay_for(Nanos(queue.lost)).0)
            }
            Scope::Class => {
                let reached = proved.services[inside].as_ref().and_then(|service| {
                    let bytes = exact_bytes(Bytes(packet.bytes));
                    let reached = ceil_nanos(&service.curve.lower_pseudo_inverse(&bytes)?)?;
                    Some(reached.saturating_add(service.late))
                });
                reached.map_or(u64::MAX, |Nanos(reached)| due.max(self.since + reached))
            }
        }
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
        self.under_way = (class, first.arrival, first.length);
        let Some(bound) = queue.bound else { return Ok(()) };
        let kind = queue.kind;
        self.calls_free_at = departure;
        let delay = departure - first.arrival;
        // How late it may be is only of interest if it is.
        let allowed = if delay > bound {
            self.leaves_by(class, &first).saturating_sub(first.arrival)
        } else {
            bound
        };
        if delay > allowed {
            return Err(broken(ViolationKind::Bound { delay, bound: allowed }));
        }
        let near = delay as f64 / allowed as f64;
        self.closest[kind] = self.closest[kind].max(near);
        Ok(())
    }
}
