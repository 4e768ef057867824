//! Qdiscs as they are added, and what they hang at.

use laxity::overhead::Overhead;
use laxity_plan::error::Fault;

use super::state::{Assembly, Origin};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{FqCodel, Handle, QdiscKind, SizeTable};
use crate::toml::{Queue, overhead};
use crate::words::WithLosses;
use crate::words::command::Word;

/// Where a qdisc hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Root,
    Class(Handle),
    Incoming,
    /// Nothing is said; Linux takes it for the root.
    Missing,
}

impl From<Handle> for Place {
    fn from(parent: Handle) -> Place {
        match parent {
            Handle::ROOT => Place::Root,
            parent if parent.major() == 0xffff => Place::Incoming,
            parent => Place::Class(parent),
        }
    }
}

/// A qdisc to add.
pub(crate) struct NewQdisc<'a> {
    pub place: Place,
    /// Its number, if it is written.
    pub major: Option<u16>,
    pub sizes: Option<SizeTable>,
    /// Whether it is added, so that none is to be there.
    pub adds: bool,
    /// The name of its kind.
    pub kind: &'a Word,
    /// Reads its parameters, where they count, on top of those of the flow queues before.
    pub read: Box<dyn FnOnce(FqCodel) -> Result<WithLosses<QdiscKind>, Fault> + 'a>,
    pub origin: Origin,
}

impl Assembly {
    /// Adds a qdisc.
    pub(crate) fn add_qdisc(&mut self, qdisc: NewQdisc<'_>) -> Result<(), Fault> {
        let NewQdisc { mut place, sizes, .. } = qdisc;
        let line = qdisc.origin.line;
        let mut sizes_above = None;
        if let (Place::Class(above), Some(shaper)) = (place, &self.shaper)
            && above.major() == shaper.major
        {
            (place, sizes_above) = (Place::Root, Some(shaper.overhead));
        }
        if let (Place::Class(above), Some(mq)) = (place, &mut self.mq)
            && above.major() == mq.major
        {
            let minor = above.minor();
            if mq.queue.is_none() {
                let text = format!(
                    "mq: the plan is of queue {minor:x} of the interface alone, and of what comes to that"
                );
                self.notes.reading(line, text);
            }
            let queue = *mq.queue.get_or_insert(minor);
            if queue != minor {
                let text = format!(
                    "queue {minor:x} of the interface has a qdisc of its own: the plan is of queue {queue:x}"
                );
                self.notes.not_mapped(line, text);
                return Ok(());
            }
            place = Place::Root;
        }
        if let Place::Class(above) = place
            && self.wire == Some(above.major())
        {
            place = Place::Root;
        }
        if let (Place::Class(_) | Place::Incoming, Some(sizes)) = (place, &sizes) {
            let words = sizes.words(false);
            let text =
                format!("stab ({words}): a plan says what the link adds, not what a class does");
            self.notes.not_mapped(line, text);
        }
        match place {
            Place::Incoming => {
                let text = "what comes in: a plan schedules what goes out";
                self.notes.not_mapped(line, text);
                Ok(())
            }
            Place::Root | Place::Missing => {
                let overhead = sizes_above.unwrap_or_else(|| self.overhead(sizes, line));
                self.set_root(overhead, qdisc)
            }
            Place::Class(above) => self.within(above.major(), |here| here.add_queue(above, qdisc)),
        }
    }

    /// Adds a qdisc at a class.
    fn add_queue(&mut self, above: Handle, qdisc: NewQdisc<'_>) -> Result<(), Fault> {
        let (kind, line) = (qdisc.kind, qdisc.origin.line);
        if !self.is_own(above.major()) {
            self.elsewhere(above.major(), line).qdiscs += 1;
            return Ok(());
        }
        let Some(class) = self.find(above.minor()) else {
            let text =
                format!("qdisc {} at {above}, which is no class of the root", plain(&kind.text));
            self.notes.not_mapped(line, text);
            return Ok(());
        };
        let NewQdisc { major, read, .. } = qdisc;
        let (parameters, lost) = read(FqCodel::DEFAULT)?;
        let has_rates = self.root.as_ref().is_some_and(|root| root.discipline.has_rates());
        let nests = self.below.is_some() && has_rates && is_sharing(&parameters);
        let node = &mut self.classes[class];
        if nests && matches!(parameters, QdiscKind::Cake(_)) {
            node.queue = Some((line, Queue::from_flows(&FqCodel::DEFAULT)));
        }
        if !nests || matches!(parameters, QdiscKind::FqCodel(_)) {
            match Queue::try_from_kind(&parameters) {
                Ok(queue) => node.queue = Some((line, queue)),
                Err(NotMapped(text)) => self.notes.not_mapped(line, format!("{above}: {text}")),
            }
        }
        if !nests {
            self.classes[class].below = None;
            return Ok(());
        }
        let mut below = Assembly::new(self.device.clone());
        below.below = None;
        let read = Box::new(|_| Ok((parameters, lost)));
        below.set_root(Overhead::NONE, NewQdisc { read, adds: true, ..qdisc })?;
        self.notes.append(std::mem::take(&mut below.notes));
        if let (Some(major), Some(places)) = (major, &mut self.below) {
            places.insert(major, class);
        }
        self.classes[class].below = Some(Box::new(below));
        Ok(())
    }

    /// What the link adds to frames.
    fn overhead(&mut self, sizes: Option<SizeTable>, line: usize) -> Overhead {
        match sizes.map_or(Ok((Overhead::NONE, false)), |sizes| overhead(&sizes)) {
            Ok((overhead, in_steps)) => {
                if in_steps {
                    let text =
                        "stab: Linux looks lengths up in steps of some bytes, a plan has each";
                    self.notes.reading(line, text);
                }
                overhead
            }
            Err(NotMapped(text)) => {
                self.notes.not_mapped(line, text);
                Overhead::NONE
            }
        }
    }
}

/// Whether a discipline shares among classes or flows of its own.
fn is_sharing(kind: &QdiscKind) -> bool {
    match kind {
        QdiscKind::Hfsc { .. }
        | QdiscKind::Htb { .. }
        | QdiscKind::Qfq
        | QdiscKind::Drr
        | QdiscKind::Prio(_)
        | QdiscKind::FqCodel(_)
        | QdiscKind::Cake(_) => true,
        QdiscKind::Tbf(_)
        | QdiscKind::CoDel(_)
        | QdiscKind::Pie(_)
        | QdiscKind::Red(_)
        | QdiscKind::Choke(_)
        | QdiscKind::Pfifo { .. }
        | QdiscKind::Bfifo { .. }
        | QdiscKind::Mq
        | QdiscKind::Netem(_)
        | QdiscKind::Other { .. } => false,
    }
}
