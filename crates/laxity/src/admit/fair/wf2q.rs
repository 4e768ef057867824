//! WF2Q+ and its hierarchy (Bennett, Zhang 1997).
//!
//! A server of rate r shares it among classes with rates g_j that sum to G <= r. Suppose packet p
//! of class i arrives when i has no other. Let q be the last packet before p that the server chose
//! although its virtual finishing time is later, at virtual time V. No packet that finishes before
//! p had started by then. So the packets served between q and p have virtual start and finishing
//! times between V and F_p. They sum to at most `(G - g_q) (F_p - V)`, because by F_q the class of
//! q has finished only what is sent with q. The virtual time passes at least as fast as the server
//! works. If q was chosen before p came, the server finishes p once it has done, from p's arrival,
//!
//! ```text
//! l_q + (G - g_q) l_p / g_i  =  (r / g_i) l_p + [ l_q - (r - G + g_q) l_p / g_i ]
//! ```
//!
//! G is the sum over the classes that may have packets: an [absent](Traffic::is_absent) one is
//! never chosen, so its rate counts among what is not promised.
//!
//! In a backlogged period of class i, the server chooses a packet that finishes later only while
//! the head packet of i has not started. So `F_p - V` is at least the time that the head packet
//! takes at g_i. The expression stays the same, with the sum of the lengths in the first term and
//! the length m_i of a head packet, no more than l_p, in the brackets. For any arrival curve this
//! is the flat bound
//!
//! ```text
//! h(A_i, g_i t) + b_i / C,    b_i = max over q /= i of [ l_q - (r - G + g_q) m_i / g_i ]+
//! ```
//!
//! Theorem 4, part 3, has l_max for b_i. The brackets are the worst-case fair index of its part 1,
//! `l_i + (l_max - l_i) g_i / r`, which supposes that all packets of i have one length. Where the
//! virtual time jumps to the least start time, nothing has started before, and the time of the jump
//! can take the place of q's choice.
//!
//! In a hierarchy the server is itself a class n, with the rate g_n = r, of the server N above. A
//! server chooses its own head packet as soon as the one before it begins to be sent. A packet that
//! arrives afterwards waits for that one: it is the packet's q. The head packet may also have been
//! served ahead. The one before it, of length l, had started by the virtual time V of N when it was
//! chosen, so the head packet starts at `V + l / g_n` or earlier. If N is a class, too, its virtual
//! time counts l as soon as the next packet is head, so the lead is at most `l / g_n - l / g_N`.
//! The link's virtual time advances while it sends l. The bytes that n has to send cost N as much
//! work as those of a leaf that is ahead of its time by the same amount. Over all levels, for the
//! classes n above i, each with c the class below it on the way to i, the bound is
//!
//! ```text
//! h(A_i, g_i t) + b_top / C + sum over n of ( b_c + l_n ) / g_n - [ l_n / g_N where N is a class ]
//! ```
//!
//! with l_n the largest packet below n. This composes like Bennett and Zhang's Theorem 1, which
//! sums the worst-case fair indices of the levels. It has all of their terms except the share of
//! the top level's head packet, which the scheduler here chooses one packet earlier.

use alloc::vec::Vec;

use num_traits::Zero;

use super::blocking::{Blocker, Blocking};
use crate::admit::breakdown::ExactTerm;
use crate::admit::tree::Tree;
use crate::admit::{Breakdown, Service, Source, Traffic, Unbounded};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact_bytes, exact_nanos};
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
    /// Its traffic; counts for leaves only.
    pub traffic: Traffic,
}

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// Overbooking classes, from the top down. There the virtual time runs away from the tags of
    /// classes, so that a class that is always busy may lock the others out.
    pub overbooked: Vec<Overbooking>,
    /// The delay bound of each class, in their order. None below an overbooked class.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
}

/// A class, or the link, whose classes' rates sum to more than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overbooking {
    /// The class; `None` for the link.
    pub class: Option<ClassId>,
    /// Sum of the rates.
    pub asked: Rate,
    /// The rate available to them.
    pub given: Rate,
}

/// By how much a level may be off because its virtual times are compared, and where a class comes
/// back begin, at whole nanoseconds, and so does the link.
const ROUNDING: Nanos = Nanos(3);

/// No packet is shorter.
const LEAST: Bytes = Bytes(1);

/// The latencies that follow from the rates, for any traffic.
pub(in crate::admit) struct Latencies {
    pub overbooked: Vec<Overbooking>,
    /// The latency of each class, in their order, beyond a link of its own rate: the blocking by
    /// others below its parent and above. `None` below an overbooked class.
    pub late: Vec<Option<Nanos>>,
}

impl Hierarchy {
    /// Tests the rates at every level, and bounds every leaf's delay.
    pub fn test(&self) -> Guarantees {
        let tree = Tree::new(self.classes.iter().map(|class| class.share.parent));
        let Latencies { overbooked, late } = self.latencies(&tree, |_| LEAST);
        let classes = self.classes.iter().zip(self.services_of(&tree, late));
        let bounds = classes.map(|(class, service)| service?.delay(&class.traffic.arrival));
        Guarantees { overbooked, bounds: bounds.collect() }
    }

    /// What the delay bound of a class is made of, if it has one.
    pub fn breakdown(&self, class: usize) -> Option<Breakdown> {
        let service = self.services().swap_remove(class).ok()?;
        let mut breakdown = service.breakdown(&self.classes[class].traffic.arrival, self.rate)?;
        self.add_latency(&mut breakdown, class, |_| LEAST)?;
        Some(breakdown)
    }

    /// Adds what the [latency](Latencies) of a class is made of.
    pub(in crate::admit) fn add_latency(
        &self,
        breakdown: &mut Breakdown,
        class: usize,
        head: impl Fn(&Member) -> Bytes,
    ) -> Option<()> {
        let tree = Tree::new(self.classes.iter().map(|class| class.share.parent));
        let largest = self.below_each(&tree, |member| member.traffic.packet, Ord::max);
        let mut blocked = alloc::vec![None; self.classes.len()];
        self.latencies_with(&tree, head, &mut |class, bytes, rate| {
            blocked[class] = Some((bytes.clone(), rate));
        });
        let up = |class: &usize| self.classes[*class].share.parent.map(ClassId::index);
        let mut terms = Vec::new();
        for level in core::iter::successors(Some(class), up) {
            if level != class {
                let ahead = self.ahead(level, &largest);
                terms.push(ExactTerm::time(Source::Ahead(ClassId(level as u32)), ahead));
            }
            let (bytes, rate) = blocked[level].take()?;
            let blocking = Source::Blocking(self.blocking_class(&tree, level, &largest));
            terms.push(ExactTerm::bytes(blocking, bytes, &bytes_per_nano(rate)));
            terms.push(ExactTerm::time(Source::Rounding, exact_nanos(ROUNDING)));
        }
        breakdown.add_exact(terms)
    }

    /// The class with the longest packet of those beside a class.
    fn blocking_class(&self, tree: &Tree, class: usize, largest: &[Bytes]) -> Option<ClassId> {
        let beside = match self.classes[class].share.parent {
            None => tree.top(),
            Some(parent) => tree.children(parent.index()),
        };
        let others = beside.iter().copied().filter(|other| *other != class);
        others.rev().max_by_key(|other| largest[*other]).map(|other| ClassId(other as u32))
    }

    /// The service of each class, in their order.
    pub fn services(&self) -> Vec<Result<Service, Unbounded>> {
        let tree = Tree::new(self.classes.iter().map(|class| class.share.parent));
        let late = self.latencies(&tree, |_| LEAST).late;
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

    /// Tests the rates at every level, and computes the latency of each leaf whose head packets
    /// have at least this many bytes.
    pub(in crate::admit) fn latencies(
        &self,
        tree: &Tree,
        head: impl Fn(&Member) -> Bytes,
    ) -> Latencies {
        self.latencies_with(tree, head, &mut |_, _, _| {})
    }

    /// The same, with the bytes by which each class may be blocked below the one above it, and that
    /// one's rate.
    fn latencies_with(
        &self,
        tree: &Tree,
        head: impl Fn(&Member) -> Bytes,
        blocked_by: &mut dyn FnMut(usize, &Exact, Rate),
    ) -> Latencies {
        let largest = self.below_each(tree, |member| member.traffic.packet, Ord::max);
        let heads = self.below_each(tree, head, Ord::min);
        let mut late: Vec<Option<Exact>> = alloc::vec![None; self.classes.len()];
        let is_present = self.present(tree);
        let mut overbooked = Vec::new();
        let servers = tree.top_down.iter().copied().filter(|class| !tree.is_leaf(*class));
        for server in [None].into_iter().chain(servers.map(Some)) {
            let (below, rate, ahead) = match server {
                None => (tree.top(), self.rate, Some(Exact::zero())),
                Some(class) => {
                    let ahead = late[class].as_ref().map(|late| late + self.ahead(class, &largest));
                    (tree.children(class), self.rate(class), ahead)
                }
            };
            let below: Vec<_> = below.iter().copied().filter(|class| is_present[*class]).collect();
            let rates = below.iter().map(|class| self.rate(*class).0);
            let asked = Rate(rates.fold(0, u64::saturating_add));
            if asked > rate {
                let class = server.map(|class| ClassId(class as u32));
                overbooked.push(Overbooking { class, asked, given: rate });
            } else if let Some(ahead) = ahead.filter(|_| rate.0 > 0) {
                let blockers = self.blockers(rate, &below, &largest);
                let blocking = Blocking::new(&blockers);
                for (&class, blocker) in below.iter().zip(blockers) {
                    let bytes = blocking.by_others(blocker, heads[class], self.rate(class));
                    blocked_by(class, &bytes, rate);
                    let blocked = bytes / bytes_per_nano(rate);
                    late[class] = Some(blocked + &ahead + exact_nanos(ROUNDING));
                }
            }
        }
        let rounded = |late: &Exact| ceil_nanos(late).unwrap_or(Nanos::MAX);
        Latencies { overbooked, late: late.iter().map(|late| late.as_ref().map(rounded)).collect() }
    }

    /// How long after the virtual time of the server above the head packet of a class may start, in
    /// ns.
    fn ahead(&self, class: usize, largest: &[Bytes]) -> Exact {
        let packet = exact_bytes(largest[class]);
        let own = &packet / bytes_per_nano(self.rate(class));
        match self.classes[class].share.parent {
            Some(above) => own - packet / bytes_per_nano(self.rate(above.index())),
            None => own,
        }
    }

    /// The classes that may delay one another at a server.
    fn blockers(&self, rate: Rate, below: &[usize], largest: &[Bytes]) -> Vec<Blocker> {
        let promised: u64 = below.iter().map(|class| self.rate(*class).0).sum();
        let kept = |class: usize| Rate(rate.0 - promised + self.rate(class).0);
        let blocker = |&class: &usize| Blocker { packet: largest[class], kept: kept(class) };
        below.iter().map(blocker).collect()
    }

    /// Whether each class may have packets: a leaf that is not absent, or one above such a leaf.
    fn present(&self, tree: &Tree) -> Vec<bool> {
        let mut present: Vec<_> =
            self.classes.iter().map(|class| !class.traffic.is_absent()).collect();
        for &class in tree.top_down.iter().rev().filter(|class| !tree.is_leaf(**class)) {
            present[class] = tree.children(class).iter().any(|child| present[*child]);
        }
        present
    }

    fn rate(&self, class: usize) -> Rate {
        self.classes[class].share.rate
    }

    /// For each class, the value of the chosen child; for a leaf its own.
    fn below_each(
        &self,
        tree: &Tree,
        of_leaf: impl Fn(&Member) -> Bytes,
        chosen: fn(Bytes, Bytes) -> Bytes,
    ) -> Vec<Bytes> {
        let mut all: Vec<_> = self.classes.iter().map(of_leaf).collect();
        for &class in tree.top_down.iter().rev().filter(|class| !tree.is_leaf(**class)) {
            let below = tree.children(class).iter().map(|child| all[*child]);
            all[class] = below.reduce(chosen).unwrap_or_default();
        }
        all
    }
}
