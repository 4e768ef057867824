//! How late packets may be because the plan has changed while they were queued.
//!
//! Where promised packets go before all others, a plan that follows another changes nothing for
//! them: they wait for the same packets in the same order. There is no lateness.
//!
//! Where classes are isolated, a scheduler that takes over what is queued serves it as a burst that
//! has come at once, at time T. Let the packets of a class that were queued at T and that have come
//! since, up to one packet, have x bytes, and let the service of the class reach x within t. Then
//! that packet leaves by T + t, or it is no later than promised. For a class that begins at T or
//! later, T + t is no later than promised, either, because it keeps to its contract. Where the
//! oldest packet of a class has waited for g at T, T + t is at most g later than promised: since
//! that packet's arrival the class has kept to its contract.
//!
//! In a tin of CAKE packets of several classes take turns. What is said of the class is said of the
//! tin there, until the tin is empty.
//!
//! Of other plans it is known that they promise what they would after being followed all along on a
//! link that was late, until the link is idle.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use laxity::curve::{ceil_nanos, exact_bytes};
use laxity::packet::{ClassId, Packet};
use laxity::units::{Bytes, Nanos};
use laxity_answers::reservations::calls::Stage;
use laxity_plan::Plan;
use laxity_plan::discipline::{Aftermath, Growth};
use laxity_sim::record::{Fate, Record};

/// How late each class may be.
pub(super) struct Lateness {
    /// How many plans were followed.
    followed: usize,
    stage: Arc<Stage>,
    /// When the last one was followed first.
    since: Nanos,
    scope: Scope,
    /// The classes of the plan that is followed, as they are outside.
    classes: HashMap<ClassId, Terms>,
    /// Classes by the queues that they wait for.
    groups: Vec<Group>,
    /// What is queued of each class, by its number.
    queued: HashMap<ClassId, BTreeMap<u64, Queued>>,
    under_way: Option<(ClassId, Queued, Nanos)>,
    /// Classes that are gone, and had packets queued that may be late.
    late: HashSet<ClassId>,
    /// What the packets of each call's class are promised.
    promised: HashMap<ClassId, Nanos>,
}

/// What a plan that follows another costs those who stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Nothing,
    /// A class waits for its own packets.
    Class,
    /// It waits for those of a group.
    Group,
}

/// What a class may be late by.
struct Terms {
    inside: ClassId,
    group: usize,
    growth: Growth,
    /// What was queued of it and has come since the plan is followed, in bytes.
    bytes: u64,
}

/// A packet that waits, and what of its class is to be served up to it, in bytes.
#[derive(Clone, Copy)]
struct Queued {
    arrival: Nanos,
    length: u32,
    bytes: u64,
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
        let calls = stage.outside.calls.iter().zip(&stage.calls.granted);
        let promised = calls.filter_map(|(class, granted)| Some((*class, granted.bound?)));
        Lateness {
            promised: promised.collect(),
            followed: 0,
            stage,
            since: Nanos::ZERO,
            scope: Scope::Nothing,
            classes: HashMap::new(),
            groups: Vec::new(),
            queued: HashMap::new(),
            under_way: None,
            late: HashSet::new(),
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
            self.change_to(now, &followed, &classes);
        }
    }

    fn change_to(&mut self, now: Nanos, plan: &Plan, classes: &HashMap<ClassId, ClassId>) {
        let gone = self.queued.keys().filter(|outside| !classes.contains_key(outside));
        let may_wait = |outside: &&ClassId| self.may_wait(**outside, now);
        let gone: Vec<ClassId> = gone.filter(may_wait).copied().collect();
        self.late.extend(gone);
        let (groups, number) = groups(plan);
        self.scope = scope(plan, &groups);
        self.since = now;
        self.groups = vec![Group::default(); number];
        let growths = plan.growths();
        let terms = |(outside, inside): (&ClassId, &ClassId)| {
            let (group, growth) = (groups[inside.index()], growths[inside.index()]);
            (*outside, Terms { inside: *inside, group, growth, bytes: 0 })
        };
        self.classes = classes.iter().map(terms).collect();
        // The packet under way is handed over first.
        if let Some((class, first, until)) = self.under_way.filter(|(.., until)| *until > now)
            && let Some(terms) = self.classes.get_mut(&class)
        {
            terms.bytes = first.length.into();
            let group = &mut self.groups[terms.group];
            (group.free_at, group.lost) = (until, until - first.arrival);
        }
        let free_at = self.under_way.map_or(now, |(.., until)| until.max(now));
        for (class, queued) in &mut self.queued {
            let Some(terms) = self.classes.get_mut(class) else { continue };
            let group = &mut self.groups[terms.group];
            group.packets += queued.len();
            for packet in queued.values_mut() {
                terms.bytes += u64::from(packet.length);
                packet.bytes = terms.bytes;
                group.lost = group.lost.max(free_at - packet.arrival + Nanos(1));
            }
        }
    }

    /// Whether what is queued of a class is no longer promised anything, and may still be there.
    fn may_wait(&self, class: ClassId, now: Nanos) -> bool {
        let last = self.queued.get(&class).and_then(|queued| queued.values().last());
        let promised = self.promised.get(&class).copied().unwrap_or_default();
        let is_due = last.is_some_and(|last| last.arrival.saturating_add(promised) <= now);
        match (self.classes.get(&class), last) {
            (Some(terms), Some(last)) => {
                is_due
                    && match self.scope {
                        Scope::Nothing => false,
                        Scope::Group => self.groups[terms.group].lost > Nanos::ZERO,
                        Scope::Class => self.served_by(terms, last) > now,
                    }
            }
            _ => self.late.contains(&class),
        }
    }

    pub(super) fn arrived(&mut self, packet: &Packet) {
        let Packet { class, handle, arrival, length, .. } = *packet;
        let mut bytes = 0;
        if let Some(terms) = self.classes.get_mut(&class) {
            let group = &mut self.groups[terms.group];
            if group.packets == 0 && group.free_at <= arrival {
                group.lost = Nanos::ZERO;
            }
            group.packets += 1;
            terms.bytes += u64::from(length);
            bytes = terms.bytes;
        }
        let queued = Queued { arrival, length, bytes };
        self.queued.entry(class).or_default().insert(handle, queued);
    }

    /// A packet has left. Returns by how much it may be later than promised, if it is.
    pub(super) fn left(&mut self, record: &Record, promised: Option<Nanos>) -> Nanos {
        let Packet { class, handle, .. } = record.packet;
        let queued = self.queued.get_mut(&class).and_then(|queued| queued.remove(&handle));
        if self.queued.get(&class).is_some_and(BTreeMap::is_empty) {
            self.queued.remove(&class);
        }
        let Some(packet) = queued else { return Nanos::ZERO };
        if let Some(Terms { group, .. }) = self.classes.get(&class) {
            self.groups[*group].packets -= 1;
        }
        let Fate::Sent { departure, .. } = record.fate else { return Nanos::ZERO };
        self.under_way = Some((class, packet, departure));
        if let Some(Terms { group, .. }) = self.classes.get(&class) {
            self.groups[*group].free_at = departure;
        }
        match promised {
            Some(promised) if departure - packet.arrival > promised => {
                self.allowance(class, packet, promised)
            }
            _ => Nanos::ZERO,
        }
    }

    fn allowance(&self, class: ClassId, packet: Queued, promised: Nanos) -> Nanos {
        let Some(terms) = self.classes.get(&class) else {
            // Its last packets are among those that are promised nothing.
            return if self.late.contains(&class) { Nanos::MAX } else { Nanos::ZERO };
        };
        match self.scope {
            Scope::Nothing => Nanos::ZERO,
            Scope::Group => terms.growth.delay_for(self.groups[terms.group].lost),
            Scope::Class => {
                let promised = packet.arrival.saturating_add(promised);
                self.served_by(terms, &packet).saturating_sub(promised)
            }
        }
    }

    /// By when a class is served up to one of its packets.
    fn served_by(&self, terms: &Terms, packet: &Queued) -> Nanos {
        let (plan, _) = self.stage.followed(&self.stage.calls.changes[self.followed - 1]);
        let service = plan.services()[terms.inside.index()].clone();
        let served = service.and_then(|service| {
            let bytes = exact_bytes(Bytes(packet.bytes));
            let reached = ceil_nanos(&service.curve.lower_pseudo_inverse(&bytes)?)?;
            Some(self.since.saturating_add(reached).saturating_add(service.late))
        });
        served.unwrap_or(Nanos::MAX)
    }
}

fn scope(plan: &Plan, groups: &[usize]) -> Scope {
    let is_alone = groups.iter().enumerate().all(|(class, group)| class == *group);
    match plan.aftermath() {
        Aftermath::PromisedFirst => Scope::Nothing,
        Aftermath::Isolated if is_alone => Scope::Class,
        Aftermath::Isolated | Aftermath::Unknown => Scope::Group,
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
