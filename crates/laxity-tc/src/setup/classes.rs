//! The classes of a set-up as they are added.

use laxity_plan::error::Fault;

use super::{Class, Discipline, Origin, Setup, Verb};
use crate::args::Args;
use crate::command::Word;
use crate::curves::{self, Curves};
use crate::error::Read;
use crate::units::{self, Handle};
use crate::{drr, htb, qfq};

/// What a class has by its options.
#[derive(Default)]
struct Asked {
    curves: Curves,
    htb: Option<htb::Class>,
    weight: Option<u32>,
}

impl Setup {
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
                    holds: None,
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
}
