//! One managed queue.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::candidates::{CandidateId, Candidates, TicketId};
use super::codel::{Controller, Fate};
use super::red::Detector;
use super::{Choke, CoDel, Limit, Pie, Red, pie};
use crate::error::SetupError;
use crate::memory::prefetch;
use crate::packet::{ClassId, Ecn, FlowId, Packet};
use crate::scheduler::{Backlog, DropReason, QueueMemory};
use crate::units::Nanos;

/// The rule by which packets get into a queue or are dropped from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// A packet that has room gets in.
    DropTail {
        /// Limit of the queue.
        limit: Limit,
        /// A packet that would exceed this is marked if it is capable of ECN (K: Alizadeh et al.
        /// 2010, *Data Center TCP*, section 3.1; RFC 8257, section 3.1). Never with
        /// [`Limit::None`].
        mark: Limit,
    },
    /// Random early detection.
    Red(Red),
    /// Random early detection with a penalty for flows that have much queued.
    Choke(Choke),
    /// Controlled delay.
    CoDel(CoDel),
    /// A proportional integral controller.
    Pie(Pie),
}

/// A policy with its state, and the queue that it works on.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    manager: Manager,
    queued: Backlog,
    /// CHOKe's draws, if it manages the queue together with random early detection.
    drawing: Option<Drawing>,
}

#[derive(Clone, Debug)]
enum Manager {
    DropTail { limit: Limit, mark: Limit },
    Red(Detector),
    CoDel(CoDel, Controller),
    Pie(pie::Controller),
}

/// A packet that wants to get in, as policies see it: in one register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applicant {
    length: u32,
    /// Why it is dropped if there is no room.
    full: DropReason,
    is_ecn_capable: bool,
}

/// How a packet gets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// As it is.
    Plain,
    /// Marked, if it is capable of ECN.
    Marked,
}

/// What CHOKe adds to random early detection.
#[derive(Clone, Debug)]
struct Drawing {
    candidates: u32,
    random: Pcg32,
    held: Candidates,
}

impl Applicant {
    #[inline(always)]
    pub(super) fn new(packet: &Packet) -> Self {
        let is_ecn_capable = packet.ecn != Ecn::NotCapable;
        Applicant { length: packet.length, full: DropReason::no_room(packet), is_ecn_capable }
    }

    /// Whether it has room within a limit beside `queued`.
    #[inline]
    pub(super) fn check(self, limit: Limit, queued: Backlog) -> Result<(), DropReason> {
        if limit.has_room(queued, self.length) { Ok(()) } else { Err(self.full) }
    }

    /// Gets in marked instead of being dropped for this reason, if marks are given and it is
    /// capable of ECN.
    #[inline]
    pub(super) fn mark_or_drop(
        self,
        marks: bool,
        reason: DropReason,
    ) -> Result<Admission, DropReason> {
        if marks && self.is_ecn_capable { Ok(Admission::Marked) } else { Err(reason) }
    }
}

impl Queue {
    /// Prefetches its record.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch(&self.queued.packets);
    }

    /// Draws come from two streams of the seed's that no other queue has.
    ///
    /// # Errors
    /// If the policy's settings are not as they say.
    pub(super) fn new(policy: Policy, seed: u64, number: u64) -> Result<Self, SetupError> {
        let [of_red, of_choke] = [2 * number, 2 * number + 1].map(|own| Pcg32::new(seed, own));
        let mut drawing = None;
        let manager = match policy {
            Policy::DropTail { limit, mark } => Manager::DropTail { limit, mark },
            Policy::Red(red) => Manager::Red(Detector::new(red, of_red)?),
            Policy::Choke(Choke { red, candidates }) => {
                let held = Candidates::default();
                drawing = Some(Drawing { candidates, random: of_choke, held });
                Manager::Red(Detector::new(red, of_red)?)
            }
            Policy::CoDel(codel) => {
                codel.check()?;
                Manager::CoDel(codel, Controller::default())
            }
            Policy::Pie(pie) => Manager::Pie(pie::Controller::new(pie, of_red)?),
        };
        Ok(Queue { manager, queued: Backlog::default(), drawing })
    }

    /// A packet comes, which may get in or not; returns how many candidates are drawn to be
    /// compared with it.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos) -> u32 {
        match &mut self.manager {
            Manager::Red(detector) => {
                detector.average(now, self.queued);
                let candidates = self.drawing.as_ref().map_or(0, |drawing| drawing.candidates);
                if detector.detects() { candidates } else { 0 }
            }
            Manager::Pie(controller) => {
                controller.advance(now);
                0
            }
            Manager::DropTail { .. } | Manager::CoDel(..) => 0,
        }
    }

    /// Draws a packet uniformly at random, and returns its ticket if it is of this flow.
    #[inline]
    pub(super) fn draw(&mut self, flow: (ClassId, FlowId)) -> Option<TicketId> {
        let Drawing { random, held, .. } = self.drawing.as_mut()?;
        let index = (u64::from(random.next_u32()) * held.len() as u64) >> 32;
        held.same_flow(index as usize, flow)
    }

    /// A packet that matched a candidate does not get in; random early detection counts it among
    /// those that came since its last drop.
    #[inline]
    pub(super) fn count_matched(&mut self) {
        if let Manager::Red(detector) = &mut self.manager {
            detector.count_unjudged();
        }
    }

    /// Whether a packet that matched no candidate gets in, or why not.
    #[inline]
    pub(super) fn judge(&mut self, packet: Applicant) -> Result<Admission, DropReason> {
        let queued = self.queued;
        match &mut self.manager {
            Manager::Red(detector) => detector.judge(packet, queued),
            Manager::DropTail { limit, mark } => {
                packet.check(*limit, queued)?;
                let is_marked = !mark.has_room(queued, packet.length);
                Ok(if is_marked { Admission::Marked } else { Admission::Plain })
            }
            Manager::CoDel(codel, _) => {
                packet.check(codel.limit, queued)?;
                Ok(Admission::Plain)
            }
            Manager::Pie(controller) => controller.judge(packet, queued),
        }
    }

    /// Whether a packet is within the limit, behind `ahead` more than is queued, where `gives_way`
    /// of that is dropped for it.
    pub(super) fn has_room(&self, packet: &Packet, ahead: Backlog, gives_way: Backlog) -> bool {
        let limit = match &self.manager {
            Manager::Red(detector) => detector.limit(),
            Manager::DropTail { limit, .. } => *limit,
            Manager::CoDel(codel, _) => codel.limit,
            Manager::Pie(controller) => controller.limit(),
        };
        limit.has_room(self.queued.without(gives_way).and(ahead), packet.length)
    }

    /// Counts a packet in.
    #[inline]
    pub(super) fn add(&mut self, length: u32) {
        self.queued.add(length);
    }

    /// Counts a packet out.
    #[inline]
    pub(super) fn remove(&mut self, now: Nanos, length: u32) {
        self.queued.remove(length);
        if self.queued.packets > 0 {
            return;
        }
        match &mut self.manager {
            Manager::Red(detector) => detector.idle(now),
            Manager::Pie(controller) => {
                controller.advance(now);
                controller.idle();
            }
            Manager::DropTail { .. } | Manager::CoDel(..) => {}
        }
    }

    /// Makes a packet one that may be drawn, if packets are drawn here, and returns its number
    /// among them.
    #[inline]
    pub(super) fn hold(&mut self, flow: (ClassId, FlowId), ticket: TicketId) -> CandidateId {
        let drawing = self.drawing.as_mut();
        drawing.map_or(CandidateId(0), |drawing| drawing.held.add(flow, ticket))
    }

    /// A packet, if packets are drawn here, can be drawn no more. Returns the ticket of the one
    /// that takes over its number.
    #[inline]
    pub(super) fn let_go(&mut self, id: CandidateId) -> Option<TicketId> {
        self.drawing.as_mut()?.held.remove(id)
    }

    /// The fate of a packet that has been counted out, as the link is ready for it.
    #[inline(always)]
    pub(super) fn release(&mut self, now: Nanos, packet: &mut Packet) -> Fate {
        match &mut self.manager {
            Manager::CoDel(codel, controller) => {
                let mut leaving = *packet;
                let fate = controller.leave(codel, now, &mut leaving, self.queued.bytes);
                packet.ecn = leaving.ecn;
                fate
            }
            Manager::Pie(controller) => {
                controller.advance(now);
                controller.left(now, packet, self.queued);
                Fate::Sent
            }
            _ => Fate::Sent,
        }
    }

    /// What CoDel remembers, if that manages the queue.
    pub(super) fn memory(&self) -> Option<QueueMemory> {
        match &self.manager {
            Manager::CoDel(_, controller) => Some(QueueMemory(*controller)),
            Manager::DropTail { .. } | Manager::Red(_) | Manager::Pie(_) => None,
        }
    }

    /// Goes on with what CoDel remembers of another queue.
    pub(super) fn recall(&mut self, QueueMemory(memory): QueueMemory) {
        if let Manager::CoDel(_, controller) = &mut self.manager {
            *controller = memory;
        }
    }

    pub(super) fn footprint(&self) -> usize {
        self.drawing.as_ref().map_or(0, |drawing| drawing.held.footprint())
    }
}
