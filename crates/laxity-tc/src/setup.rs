//! The set-up of one interface as the commands leave it.

mod classes;
mod elsewhere;
mod filters;
mod roots;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use laxity::overhead::Overhead;
use laxity::units::{Bytes, Rate};

use crate::args::Args;
use crate::command::Word;
use crate::contract::Contract;
use crate::curves::Curves;
use crate::error::{Read, plain};
use crate::netfilter::State;
use crate::notes::Notes;
use crate::queue::{self, Queue};
use crate::units::Handle;
use crate::{below, htb};
use elsewhere::Elsewhere;
use filters::Priority;
pub use filters::{Filter, InTable, MOST_FILTERS, Table};
pub use roots::{Discipline, Root};

/// All that the commands for one interface leave.
#[derive(Debug)]
pub struct Setup {
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
    pub other_root: Option<(String, Range<usize>)>,
    pub classes: Vec<Class>,
    by_minor: HashMap<u16, usize>,
    pub filters: Vec<Filter>,
    /// By the class that they hang at, and by their numbers.
    pub tables: HashMap<(u16, u16), Table>,
    /// How many filters are in tables.
    in_tables: usize,
    /// The class at which each discipline hangs that is not the root's; `None` if this one is such itself.
    below: Option<HashMap<u16, usize>>,
    /// By the class that filters hang at (0 for the qdisc) and by priority.
    priorities: HashMap<u16, BTreeMap<u32, Priority>>,
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

/// What shapes the link: a token bucket, or something that does no more here.
#[derive(Debug)]
pub struct Shaper {
    pub rate: Rate,
    pub overhead: Overhead,
    /// Its number, if something can hang at it.
    pub major: u16,
    pub line: usize,
    /// How much it queues if nothing hangs at it.
    pub limit: Option<Bytes>,
    /// What it is, for notes.
    pub of: String,
}

impl Shaper {
    /// One that is still to be said.
    pub fn none() -> Shaper {
        let (rate, overhead) = (Rate(0), Overhead::NONE);
        Shaper { rate, overhead, major: 0, line: 0, limit: None, of: String::new() }
    }
}

/// `mq` at the root, and the one of the interface's queues that is read.
#[derive(Debug)]
pub struct Mq {
    pub major: u16,
    pub queue: Option<u16>,
}

#[derive(Debug)]
pub struct Class {
    pub handle: Handle,
    /// Which class it is part of; `None` at the qdisc.
    pub parent: Option<usize>,
    pub is_leaf: bool,
    /// How many classes are above it.
    pub depth: usize,
    pub curves: Curves,
    /// htb: what its curves are made of once all classes are there.
    pub htb: Option<htb::Class>,
    /// qfq: its share; drr: its quantum.
    pub weight: Option<u32>,
    /// prio: its band, from 0.
    pub level: Option<u16>,
    pub queue: Option<(usize, Queue)>,
    /// The discipline that hangs at it, with what hangs at that.
    pub below: Option<Box<Setup>>,
    /// By what the classes below it share, if it is not the root's discipline.
    pub holds: Option<Discipline>,
    /// What it is called by, if it fits for a name.
    pub comment: Option<String>,
    pub line: usize,
    pub span: Range<usize>,
}

/// A command's line and words, for what is kept of it.
pub struct Origin {
    pub line: usize,
    pub span: Range<usize>,
    pub comment: Option<String>,
}

impl Setup {
    pub fn new(device: String) -> Self {
        Setup {
            device,
            root: None,
            shaper: None,
            mq: None,
            wire: None,
            queue: None,
            other_root: None,
            classes: Vec::new(),
            by_minor: HashMap::new(),
            filters: Vec::new(),
            tables: HashMap::new(),
            in_tables: 0,
            below: Some(HashMap::new()),
            priorities: HashMap::new(),
            states: Vec::new(),
            queue_length: queue::LENGTH,
            elsewhere: BTreeMap::new(),
            notes: Notes::default(),
            unshaped: None,
            contract: Contract::default(),
        }
    }

    /// The class of this minor number.
    pub fn find(&self, minor: u16) -> Option<usize> {
        self.by_minor.get(&minor).copied()
    }

    /// The major number of the root's classes, this one if it is not known yet.
    fn is_own(&mut self, major: u16) -> bool {
        self.root.as_mut().is_some_and(|root| *root.major.get_or_insert(major) == major)
    }

    /// What hangs at a class and has this number.
    fn below(&mut self, major: u16) -> Option<&mut Setup> {
        let class = *self.below.as_ref()?.get(&major)?;
        self.classes.get_mut(class)?.below.as_deref_mut()
    }

    /// `tc qdisc add … parent CLASS`.
    pub fn add_queue(
        &mut self,
        above: Handle,
        major: Option<u16>,
        kind: &Word,
        mut args: Args<'_>,
        origin: Origin,
    ) -> Read<()> {
        let line = origin.line;
        if let Some(below) = self.below(above.major) {
            below.add_queue(above, major, kind, args, origin)?;
            let told = std::mem::take(&mut below.notes);
            self.notes.append(told);
            return Ok(());
        }
        if !self.is_own(above.major) {
            self.elsewhere(above.major, line).qdiscs += 1;
            return Ok(());
        }
        let Some(class) = self.find(above.minor) else {
            let text =
                format!("qdisc {} at {above}, which is no class of the root", plain(&kind.text));
            self.notes.not_mapped(line, text);
            return Ok(());
        };
        let shares = below::SHARING.contains(&kind.text.as_str());
        let nests = shares && self.below.is_some() && self.root.as_ref().is_some_and(has_rates);
        if !nests || kind.text == "fq_codel" {
            match queue::read(kind, args.clone())? {
                Ok(queue) => self.classes[class].queue = Some((line, queue)),
                Err(text) => self.notes.not_mapped(line, format!("{above}: {text}")),
            }
        }
        if !nests {
            self.classes[class].below = None;
            return Ok(());
        }
        if kind.text == "cake" {
            self.classes[class].queue = Some((line, Queue::of_flows()));
        }
        let mut below = Setup { below: None, ..Setup::new(self.device.clone()) };
        below.set_root(Overhead::NONE, major, true, kind, &mut args, origin)?;
        self.notes.append(std::mem::take(&mut below.notes));
        if let (Some(major), Some(places)) = (major, &mut self.below) {
            places.insert(major, class);
        }
        self.classes[class].below = Some(Box::new(below));
        Ok(())
    }
}

fn has_rates(root: &Root) -> bool {
    root.discipline.has_rates()
}

/// What is done to a qdisc, class or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Add,
    Change,
    Replace,
}
