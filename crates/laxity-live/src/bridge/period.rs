//! What is measured of a direction while it follows a plan.

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::advice::Measured;
use laxity_forward::Event;
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use super::danger::{ClassSecond, Danger};
use super::demand::Demands;
use super::measurement::WayMeasurement;
use super::seconds::Seconds;
use super::talkers::Talkers;
use super::waits::Waits;
use crate::archive::ClassSlot;
use crate::autorate::{FoundRate, RateRecord};
use crate::process::Results;
use crate::status::history::{History, OverTime};
use crate::status::{MomentStatus, WaitStatus, WayStatus};

/// What is measured of one direction while it follows a plan.
pub(super) struct Period {
    /// Where the frames arrive.
    pub(super) at: Side,
    /// What the direction is called.
    pub(super) way: &'static str,
    /// Number of plans that were followed there before.
    pub(super) number: u32,
    pub(super) plan: Plan,
    pub(super) measured: WayMeasurement,
    /// By thread.
    threads: Vec<Thread>,
    talkers: Talkers,
    seconds: Seconds,
    danger: Danger,
    /// What the advice follows from that was asked for last.
    pub(super) asked: Option<Measured>,
    /// What to change, in a sentence.
    pub(super) advice: Option<String>,
    sent: OverTime,
    rate: Option<RateRecord>,
}

/// What follows from the order of events, in which those of a thread come.
struct Thread {
    waits: Waits,
    demands: Demands,
}

impl Period {
    /// Nothing yet, of as many threads as the plan says.
    pub(super) fn new(
        (at, way): (Side, &'static str),
        number: u32,
        plan: Plan,
        begin: Nanos,
        found: Option<&FoundRate>,
    ) -> Self {
        let classes = plan.classes.len();
        let count = plan.link.threads.map_or(1, |threads| threads.count);
        let thread = |_| Thread { waits: Waits::new(classes, begin), demands: Demands::new(&plan) };
        let threads = (0..count).map(thread).collect();
        let rate = found.and_then(|found| RateRecord::new(&plan, found.clone(), begin));
        Period {
            at,
            way,
            number,
            measured: WayMeasurement::new(plan.promises()).policed(&plan),
            threads,
            talkers: Talkers::new(at),
            seconds: Seconds::new(classes),
            danger: Danger::new(classes),
            asked: None,
            advice: None,
            sent: OverTime::new(begin),
            rate,
            plan,
        }
    }

    /// Goes on with what was measured in the last period of classes of the same names. Gives the
    /// numbers of those that have gone.
    pub(super) fn go_on(&mut self, last: &mut Period) -> Vec<ClassId> {
        let classes = |plan: &Plan| {
            let named = plan.leaves().enumerate();
            let named = named.map(|(place, (id, class))| (class.name.clone(), (place, id)));
            named.collect::<HashMap<_, _>>()
        };
        let before = classes(&last.plan);
        let number = |id: ClassId| Some(before.get(&self.plan.classes[id.index()].name)?.1);
        let places: Vec<_> =
            self.plan.leaves().map(|(_, class)| Some(before.get(&class.name)?.0)).collect();
        let measured = std::mem::replace(&mut last.measured, WayMeasurement::new([]));
        let gone = {
            let now = classes(&self.plan);
            let gone = before.iter().filter(|(name, _)| !now.contains_key(*name));
            gone.map(|(_, (_, id))| *id).collect()
        };
        self.measured.go_on(measured, number);
        self.sent = last.sent.of_classes(&places);
        self.rate = last.rate.take();
        gone
    }

    /// Counts an event of a thread.
    pub(super) fn add(&mut self, thread: usize, event: &Event) {
        self.measured.add(event);
        self.talkers.add(event);
        self.seconds.add(event);
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.waits.add(event);
            thread.demands.add(event);
        }
        if let Some(rate) = &mut self.rate {
            rate.add(event);
        }
    }

    /// Events of a thread were lost: what waits is counted anew. Where there are several threads,
    /// nobody knows which of them has it.
    pub(super) fn forget_waits(&mut self, thread: usize, now: Nanos) {
        let is_alone = self.threads.len() == 1;
        let accounts = self.measured.accounts().iter();
        let queued = accounts.map(|account| if is_alone { account.queued } else { 0 });
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.waits.begin(now, queued);
        }
    }

    /// What packets of a class have waited for, if that is counted.
    fn waits(&self, class: ClassId) -> Option<WaitStatus> {
        waits(&self.threads, &self.plan, class)
    }

    /// Notes what has been sent by now.
    pub(super) fn note(&mut self, now: Nanos) {
        self.rate.iter_mut().for_each(|rate| rate.go_on(now));
        let accounts = self.measured.accounts();
        self.sent.note(now, self.plan.leaves().map(|(id, _)| accounts[id.index()].bytes_sent));
    }

    /// A second is over, which took so long, at `clock`, in seconds of 1970. `each` is told the
    /// moments in which classes were in danger in it, and whether they had begun before.
    pub(super) fn turn(
        &mut self,
        duration: Nanos,
        clock: u64,
        mut each: impl FnMut(&MomentStatus, bool),
    ) {
        self.talkers.turn(duration);
        self.seconds.turn(duration);
        let Period { plan, measured, threads, seconds, danger, .. } = self;
        for (id, _) in plan.leaves() {
            let bound = measured.accounts()[id.index()].promise.bound;
            let Some((bound, second)) = bound.zip(seconds.last(id)) else { continue };
            let (class, waits) = (id.index(), waits(threads, plan, id));
            let second = ClassSecond { class, bound_ns: bound.0, second, waits };
            if let Some((moment, is_same)) = danger.note(plan, clock, second) {
                each(moment, is_same);
            }
        }
    }

    /// What each class got in the last second, in the order of the plan.
    pub(super) fn slots(&self) -> impl Iterator<Item = ClassSlot> {
        self.plan.leaves().map(|(id, _)| {
            let bound = self.measured.accounts()[id.index()].promise.bound;
            let second = self.seconds.last(id).unwrap_or_default();
            ClassSlot::new(&second, bound.map(|bound| bound.0))
        })
    }

    /// What advice follows from.
    pub(super) fn advisable(&self, is_real_time: bool) -> Measured {
        let mut demands = self.threads.iter().map(|thread| &thread.demands);
        let first = demands.next().cloned();
        let demands = demands.fold(first, |sum, demands| {
            let mut sum = sum?;
            sum.join(demands);
            Some(sum)
        });
        Measured {
            late: self.measured.late.max(),
            is_real_time,
            held: self.measured.held.unwrap_or_default(),
            longest: demands.as_ref().map(Demands::longest).unwrap_or_default(),
            demands: demands.as_ref().map(Demands::demands).unwrap_or_default(),
        }
    }

    /// What was measured by now.
    pub(super) fn status(&self) -> WayStatus {
        let mut status = WayStatus::new(self.way, &self.plan, &self.measured);
        status.found = self.rate.as_ref().map(RateRecord::status);
        for ((id, _), class) in self.plan.leaves().zip(&mut status.classes) {
            class.waits = self.waits(id);
        }
        status
    }

    /// The same with what is of the present alone.
    pub(super) fn present(&self) -> WayStatus {
        let mut status = self.status();
        for ((id, _), class) in self.plan.leaves().zip(&mut status.classes) {
            class.second = self.seconds.last(id);
        }
        WayStatus {
            talkers: self.talkers.status(&self.plan),
            advice: self.advice.clone(),
            moments: self.danger.moments(),
            ..status
        }
    }

    /// What it was like.
    pub(super) fn results(&self) -> Results<'_> {
        let Period { plan, measured, sent, .. } = self;
        let history = History::new(plan, sent, |id| &measured.accounts()[id.index()].delay);
        Results { plan, way: self.status(), network: None, history }
    }
}

/// What packets of a class have waited for on all threads, if that is counted.
fn waits(threads: &[Thread], plan: &Plan, class: ClassId) -> Option<WaitStatus> {
    let waits = threads.iter().filter_map(|thread| thread.waits.status(plan, class));
    waits.reduce(|mut sum, waits| {
        sum.add(waits);
        sum
    })
}
