//! A live link again: what arrived, and how late the link chose, give what was sent and dropped.
//!
//! A simulated link chooses in the instant in which it is free and something is there. A live one
//! is woken a little later, by which time more may have arrived. With that lateness told for every
//! choice the simulator comes to the same dispatches and drops, all of them. Where the wire behind
//! the link was emulated, it comes to the same losses, copies and times of delivery.

mod wire;

use std::collections::BTreeMap;

use laxity::link::Link;
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::police::{Entry, Policer};
use laxity::port::{Books, Port};
use laxity::scheduler::{Backlog, DropReason, Scheduler};
use laxity::units::{Nanos, Rate};
use laxity_plan::model::{Class, Plan};
use thiserror::Error;

use self::wire::WireReplay;
use crate::record::{Fate, Observer, tell};
use crate::source::{Arrival, Introduction};

/// What a live link went by.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// Its plans, one after the other.
    pub plans: &'a [Plan],
    /// The seed of what queue managements draw.
    pub seed: u64,
    /// How much is queued at most, whatever the plan limits.
    pub backlog: Backlog,
    /// The most lateness that is made up for.
    pub catch_up: Nanos,
}

/// What happened to it. Packets are numbered from 0 in the order in which they arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A flow has come into sight.
    Introduction(Introduction),
    /// A packet arrived.
    Arrival(Arrival),
    /// The link chose what to send, so long after it could have.
    Choice {
        /// How late it was.
        lateness: Nanos,
    },
    /// The next packet came out of the wire.
    Delivery {
        /// When.
        time: Nanos,
    },
    /// The link sends at another rate from the next packet on.
    Rate {
        /// When.
        time: Nanos,
        /// The rate.
        rate: Rate,
    },
    /// The next plan is followed.
    Reload {
        /// When.
        time: Nanos,
        /// The flows of it, which are introduced before.
        introduced: Vec<Introduction>,
        /// What is queued, in the order of arrival, as it is under that plan.
        kept: Vec<QueuedPacket>,
    },
    /// The scheduler begins anew, whatever was before.
    Resume {
        /// When.
        time: Nanos,
        /// The place of the plan that is followed.
        plan: usize,
        /// How many packets have arrived before.
        arrived: u64,
        /// When the link is free as packets count, and when what is behind is.
        free_at: [Nanos; 2],
        /// The flows of it, which are introduced before.
        introduced: Vec<Introduction>,
        /// What is queued, in the order of arrival, each packet with its number.
        queued: Vec<(u64, Packet)>,
    },
}

/// A packet that is queued when a plan replaces another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPacket {
    /// Its number.
    pub number: u64,
    /// Its class from now on.
    pub class: ClassId,
    /// Its flow within that.
    pub flow: FlowId,
}

/// Why steps are those of no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("step {step}: {wrong}")]
pub struct ReplayError {
    /// Which, from 0.
    pub step: usize,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Wrong {
    /// It is earlier than the one before.
    #[error("it is earlier than the one before")]
    Earlier,
    /// There is no such class, or it is not one that has packets.
    #[error("the plan has no class {} that has packets", _0.0)]
    NoClass(ClassId),
    /// Nothing was queued that could have been chosen.
    #[error("nothing is queued, so nothing is chosen")]
    NothingQueued,
    /// Nothing was on the wire that could have come out.
    #[error("nothing is under way, so nothing is delivered")]
    NothingUnderWay,
    /// There are no more plans.
    #[error("there is no other plan")]
    NoPlan,
    /// What is said to be queued is not what is.
    #[error("it names other packets than those that are queued")]
    Others,
}

/// Runs the steps again. Fates are told as they are decided, each packet's handle being its number.
///
/// # Errors
/// If no link does what the steps say.
pub fn replay(
    live: Live<'_>,
    steps: impl IntoIterator<Item = Step>,
    observer: &mut dyn Observer,
) -> Result<(), ReplayError> {
    let build = |plan: &Plan, _: Option<(Nanos, Box<dyn Scheduler + Send>)>| {
        plan.build_scheduler(live.seed)
    };
    replay_on(live, build, steps, observer)
}

/// The same on schedulers of the caller's own. `build` makes the scheduler of each plan. From the
/// second plan on it gets the time of the reload and the scheduler before, whose packets the new
/// one takes over.
///
/// # Errors
/// As [`replay`].
pub fn replay_on<S: Scheduler>(
    live: Live<'_>,
    build: impl FnMut(&Plan, Option<(Nanos, S)>) -> S,
    steps: impl IntoIterator<Item = Step>,
    observer: &mut dyn Observer,
) -> Result<(), ReplayError> {
    let at = |step| move |wrong| ReplayError { step, wrong };
    let mut plan_at = 0;
    let plan = live.plans.first().ok_or(at(0)(Wrong::NoPlan))?;
    let mut link = LinkReplay::new(live, plan, build, observer);
    for (step, what) in steps.into_iter().enumerate() {
        match what {
            Step::Introduction(Introduction { class, flow, hosts }) => {
                link.port.introduce(class, flow, hosts);
            }
            Step::Arrival(arrival) => link.arrive(arrival).map_err(at(step))?,
            Step::Choice { lateness } => link.choose(lateness).map_err(at(step))?,
            Step::Delivery { time } => link.deliver(time).map_err(at(step))?,
            Step::Rate { time, rate } => link.set_rate(time, rate).map_err(at(step))?,
            Step::Reload { time, introduced, kept } => {
                plan_at += 1;
                let plan = live.plans.get(plan_at).ok_or(at(step)(Wrong::NoPlan))?;
                link = link.reload(time, plan, &introduced, &kept).map_err(at(step))?;
            }
            Step::Resume { time, plan, arrived, free_at, introduced, queued } => {
                plan_at = plan;
                let plan = live.plans.get(plan_at).ok_or(at(step)(Wrong::NoPlan))?;
                link = LinkReplay::new(live, plan, link.build, link.observer);
                (link.arrived, link.now) = (arrived, time);
                link.counted.hold_until(free_at[0]);
                link.line.hold_until(free_at[1]);
                link.resume(&introduced, queued).map_err(at(step))?;
            }
        }
    }
    Ok(())
}

struct LinkReplay<'a, 'o, S, B> {
    live: Live<'a>,
    plan: &'a Plan,
    build: B,
    port: Port<S>,
    policer: Policer,
    /// By number.
    queued: BTreeMap<u64, Packet>,
    arrived: u64,
    now: Nanos,
    /// The link as if it had not been late, as far as that is made up for.
    counted: Link,
    /// What is behind it, at its rate.
    line: Link,
    /// Since when something could be sent.
    ready: Option<Nanos>,
    wire: WireReplay,
    observer: &'o mut dyn Observer,
}

impl<'a, 'o, S, B> LinkReplay<'a, 'o, S, B>
where
    S: Scheduler,
    B: FnMut(&Plan, Option<(Nanos, S)>) -> S,
{
    fn new(live: Live<'a>, plan: &'a Plan, mut build: B, observer: &'o mut dyn Observer) -> Self {
        let port = port(plan, build(plan, None));
        LinkReplay {
            live,
            plan,
            build,
            port,
            policer: plan.policer(Nanos::ZERO),
            queued: BTreeMap::new(),
            arrived: 0,
            now: Nanos::ZERO,
            counted: plan.link.transmitter(),
            line: plan.link.transmitter(),
            ready: None,
            wire: WireReplay::new(plan, live.seed),
            observer,
        }
    }

    fn arrive(&mut self, arrival: Arrival) -> Result<(), Wrong> {
        let Arrival { time, class, flow, length, ecn, ack } = arrival;
        self.go_on(time)?;
        let plan = self.plan;
        if !plan.classes.get(class.index()).is_some_and(Class::is_leaf) {
            return Err(Wrong::NoClass(class));
        }
        let handle = self.arrived;
        self.arrived += 1;
        let demoted = false;
        let arrival = time;
        let mut packet = Packet { class, flow, length, demoted, ecn, ack, arrival, handle };
        self.observer.arrived(&packet, None);
        let refused = self.refuses(&mut packet);
        if let Some(reason) = refused {
            self.port.refuse(packet, reason, &mut drops(&mut self.queued, self.observer, plan));
            return Ok(());
        }
        let was_empty = self.port.scheduler().backlog().packets == 0;
        self.queued.insert(handle, packet);
        self.port.enqueue(time, packet, &mut drops(&mut self.queued, self.observer, plan));
        if was_empty || self.ready.is_none_or(|ready| ready > time) {
            self.ready = self.port.next_ready(time).map(|ready| ready.max(time));
        }
        Ok(())
    }

    /// Why a packet is not queued at all.
    fn refuses(&mut self, packet: &mut Packet) -> Option<DropReason> {
        if u64::from(packet.length) > self.plan.link.max_packet.0 {
            return Some(DropReason::TooLong);
        }
        if self.policer.police(packet.arrival, packet) == Entry::Refused {
            return Some(DropReason::Contract);
        }
        let queued = self.port.scheduler().backlog();
        let has_memory = self.plan.has_memory(packet, queued, self.live.backlog);
        (!has_memory).then(|| DropReason::no_room(packet))
    }

    fn choose(&mut self, lateness: Nanos) -> Result<(), Wrong> {
        let ready = self.ready.ok_or(Wrong::NothingQueued)?;
        let due = ready.max(self.counted.free_at());
        let now = due.saturating_add(lateness);
        self.go_on(now)?;
        let plan = self.plan;
        let dispatch = self.port.dequeue(now, &mut drops(&mut self.queued, self.observer, plan));
        let next = self.port.next_ready(now);
        let Some(dispatch) = dispatch else {
            self.ready = next.map(|next| next.max(now.saturating_add(Nanos(1))));
            return Ok(());
        };
        let packet = dispatch.packet;
        self.queued.remove(&packet.handle);
        let made_up_for = lateness.min(self.live.catch_up);
        let from = now.saturating_sub(made_up_for).max(self.counted.free_at());
        self.counted.transmit(from, packet.length);
        // Behind an emulated link nothing is late that is made up for.
        let begin = if plan.link.wire.is_some() { from.max(packet.arrival) } else { now };
        let departure = self.line.transmit(begin.max(self.line.free_at()), packet.length);
        self.port.sent(&packet, departure);
        tell(self.observer, plan, packet, dispatch.deadline, Fate::Sent { start: now, departure });
        if let Some(lost) = self.wire.launch(packet.handle, departure) {
            self.observer.crossed(packet.handle, lost);
        }
        self.wait(now, ready);
        Ok(())
    }

    /// Something can be sent when the scheduler holds it back no longer, or since the oldest packet
    /// arrived, but not `before`.
    fn wait(&mut self, now: Nanos, before: Nanos) {
        let oldest = self.queued.first_key_value().map(|(_, packet)| packet.arrival);
        self.ready = match self.port.next_ready(now) {
            Some(next) if next > now => Some(next),
            Some(_) => oldest.map(|oldest| oldest.max(before)),
            None => None,
        };
    }

    fn deliver(&mut self, time: Nanos) -> Result<(), Wrong> {
        self.go_on(time)?;
        let (number, fate) = self.wire.land(time).ok_or(Wrong::NothingUnderWay)?;
        self.observer.crossed(number, fate);
        Ok(())
    }

    fn set_rate(&mut self, time: Nanos, rate: Rate) -> Result<(), Wrong> {
        self.go_on(time)?;
        // A rate that cannot be is one that nobody sends at.
        let rate = rate.clamp(self.plan.link.rate, Rate::LIMIT);
        self.counted.set_rate(rate);
        self.line.set_rate(rate);
        Ok(())
    }

    fn reload(
        mut self,
        time: Nanos,
        plan: &'a Plan,
        introduced: &[Introduction],
        kept: &[QueuedPacket],
    ) -> Result<Self, Wrong> {
        self.go_on(time)?;
        if !self.queued.keys().eq(kept.iter().map(|kept| &kept.number)) {
            return Err(Wrong::Others);
        }
        self.observer.reloaded(plan);
        let before = self.port.into_scheduler();
        let memory = |kept: &QueuedPacket| {
            let Packet { class, flow, .. } = *self.queued.get(&kept.number)?;
            Some((kept.class, kept.flow, before.memory(class, flow)?))
        };
        let memories: Vec<_> = kept.iter().filter_map(memory).collect();
        let scheduler = (self.build)(plan, Some((time, before)));
        let (port, policer) = (port(plan, scheduler), plan.policer(Nanos::ZERO));
        self = LinkReplay { plan, port, policer, ..self };
        self.take_over(introduced, kept)?;
        for (class, flow, memory) in memories {
            self.port.recall(class, flow, memory);
        }
        self.counted.change_to(plan.link.transmitter());
        self.line.change_to(plan.link.transmitter());
        self.wire.change_to(plan, self.live.seed);
        self.wait(time, Nanos::ZERO);
        Ok(self)
    }

    /// Begins with what is queued in a link that has nothing queued yet.
    fn resume(
        &mut self,
        introduced: &[Introduction],
        queued: Vec<(u64, Packet)>,
    ) -> Result<(), Wrong> {
        self.observer.advance(self.now);
        self.observer.reloaded(self.plan);
        let kept = |&(number, Packet { class, flow, .. }): &_| QueuedPacket { number, class, flow };
        let kept: Vec<_> = queued.iter().map(kept).collect();
        let by_number = |(number, packet)| (number, Packet { handle: number, ..packet });
        self.queued = queued.into_iter().map(by_number).collect();
        self.take_over(introduced, &kept)?;
        self.wait(self.now, Nanos::ZERO);
        Ok(())
    }

    /// The scheduler takes over what is queued, under a plan that it has not followed before.
    fn take_over(
        &mut self,
        introduced: &[Introduction],
        kept: &[QueuedPacket],
    ) -> Result<(), Wrong> {
        let (plan, now) = (self.plan, self.now);
        for &Introduction { class, flow, hosts } in introduced {
            self.port.introduce(class, flow, hosts);
        }
        for &QueuedPacket { number, class, flow } in kept {
            if !plan.classes.get(class.index()).is_some_and(Class::is_leaf) {
                return Err(Wrong::NoClass(class));
            }
            let packet = self.queued.get_mut(&number).ok_or(Wrong::Others)?;
            (packet.class, packet.flow) = (class, flow);
            self.policer.keep(packet);
            let packet = *packet;
            self.observer.arrived(&packet, None);
            let drops = &mut drops(&mut self.queued, self.observer, plan);
            self.port.take_over(now, packet, drops);
        }
        Ok(())
    }

    fn go_on(&mut self, now: Nanos) -> Result<(), Wrong> {
        if now < self.now {
            return Err(Wrong::Earlier);
        }
        self.now = now;
        self.observer.advance(now);
        Ok(())
    }
}

/// Takes dropped packets from the queued ones, and tells their fate.
fn drops<'r>(
    queued: &'r mut BTreeMap<u64, Packet>,
    observer: &'r mut dyn Observer,
    plan: &'r Plan,
) -> impl FnMut(Packet, DropReason) + 'r {
    move |packet, reason| {
        queued.remove(&packet.handle);
        tell(observer, plan, packet, None, Fate::Dropped(reason));
    }
}

fn port<S: Scheduler>(plan: &Plan, scheduler: S) -> Port<S> {
    Port::new(scheduler, Books::new(plan.promises(), Nanos::ZERO))
}
