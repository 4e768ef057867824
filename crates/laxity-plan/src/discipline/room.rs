//! What every discipline says of itself.

use laxity::admit::{Breakdown, Service, Unbounded};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::growth::Growth;
use crate::error::{Fault, Span};
use crate::model::{Class, Plan, SchedulerSpec, TokenBucket};
use crate::raw;

/// A discipline with its settings, as it shares the link of a plan.
///
/// Callers take what it guarantees as proved. The conformance tests of the rooms check it: for
/// every kind, they draw plans and drive traffic that keeps to them towards each bound.
pub trait Discipline {
    /// Its variant: the position of its name among its kind's [`names`](Room::names).
    fn variant(&self) -> usize {
        0
    }

    /// The scheduler of a plan's classes, whose random draws are made from `seed`. It may be built
    /// for the rate of the plan's link. Where that varies it is the rate on which schedulers count,
    /// and the link asks for packets sooner or later than it has them.
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send>;

    /// The delay bound of every class on a link that keeps its rate. It may count on the arrival
    /// curves of the classes that [`waits_behind`](Proof::waits_behind) names, and of no others
    /// unless the discipline [counts on others](Proof::counts_on_others). The caller accounts for a
    /// link that is late or stalls.
    /// Default none.
    fn bounds(&self, plan: &Plan) -> Bounds {
        no_guarantees(plan)
    }

    /// What the bound of a class is made of: terms whose sum is its bound among
    /// [`bounds`](Discipline::bounds), or in a [share](Proof::in_share). Asked for classes that
    /// have one.
    /// Default none.
    fn breakdown(&self, _plan: &Plan, _class: ClassId) -> Option<Breakdown> {
        None
    }

    /// The service of each class by itself. It does not depend on the traffic of classes behind
    /// which the class does not [wait](Proof::waits_behind). The service of a class that waits
    /// behind others is what these leave of the link. `None` where a bound is proved by other
    /// means, or nothing is guaranteed.
    /// Default none.
    fn services(&self, plan: &Plan) -> Services {
        vec![None; plan.classes.len()]
    }

    /// Bounds and services, where one follows from the other or takes as long.
    fn bounds_and_services(&self, plan: &Plan) -> (Bounds, Services) {
        (self.bounds(plan), self.services(plan))
    }

    /// Bounds and services that hold whatever other classes send, where a discipline
    /// [counts on others](Proof::counts_on_others).
    fn whatever_others_send(&self, plan: &Plan) -> (Bounds, Services) {
        self.bounds_and_services(plan)
    }

    /// The token buckets that the bound of a class counts on. Default its `arrival`.
    fn contract(&self, _: &Plan, class: &Class) -> Option<Vec<TokenBucket>> {
        class.arrival.as_ref().map(|arrival| arrival.buckets.clone())
    }

    /// The service of each class together with all the classes that it waits behind.
    ///
    /// This is a strict service curve and a latency in addition to it. It holds for any order among
    /// these classes, which [`waits_behind`](Proof::waits_behind) names. `None` where none is
    /// proved. `None` is always true, but loses bounds along paths: over several links, this
    /// service alone bounds a class that waits behind others.
    fn aggregates(&self, plan: &Plan) -> Services {
        vec![None; plan.classes.len()]
    }

    /// The queue of each class, whose packets leave in the order in which they came, with the joint
    /// service of all classes in it.
    ///
    /// It does not depend on the traffic of classes behind which a class does not
    /// [wait](Proof::waits_behind). `None` where none is proved. `None` is always true, but loses
    /// bounds along paths of classes that share a queue.
    fn queues(&self, plan: &Plan) -> Queues {
        vec![None; plan.classes.len()]
    }
}

/// A queue of some classes.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a queue has a number and a service, no more")]
pub struct Queue {
    /// The same for all classes in it.
    pub number: u64,
    /// Their joint service.
    pub service: Service,
}

/// The queue of every class, where one is proved.
pub type Queues = Vec<Option<Queue>>;

/// The delay bound of every class, or why it has none.
pub type Bounds = Vec<Result<Nanos, Unbounded>>;

/// The service of every class, where one is proved.
pub type Services = Vec<Option<Service>>;

/// Whether the second class is cross traffic of the first.
pub type WaitsBehind<'a> = Box<dyn Fn(ClassId, ClassId) -> bool + 'a>;

/// Reads the settings of a discipline from `[scheduler]`, which stands at a place of the plan.
pub(crate) type ReadSettings = fn(&raw::Scheduler, &Span) -> Result<SchedulerSpec, Fault>;

/// What is the same of a discipline whatever its settings.
///
/// A room says what it differs in from a plain one. What its proofs rest on is said in full, unless
/// they isolate classes from one another, because a wrong answer there is a wrong proof.
pub struct Room {
    /// The keys of `[scheduler]` that it takes besides `kind` and `queue`. Default none.
    pub keys: &'static [&'static str],
    /// The keys of `[class.NAME]` that mean something to it, in groups, besides those that do under
    /// every discipline. Default none.
    pub class_keys: &'static [&'static [&'static str]],
    /// Its names, one for each of its variants; the first part of each is the word of its kind.
    pub names: &'static [&'static str],
    /// What the variant after the stroke is called in messages. Default empty, for no variants.
    pub variant: &'static str,
    /// Its default settings; `None` if some have to be given.
    pub default: Option<SchedulerSpec>,
    /// The same settings in the variant at a position among `names`. Default the settings.
    pub with_variant: fn(SchedulerSpec, usize) -> SchedulerSpec,
    /// Reads its settings. By default they are the default ones.
    pub(crate) read: ReadSettings,
    /// Refuses what a plan cannot have with it, at `[scheduler]`. Default nothing.
    pub(crate) check: fn(&Plan, &Span) -> Result<(), Fault>,
    /// On what its proofs rest.
    pub proof: Proof,
    /// Whether the consecutive windows of all of a plan's streams are proved to be kept as long as
    /// the streams are in step. Default never.
    pub keeps_windows: fn(&Plan) -> bool,
    /// Whether it serves the classes above leaves, too, and has something to say of them. Default
    /// no.
    pub has_levels: bool,
    /// Which classes that share its link may hold schedulers of their own. Default none.
    pub holders: Holders,
    /// Whether it orders the packets of flows, so that it is of use to a single class. Default no.
    pub orders_flows: bool,
    /// Whether it is made to keep deadlines or losses, so that in a comparison it is held to them.
    /// Default no.
    pub is_held_to_promises: bool,
    /// Whether it can only be the discipline of a whole network, not of a part of it or of a class.
    /// Default no.
    pub is_of_networks: bool,
}

/// The classes that may hold schedulers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a discipline takes schedulers in one of these ways")]
pub enum Holders {
    /// None.
    Nobody,
    /// Leaves, which may hold one that [orders flows](Room::orders_flows): nothing is promised to
    /// single packets there.
    Leaves,
    /// Any, which have a share of the link for it.
    Shares,
}

/// What the proofs of a discipline rest on.
pub struct Proof {
    /// The delay bounds of classes on a link that is a share of another, and as late as the plan's
    /// link says; `None` if nothing is guaranteed there.
    pub in_share: Option<fn(&Plan) -> Bounds>,
    /// Whether the second class is cross traffic of the first one. This is `true` wherever another
    /// arrival curve of the second changes the bound, the service or the aggregate of the first.
    /// Packet lengths and settings of the second may count even where it is `false`. An unnecessary
    /// `true` loses bounds along paths. A wrong `false` is a wrong proof: a network then counts on
    /// a class about which nothing is known.
    pub waits_behind: fn(&Plan) -> WaitsBehind<'_>,
    /// Whether bounds are shorter where the arrival curves of others are known, and hold without:
    /// [`whatever_others_send`](Discipline::whatever_others_send) then says how long they are
    /// without.
    pub counts_on_others: bool,
    /// Whether all classes wait in one queue, in the order of their arrival. Along paths they are
    /// then bounded as one, and the discipline is not asked.
    pub is_one_queue: bool,
    /// Whether the joint services of queues and aggregates hold for every byte of a packet, not
    /// only for its last: the first byte has left as soon as the curve has reached it.
    pub counts_bytes: bool,
    /// Whether packets of a class that is promised a delay leave in the order of their arrival.
    /// Where they do not, only the output's own bound says how long they take there, and a
    /// regulator behind holds up the wrong packets.
    pub keeps_order: fn(&SchedulerSpec) -> bool,
    /// Whether demoted packets wait behind all packets that are promised a delay, also behind those
    /// of their own class. Where they do not, nothing is known of the traffic of a class with
    /// `police = "demote"`.
    pub sets_demoted_behind: bool,
    /// Whether bounds and aggregates take the plan's link as late as it says, and so hold on a link
    /// whose rate varies or that is a share of another. Where they do not, nothing is proved of a
    /// link whose rate varies.
    pub bears_late_links: bool,
    /// What it costs each class with a bound that the link stalls; `None` if each is as much later
    /// as the link.
    pub growths: Option<fn(&Plan, &Bounds) -> Vec<Growth>>,
    /// How what a class has sent is felt by others after its end.
    pub aftermath: fn(&Plan) -> Aftermath,
}

/// How what a class has sent is felt by others after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a settling time is proved in one of these ways")]
pub enum Aftermath {
    /// Promised packets go before all others, and wait for one another.
    PromisedFirst,
    /// A promised class waits for its own packets alone, or its bound is as long as any of its
    /// busy periods.
    Isolated,
    /// For an unknown time.
    Unknown,
}

impl Room {
    /// The keys by which classes share a link: by weight, or by curves in a hierarchy.
    pub(super) const SHARES: &'static [&'static str] =
        &["parent", "weight", "curve", "real-time", "link-share"];

    /// A discipline without settings, variants or anything else of its own, but what its proofs
    /// rest on.
    pub(super) const fn plain(
        names: &'static [&'static str],
        default: Option<SchedulerSpec>,
        proof: Proof,
    ) -> Room {
        Room {
            keys: &[],
            class_keys: &[],
            names,
            variant: "",
            default,
            with_variant: |spec, _| spec,
            read: |raw, _| {
                Ok(raw.kind.0.room().default.expect("a room without settings has these"))
            },
            check: |_, _| Ok(()),
            proof,
            keeps_windows: |_| false,
            has_levels: false,
            holders: Holders::Nobody,
            orders_flows: false,
            is_held_to_promises: false,
            is_of_networks: false,
        }
    }

    /// Whether a key of a class means something to it that does not under every discipline.
    pub fn takes_of_classes(&self, key: &str) -> bool {
        self.keys_of_classes().any(|taken| taken == key)
    }

    /// The keys of a class that mean something to it, besides those that do under every discipline.
    pub fn keys_of_classes(&self) -> impl Iterator<Item = &'static str> {
        self.class_keys.iter().copied().flatten().copied()
    }
}

impl Proof {
    /// What is proved of a class holds whatever the others send.
    pub(super) const ISOLATED: Proof = Proof {
        in_share: None,
        waits_behind: |_| Box::new(|_, _| false),
        counts_on_others: false,
        is_one_queue: false,
        counts_bytes: false,
        keeps_order: |_| true,
        sets_demoted_behind: false,
        bears_late_links: false,
        growths: None,
        aftermath: |_| Aftermath::Isolated,
    };

    /// Nothing is proved that could depend on anything.
    pub(super) const NONE: Proof = Proof::ISOLATED;
}

/// The answer of disciplines that guarantee nothing.
pub(super) fn no_guarantees<T>(plan: &Plan) -> Vec<Result<T, Unbounded>> {
    plan.classes.iter().map(|_| Err(Unbounded::NoGuarantee)).collect()
}

/// The answers for the leaves, in their order, placed among all classes.
pub(super) fn for_leaves<T>(
    plan: &Plan,
    leaves: impl IntoIterator<Item = Result<T, Unbounded>>,
) -> Vec<Result<T, Unbounded>> {
    let mut all = no_guarantees(plan);
    for ((id, _), of_leaf) in plan.leaves().zip(leaves) {
        all[id.index()] = of_leaf;
    }
    all
}

/// The breakdown of a leaf, which is found by its place among the leaves.
pub(super) fn breakdown_of_leaf(
    plan: &Plan,
    class: ClassId,
    find: impl FnOnce(usize) -> Option<Breakdown>,
) -> Option<Breakdown> {
    let leaves: Vec<_> = plan.leaves().map(|(id, _)| id).collect();
    let place = leaves.binary_search(&class).ok()?;
    Some(find(place)?.renumbered(|leaf| leaves[leaf.index()]))
}

/// The answers of those classes that have one.
pub(super) fn where_proved<T>(all: Vec<Result<T, Unbounded>>) -> Vec<Option<T>> {
    all.into_iter().map(Result::ok).collect()
}
