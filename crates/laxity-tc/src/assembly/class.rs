//! Classes as they are added.

use laxity_plan::error::Fault;

use super::discipline::Discipline;
use super::state::{Assembly, Node, Origin};
use crate::setup::{Class, ClassKind, Handle};
use crate::toml::Curves;
use crate::words::WithLosses;
use crate::words::class::PACKET;
use crate::words::command::Word;

/// What is done to a qdisc, class or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Add,
    Change,
    Replace,
}

/// A class to add. Numbers stand with their words.
pub(crate) struct NewClass<'a> {
    pub verb: Verb,
    /// Its own number.
    pub handle: Option<(Handle, Word)>,
    /// The class or discipline that it is part of; `None` if that is not said.
    pub parent: Option<(Handle, Word)>,
    /// The name of its kind.
    pub kind: &'a Word,
    /// Reads its parameters, where they count. It gives `None` if no class is of this kind.
    pub read: Box<dyn FnOnce() -> Result<Option<WithLosses<ClassKind>>, Fault> + 'a>,
    pub origin: Origin,
}

impl Assembly {
    /// Adds a class, changes it (which needs it to be there) or replaces it.
    pub(crate) fn add_class(&mut self, new: NewClass<'_>) -> Result<(), Fault> {
        let Some(root) = &self.root else {
            return match self.other_root {
                Some(_) => Ok(()),
                None => Err(Fault::at(&new.origin.span, "a class before its qdisc").help(
                    "the script begins with a line such as `tc qdisc add dev eth0 root handle 1: hfsc`",
                )),
            };
        };
        let Some((mut handle, word)) = new.handle else {
            return Err(Fault::at(&new.origin.span, "this class has no `classid`")
                .help("add one such as `classid 1:10`"));
        };
        if handle.major() == 0 {
            let above = new.parent.as_ref().map(|(above, _)| above.major());
            handle = Handle::new(above.or(root.major).unwrap_or(0), handle.minor());
        }
        let new = NewClass { handle: None, ..new };
        self.within(handle.major(), |here| here.add_here(handle, &word, new))
    }

    fn add_here(&mut self, handle: Handle, word: &Word, new: NewClass<'_>) -> Result<(), Fault> {
        let NewClass { verb, parent, kind, read, origin, .. } = new;
        let Some(discipline) = self.root.as_ref().map(|root| root.discipline) else {
            return Ok(());
        };
        let above = parent.as_ref().map(|(above, _)| *above);
        if !self.is_own(handle.major()) || above.is_some_and(|above| !self.is_own(above.major())) {
            let own = self.root.as_ref().and_then(|root| root.major);
            let other = if own == Some(handle.major()) { above } else { Some(handle) };
            self.elsewhere(other.map_or(0, Handle::major), origin.line).classes += 1;
            return Ok(());
        }
        if handle.minor() == 0 {
            return Err(word.fault("the name of a class", "its minor number is not zero"));
        }
        check_kind(discipline, kind)?;
        let (parameters, lost) = read()?.ok_or_else(|| wrong_kind(discipline, kind))?;
        let curves = self.curves(handle, &parameters, lost, origin.line);
        match (self.find(handle.minor()), verb) {
            (Some(class), Verb::Add) => {
                let since = self.classes[class].origin.line;
                let text = format!("this adds {handle} again, which is there since line {since}");
                self.notes.not_read(origin.line, text);
            }
            (Some(class), _) => {
                let node = &mut self.classes[class];
                (node.class.kind, node.curves) = (parameters, curves);
            }
            (None, Verb::Change) => {
                let message = format!("there is no class {handle} to change");
                return Err(Fault::at(&word.span, message));
            }
            (None, _) => {
                // Linux takes no notice of what a class of qfq is said to be part of.
                let has_levels = discipline.has_rates();
                let parent = self.parent(parent.filter(|_| has_levels))?;
                if let Some(parent) = parent {
                    self.classes[parent].is_leaf = false;
                }
                let above = parent.map_or(Handle::new(handle.major(), 0), |parent| {
                    self.classes[parent].class.handle
                });
                let class = Class { handle, parent: above, kind: parameters, name: None };
                let depth = parent.map_or(0, |parent| self.classes[parent].depth + 1);
                self.by_minor.insert(handle.minor(), self.classes.len());
                self.classes.push(Node { parent, depth, curves, ..Node::new(class, origin) });
            }
        }
        Ok(())
    }

    /// The curves of a class in a plan. Notes tell what of its parameters is lost.
    fn curves(
        &mut self,
        handle: Handle,
        parameters: &ClassKind,
        lost: Vec<String>,
        line: usize,
    ) -> Curves {
        let (curves, bent) = match parameters {
            ClassKind::Hfsc(curves) => {
                let (curves, bent) = Curves::from_hfsc(curves);
                (curves, bent.into_iter().map(|text| format!("{handle} {text}")).collect())
            }
            ClassKind::Qfq { lmax, .. } if *lmax != PACKET => {
                let text =
                    format!("maxpkt {lmax}: a plan has it as `packet` of the class's `arrival`");
                (Curves::default(), vec![format!("{handle}: {text}")])
            }
            ClassKind::Htb(_) | ClassKind::Drr { .. } | ClassKind::Qfq { .. } | ClassKind::Own => {
                (Curves::default(), Vec::new())
            }
        };
        let lost = lost.into_iter().map(|text| format!("{handle}: {text}"));
        for text in bent.into_iter().chain(lost) {
            self.notes.not_mapped(line, text);
        }
        curves
    }

    /// The class that a new one is part of; `None` for the qdisc itself.
    fn parent(&self, parent: Option<(Handle, Word)>) -> Result<Option<usize>, Fault> {
        match parent {
            Some((above, word)) if above.minor() > 0 => {
                self.find(above.minor()).map(Some).ok_or_else(|| {
                    Fault::at(&word.span, format!("there is no class {above} at this line"))
                        .help("a class is added after the one that it is part of")
                })
            }
            _ => Ok(None),
        }
    }
}

/// Refuses a class of another kind than its qdisc has, or where only that makes classes.
fn check_kind(discipline: Discipline, kind: &Word) -> Result<(), Fault> {
    match discipline {
        Discipline::Hfsc { .. } | Discipline::Htb { .. } | Discipline::Qfq | Discipline::Drr => {}
        Discipline::Prio(_) | Discipline::FqCodel(_) | Discipline::Cake(_) | Discipline::Fifo => {
            let message = format!("{} has classes of its own making only", discipline.name());
            return Err(
                Fault::at(&kind.span, message).help("Linux takes no other: leave this line out")
            );
        }
    }
    if kind.text == discipline.name() { Ok(()) } else { Err(wrong_kind(discipline, kind)) }
}

fn wrong_kind(discipline: Discipline, kind: &Word) -> Fault {
    kind.fault("the kind of this class", &format!("its qdisc is {}", discipline.name()))
}
