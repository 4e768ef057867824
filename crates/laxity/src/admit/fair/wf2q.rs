//! WF2Q+ and its hierarchy (Bennett, Zhang 1997).
//!
//! A server of rate r shares it among classes with rates g_i that sum to no more. Suppose packet p of
//! class i arrives when i has no other, and q is the last packet before it that the server chose
//! although its virtual finishing time is later, at virtual time V. What had started by then was no
//! packet that finishes before p, so what is served between q and p has virtual start and
//! finishing times between V and F_p: at most `r (F_p - V)`, for the rates sum to no more than r. The
//! virtual time passes at least as fast as the server works. So p is finished once the server has
//! done, from p's arrival,
//!
//! ```text
//! l_q + (r / g_i) l_p
//! ```
//!
//! and alike for the later packets of a backlogged period with the sum of their lengths: the flat
//! bound `h(A_i, g_i t) + l_max / C` (Theorem 4, part 3, for any arrival curve). Where the virtual time
//! is made to jump to the least start time, nothing has started before, and the time of the jump can
//! take the place of q's choice.
//!
//! In a hierarchy the server is itself a class n, with the rate g_n = r, of the server above. Its
//! head packet may have been served ahead: it starts at most `l_n / g_n` after the virtual time, l_n
//! being n's largest packet. The bytes that n has to send therefore take the server above as much
//! work as those of a leaf and `l_n / g_n` more. A server chooses its own head packet as soon as the
//! one before it is sent, and a packet that arrives afterwards waits for that: this is its q. All
//! levels together,
//!
//! ```text
//! h(A_i, g_i t) + l_max / C + sum over the classes n above i of 2 l_n / g_n
//! ```
//!
//! This composes like Bennett and Zhang's Theorem 1, from the worst-case fairness of each level,
//! whose terms are `l_i / g_i` for the leaf and `l_n / g_n` for each class above it, less a little.
//! That is less for leaves with a large share of their parents; it supposes that no level chooses
//! ahead.

use alloc::vec::Vec;

use crate::admit::tree::Tree;
use crate::admit::{Service, Traffic, Unbounded};
use crate::curve::Curve;
use crate::packet::ClassId;
use crate::sched::Share;
use crate::units::{Bytes, Nanos, Rate};

/// A link and the classes that share it by WF2Q+.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The link's rate.
    pub rate: Rate,
    /// The classes, numbered in their order: a hierarchy that [`Wf2q`](crate::sched::Wf2q) takes.
    pub classes: Vec<Member>,
}

/// A class of a [`Hierarchy`].
#[derive(Clone, Debug)]
pub struct Member {
    /// Its place in the hierarchy, and its rate.
    pub share: Share,
    /// What it sends; counts for leaves only.
    pub traffic: Traffic,
}

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// Where the rates sum to more than there is, from the top down. There the virtual time runs
    /// away from the classes' own times, so that whoever is always busy may lock the others out.
    pub overbooked: Vec<Overbooked>,
    /// The delay bound of each class, in their order. None below an overbooked class.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
}

/// A class, or the link, whose classes' rates sum to more than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overbooked {
    /// The class; `None` for the link.
    pub class: Option<ClassId>,
    /// What the rates sum to.
    pub asked: Rate,
    /// What it has.
    pub given: Rate,
}

/// By how much a level may be off because its virtual times are compared, and where a class comes
/// back begin, at whole nanoseconds, and so does the link.
const ROUNDING: Nanos = Nanos(3);

/// What the rates make of the classes, whatever they send but for its length.
pub(in crate::admit) struct Latencies {
    pub overbooked: Vec<Overbooked>,
    /// By how much each class is served later at the most than by a link of its rate to itself, in
    /// their order: the blocking by others below its parent and above. None below an overbooked class.
    pub late: Vec<Option<Nanos>>,
}

impl Hierarchy {
    /// Tests the rates at every level, and bounds every leaf's delay.
    pub fn test(&self) -> Guarantees {
        let tree = Tree::new(self.classes.iter().map(|class| class.share.parent));
        let Latencies { overbooked, late } = self.latencies(&tree);
        let bound = |(class, service): (&Member, Result<Service, Unbounded>)| {
            service?.delay(&class.traffic.arrival)
        };
        let services = self.services_of(&tree, late);
        let bounds = self.classes.iter().zip(services).map(bound).collect();
        Guarantees { overbooked, bounds }
    }

    /// By what each class is served, in their order.
    pub fn services(&self) -> Vec<Result<Service, Unbounded>> {
        let tree = Tree::new(self.classes.iter().map(|class| class.share.parent));
        let late = self.latencies(&tree).late;
        self.services_of(&tree, late).collect()
    }

    fn services_of(
        &self,
        tree: &Tree,
        late: Vec<Option<Nanos>>,
    ) -> impl Iterator<Item = Result<Service, Unbounded>> {
        let service = |(class, late): (usize, Option<Nanos>)| {
            if !tree.is_leaf(class) {
                return Err(Unbounded::NoGuarantee);
            }
            let late = late.ok_or(Unbounded::NotAdmitted)?;
            Ok(Service { curve: Curve::line(self.classes[class].share.rate), late })
        };
        late.into_iter().enumerate().map(service)
    }

    /// Tests the rates at every level, and says how late classes are served.
    pub(in crate::admit) fn latencies(&self, tree: &Tree) -> Latencies {
        let packets = self.largest_packets(tree);
        let mut overbooked = Vec::from_iter(self.overbooked(None, self.rate, tree.top()));
        let largest = tree.top().iter().map(|class| packets[*class]).max().unwrap_or_default();
        let below_link = self.rate.time_for(largest).saturating_add(ROUNDING);
        let below_link = overbooked.is_empty().then_some(below_link);
        let mut late = alloc::vec![below_link; self.classes.len()];
        for &class in &tree.top_down {
            let below = tree.children(class);
            if below.is_empty() {
                continue;
            }
            let rate = self.classes[class].share.rate;
            let over = self.overbooked(Some(ClassId(class as u32)), rate, below);
            let once = rate.time_for(packets[class]);
            let below_it = late[class]
                .filter(|_| over.is_none())
                .map(|late| [once, once, ROUNDING].into_iter().fold(late, Nanos::saturating_add));
            below.iter().for_each(|child| late[*child] = below_it);
            overbooked.extend(over);
        }
        Latencies { overbooked, late }
    }

    fn overbooked(
        &self,
        class: Option<ClassId>,
        given: Rate,
        below: &[usize],
    ) -> Option<Overbooked> {
        let rates = below.iter().map(|class| self.classes[*class].share.rate.0);
        let asked = Rate(rates.fold(0, u64::saturating_add));
        (asked > given).then_some(Overbooked { class, asked, given })
    }

    /// The largest packet below each class, or its own.
    fn largest_packets(&self, tree: &Tree) -> Vec<Bytes> {
        let mut largest: Vec<_> = self.classes.iter().map(|class| class.traffic.packet).collect();
        for &class in tree.top_down.iter().rev().filter(|class| !tree.is_leaf(**class)) {
            let below = tree.children(class).iter().map(|child| largest[*child]);
            largest[class] = below.max().unwrap_or_default();
        }
        largest
    }
}
