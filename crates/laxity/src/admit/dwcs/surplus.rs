//! Which streams to leave out of those that are refused.
//!
//! Without them, the rest is refused neither for its utilization nor because fewer services are
//! begun between two deadlines than it needs. It is of one of two kinds.
//!
//! - Its windows are proved to be kept: all gaps are the same, none of its streams sends late
//!   packets, and services are enough. Services take as long as the longest packet, L, and there
//!   are the more of them the shorter it is. So for every gap and every L that the rest may have,
//!   all others and all that have longer packets are left out, and of what remains those that need
//!   most, until services of that length are enough: for that L no fewer can be.
//! - Nothing is proved of it, for it is served in another way, has several gaps or sends late
//!   packets, and its utilization is at most 1. Those that take most are left out, but for the one
//!   or two that take least of those without which it would be of the first kind.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use num_traits::{One, Signed, ToPrimitive};

use super::demand::{
    Demand, WindowClass, load, longest_without_gap, needed, provable, sends_late,
    services_between_deadlines, total, with_gap,
};
use crate::curve::{Exact, exact};
use crate::packet::ClassId;
use crate::sched::dwcs::DwcsSettings;
use crate::units::{Bytes, Nanos, Rate};

/// Streams of one class that the link has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// The class.
    pub class: ClassId,
    /// How many of its streams.
    pub streams: u32,
}

/// The fewest streams without which the rest is not refused.
pub(super) fn fewest(rate: Rate, settings: &DwcsSettings, classes: &[WindowClass]) -> Vec<Surplus> {
    let streams = Streams { rate, classes };
    if provable(settings).is_err() {
        return streams.within_the_link(&[]).unwrap_or_default();
    }
    let proved = streams.proved();
    let unproved = [streams.least_of_two_gaps(), streams.least_that_sends_late()];
    let unproved = unproved.into_iter().flatten().filter_map(|kept| streams.within_the_link(&kept));
    unproved
        .fold(proved, |fewest, other| if count(&other) < count(&fewest) { other } else { fewest })
}

fn count(surplus: &[Surplus]) -> u64 {
    surplus.iter().map(|surplus| u64::from(surplus.streams)).sum()
}

struct Streams<'a> {
    rate: Rate,
    classes: &'a [WindowClass],
}

impl Streams<'_> {
    /// The fewest without which the others' windows are proved to be kept.
    fn proved(&self) -> Vec<Surplus> {
        let mut of_gap: BTreeMap<Nanos, Vec<ClassId>> = BTreeMap::new();
        for (id, class, gap) in with_gap(self.classes) {
            if !sends_late(&class.streams.stream) {
                of_gap.entry(gap).or_default().push(id);
            }
        }
        // Without any stream.
        let mut best = (self.all(), None);
        for (gap, mut ids) in of_gap {
            ids.sort_by_key(|id| Reverse(self.class(*id).packet));
            let others = self.all() - ids.iter().map(|id| self.streams_of(*id)).sum::<u64>();
            if let Some((out, longest)) = self.best_longest(gap, &ids, others, best.0) {
                best = (out, Some((gap, longest)));
            }
        }
        self.without(best.1)
    }

    /// For which longest packet the fewest streams are left out, `others` included, and how many,
    /// if these are fewer than `most`. Classes are those of the gap, the longest packets first.
    fn best_longest(
        &self,
        gap: Nanos,
        classes: &[ClassId],
        others: u64,
        most: u64,
    ) -> Option<(u64, Bytes)> {
        let mut remaining: BTreeMap<Exact, u64> = BTreeMap::new();
        for &id in classes {
            *remaining.entry(self.needed(id)).or_default() += self.streams_of(id);
        }
        let (mut best, mut most, mut longer) = (None, most, others);
        for alike in classes.chunk_by(|a, b| self.class(*a).packet == self.class(*b).packet) {
            if longer >= most {
                break;
            }
            let longest = self.class(alike[0]).packet;
            let demands = remaining.iter().zip(0..).map(|((each, count), of): (_, u64)| Demand {
                of,
                count: *count,
                each: each.clone(),
            });
            let excess = those_that_take_most(demands.collect(), &self.room(gap, longest));
            let out = longer + excess.iter().map(|(_, streams)| streams).sum::<u64>();
            if out < most {
                (best, most) = (Some((out, longest)), out);
            }
            for &id in alike {
                longer += self.streams_of(id);
                if let Some(count) = remaining.get_mut(&self.needed(id)) {
                    *count -= self.streams_of(id);
                }
            }
        }
        best
    }

    /// What is left out when the rest has this gap and packets of no more than this length.
    fn without(&self, rest: Option<(Nanos, Bytes)>) -> Vec<Surplus> {
        let (mut surplus, mut demands) = (Vec::new(), Vec::new());
        for (id, class, gap) in with_gap(self.classes) {
            let may_stay = rest.is_some_and(|(of_rest, longest)| {
                gap == of_rest && class.packet <= longest && !sends_late(&class.streams.stream)
            });
            if may_stay {
                demands.push(Demand {
                    of: Reverse(id),
                    count: self.streams_of(id),
                    each: self.needed(id),
                });
            } else {
                surplus.push(Surplus { class: id, streams: class.streams.count });
            }
        }
        if let Some((gap, longest)) = rest {
            let most = those_that_take_most(demands, &self.room(gap, longest));
            surplus.extend(most.into_iter().map(surplus_of));
        }
        surplus.sort_by_key(|surplus| surplus.class);
        surplus
    }

    /// The fewest without which the link can send what the others cannot do without, but none of
    /// these; `None` if it cannot send even them.
    fn within_the_link(&self, kept: &[ClassId]) -> Option<Vec<Surplus>> {
        let (mut room, mut demands) = (Exact::one(), Vec::new());
        for (id, class, gap) in with_gap(self.classes) {
            let (each, stays) = (load(self.rate, class, gap), kept.contains(&id));
            if stays {
                room -= &each;
            }
            let count = self.streams_of(id) - u64::from(stays);
            demands.push(Demand { of: Reverse(id), count, each });
        }
        if room.is_negative() {
            return None;
        }
        let mut surplus: Vec<_> =
            those_that_take_most(demands, &room).into_iter().map(surplus_of).collect();
        surplus.sort_by_key(|surplus| surplus.class);
        Some(surplus)
    }

    /// Of all streams the one that takes least of the link, and that of those with another gap.
    fn least_of_two_gaps(&self) -> Option<Vec<ClassId>> {
        let loads = || {
            with_gap(self.classes).map(|(id, class, gap)| (load(self.rate, class, gap), id, gap))
        };
        let (_, first, of_first) = loads().min()?;
        let (_, other, _) = loads().filter(|(_, _, gap)| *gap != of_first).min()?;
        Some(Vec::from([first, other]))
    }

    /// Of the streams that send late packets the one that takes least of the link.
    fn least_that_sends_late(&self) -> Option<Vec<ClassId>> {
        let late = with_gap(self.classes).filter(|(_, class, _)| sends_late(&class.streams.stream));
        let loads = late.map(|(id, class, gap)| (load(self.rate, class, gap), id));
        loads.min().map(|(_, id)| Vec::from([id]))
    }

    /// The services that are sure.
    fn room(&self, gap: Nanos, longest: Bytes) -> Exact {
        let beside = longest_without_gap(self.classes);
        exact(services_between_deadlines(self.rate, gap, longest, beside))
    }

    fn all(&self) -> u64 {
        with_gap(self.classes).map(|(id, ..)| self.streams_of(id)).sum()
    }

    fn class(&self, id: ClassId) -> &WindowClass {
        &self.classes[id.index()]
    }

    fn streams_of(&self, id: ClassId) -> u64 {
        self.class(id).streams.count.into()
    }

    fn needed(&self, id: ClassId) -> Exact {
        needed(self.class(id).streams.stream.loss)
    }
}

fn surplus_of((Reverse(class), streams): (Reverse<ClassId>, u64)) -> Surplus {
    Surplus { class, streams: streams.try_into().unwrap_or(u32::MAX) }
}

/// The fewest without which the rest takes no more than `room`, of equal ones the first, each with
/// how many of it.
fn those_that_take_most<K: Ord + Copy>(mut demands: Vec<Demand<K>>, room: &Exact) -> Vec<(K, u64)> {
    demands.retain(|demand| demand.count > 0);
    demands.sort_by(|one, other| other.each.cmp(&one.each).then(one.of.cmp(&other.of)));
    // Without all up to this one the rest fits, and without those before it alone it does not.
    let (mut fits, mut exceeds) = (demands.len(), 0);
    let excess = |left_out: usize| total(&demands[left_out..]) - room;
    if !excess(0).is_positive() {
        return Vec::new();
    }
    while fits - exceeds > 1 {
        let middle = exceeds + (fits - exceeds) / 2;
        if excess(middle).is_positive() {
            exceeds = middle;
        } else {
            fits = middle;
        }
    }
    let last = &demands[exceeds];
    let enough = (excess(exceeds) / &last.each).ceil().to_integer().to_u64().unwrap_or(u64::MAX);
    let whole = demands[..exceeds].iter().map(|demand| (demand.of, demand.count));
    whole.chain([(last.of, enough.min(last.count))]).collect()
}
