//! The book of a link under EDF: the exact test of Liebeherr, Wrege and Ferrari (1996), kept up to
//! date.
//!
//! With the words of [`admit::edf`](crate::admit::edf), all deadlines hold if and only if the slack
//!
//! ```text
//! r (t - theta) - sum_k A_k(t - d_k) - max { s_j : d_j > t }
//! ```
//!
//! is never negative for t >= min d_k. It is straight but at the times at which an arrival curve
//! jumps or bends, and least at one of these times or in the long run:
//!
//! * At a deadline it falls by the bucket of the flow, which holds its largest packet, and rises by
//!   that packet at most. So it is not less just before.
//! * Elsewhere it is continuous or rises.
//!
//! A flow that comes changes it by the straight parts of its own curve. [`EdfBook`] keeps these
//! times in order and asks whether slack remains beside a newcomer, without a walk over all flows.

mod hull;
mod line;
mod timeline;

#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;

use self::line::{Instant, Line, due};
use self::timeline::{Demand, Timeline};
use crate::admit::edf::{RealTime, System};
use crate::police::TokenBucket;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The flows that a link under EDF has promised to keep, and the test for one more.
///
/// Flows with the same contract count as one curve: what is kept grows with the number of different
/// contracts.
#[derive(Clone, Debug)]
pub struct EdfBook {
    rate: Rate,
    latency: Nanos,
    best_effort_packet: Option<Bytes>,
    timeline: Timeline,
    /// How often each contract is in the book.
    contracts: BTreeMap<Contract, u32>,
    flows: u32,
}

/// What a flow asks for, in an order.
type Contract = (Nanos, Vec<(Bytes, Rate)>, Bytes);

/// Why a flow does not come into the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Without a token bucket nobody knows how much comes.
    #[error("it has no token bucket")]
    NoArrival,
    /// A packet that no bucket holds never conforms.
    #[error("its largest packet of {packet} is empty, or no bucket holds it")]
    Packet {
        /// The packet.
        packet: Bytes,
    },
    /// A number is beyond what a book counts with: [`EdfBook::LONGEST`], [`Bytes::LIMIT`],
    /// [`Rate::LIMIT`].
    #[error("a time is longer than 19 h, a size above 1 TB, or a rate above 10 Tbit/s")]
    TooLarge,
    /// Its packets are longer than those that the link counts with.
    #[error("its largest packet of {packet} is longer than the longest on the link, {most}")]
    LongPacket {
        /// Its largest packet.
        packet: Bytes,
        /// The longest packet on the link.
        most: Bytes,
    },
    /// There is none to change.
    #[error("there is no such stream")]
    NoStream,
    /// The book is full: it has [`EdfBook::FLOWS`].
    #[error("there are 16 million flows already")]
    TooMany,
    /// A deadline would be missed.
    #[error("with it a deadline would be missed")]
    NoRoom(Offers),
}

/// What of a refused request would fit, each with all else as requested. `None` where nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request has these parts")]
pub struct Offers {
    /// The shortest deadline.
    pub deadline: Option<Nanos>,
    /// The highest rate of its slowest token bucket.
    pub rate: Option<Rate>,
    /// The largest burst of its slowest token bucket.
    pub bucket: Option<Bytes>,
}

impl EdfBook {
    /// The longest deadline, and the longest burst of a flow at its peak.
    pub const LONGEST: Nanos = Nanos(Instant::LONGEST);
    /// The most flows at once.
    pub const FLOWS: u32 = 1 << 24;

    /// The empty book of a link, or of a class of a hierarchy that is served at `rate` after a
    /// `latency`. Best effort sends packets of up to `best_effort_packet`, if there is any.
    pub fn new(rate: Rate, latency: Nanos, best_effort_packet: Option<Bytes>) -> Self {
        let rise = i128::from(rate.0);
        let link = Line { at_zero: -rise * i128::from(latency.0), rise };
        EdfBook {
            rate,
            latency,
            best_effort_packet,
            timeline: Timeline::new(link, nanobits(best_effort_packet.unwrap_or_default())),
            contracts: BTreeMap::new(),
            flows: 0,
        }
    }

    /// Enters a flow if all deadlines hold with it. Returns how long its packets take at most: its
    /// deadline or less.
    ///
    /// # Errors
    /// If a deadline would be missed, with what would fit; if the request says too little or too
    /// much. The book is then as before.
    pub fn admit(&mut self, flow: &RealTime) -> Result<Nanos, Refusal> {
        self.enter(flow).map_err(|refusal| match refusal {
            Refusal::NoRoom(_) => Refusal::NoRoom(self.offers(flow)),
            other => other,
        })?;
        Ok(self.bound(flow.deadline))
    }

    /// The same without what would fit, and without the bound.
    pub(super) fn enter(&mut self, flow: &RealTime) -> Result<(), Refusal> {
        if self.flows == EdfBook::FLOWS {
            return Err(Refusal::TooMany);
        }
        let demand = demand(flow)?;
        if !self.timeline.is_room(&demand) {
            return Err(Refusal::NoRoom(Offers::default()));
        }
        let count = self.contracts.entry(contract(flow)).or_default();
        *count += 1;
        self.timeline.add(&demand, *count == 1);
        self.flows += 1;
        Ok(())
    }

    /// Whether all deadlines hold beside one more flow.
    pub fn is_room(&self, flow: &RealTime) -> bool {
        demand(flow).is_ok_and(|demand| self.timeline.is_room(&demand))
    }

    /// Whether a request says enough and not too much, whatever is in the book.
    ///
    /// # Errors
    /// Any but [`NoRoom`](Refusal::NoRoom).
    pub fn check(flow: &RealTime) -> Result<(), Refusal> {
        demand(flow).map(|_| ())
    }

    /// The shortest deadline with which there is room for one more flow; `None` if there is none.
    pub fn shortest_deadline(&self, flow: &RealTime) -> Option<Nanos> {
        let mut changed = flow.clone();
        least(0, EdfBook::LONGEST.0, |deadline| {
            changed.deadline = Nanos(deadline);
            self.is_room(&changed)
        })
        .map(Nanos)
    }

    /// The largest packet that may be on the link.
    pub(super) fn largest_packet(&self) -> Bytes {
        let nanobits = self.timeline.largest_packet() / i128::from(NANOBITS_PER_BYTE);
        Bytes(u64::try_from(nanobits).unwrap_or(u64::MAX))
    }

    /// Takes out a flow with this contract. Returns whether there was one.
    ///
    /// Packets that it sent before are still due. The book does not know when they have left.
    pub fn release(&mut self, flow: &RealTime) -> bool {
        let (Ok(demand), Entry::Occupied(mut entry)) =
            (demand(flow), self.contracts.entry(contract(flow)))
        else {
            return false;
        };
        *entry.get_mut() -= 1;
        let is_last = *entry.get() == 0;
        if is_last {
            entry.remove();
        }
        self.timeline.remove(&demand, is_last);
        self.flows -= 1;
        true
    }

    /// How long a packet takes at most that is due at this time after its arrival: its deadline
    /// less the time that no interval as long or longer needs.
    pub fn bound(&self, deadline: Nanos) -> Nanos {
        let least = self.timeline.least_from(&deadline.into()).unwrap_or_default();
        let early = u64::try_from(least.max(0) / i128::from(self.rate.0)).unwrap_or(u64::MAX);
        deadline.saturating_sub(Nanos(early))
    }

    /// How many flows it holds.
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// The link with all flows, as the admission test takes it.
    pub fn system(&self) -> System {
        let real_time: Vec<RealTime> = self
            .contracts
            .iter()
            .flat_map(|(contract, count)| {
                core::iter::repeat_n(flow_with(contract), *count as usize)
            })
            .collect();
        self.system_of(real_time)
    }

    fn system_of(&self, real_time: Vec<RealTime>) -> System {
        let packets = real_time.iter().map(|flow| flow.packet);
        System {
            rate: self.rate,
            latency: self.latency,
            max_packet: packets.chain(self.best_effort_packet).max().unwrap_or_default(),
            real_time,
            best_effort_packet: self.best_effort_packet,
        }
    }

    /// The link with all flows of one contract as a single one, which sends that many times as
    /// much. It leaves as much for best effort as [`system`](Self::system) does.
    pub fn merged_system(&self) -> System {
        let merged = |(contract, &count): (&Contract, &u32)| {
            let mut flow = flow_with(contract);
            for line in &mut flow.arrival {
                let times = |number: u64| number.saturating_mul(count.into());
                *line = TokenBucket {
                    bucket: Bytes(times(line.bucket.0)),
                    rate: Rate(times(line.rate.0)),
                };
            }
            flow
        };
        self.system_of(self.contracts.iter().map(merged).collect())
    }

    /// What would fit of a flow, each part with all else as it is.
    pub fn offers(&self, flow: &RealTime) -> Offers {
        let with = |change: &dyn Fn(&mut RealTime)| {
            let mut changed = flow.clone();
            change(&mut changed);
            self.is_room(&changed)
        };
        let lines = flow.arrival.iter().enumerate();
        let Some((slowest, line)) = lines.min_by_key(|(_, line)| line.in_the_long_run()) else {
            return Offers::default();
        };
        // A longer deadline, a lower rate and a smaller burst never hurt.
        let longer = |by: u64| with(&|flow| flow.deadline = Nanos(by));
        let deadline = least(flow.deadline.0, EdfBook::LONGEST.0, longer).map(Nanos);
        let lower = |by: u64| with(&|flow| flow.arrival[slowest].rate = Rate(line.rate.0 - by));
        let rate = least(0, line.rate.0.saturating_sub(1), lower);
        let smaller =
            |by: u64| with(&|flow| flow.arrival[slowest].bucket = Bytes(line.bucket.0 - by));
        let bucket = least(0, line.bucket.0.saturating_sub(flow.packet.0), smaller);
        Offers {
            deadline,
            rate: rate.map(|by| Rate(line.rate.0 - by)),
            bucket: bucket.map(|by| Bytes(line.bucket.0 - by)),
        }
    }
}

/// The least number for which something holds, which holds for all larger ones then.
fn least(mut from: u64, mut to: u64, mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    if !holds(to) {
        return None;
    }
    while from < to {
        let middle = from.midpoint(to);
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    Some(to)
}

fn nanobits(size: Bytes) -> i128 {
    i128::from(size.0) * i128::from(NANOBITS_PER_BYTE)
}

/// What a flow demands, if it says enough.
fn demand(flow: &RealTime) -> Result<Demand, Refusal> {
    let RealTime { deadline, arrival, packet } = flow;
    let smallest = arrival.iter().map(|line| line.bucket).min().ok_or(Refusal::NoArrival)?;
    if packet.0 == 0 || *packet > smallest {
        return Err(Refusal::Packet { packet: *packet });
    }
    let is_large = |line: &TokenBucket| line.bucket > Bytes::LIMIT || line.rate > Rate::LIMIT;
    if *deadline > EdfBook::LONGEST || arrival.iter().any(is_large) {
        return Err(Refusal::TooLarge);
    }
    let segments = due(flow).ok_or(Refusal::TooLarge)?;
    Ok(Demand { segments, packet: nanobits(*packet) })
}

fn contract(flow: &RealTime) -> Contract {
    let mut lines: Vec<_> = flow.arrival.iter().map(|line| (line.bucket, line.rate)).collect();
    lines.sort_unstable();
    (flow.deadline, lines, flow.packet)
}

fn flow_with((deadline, lines, packet): &Contract) -> RealTime {
    let line = |&(bucket, rate): &(Bytes, Rate)| TokenBucket { bucket, rate };
    let arrival = lines.iter().map(line).collect();
    RealTime { deadline: *deadline, arrival, packet: *packet }
}
