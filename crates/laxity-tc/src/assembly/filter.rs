//! Filters as they are added.

use laxity_plan::error::Fault;

use super::discipline::Discipline;
use super::entry::{Entry, Link, Priority, TableEntry};
use super::state::{Assembly, Origin};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::packets::{bits, mask, taken};
use crate::setup::{FilterKind, Handle, MOST_FILTERS, Protocol};
use crate::words::filter::{FilterAction, FilterError, FilterHead, FilterPlace, Target};

/// Priorities that are given to filters without one begin below this one.
const FIRST_GIVEN: u16 = 0xc000;
/// Priorities from here on are looked at to find the next one to give.
const GIVEN_FROM: u16 = 0x8000;

impl Assembly {
    /// Adds a filter. `read` reads what it selects.
    pub(crate) fn add_filter(
        &mut self,
        head: &FilterHead<'_>,
        read: impl FnOnce() -> Result<FilterAction, FilterError>,
        origin: &Origin,
    ) -> Result<(), Fault> {
        match head.place {
            FilterPlace::At(at) => {
                self.within(at.major(), |here| here.add_own_filter(head, read, origin))
            }
            FilterPlace::Root | FilterPlace::Elsewhere => self.add_own_filter(head, read, origin),
        }
    }

    fn add_own_filter(
        &mut self,
        head: &FilterHead<'_>,
        read: impl FnOnce() -> Result<FilterAction, FilterError>,
        origin: &Origin,
    ) -> Result<(), Fault> {
        let selected = match read() {
            Ok(action) => Ok(action),
            Err(FilterError::NotMapped(why)) => Err(why),
            Err(FilterError::Fault(fault)) => return Err(fault),
        };
        let line = origin.line;
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
            return Err(Fault::at(&origin.span, message));
        }
        let at = match head.place {
            FilterPlace::Root => 0,
            FilterPlace::At(at) if self.is_own(at.major()) => at.minor(),
            FilterPlace::At(at) => {
                self.elsewhere(at.major(), line).filters += 1;
                return Ok(());
            }
            FilterPlace::Elsewhere => {
                let text = "filter: it does not hang at the root or a class of it";
                self.notes.not_mapped(line, text);
                return Ok(());
            }
        };
        let taken = if head.chain == 0 {
            self.take_filter(at, head, selected, line)
        } else {
            Err("filters of other chains are not followed".into())
        };
        if let Err(NotMapped(text)) = taken {
            self.notes.not_mapped(line, format!("{}: {text}", head.called));
        }
        Ok(())
    }

    fn take_filter(
        &mut self,
        at: u16,
        head: &FilterHead<'_>,
        selected: Result<FilterAction, NotMapped>,
        line: usize,
    ) -> Result<(), NotMapped> {
        let (number, priority) = self.group(at, head)?;
        let FilterAction { kind, target: Target { mut class, is_gone, lost } } = selected?;
        let taken = taken(&kind, &head.protocol)?;
        let mut link = None;
        if let FilterKind::U32(u32) = &kind {
            if let Some(parts) = u32.parts {
                let table = head.table.ok_or("a table without a handle is not followed")?;
                self.tables.entry((at, table)).or_default().parts = parts;
                return Ok(());
            }
            if class.is_none() && u32.link.is_none() && !is_gone {
                return Err("it names no class".into());
            }
            let own = Link { bits: bits(u32, &head.protocol), u32: u32.clone() };
            if let Some((table, part)) = u32.place {
                self.tell_lost(lost, line);
                self.in_tables += 1;
                let packets = taken.into_iter().next().unwrap_or_default().0;
                let table = self.tables.entry((at, table)).or_default();
                table.filters.push(TableEntry { part, packets, link: own, class, is_gone, line });
                return Ok(());
            }
            if u32.link.is_some() {
                class.get_or_insert_default();
                link = Some(Box::new(own));
            }
        }
        let class = if is_gone { Handle::NONE } else { class.ok_or("it names no class")? };
        let looked = mask(&kind);
        let known = priority.masks.iter().position(|mask| *mask == looked);
        let rank = (number, known.unwrap_or(priority.masks.len()));
        if known.is_none() {
            priority.masks.push(looked);
        }
        self.tell_lost(lost, line);
        if is_gone {
            let text =
                "filter: its packets do not leave by this interface, so they are in no class";
            self.notes.reading(line, text);
        }
        self.filters.extend(taken.into_iter().map(|(packets, mark)| {
            let link = link.clone();
            Entry { at, rank, packets, class, mark, link, is_gone, line }
        }));
        Ok(())
    }

    fn tell_lost(&mut self, lost: Vec<String>, line: usize) {
        for text in lost {
            self.notes.not_mapped(line, format!("filter: {text}"));
        }
    }

    /// The filters of this priority, or of the one that a filter without a priority gets: one
    /// before all that were given so far (Linux, net/sched/cls_api.c).
    fn group(&mut self, at: u16, head: &FilterHead<'_>) -> Result<(u16, &mut Priority), NotMapped> {
        let FilterHead { priority, protocol, kind, .. } = head;
        let here = self.priorities.entry(at).or_default();
        let number = match *priority {
            0 => here.range(GIVEN_FROM..).next().map_or(FIRST_GIVEN, |(first, _)| first - 1),
            number => number,
        };
        let new =
            || Priority { kind: kind.to_string(), protocol: protocol.clone(), masks: Vec::new() };
        let priority = here.entry(number).or_insert_with(new);
        if priority.kind == *kind && priority.protocol == *protocol {
            return Ok((number, priority));
        }
        let of_kind = plain(&priority.kind);
        let protocol = match &priority.protocol {
            Protocol::Vlan => "802.1q",
            protocol => protocol.name(),
        };
        let text = format!(
            "Linux refuses it: priority {number} is for {of_kind} of protocol {protocol} already"
        );
        Err(text.into())
    }
}
