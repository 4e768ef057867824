//! The hierarchy of classes: their parents and children.

use std::collections::HashMap;

use laxity::packet::ClassId;

use crate::discipline::{Holders, Kind};
use crate::error::{Fault, Span, quoted_list};
use crate::raw::{self, At, Table};

/// The most classes on a way from the top to a leaf.
const DEEPEST: usize = 64;

/// The parents and children of all classes, in the order of the file.
pub(super) struct Hierarchy {
    pub parents: Vec<Option<ClassId>>,
    pub children: Vec<Vec<ClassId>>,
}

impl Hierarchy {
    pub(super) fn read(classes: &[(At<String>, Table<raw::Class>)]) -> Result<Hierarchy, Fault> {
        let names = classes.iter().map(|(name, _)| name.value.as_str());
        let by_name: HashMap<_, _> = names.clone().zip((0..).map(ClassId)).collect();
        let parent = |(_, Table(class)): &(_, Table<raw::Class>)| {
            let Some(At { value, span }) = &class.parent else { return Ok(None) };
            let known = by_name.get(value.as_str()).copied();
            known.map(Some).ok_or_else(|| Fault::no_class(value, span, names.clone()))
        };
        let parents: Vec<_> = classes.iter().map(parent).collect::<Result<_, Fault>>()?;
        let mut children = vec![Vec::new(); classes.len()];
        for (child, parent) in (0..).map(ClassId).zip(&parents) {
            if let Some(parent) = parent {
                children[parent.index()].push(child);
            }
        }
        let hierarchy = Hierarchy { parents, children };
        hierarchy.check_depth(classes)?;
        for (at, (name, Table(class))) in classes.iter().enumerate() {
            if !hierarchy.is_leaf(at) {
                check_interior(&name.value, class)?;
            }
        }
        Ok(hierarchy)
    }

    pub(super) fn is_leaf(&self, class: usize) -> bool {
        self.children[class].is_empty()
    }

    /// Goes down from the top, level by level: what is not reached is its own ancestor, or below
    /// one that is.
    fn check_depth(&self, classes: &[(At<String>, Table<raw::Class>)]) -> Result<(), Fault> {
        let mut reached = vec![false; classes.len()];
        let top = (0..).map(ClassId).zip(&self.parents).filter(|(_, parent)| parent.is_none());
        let mut level: Vec<ClassId> = top.map(|(class, _)| class).collect();
        for _ in 0..DEEPEST {
            level.iter().for_each(|class| reached[class.index()] = true);
            level = level.iter().flat_map(|class| &self.children[class.index()]).copied().collect();
        }
        if let Some(class) = level.first() {
            let name = &classes[class.index()].0.value;
            let message = format!("class `{name}` is more than {DEEPEST} levels deep");
            return Err(Fault::at(&parent_span(&classes[class.index()].1.0), message)
                .help(format!("a hierarchy has at most {DEEPEST} levels")));
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(misplaced) => Err(self.own_ancestor(misplaced, classes)),
        }
    }

    /// Refuses schedulers inside classes where nothing shares the link among them, and one inside
    /// another.
    pub(super) fn check_schedulers(
        &self,
        classes: &[(At<String>, Table<raw::Class>)],
        all: &raw::Scheduler,
    ) -> Result<(), Fault> {
        let scheduler = |class: usize| classes[class].1.0.scheduler.as_deref();
        let name = |class: usize| &classes[class].0.value;
        let up = |class: &usize| self.parents[*class].map(ClassId::index);
        for (class, At { span, .. }) in
            (0..classes.len()).filter_map(|class| Some((class, scheduler(class)?)))
        {
            let room = all.kind.0.room();
            if room.holders == Holders::Nobody {
                let message =
                    format!("class `{}` has a scheduler, and the link is not shared", name(class));
                let holds = |kind: &&Kind| kind.room().holders != Holders::Nobody;
                let holders = Kind::ALL.iter().filter(holds);
                let holders: Vec<_> = holders.map(|kind| kind.written()).collect();
                let holders = holders.join(" or ");
                return Err(Fault::at(span, message).help(format!(
                    "write {holders} in `[scheduler]`, or leave `scheduler` out of the class"
                )));
            }
            let orders_flows = classes[class]
                .1
                .0
                .scheduler
                .as_ref()
                .is_some_and(|scheduler| scheduler.value.0.kind.0.room().orders_flows);
            if room.holders == Holders::Leaves && !(self.is_leaf(class) && orders_flows) {
                let message = format!(
                    "class `{}` has a scheduler that {} has no place for",
                    name(class),
                    all.kind.0.written()
                );
                let inside = Kind::ALL.iter().filter(|kind| kind.room().orders_flows);
                let inside: Vec<_> = inside.map(|kind| kind.written()).collect();
                return Err(Fault::at(span, message).help(format!(
                    "classes without others below may have {}; with `kind = \"wf2q\"` in `[scheduler]` any class may have \
                     any",
                    inside.join(" or ")
                )));
            }
            if let Some(queue) = &all.queue {
                let message = "`queue` for all classes, which have schedulers of their own";
                return Err(Fault::at(&queue.span, message).help(
                    "write it in the classes, as in `scheduler = { kind = \"edf\", queue = { … } }`",
                ));
            }
            let mut above = std::iter::successors(up(&class), up);
            if let Some(other) = above.find(|other| scheduler(*other).is_some()) {
                let (name, other) = (name(class), name(other));
                let message =
                    format!("class `{name}` has a scheduler, and so has class `{other}` above it");
                return Err(Fault::at(span, message)
                    .help("one of them schedules the packets: leave the other out"));
            }
        }
        Ok(())
    }

    fn own_ancestor(&self, mut class: usize, classes: &[(At<String>, Table<raw::Class>)]) -> Fault {
        let up = |class: usize| self.parents[class].map_or(class, ClassId::index);
        let mut passed = vec![false; classes.len()];
        while !passed[class] {
            passed[class] = true;
            class = up(class);
        }
        let first = class;
        let mut circle = vec![up(first)];
        while circle.last() != Some(&first) {
            circle.extend(circle.last().map(|class| up(*class)));
        }
        let names = circle.iter().map(|class| classes[*class].0.value.as_str());
        let message = format!("class `{}` is its own ancestor", classes[first].0.value);
        Fault::at(&parent_span(&classes[first].1.0), message).help(format!(
            "the way up from it is {}: one of them has another parent or none",
            quoted_list(names)
        ))
    }
}

fn parent_span(class: &raw::Class) -> Span {
    class.parent.as_ref().map_or(0..0, |parent| parent.span.clone())
}

/// Keys of packets, which a class with classes below it has none of.
const OF_PACKETS: [&str; 12] = [
    "deadline",
    "end-to-end",
    "arrival",
    "police",
    "queue",
    "match",
    "level",
    "count",
    "gap",
    "loss",
    "late",
    "real-time",
];

fn check_interior(name: &str, class: &raw::Class) -> Result<(), Fault> {
    let written: HashMap<_, _> = class.written().collect();
    let Some((key, span)) = OF_PACKETS.iter().find_map(|key| Some((key, written.get(*key)?)))
    else {
        return Ok(());
    };
    let message = format!(
        "`{key}` on class `{name}`, which has classes below it and so no packets of its own"
    );
    let help = match *key {
        "real-time" => "write `link-share`, or give the classes below it real-time curves",
        _ => "give it to the classes below",
    };
    Err(Fault::at(span, message).help(help))
}
