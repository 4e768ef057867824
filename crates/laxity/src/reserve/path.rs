//! Reservations along paths of a network whose links serve by deadline.
//!
//! A flow asks for a delay D from end to end. It gets a deadline d_i on each link i of its path. In
//! front of each link but the first it is held until it keeps to its arrival curve again.
//!
//! **Theorem.** Let every link pass the exact test of EDF with the arrival curves with which flows
//! enter the network. Then no packet takes longer than all d_i and the propagation delays together.
//!
//! *Proof.* What comes out of a regulator keeps to the arrival curve. So the test holds on each
//! link, and no packet takes longer than d_i there. A regulator behind a server that keeps the
//! order of a flow does not add to its longest delay: a packet that took that delay is not held,
//! and an early one is held no longer (Le Boudec, Thiran 2001, theorem 1.5.2). ∎
//!
//! So no link depends on another one. Let m_i be the shortest deadline that link i admits.
//!
//! **Corollary.** D can be split if and only if all m_i and the propagation delays together are at
//! most D, because a longer deadline never hurts on a link. The path with the least such sum is a
//! shortest path.
//!
//! What is left of D is [split](Split) over the links. Nagarajan, Kurose and Towsley (1993) compare
//! an even split with one by load.

mod fastest;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::demand::Demand;
use super::edf::{EdfBook, Refusal};
use crate::admit::edf::RealTime;
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos, Rate};

crate::id! {
    /// A node of a network.
    pub struct NodeId;
    /// A link of a network in one direction: its position among those that a [`PathBook`] is made
    /// of.
    pub struct LinkId;
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever describes a network")]
pub struct Link {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// Bits a second.
    pub rate: Rate,
    /// How late its service may be.
    pub latency: Nanos,
    /// Propagation.
    pub delay: Nanos,
    /// The largest packet of best effort, if there is any.
    pub best_effort_packet: Option<Bytes>,
}

/// How the delay that is left beside the shortest deadlines is split over the links of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these two are compared in the literature")]
pub enum Split {
    /// The same to each.
    Evenly,
    /// In proportion to what of each link is promised with the newcomer: where little is left, a
    /// longer deadline leaves more room to others.
    #[default]
    ByLoad,
}

/// Why a path does not get a reservation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathRefusal {
    /// The request says too little or too much.
    #[error(transparent)]
    Request(Refusal),
    /// It is no path.
    #[error("a path is of links, each from where the one before leads to, and none twice")]
    NoPath,
    /// It does not fit.
    #[error("no packet could be there in time")]
    NoRoom(NoRoom),
}

/// What stands against a reservation along a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a path has these")]
pub struct NoRoom {
    /// The shortest deadline that each link of the path admits; `None` where none does.
    pub shortest: Vec<Option<Nanos>>,
    /// The shortest delay from end to end: the sum of these and of propagation. `None` if a link
    /// admits none.
    pub within: Option<Nanos>,
}

/// The flows that the links of a network have promised to keep, and the test for one more.
#[derive(Clone, Debug)]
pub struct PathBook {
    links: Vec<BookedLink>,
    /// The links out of each node.
    leaving: Vec<Vec<LinkId>>,
}

/// A link with what is promised on it.
#[derive(Clone, Debug)]
struct BookedLink {
    link: Link,
    book: EdfBook,
    demand: Demand,
}

impl PathBook {
    /// The empty book of a network.
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        let booked = |link: Link| BookedLink {
            book: EdfBook::new(link.rate, link.latency, link.best_effort_packet),
            demand: Demand::default(),
            link,
        };
        let links: Vec<BookedLink> = links.into_iter().map(booked).collect();
        let nodes = links.iter().map(|one| one.link.from.index().max(one.link.to.index()) + 1);
        let mut leaving = alloc::vec![Vec::new(); nodes.max().unwrap_or_default()];
        for (number, one) in links.iter().enumerate() {
            leaving[one.link.from.index()].push(LinkId::from_index(number));
        }
        PathBook { links, leaving }
    }

    /// Enters a flow along a path if it is there within `flow.deadline` from end to end. Returns
    /// its deadlines on the links, whose sum with propagation is that time.
    ///
    /// # Errors
    /// If it does not fit, or the request makes no sense. The book is then as before.
    pub fn admit(
        &mut self,
        path: &[LinkId],
        flow: &RealTime,
        split: Split,
    ) -> Result<Vec<Nanos>, PathRefusal> {
        if !self.is_path(path) {
            return Err(PathRefusal::NoPath);
        }
        EdfBook::check(flow).map_err(PathRefusal::Request)?;
        let shortest: Vec<_> = path.iter().map(|link| self.shortest(*link, flow)).collect();
        let within = self.within(path, &shortest);
        let left = within.and_then(|Nanos(within)| flow.deadline.0.checked_sub(within));
        let (Some(left), Some(shortest)) = (left, shortest.iter().copied().collect()) else {
            return Err(PathRefusal::NoRoom(NoRoom { shortest, within }));
        };
        let deadlines = self.split(path, flow, shortest, left, split);
        self.enter(path, flow, &deadlines)?;
        Ok(deadlines)
    }

    /// Enters a flow with a deadline for each link of its path.
    ///
    /// # Errors
    /// If it does not fit, or the request makes no sense. The book is then as before.
    pub fn enter(
        &mut self,
        path: &[LinkId],
        flow: &RealTime,
        deadlines: &[Nanos],
    ) -> Result<(), PathRefusal> {
        if !self.is_path(path) || path.len() != deadlines.len() {
            return Err(PathRefusal::NoPath);
        }
        for (place, (link, deadline)) in path.iter().zip(deadlines).enumerate() {
            let here = &mut self.links[link.index()];
            let with = RealTime { deadline: *deadline, ..flow.clone() };
            if let Err(refusal) = here.book.enter(&with) {
                self.release(&path[..place], flow, &deadlines[..place]);
                return Err(match refusal {
                    Refusal::NoRoom(_) => {
                        let shortest: Vec<_> =
                            path.iter().map(|link| self.shortest(*link, flow)).collect();
                        let within = self.within(path, &shortest);
                        PathRefusal::NoRoom(NoRoom { shortest, within })
                    }
                    senseless => PathRefusal::Request(senseless),
                });
            }
            here.demand.add(&with);
        }
        Ok(())
    }

    /// Takes out a flow that was entered with these deadlines along this path. Returns whether it
    /// was there.
    ///
    /// What it sent before is still felt: see [`settling_time`](Self::settling_time).
    pub fn release(&mut self, path: &[LinkId], flow: &RealTime, deadlines: &[Nanos]) -> bool {
        let mut was_there = path.len() == deadlines.len();
        for (link, deadline) in path.iter().zip(deadlines) {
            let here = &mut self.links[link.index()];
            let with = RealTime { deadline: *deadline, ..flow.clone() };
            if here.book.release(&with) {
                here.demand.remove(&with);
            } else {
                was_there = false;
            }
        }
        was_there
    }

    /// After this time a flow that ends is no longer felt on any link of its path, if promised
    /// packets go before all others. Its last packet leaves link i within the deadlines and the
    /// propagation up to there; from then on it takes [W](super::settling) of that link, for which
    /// this counts with the slowest token bucket of each flow. `None` if a link is promised as a
    /// whole.
    pub fn settling_time(&self, path: &[LinkId], deadlines: &[Nanos]) -> Option<Nanos> {
        let (mut arrives, mut longest) = (Nanos::ZERO, Nanos::ZERO);
        for (link, deadline) in path.iter().zip(deadlines) {
            let here = &self.links[link.index()];
            longest = longest.max(arrives.saturating_add(here.settling_time()?));
            arrives = arrives.saturating_add(*deadline).saturating_add(here.link.delay);
        }
        Some(longest.max(arrives))
    }

    /// The highest rate, and the largest burst, of the slowest token bucket with which a flow that
    /// is refused would fit, each with all else as requested. To a hundredth.
    pub fn offers(&self, path: &[LinkId], flow: &RealTime) -> (Option<Rate>, Option<Bytes>) {
        let Some(slowest) =
            (0..flow.arrival.len()).min_by_key(|line| flow.arrival[*line].in_the_long_run())
        else {
            return (None, None);
        };
        let TokenBucket { bucket, rate } = flow.arrival[slowest];
        let fits = |bucket: u64, rate: u64| {
            let mut flow = flow.clone();
            flow.arrival[slowest] = TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
            let shortest: Vec<_> = path.iter().map(|link| self.shortest(*link, &flow)).collect();
            self.within(path, &shortest).is_some_and(|within| within <= flow.deadline)
        };
        let rate = largest(1, rate.0, |rate| fits(bucket.0, rate));
        let bucket =
            largest(flow.packet.0, bucket.0, |bucket| fits(bucket, flow.arrival[slowest].rate.0));
        (rate.map(Rate), bucket.map(Bytes))
    }

    /// A link.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()].link
    }

    /// The flows on a link.
    pub fn on_link(&self, link: LinkId) -> &EdfBook {
        &self.links[link.index()].book
    }

    /// What of a link is promised in the long run.
    pub fn promised(&self, link: LinkId) -> Rate {
        self.links[link.index()].demand.rate()
    }

    fn is_path(&self, path: &[LinkId]) -> bool {
        let follows = |pair: &[LinkId]| self.link(pair[0]).to == self.link(pair[1]).from;
        let is_first = |(place, link): (usize, &LinkId)| !path[..place].contains(link);
        !path.is_empty()
            && path.iter().all(|link| link.index() < self.links.len())
            && path.windows(2).all(follows)
            && path.iter().enumerate().all(is_first)
    }

    /// The shortest deadline of a flow that a link admits.
    fn shortest(&self, link: LinkId, flow: &RealTime) -> Option<Nanos> {
        self.links[link.index()].book.shortest_deadline(flow)
    }

    /// The delay from end to end with deadlines on links.
    fn within(&self, path: &[LinkId], deadlines: &[Option<Nanos>]) -> Option<Nanos> {
        let mut hops = path.iter().zip(deadlines);
        hops.try_fold(Nanos::ZERO, |sum, (link, deadline)| {
            Some(sum.saturating_add((*deadline)?).saturating_add(self.link(*link).delay))
        })
    }

    /// Adds what is left to the shortest deadlines.
    fn split(
        &self,
        path: &[LinkId],
        flow: &RealTime,
        mut deadlines: Vec<Nanos>,
        left: u64,
        split: Split,
    ) -> Vec<Nanos> {
        let own = TokenBucket::slowest(&flow.arrival).map_or(0, |line| u128::from(line.rate.0));
        // In millionths of the link, and a little more, so that no sum is zero.
        let share = |link: &LinkId| {
            let BookedLink { link, demand, .. } = &self.links[link.index()];
            let rate = u128::from(demand.rate().0) + own;
            1 + rate * 1_000_000 / u128::from(link.rate.0.max(1))
        };
        let shares: Vec<u128> = match split {
            Split::Evenly => path.iter().map(|_| 1).collect(),
            Split::ByLoad => path.iter().map(share).collect(),
        };
        let (mut left, mut sum) = (u128::from(left), shares.iter().sum::<u128>());
        for (deadline, share) in deadlines.iter_mut().zip(shares) {
            let more = left * share / sum;
            *deadline = deadline.saturating_add(Nanos(more as u64));
            (left, sum) = (left - more, sum - share);
        }
        deadlines
    }
}

impl BookedLink {
    /// W of [`settling`](super::settling), with the slowest token bucket of each flow.
    fn settling_time(&self) -> Option<Nanos> {
        let Link { rate, latency, .. } = self.link;
        self.demand.settling_time(rate, latency, self.book.largest_packet())
    }
}

/// The largest number for which something holds that holds for all smaller ones, to a hundredth of
/// `below`, which it does not hold for.
fn largest(least: u64, below: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if least >= below || !holds(least) {
        return None;
    }
    let (mut known, mut beyond) = (least, below);
    while beyond - known > below / 100 + 1 {
        let middle = known.midpoint(beyond);
        if holds(middle) {
            known = middle;
        } else {
            beyond = middle;
        }
    }
    Some(known)
}
