//! The filters of a set-up as they are added.

use laxity_plan::error::Fault;

use super::{Discipline, Setup};
use crate::error::{Read, plain};
use crate::filter::u32::{self, U32};
use crate::filter::{Fate, Mark, Place, Protocol, Selection, Written};
use crate::packets::Packets;
use crate::units::Handle;

/// Priorities that are given to filters without one begin below this one.
const FIRST_GIVEN: u32 = 0xc000;
/// Priorities from here on are looked at to find the next one to give.
const GIVEN_FROM: u32 = 0x8000;

/// The most filters: as many as one discipline has priorities for.
pub const MOST_FILTERS: usize = 65_535;

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
    pub fate: Fate,
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
    pub fate: Fate,
    pub line: usize,
}

/// The filters of one priority are of one kind and one protocol.
#[derive(Debug)]
pub(super) struct Priority {
    kind: String,
    protocol: Protocol,
    masks: Vec<Vec<String>>,
}

impl Setup {
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
            self.notes.not_mapped(line, format!("{}: {text}", filter.called()));
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
            if class.is_none() && u32.link.is_none() && selection.fate == Fate::Classified {
                return Err("it names no class".into());
            }
            if let Some((number, part)) = u32.place {
                for text in selection.lost {
                    self.notes.not_mapped(line, format!("filter: {text}"));
                }
                self.in_tables += 1;
                let packets = selection.packets;
                let table = self.tables.entry((at, number)).or_default();
                let fate = selection.fate;
                table.filters.push(InTable { part, packets, u32, class, fate, line });
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
        let no_class = Handle { major: 0, minor: 0 };
        let class = match selection.fate {
            Fate::Gone => no_class,
            Fate::Classified => selection.class.ok_or("it names no class")?,
        };
        let known = priority.masks.iter().position(|mask| *mask == selection.mask);
        let group = known.unwrap_or(priority.masks.len());
        if known.is_none() {
            priority.masks.push(selection.mask);
        }
        for text in selection.lost {
            self.notes.not_mapped(line, format!("filter: {text}"));
        }
        let rank = (number, group);
        if selection.fate == Fate::Gone {
            let text =
                "filter: its packets do not leave by this interface, so they are in no class";
            self.notes.reading(line, text);
        }
        let fate = selection.fate;
        for (packets, mark) in [(selection.packets, selection.mark)].into_iter().chain(selection.or)
        {
            let link = link.clone();
            self.filters.push(Filter { at, rank, packets, class, mark, link, fate, line });
        }
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
