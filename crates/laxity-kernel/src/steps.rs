//! Steps from one set-up to another, in their order, and the queues that are lost on the way.
//!
//! Whatever can be changed in place is. The rules are the kernel's (Linux 6.1, net/sched):
//!
//! | what changes | in place | why |
//! | --- | --- | --- |
//! | curves of `hfsc`, also ones that are added | yes | `hfsc_change_class` |
//! | a curve of `hfsc` is taken away | no | a curve that is not named stays |
//! | classes of `htb`, `drr` and `qfq` | yes | their `change_class` |
//! | what a class is part of | no | no class can be moved |
//! | `hfsc`, `prio`, `tbf`, `fq_codel`, `cake`, `codel`, `pie`, `choke` | yes | their `change` |
//! | `pfifo`, `bfifo` | yes | their `change` |
//! | a `pfifo` or `bfifo` in `tbf` | with it | `tbf_change` gives it the limit (`fifo_set_limit`) |
//! | `red` | yes, and its queue is lost | `red_change` makes a new queue |
//! | flows of `fq_codel` | no | they are made once |
//! | `htb` | no | it has no `change` |
//! | filters of `flower` | yes | `fl_change` |
//! | other filters | no | |

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

pub use laxity_tc::netlink::Action;
use laxity_tc::netlink::{self, Object, Sort};
use laxity_tc::setup::{ClassKind, Handle, Item, QdiscKind};

use crate::objects::{Key, Objects};

/// One of the steps.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// To what; with the new parameters, unless it is deleted.
    pub object: Object,
}

/// What takes an interface from one set-up to another.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// In the order in which they are taken.
    pub steps: Vec<Step>,
    /// The classes whose queue is lost. Where nothing was added before, what the kernel made by
    /// itself is not among them.
    pub drops: BTreeSet<Handle>,
    /// Whether a queue at the root is lost that someone added and that has no classes.
    pub drops_root: bool,
}

impl Steps {
    /// The steps from what is shown to what is wanted.
    pub fn between(before: &Objects, after: &Objects) -> Steps {
        Difference::new(before, after).steps()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a queue is lost that someone added.
    pub fn drops_queues(&self) -> bool {
        self.drops_root || !self.drops.is_empty()
    }
}

/// The objects that do not stay: taken away, made anew, or hanging at one that is.
fn gone(before: &Objects, after: &Objects) -> BTreeSet<Key> {
    let mut gone = BTreeSet::new();
    for object in before.in_order() {
        let key = Key::new(object);
        let stays = after.get(&key).is_some_and(|new| can_become(object, new));
        let hangs = before.above(object).is_some_and(|above| gone.contains(&above));
        if !stays || hangs {
            gone.insert(key);
        }
    }
    // A filter keeps its class from being taken away, and has nowhere to send packets without it.
    for (key, object) in before.iter().filter(|(key, _)| key.sort == Sort::Filter) {
        if let Some(Item::Filter(filter)) = netlink::item(object)
            && filter.class.is_some_and(|class| gone.contains(&Key::class(class)))
        {
            gone.insert(*key);
        }
    }
    // Of other kinds than flower those of one priority go together, for the kernel numbers them.
    let is_numbered = |object: &Object| object.sort == Sort::Filter && object.kind() != "flower";
    let place = |object: &Object| (object.parent, object.priority());
    let lost = before.iter().filter(|(key, object)| gone.contains(key) && is_numbered(object));
    let added =
        after.iter().filter(|(key, object)| before.get(key).is_none() && is_numbered(object));
    let places: BTreeSet<(Handle, u16)> =
        lost.chain(added).map(|(_, object)| place(object)).collect();
    let filters = before.iter().filter(|(_, object)| object.sort == Sort::Filter);
    gone.extend(filters.filter(|(_, object)| places.contains(&place(object))).map(|(key, _)| *key));
    gone
}

/// The objects that go, or with which others do, whose numbers come back somewhere else.
fn used_again(before: &Objects, after: &Objects, gone: &BTreeSet<Key>) -> BTreeSet<Key> {
    let mut used_again = BTreeSet::new();
    let qdiscs = gone.iter().filter(|key| key.sort == Sort::Qdisc && after.get(key).is_some());
    for key in qdiscs {
        let mut next = Some(*key);
        while let Some(key) = next.filter(|key| used_again.insert(*key)) {
            next = before.get(&key).and_then(|object| before.above(object));
        }
    }
    used_again
}

/// Whether the kernel makes the new one of the old one without taking it away.
fn can_become(old: &Object, new: &Object) -> bool {
    if old == new {
        return true;
    }
    if old.parent != new.parent || old.kind() != new.kind() {
        return false;
    }
    match (netlink::item(old), netlink::item(new)) {
        (Some(Item::Qdisc(old)), Some(Item::Qdisc(new))) => match (&old.kind, &new.kind) {
            (QdiscKind::FqCodel(old), QdiscKind::FqCodel(new)) => old.flows == new.flows,
            (QdiscKind::Htb { .. } | QdiscKind::Drr | QdiscKind::Qfq, _) => old.kind == new.kind,
            _ => true,
        },
        (Some(Item::Class(old)), Some(Item::Class(new))) => match (&old.kind, &new.kind) {
            (ClassKind::Hfsc(old), ClassKind::Hfsc(new)) => {
                let curves = [(old.rsc, new.rsc), (old.fsc, new.fsc), (old.usc, new.usc)];
                curves.iter().all(|(old, new)| old.is_none() || new.is_some())
            }
            _ => true,
        },
        (Some(Item::Filter(_)), Some(Item::Filter(_))) => {
            old.kind() == "flower" && old.info == new.info
        }
        _ => false,
    }
}

/// Whether a change in place loses what is queued.
fn loses_queue(old: &Object, new: &Object) -> bool {
    let (Some(Item::Qdisc(old)), Some(Item::Qdisc(new))) = (netlink::item(old), netlink::item(new))
    else {
        return false;
    };
    match (&old.kind, &new.kind) {
        (QdiscKind::Red(_), _) => true,
        (QdiscKind::Prio(old), QdiscKind::Prio(new)) => new.bands < old.bands,
        (QdiscKind::FqCodel(old), QdiscKind::FqCodel(new)) => new.limit < old.limit,
        (QdiscKind::CoDel(old), QdiscKind::CoDel(new)) => new.limit < old.limit,
        (QdiscKind::Pie(old), QdiscKind::Pie(new)) => new.limit < old.limit,
        (QdiscKind::Choke(old), QdiscKind::Choke(new)) => new.limit < old.limit,
        _ => false,
    }
}

struct Difference<'a> {
    before: &'a Objects,
    after: &'a Objects,
    gone: BTreeSet<Key>,
    /// The classes before that packets waited in.
    leaves: BTreeSet<Handle>,
    /// The qdiscs before, by their parents.
    at: HashMap<Handle, &'a Object>,
    /// The qdiscs that had classes, or others at classes of their own.
    classful: BTreeSet<u16>,
    /// Where old qdiscs go because new ones come.
    replaced: BTreeSet<Handle>,
}

impl<'a> Difference<'a> {
    fn new(before: &'a Objects, after: &'a Objects) -> Difference<'a> {
        let gone = gone(before, after);
        let hanging = before.iter().filter(|(key, _)| key.sort != Sort::Filter);
        let classful = hanging.map(|(_, object)| object.parent.major()).collect();
        let qdiscs = before.iter().filter(|(key, _)| key.sort == Sort::Qdisc);
        let at: HashMap<Handle, &Object> =
            qdiscs.map(|(_, object)| (object.parent, object)).collect();
        let used_again = used_again(before, after, &gone);
        // A number that is in use somewhere else is free only after that was deleted.
        let replaces = |(key, new): (&Key, &Object)| {
            let old = at.get(&new.parent).filter(|old| gone.contains(&Key::new(old)))?;
            let stays = before.above(old).is_none_or(|above| !gone.contains(&above));
            let is_free = before.get(key).is_none();
            let frees = used_again.contains(&Key::new(old));
            (new.sort == Sort::Qdisc && stays && is_free && !frees).then_some(new.parent)
        };
        let replaced = after.iter().filter_map(replaces).collect();
        let leaves = before.leaves();
        Difference { before, after, gone, leaves, at, classful, replaced }
    }

    fn steps(&self) -> Steps {
        let mut steps = Steps::default();
        self.delete(&mut steps);
        let mut filters = Vec::new();
        for object in self.after.in_order() {
            let key = Key::new(object);
            let old = self.before.get(&key).filter(|_| !self.gone.contains(&key));
            let action = match old {
                Some(old) if old == object && !self.takes_limit_of_tbf(object) => continue,
                Some(old) => {
                    if loses_queue(old, object) {
                        self.lose(old, &mut steps);
                    }
                    Action::Change
                }
                None => {
                    self.take_place(object, &mut steps);
                    let replaces =
                        key.sort == Sort::Qdisc && self.replaced.contains(&object.parent);
                    if replaces { Action::Replace } else { Action::Add }
                }
            };
            let step = Step { action, object: object.clone() };
            match object.sort {
                Sort::Filter => filters.push(step),
                Sort::Qdisc | Sort::Class => steps.steps.push(step),
            }
        }
        steps.steps.extend(filters);
        steps
    }

    /// Whether a change of the token bucket above gives a queue the bucket's limit, so that it has
    /// to be given its own again.
    fn takes_limit_of_tbf(&self, queue: &Object) -> bool {
        let is_fifo = matches!(queue.kind().as_str(), "pfifo" | "bfifo");
        let above = Key::qdisc(queue.parent.major());
        let changes = |old: &Object| {
            old.kind() == "tbf" && self.after.get(&above).is_some_and(|new| new != old)
        };
        is_fifo && !self.gone.contains(&above) && self.before.get(&above).is_some_and(changes)
    }

    /// Filters before the classes that they lead to, and classes before those that they are part
    /// of. What hangs at a qdisc that goes, goes with it.
    fn delete(&self, steps: &mut Steps) {
        let order = self.before.in_order();
        let (filters, others): (Vec<&Object>, Vec<&Object>) =
            order.into_iter().partition(|object| object.sort == Sort::Filter);
        let mut priorities = BTreeSet::new();
        for object in filters.into_iter().chain(others.into_iter().rev()) {
            if !self.gone.contains(&Key::new(object)) {
                continue;
            }
            match object.sort {
                Sort::Class if self.leaves.contains(&object.handle) => {
                    steps.drops.insert(object.handle);
                }
                Sort::Qdisc => self.lose(object, steps),
                _ => {}
            }
            if self.goes_with_another(object) {
                continue;
            }
            let mut object = object.clone();
            if object.sort == Sort::Filter && object.kind() != "flower" {
                if !priorities.insert((object.parent, object.info)) {
                    continue;
                }
                // All of a priority.
                object.handle = Handle(0);
            }
            steps.steps.push(Step { action: Action::Delete, object });
        }
    }

    fn goes_with_another(&self, object: &Object) -> bool {
        let is_gone = |key: Option<Key>| key.is_some_and(|key| self.gone.contains(&key));
        let qdisc = |handle: Handle| Some(Key::qdisc(handle.major()));
        match object.sort {
            Sort::Filter => is_gone(qdisc(object.parent)) || is_gone(self.before.above(object)),
            Sort::Class => is_gone(qdisc(object.handle)),
            Sort::Qdisc => {
                is_gone(self.before.above(object)) || self.replaced.contains(&object.parent)
            }
        }
    }

    /// Notes whose queue is lost with a qdisc.
    fn lose(&self, qdisc: &Object, steps: &mut Steps) {
        match qdisc.parent {
            _ if self.classful.contains(&qdisc.handle.major()) => {}
            Handle::ROOT => steps.drops_root = true,
            class => drop(steps.drops.insert(class)),
        }
    }

    /// Notes the queue that a class loses to a new qdisc or to new classes below it.
    fn take_place(&self, object: &Object, steps: &mut Steps) {
        let class = object.parent;
        let stays = !self.gone.contains(&Key::class(class));
        if object.sort != Sort::Filter
            && stays
            && self.leaves.contains(&class)
            && !self.at.contains_key(&class)
        {
            steps.drops.insert(class);
        }
    }
}
