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
//! which are found by the upper envelope of all, and that of the lines which are not on it. Turned
//! upside down, below the longest packet, they are lines of arrival curves.

use alloc::vec::Vec;

use crate::admit::lines::{Lowest, Meeting, lowest};
use crate::curve::{Exact, exact};
use crate::police::TokenBucket;
use crate::units::{Bytes, Rate};

/// A class that may be in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocker {
    /// Its longest packet l_q.
    pub packet: Bytes,
    /// The rate not available to others: `r - G + g_q`.
    pub kept: Rate,
}

impl Blocker {
    fn below(self, longest: Bytes) -> TokenBucket {
        TokenBucket { bucket: Bytes(longest.0 - self.packet.0), rate: self.kept }
    }
}

/// The classes of one server, ready for the question of each.
pub(super) struct Blocking {
    /// The longest packet of all.
    longest: Bytes,
    /// Lines that are the lowest below it somewhere, and so the highest.
    highest: Vec<Lowest>,
    /// The same of the others.
    rest: Vec<Lowest>,
}

impl Blocking {
    pub(super) fn new(classes: &[Blocker]) -> Blocking {
        let longest = classes.iter().map(|class| class.packet).max().unwrap_or_default();
        let mut lines: Vec<_> = classes.iter().map(|class| class.below(longest)).collect();
        let highest = lowest(&lines);
        lines.sort_unstable_by_key(|line| (line.bucket, line.rate));
        // Both are in the same order.
        let mut on_it = highest.iter().map(|highest| highest.line).peekable();
        lines.retain(|line| on_it.next_if_eq(line).is_none());
        Blocking { longest, highest, rest: lowest(&lines) }
    }

    /// The bytes of others that may be served before a head packet of at least `head` bytes of this
    /// class, whose rate is `rate`.
    pub(super) fn by_others(&self, class: Blocker, head: Bytes, rate: Rate) -> Exact {
        let z = Meeting { bytes: head.0, rate: rate.0.max(1) };
        let first = lowest_at(&self.highest, z);
        let others = match self.highest.get(first) {
            Some(Lowest { line, .. }) if *line == class.below(self.longest) => {
                let beside = [first.checked_sub(1), Some(first + 1)].into_iter().flatten();
                let beside = beside.filter_map(|at| self.highest.get(at));
                let all = beside.chain(self.rest.get(lowest_at(&self.rest, z)));
                all.map(|highest| self.height(&highest.line, z)).max()
            }
            others => others.map(|highest| self.height(&highest.line, z)),
        };
        Exact::from_integer(others.unwrap_or_default().max(0).into()) / exact(z.rate)
    }

    /// The value of a line at z, times the denominator of z.
    fn height(&self, line: &TokenBucket, z: Meeting) -> i128 {
        let product = |one: u64, other: u64| i128::from(one).saturating_mul(other.into());
        product(self.longest.0 - line.bucket.0, z.rate)
            .saturating_sub(product(line.rate.0, z.bytes))
    }
}

/// The place of the lowest line at z.
fn lowest_at(lines: &[Lowest], z: Meeting) -> usize {
    lines.partition_point(|line| line.since.cmp(&z).is_le()).saturating_sub(1)
}

#[cfg(test)]
mod tests;
