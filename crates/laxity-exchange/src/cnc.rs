//! Streams that users ask a network for, by IEEE 802.1Qcc (IEEE Std 802.1Q-2022, clause 46): the
//! fully centralized model.
//!
//! A document is JSON by RFC 7951 of the YANG module `ieee802-dot1q-cnc-config` (IEEE Std
//! 802.1Qdj-2024), which has the groups of `ieee802-dot1q-tsn-types` in it. A stream becomes a
//! class and a source of a plan for each of its listeners; the answer is the document with the
//! status of each stream.

mod class;
mod read;
mod status;
#[cfg(test)]
mod tests;

use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use serde_json::Value;

use crate::Error;

pub use status::{FailureCode, ListenerStatus, Status};

/// The most listeners of a document.
pub const MOST: usize = 4_096;

/// Streams that are asked for.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Each of them, in the order of the document.
    pub streams: Vec<Stream>,
    document: Value,
}

/// A stream that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stream {
    /// Its `stream-id`.
    pub id: String,
    /// Its rank: zero goes before one.
    pub rank: u8,
    /// How many trees it is to take at once.
    pub trees: u8,
    /// The node that sends it.
    pub talker: String,
    /// Those who receive it.
    pub listeners: Vec<Listener>,
    /// What it sends.
    pub traffic: Traffic,
    /// Where it stands in the document: its domain, its user and its number there.
    place: [usize; 3],
}

/// A listener of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listener {
    /// The node that receives.
    pub node: String,
    /// The largest latency that it and the talker ask for; `None` if it is what is found first.
    pub latency: Option<Nanos>,
}

/// What a stream sends: no more than some frames in any interval.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// The interval in seconds: a numerator and a denominator.
    pub interval: (u32, u32),
    /// How many frames.
    pub frames: u16,
    /// The largest frame without any header of Ethernet.
    pub frame: Bytes,
    /// Whether frames have a tag of a VLAN.
    pub is_tagged: bool,
    /// When it sends, if it does so by the network's time.
    pub schedule: Option<Schedule>,
}

/// When a talker sends within its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// The earliest offset, which is the one that it is given.
    pub earliest: Nanos,
    /// How much sooner or later it may be.
    pub jitter: Nanos,
}

impl Requests {
    /// Reads a document, whose end stations are nodes of a plan: by their `interface-name`, or else
    /// by their `mac-address`.
    ///
    /// # Errors
    /// If the document does not have the form of the module, or names a station that is no node:
    /// where, and what is accepted.
    pub fn read(text: &str, plan: &Plan) -> Result<Requests, Error> {
        read::read(text, plan)
    }

    /// The document with the status of each stream, in their order.
    pub fn answer(&self, statuses: &[Status]) -> Value {
        status::answer(self, statuses)
    }

    /// The numbers of the streams in the order in which they are admitted: by rank, then as they
    /// stand in the document.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.streams.len()).collect();
        order.sort_by_key(|number| self.streams[*number].rank);
        order
    }
}

impl Stream {
    /// The name of the class for one of its listeners.
    pub fn class(&self, listener: usize) -> String {
        match self.listeners.len() {
            1 => self.id.clone(),
            _ => format!("{} {}", self.id, listener + 1),
        }
    }
}

impl Traffic {
    /// The length of its largest frame on the links of a plan.
    pub fn packet(&self, plan: &Plan) -> Bytes {
        const HEADER: u32 = 14;
        const TAG: u32 = 4;
        let tag = if self.is_tagged { TAG } else { 0 };
        let frame = u32::try_from(self.frame.0).unwrap_or(u32::MAX);
        let frame = frame.saturating_add(HEADER + tag);
        Bytes(plan.link.overhead.on_link(frame).into())
    }
}
