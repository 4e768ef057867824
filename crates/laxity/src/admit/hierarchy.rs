//! Guarantees below shares of a link: for a class of the upper level, and inside it.
//!
//! The upper level is WF2Q+ (Bennett, Zhang 1997) as [`sched::Hierarchy`](crate::sched::Hierarchy)
//! runs it: a class i of rate r_i competes with its longest packet L_i. Let t be any time at which
//! the class began to wait or one of its packets was chosen. A packet of length l that leaves it
//! when it has sent W bytes from t on has a virtual finishing time of at most
//! `V(t) + (W - l + L_i) / r_i`. The packets served before it have finished by then, by their true
//! lengths. So the packet is late by the terms that the [bound of WF2Q+](super::fair) adds to the
//! fluid, and by the time that L_i - l take at r_i. The service curve of the class is
//!
//! ```text
//! beta(t) = r_i (t - theta_i)+
//! theta_i = L_i / r_i + b_top / C
//!           + sum over the classes n above i of ( b_c + L_n ) / r_n - [ L_n / r_N ]
//! ```
//!
//! where c is the class below n and N the one above, if there is any. Every head packet of i counts
//! as L_i bytes, so the bytes in its way are at most
//!
//! ```text
//! b_i = max over q /= i of [ L_q - r_q L_i / r_i ]+
//! ```
//!
//! b_i is zero if no other class on its level takes longer for its longest packet at its own rate.
//! If all lengths on one level are equal, theta_i is the latency of Stiliadis and Varma (1998) for
//! WF2Q+, `L_i / r_i + L_max / C`, except for the second term. On the levels above, the difference
//! between L_i and l does not count again: there it takes the place of work that the class has not
//! sent.
//!
//! [EDF](super::edf) inside a class is tested on `beta` instead of a link. A FIFO inside a class
//! delays every packet by no more than the horizontal distance of the sum of the arrival curves
//! from `beta` (Cruz 1991; Le Boudec, Thiran 2001).

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::edf::{self, RealTime};
use super::fair::{self, Overbooking};
use super::tree::Tree;
use super::{Breakdown, Source, Traffic, Unbounded, delay_bound_of_all};
use crate::curve::Curve;
use crate::sched::Share;
use crate::units::{Bytes, Nanos, Rate};

/// A link, its shares, and the schedulers inside them.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The link's rate.
    pub rate: Rate,
    /// The shares, numbered in their order.
    pub members: Vec<Member>,
}

/// A class of the upper level.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its place in the hierarchy, and its rate.
    pub share: Share,
    /// The scheduler inside; counts for leaves only.
    pub inside: Inside,
}

/// The scheduler and the classes of a leaf.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Inside {
    /// Packets of up to this length that are promised nothing.
    Nothing {
        /// The longest packet.
        packet: Bytes,
    },
    /// Classes that share a queue.
    Fifo(Vec<Traffic>),
    /// Classes that are served by their deadlines.
    Edf {
        /// The real-time classes.
        real_time: Vec<RealTime>,
        /// The largest best-effort packet; `None` when there is no best effort.
        best_effort_packet: Option<Bytes>,
        /// Demand of best effort in any interval of a system with this service, as
        /// [`System::test`](edf::System::test) takes it: [`Curve::zero`] for background, or the
        /// curve that its deadlines are made from.
        best_effort_demand: fn(&edf::System) -> Curve,
    },
}

/// The answer of the test.
#[derive(Clone, Debug)]
pub struct Guarantees {
    /// Where the rates sum to more than there is, from the top down.
    pub overbooked: Vec<Overbooking>,
    /// The guarantee of each share, in their order. [`NotAdmitted`](Unbounded::NotAdmitted) below
    /// an overbooked class, [`NoGuarantee`](Unbounded::NoGuarantee) for shares that are no leaves.
    pub leaves: Vec<Result<Guarantee, Unbounded>>,
}

/// The guarantee of a leaf.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// Its rate.
    pub rate: Rate,
    /// How late its service may begin: theta.
    pub latency: Nanos,
    /// The guarantees of the scheduler inside.
    pub inside: Admission,
}

/// The guarantees of a scheduler inside a leaf.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Admission {
    /// No more than the leaf's service.
    Nothing,
    /// The delay of every packet in the queue.
    Fifo(Result<Nanos, Unbounded>),
    /// Guarantees of EDF.
    Edf {
        /// The system that was tested; best-effort deadlines are made from its residual capacity.
        system: edf::System,
        /// The answer.
        admission: edf::Admission,
    },
}

impl Hierarchy {
    /// Tests the rates at every level, and the scheduler inside every leaf.
    pub fn test(&self) -> Guarantees {
        let tree = Tree::new(self.members.iter().map(|member| member.share.parent));
        let fair::Latencies { overbooked, late } = self.upper().latencies(&tree, head);
        let leaf = |(number, late): (usize, Option<Nanos>)| {
            let Member { share, inside } = &self.members[number];
            if !tree.is_leaf(number) {
                return Err(Unbounded::NoGuarantee);
            }
            let own = share.rate.time_for(inside.longest());
            let latency = own.saturating_add(late.ok_or(Unbounded::NotAdmitted)?);
            let inside = inside.test(share.rate, latency);
            Ok(Guarantee { rate: share.rate, latency, inside })
        };
        Guarantees { overbooked, leaves: late.into_iter().enumerate().map(leaf).collect() }
    }

    /// What the [latency](Guarantee::latency) of a leaf is made of; `None` below an overbooked
    /// class.
    pub fn latency_breakdown(&self, leaf: usize) -> Option<Breakdown> {
        let Member { share, inside } = &self.members[leaf];
        let mut breakdown = Breakdown::default();
        breakdown.add(Source::Head, share.rate.time_for(inside.longest()));
        self.upper().add_latency(&mut breakdown, leaf, head)?;
        Some(breakdown)
    }

    /// The shares as WF2Q+ takes them: a leaf competes with its longest packet.
    fn upper(&self) -> fair::Hierarchy {
        let member = |member: &Member| fair::Member {
            share: member.share,
            traffic: Traffic { arrival: Vec::new(), packet: member.inside.longest() },
        };
        fair::Hierarchy { rate: self.rate, classes: self.members.iter().map(member).collect() }
    }
}

/// The length of every head packet of a leaf.
fn head(leaf: &fair::Member) -> Bytes {
    leaf.traffic.packet
}

impl Inside {
    /// The longest packet, with which a [`Leaf`](crate::sched::Leaf) competes.
    pub fn longest(&self) -> Bytes {
        match self {
            Inside::Nothing { packet } => *packet,
            Inside::Fifo(traffic) => {
                traffic.iter().map(|traffic| traffic.packet).max().unwrap_or_default()
            }
            Inside::Edf { real_time, best_effort_packet, .. } => {
                let packets = real_time.iter().map(|class| class.packet);
                packets.chain(*best_effort_packet).max().unwrap_or_default()
            }
        }
    }

    fn test(&self, rate: Rate, latency: Nanos) -> Admission {
        match self {
            Inside::Nothing { .. } => Admission::Nothing,
            Inside::Fifo(traffic) => {
                let arrivals = traffic.iter().map(|traffic| &traffic.arrival[..]);
                Admission::Fifo(delay_bound_of_all(arrivals, &Curve::line(rate), latency))
            }
            Inside::Edf { real_time, best_effort_packet, best_effort_demand } => {
                let system = edf::System {
                    rate,
                    latency,
                    max_packet: self.longest(),
                    real_time: real_time.clone(),
                    best_effort_packet: *best_effort_packet,
                };
                let demand = best_effort_packet.map(|_| best_effort_demand(&system));
                let admission = system.test(&demand.unwrap_or_else(Curve::zero));
                Admission::Edf { system, admission }
            }
        }
    }
}
