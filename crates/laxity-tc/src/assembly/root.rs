//! The qdisc at the root as it is set.

use laxity::overhead::Overhead;
use laxity::sched::cake::Diffserv;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::error::Fault;
use laxity_plan::model::QueueLimit;

use super::discipline::{Discipline, LAST_RANK, Mq, Root, Shaper};
use super::qdisc::NewQdisc;
use super::state::{Assembly, Node, Origin};
use crate::error::plain;
use crate::notes::{NotMapped, Notes};
use crate::setup::{Cake, Class, ClassKind, FqCodel, Handle, QdiscKind, Tbf, closest};
use crate::toml::Queue;

/// Kinds of one queue for all that are read by name: two of them need a limit.
const ONE_QUEUE: [&str; 3] = ["pfifo_head_drop", "red", "choke"];

/// What Linux calls the first qdisc that is given no handle.
const UNNAMED: u16 = 0x8001;

impl Assembly {
    /// Sets the qdisc at the root.
    pub(crate) fn set_root(&mut self, overhead: Overhead, new: NewQdisc<'_>) -> Result<(), Fault> {
        let NewQdisc { major, adds, kind, read, origin, .. } = new;
        let flows = match &self.root {
            Some(Root { discipline: Discipline::FqCodel(before), .. }) => *before,
            _ => FqCodel::DEFAULT,
        };
        let (parameters, lost) = read(flows)?;
        for text in lost {
            self.notes.not_mapped(origin.line, format!("{}: {text}", parameters.name()));
        }
        let other = Some((plain(&kind.text), kind.span.clone()));
        if let Some(discipline) = self.discipline(parameters, major, overhead, origin.line) {
            let Origin { line, span, .. } = origin;
            self.take_root(Root { discipline, overhead, major, line, span }, adds);
        } else {
            self.other_root = other;
        }
        Ok(())
    }

    /// The discipline that is shared by; `None` if what shares is still to come, or not read.
    fn discipline(
        &mut self,
        kind: QdiscKind,
        own: Option<u16>,
        overhead: Overhead,
        line: usize,
    ) -> Option<Discipline> {
        let major = own.unwrap_or(UNNAMED);
        Some(match kind {
            QdiscKind::Hfsc { default } => Discipline::Hfsc { default },
            QdiscKind::Htb { default, r2q } => Discipline::Htb { default, r2q },
            QdiscKind::Drr => Discipline::Drr,
            QdiscKind::Qfq => Discipline::Qfq,
            QdiscKind::Prio(prio) => Discipline::Prio(prio),
            QdiscKind::FqCodel(flows) => Discipline::FqCodel(flows),
            QdiscKind::Cake(cake) => {
                if cake.rate > Rate(0) {
                    self.shaper = Some(Shaper::new(cake.rate, line, "cake"));
                }
                match self.below {
                    Some(_) => Discipline::Cake(cake),
                    None => Discipline::FqCodel(flows_of_cake(&cake, line, &mut self.notes)),
                }
            }
            QdiscKind::Tbf(Tbf { rate, limit, .. }) => {
                let limit = Some(Bytes(limit.into())).filter(|limit| *limit > Bytes(0));
                self.shaper =
                    Some(Shaper { overhead, major, limit, ..Shaper::new(rate, line, "tbf") });
                if self.root.as_ref().is_some_and(|root| root.discipline.rank() == LAST_RANK) {
                    self.root = None;
                }
                return None;
            }
            QdiscKind::Mq => {
                self.mq = Some(Mq { major: own.unwrap_or(0), queue: None });
                return None;
            }
            QdiscKind::Netem(words) => {
                let text = format!(
                    "netem {words}: what packets meet before they come to what hangs at it; {}",
                    closest("netem").unwrap_or_default()
                );
                self.notes.not_mapped(line, text);
                self.wire = Some(major);
                return None;
            }
            QdiscKind::Other { ref name, .. } if !ONE_QUEUE.contains(&name.as_str()) => {
                return None;
            }
            QdiscKind::Pfifo { .. }
            | QdiscKind::Bfifo { .. }
            | QdiscKind::CoDel(_)
            | QdiscKind::Pie(_)
            | QdiscKind::Red(_)
            | QdiscKind::Choke(_)
            | QdiscKind::Other { .. } => {
                self.shaper.as_ref()?;
                match Queue::try_from_kind(&kind) {
                    Ok(queue) => self.queue = Some((line, queue)),
                    Err(NotMapped(text)) => self.notes.not_mapped(line, text),
                }
                Discipline::Fifo
            }
        })
    }

    fn take_root(&mut self, new: Root, adds: bool) {
        let Root { discipline, overhead, line, .. } = new;
        match &mut self.root {
            // A script may give the interface back what it had before, or begin with that.
            Some(root) if root.discipline.rank() < discipline.rank() => {
                let kept = root.discipline.name();
                let text = format!("{} instead of {kept}, which is kept", discipline.name());
                self.notes.not_read(line, text);
            }
            Some(root) if adds && root.discipline.rank() == discipline.rank() => {
                let text =
                    format!("this adds the root again, which is there since line {}", root.line);
                self.notes.not_read(line, text);
            }
            Some(root) if root.discipline.name() == discipline.name() => {
                (root.discipline, root.overhead) = (discipline, overhead);
                self.add_own_classes();
            }
            root => {
                *root = Some(new);
                self.classes.clear();
                self.by_minor.clear();
                self.filters.clear();
                self.tables.clear();
                if let Some(below) = &mut self.below {
                    below.clear();
                }
                self.priorities.clear();
                self.add_own_classes();
            }
        }
    }

    /// Gives a token bucket at which nothing hangs one queue.
    pub(crate) fn shape_all(&mut self) {
        let Some(shaper) = self.shaper.as_ref().filter(|_| self.root.is_none()) else { return };
        let (line, overhead, major) = (shaper.line, shaper.overhead, Some(shaper.major));
        self.queue = Some((line, Queue::limited(shaper.limit.map(QueueLimit::Bytes))));
        let span = self.other_root.take().map_or(0..0, |(_, span)| span);
        self.root = Some(Root { discipline: Discipline::Fifo, overhead, major, line, span });
        self.classes.clear();
        self.add_own_classes();
    }

    /// Adds the classes that a root has by itself: the bands of prio, and one for fq_codel.
    fn add_own_classes(&mut self) {
        let Some(root) = &mut self.root else { return };
        let (minors, comment) = match root.discipline {
            Discipline::Hfsc { .. }
            | Discipline::Htb { .. }
            | Discipline::Qfq
            | Discipline::Drr => return,
            Discipline::Prio(prio) => (1..=u16::from(prio.bands), None),
            Discipline::FqCodel(_) | Discipline::Cake(_) | Discipline::Fifo => (0..=0, Some("all")),
        };
        let major = *root.major.get_or_insert(UNNAMED);
        let last = usize::from(*minors.end());
        let comment = comment.map(str::to_string);
        let origin = Origin { line: root.line, span: root.span.clone(), comment };
        for minor in minors.skip(self.classes.len()) {
            if minor > 0 {
                self.by_minor.insert(minor, self.classes.len());
            }
            let (handle, parent) = (Handle::new(major, minor), Handle::new(major, 0));
            let class = Class { handle, parent, kind: ClassKind::Own, name: None };
            self.classes.push(Node::new(class, origin.clone()));
        }
        // Bands that a change takes away.
        self.classes.truncate(last.max(1));
        self.by_minor.retain(|minor, _| usize::from(*minor) <= last);
    }
}

/// The flow queues that come nearest to cake in a share, whose target is a twentieth of its
/// interval.
fn flows_of_cake(cake: &Cake, line: usize, notes: &mut Notes) -> FqCodel {
    let text = "cake as fq-codel, for flows take turns, each with controlled delay; a share with \
                `scheduler = { kind = \"cake\" }` has its tins and hosts, for classes with a `dscp`";
    notes.reading(line, text);
    let tins = if cake.diffserv == Diffserv::Besteffort { "" } else { "tins by DSCP, " };
    notes.not_mapped(line, format!("cake: {tins}turns among hosts"));
    if cake.overhead.is_some() {
        let text = "cake: what the link adds to frames: write it as `overhead` of `[link]`";
        notes.not_mapped(line, text);
    }
    let target = Nanos((cake.rtt.0 / 20).max(1));
    FqCodel { interval: cake.rtt, target, ..FqCodel::DEFAULT }
}
