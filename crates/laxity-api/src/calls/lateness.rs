//! How late packets may be because the plan has changed while they were queued.
//!
//! Where promised packets go before all others, a plan that follows another changes nothing for
//! them: they wait for the same packets in the same order. There is no lateness.
//!
//! Where classes are isolated, a scheduler that takes over what is queued serves it as a burst that
//! has come at once. Let the oldest packet of a class have waited for g by then. Since its arrival
//! the class has sent no more than its contract, and it is served by its service curve from g
//! later on. So its packets take at most g longer, until its queue is empty once. A class that
//! begins has nothing queued, and takes no longer at all. Under CAKE this is said of tins.
//!
//! Of other plans it is known that they promise what they would after being followed all along on a
//! link that was late, until the link is idle.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use laxity::packet::{ClassId, Packet};
use laxity::units::Nanos;
use laxity_answers::reservations::calls::Stage;
use laxity_plan::Plan;
use laxity_plan::discipline::{Aftermath, Growth};
use laxity_sim::record::{Fate, Record};

/// How late each class may be.
pub(super) struct Lateness {
    /// How many plans were followed.
    followed: usize,
    stage: Arc<Stage>,
    /// The classes of the plan that is followed, as they are outside.
    classes: HashMap<ClassId, Terms>,
    /// Classes by the queues that they wait for.
    groups: Vec<Group>,
    /// What is queued of each class: when it arrived, by its number.
    queued: HashMap<ClassId, BTreeMap<u64, Nanos>>,
    /// Classes that are gone, and were late when they went.
    late: HashSet<ClassId>,
    free_at: Nanos,
}

/// What a class may be late by.
struct Terms {
    group: usize,
    growth: Growth,
}

/// Classes that wait for one another.
#[derive(Clone, Copy, Default)]
struct Group {
    packets: usize,
    /// When the last packet of it has left.
    free_at: Nanos,
    /// How late its service began.
    lost: Nanos,
}

impl Lateness {
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        Lateness {
            followed: 0,
            stage,
            classes: HashMap::new(),
            groups: Vec::new(),
            queued: HashMap::new(),
            late: HashSet::new(),
            free_at: Nanos::ZERO,
        }
    }

    /// Goes on with the plans whose time has come.
    pub(super) fn follow(&mut self, now: Nanos) {
        let stage = Arc::clone(&self.stage);
        while let Some(change) = stage.calls.changes.get(self.followed)
            && change.at <= now
        {
            self.followed += 1;
            let (followed, classes) = stage.followed(change);
            self.change_to(change.at, &followed, &classes);
        }
    }

    fn change_to(&mut self, at: Nanos, plan: &Plan, classes: &HashMap<ClassId, ClassId>) {
        for (outside, terms) in &self.classes {
            let is_late = self.groups[terms.group].lost > Nanos::ZERO;
            if is_late && !classes.contains_key(outside) && self.queued.contains_key(outside) {
                self.late.insert(*outside);
            }
        }
        let (groups, number) = groups(plan);
        self.groups = vec![Group { free_at: self.free_at, ..Group::default() }; number];
        let growths = plan.growths();
        let terms = |(outside, inside): (&ClassId, &ClassId)| {
            let (group, growth) = (groups[inside.index()], growths[inside.index()]);
            (*outside, Terms { group, growth })
        };
        self.classes = classes.iter().map(terms).collect();
        let end = self.free_at.max(at);
        for (class, queued) in &self.queued {
            let Some(Terms { group, .. }) = self.classes.get(class) else { continue };
            let (group, oldest) = (&mut self.groups[*group], queued.values().next());
            group.packets += queued.len();
            let lost = oldest.map_or(Nanos::ZERO, |oldest| end - *oldest + Nanos(1));
            group.lost = group.lost.max(lost);
        }
        if plan.aftermath() == Aftermath::PromisedFirst {
            self.groups.iter_mut().for_each(|group| group.lost = Nanos::ZERO);
        }
    }

    pub(super) fn arrived(&mut self, packet: &Packet) {
        let Packet { class, handle, arrival, .. } = *packet;
        self.queued.entry(class).or_default().insert(handle, arrival);
        if let Some(Terms { group, .. }) = self.classes.get(&class) {
            let group = &mut self.groups[*group];
            if group.packets == 0 && group.free_at <= arrival {
                group.lost = Nanos::ZERO;
            }
            group.packets += 1;
        }
    }

    /// A packet has left. Returns by how much it may be later than promised.
    pub(super) fn left(&mut self, record: &Record) -> Nanos {
        let Packet { class, handle, .. } = record.packet;
        if let Some(queued) = self.queued.get_mut(&class) {
            queued.remove(&handle);
            if queued.is_empty() {
                self.queued.remove(&class);
            }
        }
        let departure = match record.fate {
            Fate::Sent { departure, .. } => departure,
            Fate::Dropped(_) | Fate::Queued => self.free_at,
        };
        self.free_at = departure;
        let Some(Terms { group, growth }) = self.classes.get(&class) else {
            // Its last packets are among those that are promised nothing.
            return if self.late.contains(&class) { Nanos::MAX } else { Nanos::ZERO };
        };
        let group = &mut self.groups[*group];
        group.packets = group.packets.saturating_sub(1);
        group.free_at = departure;
        growth.delay_for(group.lost)
    }
}

/// The group of each class of a plan, and how many there are.
fn groups(plan: &Plan) -> (Vec<usize>, usize) {
    if plan.aftermath() == Aftermath::Unknown {
        return (vec![0; plan.classes.len()], 1);
    }
    let waits_behind = (plan.scheduler.room().proof.waits_behind)(plan);
    let id = |class: usize| ClassId(class as u32);
    let group = |class: usize| {
        let first = (0..class).find(|other| waits_behind(id(class), id(*other)));
        first.unwrap_or(class)
    };
    ((0..plan.classes.len()).map(group).collect(), plan.classes.len())
}
