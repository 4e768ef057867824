//! The set-up of one interface, up to the item that was told last.

use std::collections::{BTreeMap, HashMap};

use laxity_plan::error::Fault;

use super::discipline::{Discipline, Mq, Root, Shaper};
use super::entry::{Entry, Priority, Table};
use crate::contract::Contract;
use crate::error::Span;
use crate::netfilter::State;
use crate::notes::Notes;
use crate::setup::{Class, ClassKind};
use crate::toml::{Curves, Queue};

/// How many packets a queue of an interface of Ethernet holds: its `txqueuelen`.
pub(super) const QUEUE_LENGTH: u64 = 1000;

/// The set-up of one interface, item by item.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub device: String,
    pub root: Option<Root>,
    /// What the root hangs at that only shapes.
    pub shaper: Option<Shaper>,
    /// The mq that the root hangs at.
    pub mq: Option<Mq>,
    /// `netem` at the root, by its own half of class names.
    pub wire: Option<u16>,
    /// The queue of a root that has no classes.
    pub queue: Option<(usize, Queue)>,
    /// A root that is none of those that are read: its kind and place.
    pub other_root: Option<(String, Span)>,
    /// The classes, each behind the one that it is part of.
    pub classes: Vec<Node>,
    pub(super) by_minor: HashMap<u16, usize>,
    pub filters: Vec<Entry>,
    /// Tables of u32 by the class that they hang at, and by their numbers.
    pub tables: HashMap<(u16, u16), Table>,
    /// How many filters are in tables.
    pub(super) in_tables: usize,
    /// Disciplines below the root by the class that each hangs at. `None` in the set-up of such a
    /// discipline.
    pub(super) below: Option<HashMap<u16, usize>>,
    /// By the class that filters hang at (0 for the qdisc) and by priority.
    pub(super) priorities: HashMap<u16, BTreeMap<u16, Priority>>,
    /// What netfilter leaves packets with; none if it does nothing that counts.
    pub states: Vec<State>,
    /// How many packets a queue holds that says nothing: the interface's `txqueuelen`.
    pub queue_length: u64,
    pub notes: Notes,
    /// What hangs at disciplines that are not there, by their numbers.
    elsewhere: BTreeMap<u16, Elsewhere>,
    /// A class that does not shape, and what it lets through.
    pub unshaped: Option<String>,
    /// What comments of an exported script say.
    pub contract: Contract,
}

/// A class with what is above and below it.
#[derive(Debug)]
pub(crate) struct Node {
    pub class: Class,
    /// The class that it is part of; `None` at the qdisc.
    pub parent: Option<usize>,
    pub is_leaf: bool,
    /// How many classes are above it.
    pub depth: usize,
    /// Its curves in the plan. Those of htb come from what all classes lend.
    pub curves: Curves,
    pub queue: Option<(usize, Queue)>,
    /// The discipline that hangs at it, with what hangs at that.
    pub below: Option<Box<Assembly>>,
    /// What the classes below it share by, if that is not the root's discipline.
    pub holds: Option<Discipline>,
    pub origin: Origin,
}

/// The place of an item in a script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The line, from 1.
    pub line: usize,
    /// All of its words.
    pub span: Span,
    /// The comment at the end of the line.
    pub comment: Option<String>,
}

impl Node {
    /// A leaf at the qdisc without a queue of its own.
    pub(super) fn new(class: Class, origin: Origin) -> Node {
        Node {
            class,
            parent: None,
            is_leaf: true,
            depth: 0,
            curves: Curves::default(),
            queue: None,
            below: None,
            holds: None,
            origin,
        }
    }

    /// The share of a class of qfq, or the quantum of one of drr.
    pub(crate) fn weight(&self) -> Option<u32> {
        match self.class.kind {
            ClassKind::Drr { quantum } => Some(quantum),
            ClassKind::Qfq { weight, .. } => Some(weight),
            ClassKind::Hfsc(_) | ClassKind::Htb(_) | ClassKind::Own => None,
        }
    }
}

impl Assembly {
    pub(crate) fn new(device: String) -> Self {
        let (below, queue_length) = (Some(HashMap::new()), QUEUE_LENGTH);
        Assembly { device, below, queue_length, ..Assembly::default() }
    }

    /// The class of this minor number.
    pub(crate) fn find(&self, minor: u16) -> Option<usize> {
        self.by_minor.get(&minor).copied()
    }

    /// The classes at the qdisc itself.
    pub(crate) fn top(&self) -> Vec<usize> {
        (0..self.classes.len()).filter(|class| self.classes[*class].parent.is_none()).collect()
    }

    /// The classes that no other one is part of.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.classes.iter().filter(|class| class.is_leaf)
    }

    /// Whether this is the major number of the root's classes; from now on, if it is not known yet.
    pub(super) fn is_own(&mut self, major: u16) -> bool {
        self.root.as_mut().is_some_and(|root| *root.major.get_or_insert(major) == major)
    }

    /// What hangs at a class and has this number.
    fn below(&mut self, major: u16) -> Option<&mut Assembly> {
        let class = *self.below.as_ref()?.get(&major)?;
        self.classes.get_mut(class)?.below.as_deref_mut()
    }

    /// Does something to what hangs at a class, and takes over what is to be said of it.
    pub(super) fn within<T>(
        &mut self,
        major: u16,
        done: impl FnOnce(&mut Assembly) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(below) = self.below(major) else { return done(self) };
        let done = done(below)?;
        let told = std::mem::take(&mut below.notes);
        self.notes.append(told);
        Ok(done)
    }

    /// What hangs at a discipline that is not there.
    pub(super) fn elsewhere(&mut self, major: u16, line: usize) -> &mut Elsewhere {
        self.elsewhere.entry(major).or_insert(Elsewhere { line, ..Elsewhere::default() })
    }

    /// Notes what hangs at disciplines that are not there, once for each.
    pub(crate) fn note_elsewhere(&mut self) {
        for (major, elsewhere) in std::mem::take(&mut self.elsewhere) {
            self.notes.not_mapped(elsewhere.line, elsewhere.text(major));
        }
    }
}

/// How much hangs at a discipline that is not there, and the first line of it.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    pub line: usize,
    pub classes: usize,
    pub qdiscs: usize,
    pub filters: usize,
}

impl Elsewhere {
    /// A sentence for notes.
    pub(super) fn text(&self, major: u16) -> String {
        let count = |number: usize, one: &str, many: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {many}")),
        };
        let all = [
            count(self.classes, "class", "classes"),
            count(self.qdiscs, "qdisc", "qdiscs"),
            count(self.filters, "filter", "filters"),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!(
            "{} of {major:x}:, which is neither the root nor a discipline at a class that is read",
            all.join(", ")
        )
    }
}
