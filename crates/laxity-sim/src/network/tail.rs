//! Outputs of which every departure is known on arrival: first come, first served, behind queues that drop
//! their tails.

use std::collections::VecDeque;

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;

use super::ties::Ties;

/// A queue of packets whose transmissions are settled, and which are here as long as they take room.
pub(super) struct Tail {
    scheduler: Box<dyn Scheduler + Send>,
    pub ties: Box<Ties>,
    /// When the transmissions begin of those that are queued, in order.
    starts: VecDeque<Nanos>,
    /// What has got in and is to be sent.
    pub entered: Vec<Packet>,
}

impl Tail {
    /// An empty queue of a scheduler that serves what comes first.
    pub fn new(scheduler: Box<dyn Scheduler + Send>, ties: Box<Ties>) -> Self {
        Tail { scheduler, ties, starts: VecDeque::new(), entered: Vec::new() }
    }

    /// A packet comes alone to a link that is free again at `free_at`: whether it gets in at once. What its
    /// sender sends with it comes behind it if it may lead.
    pub fn enqueue(
        &mut self,
        now: Nanos,
        packet: Packet,
        free_at: Nanos,
        may_lead: bool,
        drops: &mut impl DropSink,
    ) -> bool {
        self.catch_up(now);
        let is_idle = free_at <= now;
        let is_drawn = self.takes(now) || (is_idle && may_lead);
        if is_drawn || !self.scheduler.has_room(&packet, Backlog::default()) {
            return false;
        }
        if !is_idle {
            self.scheduler.enqueue(now, packet, drops);
        }
        true
    }

    /// What came together gets in, or not, before and behind what the link takes now, if it does. What got
    /// in is `entered`.
    pub fn admit(&mut self, now: Nanos, free_at: Nanos, drops: &mut impl DropSink) {
        self.catch_up(now);
        let (is_idle, takes) = (free_at <= now, self.takes(now));
        let Tail { scheduler, ties, starts, entered } = self;
        let mut enter = |scheduler: &mut dyn Scheduler, packet: Packet| {
            let before = scheduler.backlog().packets;
            scheduler.enqueue(now, packet, drops);
            if scheduler.backlog().packets > before {
                entered.push(packet);
            }
        };
        ties.admit(now, is_idle || takes, &mut **scheduler, &mut enter);
        if takes {
            starts.pop_front();
        }
        if takes || is_idle {
            scheduler.dequeue(now, &mut no_drops);
        }
        ties.admit_behind(&mut **scheduler, &mut enter);
    }

    /// A packet that got in is sent from `start` on; never before the end, if that is [`Nanos::MAX`].
    pub fn starts(&mut self, start: Nanos) {
        self.starts.push_back(start);
    }

    /// Whether the link takes a packet now.
    fn takes(&self, now: Nanos) -> bool {
        self.starts.front() == Some(&now)
    }

    /// What was taken before now leaves room.
    fn catch_up(&mut self, now: Nanos) {
        while let Some(start) = self.starts.pop_front_if(|start| *start < now) {
            self.scheduler.dequeue(start, &mut no_drops);
        }
    }
}

/// Who drops tails drops nothing that got in.
fn no_drops(_: Packet, _: DropReason) {}
