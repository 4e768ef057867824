//! The filters of a set-up as rules, in the order in which Linux asks them.

mod meeting;
mod order;
mod priorities;

use std::collections::HashSet;

use laxity_plan::error::Fault;

use crate::assembly::{Assembly, Discipline, Entry, Root, Sign, TableEntry};
use crate::netfilter::State;
use crate::notes::{NotMapped, Notes};
use crate::packets::{Bits, Field, Packets};
use crate::setup::{Handle, MOST_FILTERS, Mark, U32};

pub(crate) use order::{Arrangement, Rule, arrange};

/// All filters as rules, and those by which prio sorts what no filter takes. A filter that sends
/// packets to a class with classes below it sends them to the filters there.
pub(crate) fn rules(
    setup: &Assembly,
    root: &Root,
    default: Option<usize>,
    notes: &mut Notes,
) -> Result<Vec<Rule>, Fault> {
    let mut filters: Vec<&Entry> = setup.filters.iter().collect();
    filters.sort_by_key(|filter| (filter.at, filter.rank));
    let mut walk = Walk {
        setup,
        root,
        filters,
        default,
        rules: Vec::new(),
        reached: HashSet::new(),
        state: None,
        diverts: false,
        marked: HashSet::new(),
        looks: 0,
        notes,
    };
    walk.classified()?;
    walk.chain(0, None, &Packets::default())?;
    let Walk { mut rules, reached, filters, marked, notes, .. } = walk;
    for filter in filters.iter().filter(|filter| !marked.contains(&filter.sign())) {
        let mark = match filter.mark {
            None => continue,
            Some(Mark::Is { value, mask: u32::MAX }) => format!("mark {value}"),
            Some(Mark::Is { value, mask }) => format!("mark {value:#x}/{mask:#x}"),
            Some(Mark::IsClass) => "mark".into(),
        };
        let text = format!(
            "filter{}: it goes by netfilter's {mark}, which no rule sets that is read, and which a capture does not have",
            if filter.class.minor() > 0 { format!(" for {}", filter.class) } else { String::new() }
        );
        notes.not_mapped(filter.line, text);
    }
    for filter in filters.iter().filter(|filter| !reached.contains(&filter.at)) {
        let text =
            format!("filter: no other filter sends packets to {:x}, where it hangs", filter.at);
        notes.not_mapped(filter.line, text);
    }
    if let Discipline::Prio(prio) = root.discipline {
        let line = root.line;
        let unfiltered = priorities::unfiltered(&prio, line, notes).into_iter();
        let unfiltered = unfiltered.map(|(packets, band)| {
            let class = setup.find(u16::from(band) + 1);
            Rule { packets, class, line, of: "priomap", is_rest: true }
        });
        rules.extend(unfiltered);
    }
    Ok(rules)
}

/// Refuses more rules than are read.
pub(crate) fn limited(count: usize) -> Result<(), Fault> {
    if count > MOST_FILTERS { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> Fault {
    let message =
        format!("the script's filters come to more than {MOST_FILTERS}, the most that are read");
    Fault::new(None, message)
}

struct Walk<'a> {
    setup: &'a Assembly,
    root: &'a Root,
    /// By the class that they hang at, then in the order in which they are asked.
    filters: Vec<&'a Entry>,
    default: Option<usize>,
    rules: Vec<Rule>,
    /// Where filters hang that are asked.
    reached: HashSet<u16>,
    /// What netfilter leaves the packets with, if it is the same with all of them.
    state: Option<&'a State>,
    /// The packets are diverted from other filters. The rules for them need not be reached.
    diverts: bool,
    /// The filters whose mark some packets have.
    marked: HashSet<Sign>,
    /// How many filters of tables were looked at.
    looks: usize,
    notes: &'a mut Notes,
}

/// A filter that links to a table, with all bits that were asked for up to it.
struct Link<'a> {
    u32: &'a U32,
    bits: Bits,
    line: usize,
}

/// The most looks at filters of tables. A table may be linked to several times.
const MOST_LOOKS: usize = 1 << 20;
/// How many rules before it may have taken what would be diverted.
const MOST_BEFORE: usize = 256;

/// The qdisc or class that filters hang at: its number, and which class it is.
type At = (u16, Option<usize>);

impl Walk<'_> {
    /// Packets for which netfilter sets the class: no filter is asked about them.
    fn classified(&mut self) -> Result<(), Fault> {
        for (at, state) in self.setup.states.iter().enumerate() {
            let class = state.class.filter(|class| self.root.major == Some(class.major()));
            let class = class.and_then(|class| self.setup.find(class.minor()));
            let Some(class) = class.filter(|class| self.setup.classes[*class].is_leaf) else {
                continue;
            };
            self.divert(at, &state.packets, (0, None), 0)?;
            self.add(state.packets.clone(), Some(class), self.root.line, true)?;
        }
        Ok(())
    }

    /// The filters at the qdisc or a class, for packets that were sent there.
    fn chain(&mut self, at: u16, class: Option<usize>, sent: &Packets) -> Result<(), Fault> {
        self.reached.insert(at);
        self.rest_of_chain((at, class), sent, 0)
    }

    /// The filters of a place but for the first of them.
    fn rest_of_chain(&mut self, place: At, sent: &Packets, first: usize) -> Result<(), Fault> {
        let (at, _) = place;
        let from = self.filters.partition_point(|filter| filter.at < at);
        let to = self.filters.partition_point(|filter| filter.at <= at);
        for index in from + first..to {
            let filter = self.filters[index];
            match self.state {
                Some(state) => self.ask(filter, Some(state), place, sent)?,
                None if !self.depends(filter) => self.ask(filter, None, place, sent)?,
                None => self.ask_by_state(filter, place, sent, index - from)?,
            }
        }
        Ok(())
    }

    /// Whether the packets that a filter takes depend on netfilter.
    fn depends(&self, filter: &Entry) -> bool {
        let sets_dscp = self.setup.states.iter().any(|state| state.dscp.is_some());
        let looks_at_dscp = filter.link.is_some() || filter.packets.asks_for(Field::Dscp);
        filter.mark.is_some() || sets_dscp && looks_at_dscp
    }

    /// Asks a filter about packets that are in the same state.
    fn ask(
        &mut self,
        filter: &Entry,
        state: Option<&State>,
        place: At,
        sent: &Packets,
    ) -> Result<(), Fault> {
        let (class, seen) = match state {
            None => (Some(filter.class), Some(filter.packets.clone())),
            Some(state) => (self.goes_by(filter, state), state.seen(&filter.packets)),
        };
        let (Some(class), Some(seen)) = (class, seen) else { return Ok(()) };
        let packets = sent.and(&seen);
        if packets.is_empty && state.is_some() {
            return Ok(());
        }
        match &filter.link {
            None => {
                let class = Some(class).filter(|_| !filter.is_gone);
                self.take(class, filter.line, place.1, packets)
            }
            Some(link) => {
                let link = Link { u32: &link.u32, bits: link.bits.clone(), line: filter.line };
                self.table(place, &link, &packets, 0)
            }
        }
    }

    /// Asks a filter about the packets of each state that it takes some of.
    fn ask_by_state(
        &mut self,
        filter: &Entry,
        place: At,
        sent: &Packets,
        number: usize,
    ) -> Result<(), Fault> {
        for (at, state) in self.setup.states.iter().enumerate() {
            let (class, seen) = (self.goes_by(filter, state), state.seen(&filter.packets));
            let (Some(_), Some(seen)) = (class, seen) else { continue };
            let sent = sent.and(&state.packets);
            let taken = sent.and(&seen);
            if taken.is_empty {
                continue;
            }
            self.divert(at, &taken, place, number)?;
            self.state = Some(state);
            self.ask(filter, Some(state), place, &sent)?;
            self.state = None;
        }
        Ok(())
    }

    /// Packets that an earlier state has too go on as those of that state.
    fn divert(&mut self, at: usize, taken: &Packets, place: At, first: usize) -> Result<(), Fault> {
        let states = &self.setup.states;
        for before in states[..at].iter().filter(|before| !before.is_like(&states[at])) {
            self.looks += 1;
            if self.looks > MOST_LOOKS {
                return Err(too_many());
            }
            let both = taken.and(&before.packets);
            let mut last = self.rules.iter().rev().take(MOST_BEFORE);
            if both.is_empty || last.any(|rule| rule.packets.contains(&both)) {
                continue;
            }
            let diverted = std::mem::replace(&mut self.diverts, true);
            self.state = Some(before);
            self.rest_of_chain(place, &both, first)?;
            self.state = None;
            self.add(both, self.default, self.root.line, true)?;
            self.diverts = diverted;
        }
        Ok(())
    }

    /// The class of a filter, if packets of this state have the mark that it goes by.
    fn goes_by(&mut self, filter: &Entry, state: &State) -> Option<Handle> {
        let mark = state.mark;
        let class = match filter.mark {
            None => return Some(filter.class),
            Some(Mark::Is { value, mask }) => (mark & mask == value).then_some(filter.class),
            // As in Linux (fw_classify): a mark of nothing, or of another discipline, is none.
            Some(Mark::IsClass) => {
                let (major, minor) = ((mark >> 16) as u16, mark as u16);
                let own = self.root.major.unwrap_or(0);
                let major = if major == 0 { own } else { major };
                (mark != 0 && major == own).then_some(Handle::new(major, minor))
            }
        };
        if class.is_some() {
            self.marked.insert(filter.sign());
        }
        class
    }

    /// The filters of a table that another one links to.
    fn table(
        &mut self,
        from: At,
        link: &Link<'_>,
        packets: &Packets,
        depth: usize,
    ) -> Result<(), Fault> {
        let number = link.u32.link.unwrap_or_default();
        let setup = self.setup;
        let Some(table) = setup.tables.get(&(from.0, number)) else {
            let text = format!("filter: there is no table {number:x}: that it links to");
            self.notes.not_mapped(link.line, text);
            return Ok(());
        };
        let parts = table.parts.max(1);
        let mut filters: Vec<&TableEntry> = table.filters.iter().collect();
        filters.sort_by_key(|filter| filter.part);
        for filter in filters {
            self.looks += 1;
            if self.looks > MOST_LOOKS {
                return Err(too_many());
            }
            let for_part = Bits::for_part(link.u32.hash, filter.part, parts);
            let Some(for_part) = for_part else { continue };
            let own = &filter.link;
            let bits = link.bits.and(&for_part);
            let bits = if link.u32.finds_next_header {
                bits.and(&own.bits.after_ip())
            } else {
                bits.and(&own.bits)
            };
            let packets = packets.and(&filter.packets);
            if own.u32.link.is_some() {
                let further = Link { u32: &own.u32, bits, line: filter.line };
                // As in Linux (TC_U32_MAXDEPTH).
                if depth < 8 {
                    self.table(from, &further, &packets, depth + 1)?;
                }
                continue;
            }
            let mut seen = Packets::default();
            let read = bits.packets(&mut seen);
            let seen = self.state.map_or(Some(seen.clone()), |state| state.seen(&seen));
            let Some(taken) = seen.map(|seen| packets.and(&seen)) else { continue };
            match (read, filter.class) {
                (Err(NotMapped(why)), _) => {
                    self.notes.not_mapped(filter.line, format!("filter: {why}"));
                }
                (Ok(()), None) if !filter.is_gone => {}
                (Ok(()), class) if !taken.is_empty => {
                    let class = class.filter(|_| !filter.is_gone);
                    self.take(class, filter.line, from.1, taken)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends packets where the filter in a line has them go: to a class, or nowhere.
    fn take(
        &mut self,
        handle: Option<Handle>,
        line: usize,
        at: Option<usize>,
        packets: Packets,
    ) -> Result<(), Fault> {
        let Some(handle) = handle else { return self.add(packets, None, line, false) };
        let own = match self.root.discipline {
            Discipline::Hfsc { .. }
            | Discipline::Htb { .. }
            | Discipline::Qfq
            | Discipline::Drr
            | Discipline::Fifo
            | Discipline::FqCodel(_)
            | Discipline::Cake(_) => self.root.major == Some(handle.major()),
            // It looks at the minor number only.
            Discipline::Prio(_) => true,
        };
        let class = self.setup.find(handle.minor()).filter(|_| own);
        let class = class.filter(|class| at.is_none_or(|at| self.is_below(*class, at)));
        let Some(class) = class else {
            let is_htb = matches!(self.root.discipline, Discipline::Htb { .. });
            let why = if is_htb && own && handle.minor() == 0 {
                "is htb itself, which sends these packets past all classes: they count as unfiltered"
            } else {
                "is no class there: its packets count as unfiltered"
            };
            self.notes.not_mapped(line, format!("filter: {handle} {why}"));
            return self.add(packets, self.default, line, false);
        };
        if self.setup.classes[class].is_leaf {
            return self.add(packets, Some(class), line, false);
        }
        self.chain(handle.minor(), Some(class), &packets)?;
        // What none of the filters there takes is not asked about again.
        self.add(packets, self.default, line, true)
    }

    fn is_below(&self, class: usize, above: usize) -> bool {
        let up = |class: &usize| self.setup.classes[*class].parent;
        std::iter::successors(up(&class), up).any(|class| class == above)
    }

    fn add(
        &mut self,
        packets: Packets,
        class: Option<usize>,
        line: usize,
        is_rest: bool,
    ) -> Result<(), Fault> {
        if self.rules.len() == MOST_FILTERS {
            return Err(too_many());
        }
        let is_rest = is_rest || self.diverts;
        self.rules.push(Rule { packets, class, line, of: "filter", is_rest });
        Ok(())
    }
}
