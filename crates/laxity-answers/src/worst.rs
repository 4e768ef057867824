//! The longest delays that a search finds, beside those that are proved.

use laxity_adversary::worst::{Longest, Place, Target, csv};
use laxity_plan::Plan;
use serde::Serialize;

use crate::network::nodes;

pub use laxity_adversary::worst::TimedPacket;

/// The longest delay that was found of a class along a path, beside the one that is proved.
#[derive(Clone, Debug, Serialize)]
pub struct WorstCase {
    /// The class.
    pub class: String,
    /// The nodes from the sender to the receiver; none on a link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// The proved delay in ns.
    pub bound_ns: u64,
    /// The longest delay in ns.
    pub found_ns: u64,
    /// The arrival of the packet that has this delay, in ns.
    pub arrival_ns: u64,
    /// The number of packets that bring it about.
    pub packets: usize,
    /// These packets, in the order of time.
    #[serde(skip)]
    pub sent: Vec<TimedPacket>,
}

impl WorstCase {
    /// What was found of a target.
    pub fn new(place: &Place<'_>, target: &Target, found: Longest) -> WorstCase {
        let nodes = match (place, &target.path) {
            (Place::Network(on), Some(path)) => nodes(on.network, path),
            _ => Vec::new(),
        };
        WorstCase {
            class: place.plan().classes[target.class.index()].name.clone(),
            nodes,
            bound_ns: target.bound.0,
            found_ns: found.delay.0,
            arrival_ns: found.arrival.0,
            packets: found.packets.len(),
            sent: found.packets,
        }
    }

    /// The packets as an arrivals CSV, under which `run` measures that delay.
    pub fn csv(&self, plan: &Plan) -> String {
        csv(plan, &self.sent)
    }
}
