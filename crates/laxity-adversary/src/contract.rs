//! What the classes of a plan keep to, so that what is proved of them holds.

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};

/// What a class's packets keep to.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// The shortest packet, in bytes: in a network what comes to its outputs depends on it.
    pub shortest: u32,
    /// The longest packet that may conform, in bytes.
    pub longest: u32,
    /// When it may send.
    pub conduct: Conduct,
    /// Whether others are safe from it should it send more.
    pub isolated: bool,
}

impl Contract {
    /// How many of its longest packets the largest bucket holds: 1 at least.
    pub fn burst(&self) -> u32 {
        let Conduct::Keeps(lines) = &self.conduct else { return 1 };
        let largest = lines.iter().map(|line| line.bucket.0).max().unwrap_or(0);
        (largest / u64::from(self.longest.max(1))).clamp(1, 4_000) as u32
    }
}

/// When a class may send.
#[derive(Clone, Debug, PartialEq)]
pub enum Conduct {
    /// Never more than any of these buckets holds.
    Keeps(Vec<TokenBucket>),
    /// Streams in step: a packet before the last one is due, `gap` ns after the one before was.
    InStep {
        /// How many.
        streams: u32,
        /// In ns.
        gap: u64,
    },
    /// At any time and of any length.
    Free,
}

/// What the classes of a plan have to keep to so that what is proved of them holds.
pub fn contracts(plan: &Plan) -> Vec<Contract> {
    let keeps_windows = plan.keeps_windows();
    let contract = |(id, class): (ClassId, &Class)| {
        let conduct = match (class.gap.filter(|_| keeps_windows), &class.arrival) {
            (Some(gap), _) => Conduct::InStep { streams: class.count, gap: gap.0 },
            (None, Some(arrival)) if !is_best_effort(plan, id) => {
                Conduct::Keeps(arrival.buckets.clone())
            }
            (None, _) => Conduct::Free,
        };
        let longest = match &conduct {
            Conduct::Keeps(buckets) => {
                let least = buckets.iter().map(|line| line.bucket).min();
                plan.max_packet(class).min(least.unwrap_or(plan.link.max_packet))
            }
            _ => plan.max_packet(class),
        };
        // Best effort keeps to nothing as it is.
        let isolated = !is_best_effort(plan, id) && is_harmless(plan, id);
        // On one link no bound counts on what those send that may send anything.
        let is_free = plan.network.is_none() && !matches!(conduct, Conduct::Keeps(_));
        let shortest = match plan.scheduler {
            // Frames are reserved for packets of the largest length.
            SchedulerSpec::Tdp(_) if class.wants_frames() => longest.0 as u32,
            _ if is_free => 1,
            _ => plan.min_packet(class).0 as u32,
        };
        Contract { shortest, longest: longest.0 as u32, conduct, isolated }
    };
    (0..).map(ClassId).zip(&plan.classes).map(contract).collect()
}

/// The class that holds the scheduler in which a class waits, if it is not the link's.
pub fn share_of(plan: &Plan, id: ClassId) -> Option<ClassId> {
    let up = |id: &ClassId| plan.classes[id.index()].parent;
    std::iter::successors(Some(id), up).find(|id| plan.classes[id.index()].inside.is_some())
}

/// The scheduler in which a class's packets wait for one another.
pub fn scheduler_of(plan: &Plan, id: ClassId) -> SchedulerSpec {
    match share_of(plan, id) {
        Some(share) => plan.classes[share.index()].scheduling().scheduler,
        None => plan.scheduler,
    }
}

/// Whether a class is served as best effort beside others with deadlines, so that no traffic of it
/// can do harm.
fn is_best_effort(plan: &Plan, id: ClassId) -> bool {
    let edf = |spec| matches!(spec, SchedulerSpec::Edf(_));
    let best_effort = plan.classes[id.index()].relative_deadline().is_none();
    plan.network.is_none() && best_effort && edf(scheduler_of(plan, id))
}

/// How many classes may be told apart that break their contracts.
pub(crate) const MOST_ROGUES: usize = 64;

/// Whether the proofs of all other classes hold for any traffic of this one.
fn is_harmless(plan: &Plan, id: ClassId) -> bool {
    if plan.network.is_some() || id.index() >= MOST_ROGUES {
        return false;
    }
    if let Some(share) = share_of(plan, id) {
        return plan.classes[share.index()].is_leaf();
    }
    let room = plan.scheduler.room();
    let waits_behind = (room.proof.waits_behind)(plan);
    let mut others = plan.leaves().filter(|(other, _)| *other != id);
    !room.proof.counts_on_others
        && !(room.keeps_windows)(plan)
        && others.all(|(other, _)| !waits_behind(other, id))
}
