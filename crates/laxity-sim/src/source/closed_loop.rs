//! Packets of backlogged sources in a queue, and those that replace them.

use std::collections::{HashMap, VecDeque};

use laxity::packet::{FlowId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::{Nanos, Rate};
use laxity_plan::model::Plan;

use super::feed::FeedId;

/// A copy of a backlogged source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceCopy {
    /// The feed of the source.
    pub feed: FeedId,
    /// The copy.
    pub flow: FlowId,
}

/// The backlogged packets of one queue.
#[derive(Debug, Default)]
pub(crate) struct ClosedLoop {
    /// The copies that queued packets are of, by handle.
    queued: HashMap<u64, SourceCopy>,
    /// Copies that send at once: for the packet in transmission, and for packets dropped on their
    /// way out.
    refills: VecDeque<SourceCopy>,
    /// Copies that lost a packet on its way in, and try again later.
    retries: Vec<SourceCopy>,
    /// Whether a retry is planned.
    retries_soon: bool,
}

/// Where a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// When one arrives.
    In,
    /// When one is to be sent.
    Out,
}

impl ClosedLoop {
    /// A copy's packet comes to the queue.
    pub(crate) fn arrives(&mut self, handle: u64, copy: SourceCopy) {
        self.queued.insert(handle, copy);
    }

    /// A packet begins to be sent.
    pub(crate) fn departs(&mut self, packet: &Packet) {
        if let Some(copy) = self.queued.remove(&packet.handle) {
            self.refills.push_front(copy);
        }
    }

    /// A packet is dropped.
    pub(crate) fn dropped(&mut self, way: Way, packet: &Packet, reason: DropReason, plan: &Plan) {
        let Some(copy) = self.queued.remove(&packet.handle) else { return };
        match way {
            Way::In if is_retried(plan, packet, reason) => self.retries.push(copy),
            Way::Out if is_refilled(reason) => self.refills.push_back(copy),
            Way::In | Way::Out => {}
        }
    }

    /// The next copy that replaces a packet.
    pub(crate) fn next_refill(&mut self) -> Option<SourceCopy> {
        self.refills.pop_front()
    }

    /// When copies whose packets were dropped on their way in try again, if that is not planned
    /// yet: after the time of the longest packet on the link.
    pub(crate) fn plan_retries(&mut self, now: Nanos, rate: Rate, plan: &Plan) -> Option<Nanos> {
        if self.retries.is_empty() || self.retries_soon {
            return None;
        }
        self.retries_soon = true;
        Some(now + rate.time_for(plan.link.max_packet).max(Nanos(1)))
    }

    /// The copies that try again now.
    pub(crate) fn take_retries(&mut self) -> Vec<SourceCopy> {
        self.retries_soon = false;
        std::mem::take(&mut self.retries)
    }
}

/// Whether a backlogged source replaces at once what was dropped on its way out.
fn is_refilled(reason: DropReason) -> bool {
    matches!(reason, DropReason::Late | DropReason::CoDel | DropReason::DualPi2)
}

/// Whether a backlogged source tries again where a packet of it was dropped by an arrival: a
/// class's own limit alone leaves it fewer packets for good.
fn is_retried(plan: &Plan, packet: &Packet, reason: DropReason) -> bool {
    let queue = &plan.classes[packet.class.index()].queue;
    match reason {
        DropReason::Red | DropReason::Choke | DropReason::Pie => true,
        DropReason::QueueFull | DropReason::Demoted => {
            !queue.as_ref().is_some_and(|queue| queue.kind().is_a_limit())
        }
        _ => false,
    }
}
