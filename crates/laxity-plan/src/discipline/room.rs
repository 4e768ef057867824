//! What every discipline says of itself.

use std::ops::Range;

use laxity::admit::{Service, Unbounded};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use crate::model::{Plan, SchedulerSpec};
use crate::raw;
use crate::read::Read;

/// A discipline with its settings, as it shares the link of a plan.
pub trait Discipline {
    /// What the command line and tables call it: one of its kind's [`names`](Room::names).
    fn name(&self) -> &'static str;

    /// The scheduler of a plan's classes, whose random draws are made from `seed`.
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send>;

    /// The delay bound of every class.
    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>>;

    /// By what curves of their own the classes are served, whatever the others send; `None` where it
    /// depends on them, or nothing is guaranteed.
    fn services(&self, plan: &Plan) -> Vec<Option<Service>>;

    /// Both, where one follows from the other or takes as long.
    fn bounds_and_services(&self, plan: &Plan) -> (Bounds, Vec<Option<Service>>) {
        (self.bounds(plan), self.services(plan))
    }

    /// Both as they hold whatever other classes send, where a discipline [counts on others](Room::counts_on_others).
    fn whatever_others_send(&self, plan: &Plan) -> (Bounds, Vec<Option<Service>>) {
        self.bounds_and_services(plan)
    }

    /// By what each class is served together with all those behind which it [waits](Room::waits_behind), in
    /// whatever order: a strict service curve, and what comes on top. `None` where none is proved.
    fn aggregates(&self, plan: &Plan) -> Vec<Option<Service>> {
        vec![None; plan.classes.len()]
    }
}

/// The delay bound of every class, or why it has none.
pub type Bounds = Vec<Result<Nanos, Unbounded>>;

/// Whether the second class is cross traffic of the first.
pub type WaitsBehind<'a> = Box<dyn Fn(ClassId, ClassId) -> bool + 'a>;

/// What is the same of a discipline whatever its settings.
pub struct Room {
    /// The keys of `[scheduler]` that it takes besides `kind` and `queue`.
    pub keys: &'static [&'static str],
    /// Its names, one for each of its variants; the first part of each is the word of its kind.
    pub names: &'static [&'static str],
    /// What the variant after the stroke is called in messages; empty if it has no variants.
    pub variant: &'static str,
    /// Its default settings; `None` if some have to be given.
    pub default: Option<SchedulerSpec>,
    /// The same settings in the variant that a name says.
    pub with_variant: fn(SchedulerSpec, &str) -> SchedulerSpec,
    /// Its settings from `[scheduler]`.
    pub(crate) read: fn(&raw::Scheduler, &Range<usize>) -> Read<SchedulerSpec>,
    /// Refuses what a plan cannot have with it, at `[scheduler]`.
    pub(crate) check: fn(&Plan, &Range<usize>) -> Read<()>,
    /// The delay bounds of classes on a link that is a share of another, and as late as the plan's link
    /// says; `None` if nothing is guaranteed there.
    pub below: Option<fn(&Plan) -> Bounds>,
    /// Whether the second class is cross traffic of the first one: whether the bound of the first holds
    /// only if the arrival curve of the second is known.
    pub waits_behind: fn(&Plan) -> WaitsBehind<'_>,
    /// Whether bounds are shorter where the arrival curves of others are known, and hold without.
    pub counts_on_others: bool,
    /// Whether the consecutive windows of all of a plan's streams are proved to be kept as long as the
    /// streams are in step.
    pub keeps_windows: fn(&Plan) -> bool,
    /// Whether it serves the classes above leaves, too, and has something to say of them.
    pub has_levels: bool,
    /// Whether all classes wait in one queue, in the order of their arrival.
    pub is_one_queue: bool,
    /// Whether demoted packets wait behind all packets that are promised a delay, also behind those of their own
    /// class. Where they do not, nothing is known of the traffic of a class with `police = "demote"`.
    pub sets_demoted_behind: bool,
    /// Whether it is made to keep deadlines or losses, so that in a comparison it is held to them.
    pub is_held_to_promises: bool,
    /// Whether it can only be the discipline of a whole network, not of a part of it or of a class.
    pub is_of_networks: bool,
}

/// The answer of disciplines that guarantee nothing.
pub fn no_guarantees<T>(plan: &Plan) -> Vec<Result<T, Unbounded>> {
    plan.classes.iter().map(|_| Err(Unbounded::NoGuarantee)).collect()
}

/// The answers for the leaves, in their order, placed among all classes.
pub fn for_leaves<T>(
    plan: &Plan,
    leaves: impl IntoIterator<Item = Result<T, Unbounded>>,
) -> Vec<Result<T, Unbounded>> {
    let mut all = no_guarantees(plan);
    for ((id, _), of_leaf) in plan.leaves().zip(leaves) {
        all[id.index()] = of_leaf;
    }
    all
}

/// The answers of those classes that have one.
pub fn where_proved<T>(all: Vec<Result<T, Unbounded>>) -> Vec<Option<T>> {
    all.into_iter().map(Result::ok).collect()
}
