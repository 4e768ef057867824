//! The qdisc at the root.

use std::collections::HashMap;
use std::ops::Range;

use laxity::overhead::Overhead;
use laxity_plan::model::QueueLimit;

use super::{Class, Mq, Origin, Setup};
use crate::args::Args;
use crate::command::Word;
use crate::curves::Curves;
use crate::error::{Read, plain};
use crate::fq_codel::FqCodel;
use crate::prio::Prio;
use crate::queue::{self, Queue};
use crate::units::{Handle, whole};
use crate::{cake, htb, tbf, unsupported};

/// The rank of what Linux gives to any interface.
const LAST_RANK: u32 = 2;

/// What Linux calls the first qdisc that is given no handle.
const UNNAMED: u16 = 0x8001;

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

impl Setup {
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
            ("netem", _) => {
                let words: Vec<String> =
                    std::iter::from_fn(|| args.next()).map(|word| plain(&word.text)).collect();
                let text = format!(
                    "netem {}: what packets meet before they come to what hangs at it; {}",
                    words.join(" "),
                    unsupported::closest("netem").unwrap_or_default()
                );
                self.notes.not_mapped(origin.line, text);
                self.wire = Some(major.unwrap_or(UNNAMED));
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
                holds: None,
                comment: comment.map(str::to_string),
                line: root.line,
                span: root.span.clone(),
            });
        }
        // Bands that a change takes away.
        self.classes.truncate(last.max(1));
        self.by_minor.retain(|minor, _| usize::from(*minor) <= last);
    }
}
