//! The longest wait of a class of WF2Q+ for a packet that finishes later, among any number of
//! classes.
//!
//! For a class i with head packets of m bytes or more at the rate g_i that is, as derived
//! [there](super::wf2q), the largest value of the lines
//!
//! ```text
//! l_q - (r - G + g_q) z,    z = m / g_i,    q /= i
//! ```
//!
//! which are found by the upper envelope of all, and that of the lines which are not on it.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::curve::{Exact, exact};
use crate::units::{Bytes, Rate};

/// A class that may be in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocker {
    /// Its place among all.
    pub class: usize,
    /// Its longest packet l_q.
    pub packet: Bytes,
    /// The rate not available to others: `r - G + g_q`.
    pub kept: Rate,
}

/// The classes of one server, ready for the question of each.
pub(super) struct Blocking {
    /// From z = 0 on, each line the highest from its z up to the next one's.
    highest: Vec<Highest>,
    /// The same of those that are never the highest.
    rest: Vec<Highest>,
}

#[derive(Clone, Copy, Debug)]
struct Highest {
    from: Ratio,
    line: Blocker,
}

impl Blocking {
    pub(super) fn new(mut classes: Vec<Blocker>) -> Blocking {
        classes.sort_unstable_by_key(|line| (Reverse(line.packet), line.kept, line.class));
        let highest = envelope(&classes);
        let mut on_it = highest.iter().map(|highest| highest.line.class).peekable();
        // Both are in the same order.
        classes.retain(|line| on_it.next_if_eq(&line.class).is_none());
        Blocking { highest, rest: envelope(&classes) }
    }

    /// The bytes of others that may be served before a head packet of at least `head` bytes of this
    /// class, whose rate is `rate`.
    pub(super) fn by_others(&self, class: usize, head: Bytes, rate: Rate) -> Exact {
        let z = Ratio { over: head.0.into(), under: rate.0.max(1).into() };
        let first = highest_at(&self.highest, z);
        let others = match self.highest.get(first) {
            Some(Highest { line, .. }) if line.class == class => {
                let beside = [first.checked_sub(1), Some(first + 1)].into_iter().flatten();
                let beside = beside.filter_map(|at| self.highest.get(at));
                let all = beside.chain(self.rest.get(highest_at(&self.rest, z)));
                all.map(|highest| highest.line.at(z)).max()
            }
            others => others.map(|highest| highest.line.at(z)),
        };
        let scaled = Exact::from_integer(others.unwrap_or_default().max(0).into());
        scaled / exact(rate.0.max(1))
    }
}

/// z, of bytes and bits a second.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    fn is_up_to(self, other: Ratio) -> bool {
        self.over.saturating_mul(other.under) <= other.over.saturating_mul(self.under)
    }
}

impl Blocker {
    /// The line's value at z, times the denominator.
    fn at(&self, z: Ratio) -> i128 {
        let kept = i128::from(self.kept.0).saturating_mul(z.over);
        i128::from(self.packet.0).saturating_mul(z.under).saturating_sub(kept)
    }

    /// Where this line hands over to a lower one that falls less.
    fn until(&self, next: &Blocker) -> Ratio {
        Ratio {
            over: i128::from(self.packet.0) - i128::from(next.packet.0),
            under: i128::from(self.kept.0) - i128::from(next.kept.0),
        }
    }
}

/// The upper envelope of lines from z = 0 on, sorted by decreasing value there.
fn envelope(lines: &[Blocker]) -> Vec<Highest> {
    let mut hull: Vec<Highest> = Vec::new();
    for &line in lines {
        if hull.last().is_some_and(|last| last.line.kept <= line.kept) {
            continue;
        }
        while hull.len() > 1
            && hull.last().is_some_and(|last| last.line.until(&line).is_up_to(last.from))
        {
            hull.pop();
        }
        let from = hull.last().map_or(Ratio { over: 0, under: 1 }, |last| last.line.until(&line));
        hull.push(Highest { from, line });
    }
    hull
}

/// The place of the highest line at z.
fn highest_at(hull: &[Highest], z: Ratio) -> usize {
    hull.partition_point(|highest| highest.from.is_up_to(z)).saturating_sub(1)
}

#[cfg(test)]
mod tests;
