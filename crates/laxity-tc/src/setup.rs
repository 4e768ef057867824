//! The set-up of one interface as the commands leave it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use laxity::overhead::Overhead;
use laxity::units::{Bytes, Rate};
use laxity_plan::error::Fault;
use laxity_plan::model::QueueLimit;

use crate::args::Args;
use crate::command::Word;
use crate::contract::Contract;
use crate::curves::{self, Curves};
use crate::error::{Read, plain};
use crate::filter::u32::{self, U32};
use crate::filter::{Mark, Place, Protocol, Selection, Written};
use crate::fq_codel::FqCodel;
use crate::netfilter::State;
use crate::notes::Notes;
use crate::packets::Packets;
use crate::prio::Prio;
use crate::queue::{self, Queue};
use crate::units::{self, Handle};
use crate::{below, cake, drr, htb, qfq, tbf, units::whole};

/// Priorities that are given to filters without one begin below this one.
const FIRST_GIVEN: u32 = 0xc000;
/// Priorities from here on are looked at to find the next one to give.
const GIVEN_FROM: u32 = 0x8000;

/// The most filters: as many as one discipline has priorities for.
pub const MOST_FILTERS: usize = 65_535;

/// The rank of what Linux gives to any interface.
const LAST_RANK: u32 = 2;

/// What Linux calls the first qdisc that is given no handle.
const UNNAMED: u16 = 0x8001;

/// All that the commands for one interface leave.
#[derive(Debug)]
pub struct Setup {
    pub device: String,
    pub root: Option<Root>,
    /// What the root hangs at that only shapes.
    pub shaper: Option<Shaper>,
    /// The mq that the root hangs at.
    pub mq: Option<Mq>,
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

/// The qdisc at the root.
#[derive(Debug)]
pub struct Root {
    pub discipline: Discipline,
    /// What the link adds to frames.
    pub overhead: Overhead,
    /// Its own half of class names; taken from the first class if it is not written.
    pub major: Option<u16>,
    pub line: usize,
    pub span: Range<usize>,
}

/// The roots that are read; `default` is the class of what no filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    Hfsc {
        default: Option<u32>,
    },
    Htb {
        default: Option<u32>,
        r2q: u32,
    },
    Prio(Prio),
    FqCodel(FqCodel),
    Qfq,
    Drr,
    /// One queue for all, below a token bucket.
    Fifo,
}

impl Discipline {
    /// The qdisc's name.
    pub fn name(&self) -> &'static str {
        match self {
            Discipline::Hfsc { .. } => "hfsc",
            Discipline::Htb { .. } => "htb",
            Discipline::Prio(_) => "prio",
            Discipline::FqCodel(_) => "fq_codel",
            Discipline::Qfq => "qfq",
            Discipline::Drr => "drr",
            Discipline::Fifo => "a queue",
        }
    }

    /// Whether a rate of the link may be among its classes'.
    pub fn has_rates(&self) -> bool {
        match self {
            Discipline::Hfsc { .. } | Discipline::Htb { .. } => true,
            Discipline::Prio(_)
            | Discipline::FqCodel(_)
            | Discipline::Qfq
            | Discipline::Drr
            | Discipline::Fifo => false,
        }
    }

    /// The one with the least is meant, of several interfaces or of one: Linux itself gives fq_codel
    /// to any.
    pub fn rank(&self) -> u32 {
        match self {
            Discipline::Hfsc { .. }
            | Discipline::Htb { .. }
            | Discipline::Qfq
            | Discipline::Drr => 0,
            Discipline::Prio(_) => 1,
            Discipline::FqCodel(_) | Discipline::Fifo => LAST_RANK,
        }
    }
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
    /// What it is called by, if it fits for a name.
    pub comment: Option<String>,
    pub line: usize,
    pub span: Range<usize>,
}

/// A filter whose packets a plan can name.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The class that it hangs at, 0 for the qdisc.
    pub at: u16,
    /// In which order those at one place are asked.
    pub rank: (u32, usize),
    pub packets: Packets,
    pub class: Handle,
    /// The mark of netfilter that packets have.
    pub mark: Option<Mark>,
    /// The table whose filters are asked instead, and the bits that u32 asks for itself.
    pub link: Option<Box<U32>>,
    pub line: usize,
}

/// Filters of u32 in parts, of which one is asked.
#[derive(Debug, Default)]
pub struct Table {
    /// How many parts it has.
    pub parts: u32,
    pub filters: Vec<InTable>,
}

/// A filter in a table.
#[derive(Debug)]
pub struct InTable {
    pub part: u16,
    /// Those of its protocol.
    pub packets: Packets,
    pub u32: U32,
    pub class: Option<Handle>,
    pub line: usize,
}

/// The filters of one priority are of one kind and one protocol.
#[derive(Debug)]
struct Priority {
    kind: String,
    protocol: Protocol,
    masks: Vec<Vec<String>>,
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
            contract: Contract::default(),
        }
    }

    /// The class of this minor number.
    pub fn find(&self, minor: u16) -> Option<usize> {
        self.by_minor.get(&minor).copied()
    }

    /// `tc qdisc add … root`.
    pub fn set_root(
        &mut self,
        overhead: Overhead,
        major: Option<u16>,
        adds: bool,
        kind: &Word,
        args: &mut Args<'_>,
        origin: Origin,
    ) -> Read<()> {
        let before = self.root.as_ref().map(|root| root.discipline);
        let discipline = match (kind.text.as_str(), before) {
            ("hfsc", _) => Discipline::Hfsc { default: default_class(args)? },
            ("htb", _) => htb::root(args)?,
            ("qfq", _) => match args.next() {
                Some(word) => return Err(word.no_keyword("qdisc qfq", "no words")),
                None => Discipline::Qfq,
            },
            ("prio", _) => Discipline::Prio(Prio::read(kind, args)?),
            ("fq_codel", before) => {
                let before = match before {
                    Some(Discipline::FqCodel(before)) => before,
                    _ => FqCodel::DEFAULT,
                };
                let (fq_codel, lost) = before.read(args)?;
                for text in lost {
                    self.notes.not_mapped(origin.line, format!("fq_codel: {text}"));
                }
                Discipline::FqCodel(fq_codel)
            }
            ("drr", _) => match args.next() {
                Some(word) => return Err(word.no_keyword("qdisc drr", "no words")),
                None => Discipline::Drr,
            },
            ("tbf", before) => {
                self.shaper =
                    Some(tbf::read(args, overhead, major.unwrap_or(UNNAMED), origin.line)?);
                self.other_root = Some((plain(&kind.text), kind.span.clone()));
                if before.is_some_and(|before| before.rank() == LAST_RANK) {
                    self.root = None;
                }
                return Ok(());
            }
            ("mq", _) => {
                self.mq = Some(Mq { major: major.unwrap_or(0), queue: None });
                self.other_root = Some((plain(&kind.text), kind.span.clone()));
                return Ok(());
            }
            ("cake", _) => {
                let (fq_codel, shaper) = cake::read(args, origin.line, &mut self.notes)?;
                self.shaper = shaper.or(self.shaper.take());
                Discipline::FqCodel(fq_codel)
            }
            (other, _) if self.shaper.is_some() && queue::is_one(other) => {
                match queue::read(kind, args.clone())? {
                    Ok(queue) => self.queue = Some((origin.line, queue)),
                    Err(text) => self.notes.not_mapped(origin.line, text),
                }
                Discipline::Fifo
            }
            (other, _) => {
                self.other_root = Some((plain(other), kind.span.clone()));
                return Ok(());
            }
        };
        match &mut self.root {
            // A script may give the interface back what it had before, or begin with that.
            Some(root) if root.discipline.rank() < discipline.rank() => {
                let kept = root.discipline.name();
                let text = format!("{} instead of {kept}, which is kept", discipline.name());
                self.notes.not_read(origin.line, text);
            }
            Some(root) if adds && root.discipline.rank() == discipline.rank() => {
                let text =
                    format!("this adds the root again, which is there since line {}", root.line);
                self.notes.not_read(origin.line, text);
            }
            Some(root) if root.discipline.name() == discipline.name() => {
                (root.discipline, root.overhead) = (discipline, overhead);
                self.add_own_classes();
            }
            root => {
                let Origin { line, span, .. } = origin;
                *root = Some(Root { discipline, overhead, major, line, span });
                self.classes.clear();
                self.by_minor.clear();
                self.filters.clear();
                self.tables.clear();
                self.below.iter_mut().for_each(HashMap::clear);
                self.priorities.clear();
                self.add_own_classes();
            }
        }
        Ok(())
    }

    fn elsewhere(&mut self, major: u16, line: usize) -> &mut Elsewhere {
        self.elsewhere.entry(major).or_insert(Elsewhere { line, ..Elsewhere::default() })
    }

    /// Tells what hangs at disciplines that are not there, one note for each.
    pub fn tell_elsewhere(&mut self) {
        for (major, Elsewhere { line, classes, qdiscs, filters }) in
            std::mem::take(&mut self.elsewhere)
        {
            let count = |number: usize, one: &str, many: &str| match number {
                0 => None,
                1 => Some(format!("1 {one}")),
                number => Some(format!("{number} {many}")),
            };
            let all = [
                count(classes, "class", "classes"),
                count(qdiscs, "qdisc", "qdiscs"),
                count(filters, "filter", "filters"),
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            let text = format!(
                "{} of {major:x}:, which is neither the root nor a discipline at a class that is read",
                all.join(", ")
            );
            self.notes.not_mapped(line, text);
        }
    }

    /// A token bucket at which nothing hangs has one queue.
    pub fn shape_all(&mut self) {
        let Some(shaper) = self.shaper.as_ref().filter(|_| self.root.is_none()) else { return };
        let (line, overhead, major) = (shaper.line, shaper.overhead, Some(shaper.major));
        let queue = Queue::limited(shaper.limit.map(QueueLimit::Bytes));
        self.queue = Some((line, queue));
        let span = self.other_root.take().map_or(0..0, |(_, span)| span);
        self.root = Some(Root { discipline: Discipline::Fifo, overhead, major, line, span });
        self.classes.clear();
        self.add_own_classes();
    }

    /// The classes that a root has without being told: the bands of prio, and one of what fq_codel
    /// sends.
    fn add_own_classes(&mut self) {
        let Some(root) = &mut self.root else { return };
        let (minors, comment) = match root.discipline {
            Discipline::Hfsc { .. }
            | Discipline::Htb { .. }
            | Discipline::Qfq
            | Discipline::Drr => return,
            Discipline::Prio(prio) => (1..=prio.bands, None),
            Discipline::FqCodel(_) | Discipline::Fifo => (0..=0, Some("all")),
        };
        let major = *root.major.get_or_insert(UNNAMED);
        let last = usize::from(*minors.end());
        for minor in minors.skip(self.classes.len()) {
            if minor > 0 {
                self.by_minor.insert(minor, self.classes.len());
            }
            self.classes.push(Class {
                handle: Handle { major, minor },
                parent: None,
                is_leaf: true,
                depth: 0,
                curves: Curves::default(),
                htb: None,
                weight: None,
                level: minor.checked_sub(1),
                queue: None,
                below: None,
                comment: comment.map(str::to_string),
                line: root.line,
                span: root.span.clone(),
            });
        }
        // Bands that a change takes away.
        self.classes.truncate(last.max(1));
        self.by_minor.retain(|minor, _| usize::from(*minor) <= last);
    }

    /// The major number of the root's classes, this one if it is not known yet.
    fn is_own(&mut self, major: u16) -> bool {
        self.root.as_mut().is_some_and(|root| *root.major.get_or_insert(major) == major)
    }

    /// `tc class add`, `change` (which needs it to be there) and `replace`.
    pub fn add_class(
        &mut self,
        verb: Verb,
        handle: Option<&Word>,
        parent: Option<&Word>,
        kind: &Word,
        args: &mut Args<'_>,
        origin: Origin,
    ) -> Read<()> {
        let Some(discipline) = self.root.as_ref().map(|root| root.discipline) else {
            return match self.other_root {
                Some(_) => Ok(()),
                None => Err(Fault::at(&origin.span, "a class before its qdisc").help(
                    "the script begins with a line such as `tc qdisc add dev eth0 root handle 1: hfsc`",
                )),
            };
        };
        let handle_word = handle;
        let Some(word) = handle else {
            return Err(Fault::at(&origin.span, "this class has no `classid`")
                .help("add one such as `classid 1:10`"));
        };
        let named = parent.filter(|word| word.text != "root");
        let above = named.map(units::handle).transpose()?;
        let mut handle = units::handle(word)?;
        if handle.major == 0 {
            let root = self.root.as_ref().and_then(|root| root.major);
            handle.major = above.map(|above| above.major).or(root).unwrap_or(0);
        }
        if let Some(below) = self.below(handle.major) {
            below.add_class(verb, handle_word, parent, kind, args, origin)?;
            let told = std::mem::take(&mut below.notes);
            self.notes.append(told);
            return Ok(());
        }
        if !self.is_own(handle.major) || above.is_some_and(|above| !self.is_own(above.major)) {
            let own = self.root.as_ref().and_then(|root| root.major);
            let major = if own == Some(handle.major) { above } else { Some(handle) };
            self.elsewhere(major.map_or(0, |handle| handle.major), origin.line).classes += 1;
            return Ok(());
        }
        if handle.minor == 0 {
            return Err(word.fault("the name of a class", "its minor number is not zero"));
        }
        let Asked { curves, htb, weight } =
            self.asked(discipline, handle, kind, args, origin.line)?;
        match (self.find(handle.minor), verb) {
            (Some(class), Verb::Add) => {
                let since = self.classes[class].line;
                let text = format!("this adds {handle} again, which is there since line {since}");
                self.notes.not_read(origin.line, text);
            }
            (Some(class), _) => {
                let class = &mut self.classes[class];
                (class.curves, class.htb) = (curves, htb);
                class.weight = weight;
            }
            (None, Verb::Change) => {
                return Err(Fault::at(&word.span, format!("there is no class {handle} to change")));
            }
            (None, _) => {
                // Linux takes no notice of what a class of qfq is said to be part of.
                let has_levels = !matches!(discipline, Discipline::Qfq | Discipline::Drr);
                let parent = self.parent(named.zip(above).filter(|_| has_levels))?;
                let depth = parent.map_or(0, |parent| self.classes[parent].depth + 1);
                parent.into_iter().for_each(|parent| self.classes[parent].is_leaf = false);
                self.by_minor.insert(handle.minor, self.classes.len());
                let Origin { line, span, comment } = origin;
                let (is_leaf, queue, below) = (true, None, None);
                self.classes.push(Class {
                    handle,
                    parent,
                    is_leaf,
                    depth,
                    curves,
                    htb,
                    weight,
                    level: None,
                    queue,
                    below,
                    comment,
                    line,
                    span,
                });
            }
        }
        Ok(())
    }

    /// What a class asks for.
    fn asked(
        &mut self,
        discipline: Discipline,
        handle: Handle,
        kind: &Word,
        args: &mut Args<'_>,
        line: usize,
    ) -> Read<Asked> {
        match (kind.text.as_str(), discipline) {
            ("hfsc", Discipline::Hfsc { .. }) => {
                let (curves, bent) = curves::hfsc(args)?;
                for text in bent {
                    self.notes.not_mapped(line, format!("{handle} {text}"));
                }
                Ok(Asked { curves, ..Asked::default() })
            }
            ("htb", Discipline::Htb { .. }) => {
                let class = htb::class(args)?;
                if !class.lost.is_empty() {
                    let lost = class.lost.join(", ");
                    self.notes.not_mapped(line, format!("{handle}: {lost} of htb"));
                }
                Ok(Asked { htb: Some(class), ..Asked::default() })
            }
            ("qfq", Discipline::Qfq) => {
                let (weight, lost) = qfq::class(args)?;
                if let Some(text) = lost {
                    self.notes.not_mapped(line, format!("{handle}: {text}"));
                }
                Ok(Asked { weight: Some(weight), ..Asked::default() })
            }
            ("drr", Discipline::Drr) => {
                let quantum = drr::class(args)?;
                Ok(Asked { weight: Some(quantum), ..Asked::default() })
            }
            (
                _,
                Discipline::Hfsc { .. }
                | Discipline::Htb { .. }
                | Discipline::Qfq
                | Discipline::Drr,
            ) => {
                let accepted = format!("its qdisc is {}", discipline.name());
                Err(kind.fault("the kind of this class", &accepted))
            }
            (_, Discipline::Prio(_) | Discipline::FqCodel(_) | Discipline::Fifo) => {
                let message = format!("{} has classes of its own making only", discipline.name());
                Err(Fault::at(&kind.span, message)
                    .help("Linux takes no other: leave this line out"))
            }
        }
    }

    /// The class that a new one is part of; `None` for the qdisc itself.
    fn parent(&self, parent: Option<(&Word, Handle)>) -> Read<Option<usize>> {
        match parent {
            None | Some((_, Handle { minor: 0, .. })) => Ok(None),
            Some((word, above)) => self.find(above.minor).map(Some).ok_or_else(|| {
                Fault::at(&word.span, format!("there is no class {above} at this line"))
                    .help("a class is added after the one that it is part of")
            }),
        }
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

    /// `tc filter add`.
    pub fn add_filter(&mut self, filter: &Written<'_>, line: usize) -> Read<()> {
        if let Place::At(at) = filter.place
            && let Some(below) = self.below(at.major)
        {
            below.add_filter(filter, line)?;
            let told = std::mem::take(&mut below.notes);
            self.notes.append(told);
            return Ok(());
        }
        let selected = filter.selected()?;
        let Some(root) = &self.root else { return Ok(()) };
        if let Discipline::FqCodel(_) = root.discipline {
            let text = "filter: it chooses a queue of fq_codel, into which a plan hashes flows";
            self.notes.not_mapped(line, text);
            return Ok(());
        }
        if root.discipline == Discipline::Fifo {
            self.notes.not_mapped(line, "filter: there is one queue for all");
            return Ok(());
        }
        if self.filters.len() + self.in_tables == MOST_FILTERS {
            let message =
                format!("the script has more than {MOST_FILTERS} filters, the most that are read");
            return Err(Fault::at(&filter.args.span(), message));
        }
        let at = match &filter.place {
            Place::Root => Some(0),
            Place::At(at) => self.is_own(at.major).then_some(at.minor),
            Place::Elsewhere => None,
        };
        let taken = match at {
            None => {
                match filter.place {
                    Place::At(at) => self.elsewhere(at.major, line).filters += 1,
                    Place::Root | Place::Elsewhere => {
                        let text = "filter: it does not hang at the root or a class of it";
                        self.notes.not_mapped(line, text);
                    }
                }
                return Ok(());
            }
            Some(_) if filter.chain != 0 => Err("filters of other chains are not followed".into()),
            Some(at) => self.take_filter(at, filter, selected, line),
        };
        if let Err(text) = taken {
            self.notes.not_mapped(line, format!("filter: {text}"));
        }
        Ok(())
    }

    fn take_filter(
        &mut self,
        at: u16,
        filter: &Written<'_>,
        selected: Result<Selection, String>,
        line: usize,
    ) -> Result<(), String> {
        let kind = filter.kind.map_or("", |kind| kind.text.as_str());
        let (number, priority) = self.priority(at, filter.priority, kind, &filter.protocol)?;
        let mut selection = selected?;
        let mut link = None;
        if let Some(u32) = selection.u32.take() {
            if let Some(parts) = u32.parts {
                let number = filter.handle.and_then(|handle| u32::place(handle).ok());
                let (number, _) = number.ok_or("a table without a handle is not followed")?;
                self.tables.entry((at, number)).or_default().parts = parts;
                return Ok(());
            }
            let class = selection.class;
            if class.is_none() && u32.link.is_none() {
                return Err("it names no class".into());
            }
            if let Some((number, part)) = u32.place {
                for text in selection.lost {
                    self.notes.not_mapped(line, format!("filter: {text}"));
                }
                self.in_tables += 1;
                let packets = selection.packets;
                let table = self.tables.entry((at, number)).or_default();
                table.filters.push(InTable { part, packets, u32, class, line });
                return Ok(());
            }
            match u32.link {
                Some(_) => {
                    selection.class = class.or(Some(Handle { major: 0, minor: 0 }));
                    link = Some(Box::new(u32));
                }
                None => u32.bits.packets(&mut selection.packets)?,
            }
        }
        let class = selection.class.ok_or("it names no class")?;
        let known = priority.masks.iter().position(|mask| *mask == selection.mask);
        let group = known.unwrap_or(priority.masks.len());
        if known.is_none() {
            priority.masks.push(selection.mask);
        }
        for text in selection.lost {
            self.notes.not_mapped(line, format!("filter: {text}"));
        }
        let rank = (number, group);
        let (packets, mark) = (selection.packets, selection.mark);
        self.filters.push(Filter { at, rank, packets, class, mark, link, line });
        Ok(())
    }

    /// The filters of this priority, or of the one that a filter without a priority gets: one
    /// before all that were given so far (Linux, net/sched/cls_api.c).
    fn priority(
        &mut self,
        at: u16,
        number: u32,
        kind: &str,
        protocol: &Protocol,
    ) -> Result<(u32, &mut Priority), String> {
        let here = self.priorities.entry(at).or_default();
        let number = match number {
            0 => here.range(GIVEN_FROM..).next().map_or(FIRST_GIVEN, |(first, _)| first - 1),
            number => number,
        };
        let new = || Priority { kind: kind.into(), protocol: protocol.clone(), masks: Vec::new() };
        let priority = here.entry(number).or_insert_with(new);
        match priority.kind == kind && priority.protocol == *protocol {
            true => Ok((number, priority)),
            false => Err(format!(
                "Linux refuses it: priority {number} is for {} of protocol {} already",
                plain(&priority.kind),
                priority.protocol
            )),
        }
    }
}

fn has_rates(root: &Root) -> bool {
    root.discipline.has_rates()
}

/// How much hangs at a discipline that is not there, and the first line of it.
#[derive(Debug, Default)]
struct Elsewhere {
    line: usize,
    classes: usize,
    qdiscs: usize,
    filters: usize,
}

/// What a class has by its options.
#[derive(Default)]
struct Asked {
    curves: Curves,
    htb: Option<htb::Class>,
    weight: Option<u32>,
}

/// The words after hfsc at the root.
fn default_class(args: &mut Args<'_>) -> Read<Option<u32>> {
    let mut default = None;
    while let Some(word) = args.next() {
        if !word.means("default") {
            return Err(word.no_keyword("qdisc hfsc", "default CLASS"));
        }
        default = Some(whole(args.value("default")?, 16, "a class")?);
    }
    Ok(default)
}

/// What is done to a qdisc, class or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Add,
    Change,
    Replace,
}
