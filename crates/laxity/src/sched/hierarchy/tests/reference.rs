//! The hierarchy from its definition: linear scans and exact fractions.

use std::boxed::Box;
use std::vec::Vec;

use crate::curve::{Exact, bytes_per_nano, exact, exact_nanos};
use crate::packet::{ClassId, Packet};
use crate::queue::serial::REACH;
use crate::sched::{Leaf, Share};
use crate::scheduler::{Dispatch, DropReason, DropSink, Scheduler};
use crate::units::{Nanos, Rate};

/// The link and its shares. Each serves those below it or has a scheduler.
pub(super) struct Reference {
    /// The shares by number, and behind them the link.
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// When each leaf's scheduler is to be asked again.
    asleep: Vec<Option<Nanos>>,
    /// When the link last began to send, and what its virtual time was then.
    sending: (Nanos, Exact),
}

#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// Bytes in a nanosecond.
    rate: Exact,
    /// The length that it competes with, and the child whose it is, itself if it is a leaf.
    offer: Option<(u32, usize)>,
    /// When the offer starts, or if there is none the last one finished.
    start: Exact,
    /// The virtual time of its children: what was dispatched, in nanoseconds at its rate.
    virtual_time: Exact,
    /// The greatest finishing time that any of its children has had.
    latest: Exact,
}

impl Reference {
    pub(super) fn new(rate: Rate, shares: &[Share], leaves: Vec<Leaf>) -> Self {
        let link = shares.len();
        let node = |rate: Rate, parent: Option<usize>| Node {
            parent,
            rate: bytes_per_nano(rate),
            offer: None,
            start: exact(0),
            virtual_time: exact(0),
            latest: exact(0),
        };
        let share =
            |share: &Share| node(share.rate, Some(share.parent.map_or(link, ClassId::index)));
        let nodes = shares.iter().map(share).chain([node(rate, None)]).collect();
        let asleep = leaves.iter().map(|_| None).collect();
        Reference { nodes, leaves, asleep, sending: (Nanos::ZERO, exact(0)) }
    }

    pub(super) fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let place = |leaf: &Leaf| leaf.classes.iter().position(|class| *class == packet.class);
        let found = (0..self.leaves.len()).find_map(|at| Some((at, place(&self.leaves[at])?)));
        let Some((at, local)) = found else { return drops.dropped(packet, DropReason::NoClass) };
        let Leaf { scheduler, classes, share, .. } = &mut self.leaves[at];
        let local = Packet { class: ClassId(local as u32), ..packet };
        scheduler.enqueue(now, local, &mut outward(classes, drops));
        if self.nodes[share.index()].offer.is_none() {
            self.rouse(now, at);
        }
    }

    pub(super) fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let leaves = 0..self.leaves.len();
        let due = |this: &Self, at: &usize| {
            this.asleep[*at].filter(|time| *time <= now).map(|time| (time, this.leaves[*at].share))
        };
        while let Some(at) =
            leaves.clone().filter(|at| due(self, at).is_some()).min_by_key(|at| due(self, at))
        {
            self.rouse(now, at);
        }
        loop {
            let link = self.link();
            let mut node = self.choose(link)?;
            self.sending = (now, self.nodes[link].virtual_time.clone());
            while let Some((_, child)) = self.nodes[node].offer.filter(|(_, child)| *child != node)
            {
                node = child;
            }
            let at = leaves.clone().find(|at| self.leaves[*at].share.index() == node)?;
            let Leaf { scheduler, classes, .. } = &mut self.leaves[at];
            let dispatch = scheduler.dequeue(now, &mut outward(classes, drops));
            let length = dispatch.map_or(0, |dispatch| dispatch.packet.length);
            let next = self.next_offer(now, at, dispatch.is_none());
            self.release(node, length, next);
            if let Some(dispatch) = dispatch {
                let class = self.leaves[at].classes[dispatch.packet.class.index()];
                return Some(Dispatch { packet: Packet { class, ..dispatch.packet }, ..dispatch });
            }
        }
    }

    pub(super) fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let is_offering = |leaf: &Leaf| self.nodes[leaf.share.index()].offer.is_some();
        if self.leaves.iter().all(|leaf| leaf.scheduler.backlog().packets == 0) {
            None
        } else if self.leaves.iter().any(is_offering) {
            Some(now)
        } else {
            self.asleep.iter().flatten().min().map(|time| *time.max(&now))
        }
    }

    fn link(&self) -> usize {
        self.nodes.len() - 1
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (0..self.link()).filter(move |&node| self.nodes[node].parent == Some(parent))
    }

    fn offering(&self, parent: usize) -> impl Iterator<Item = usize> {
        self.children(parent).filter(|&node| self.nodes[node].offer.is_some())
    }

    /// What a leaf offers now; if nothing, it is known when to ask again.
    fn next_offer(&mut self, now: Nanos, at: usize, gave_nothing: bool) -> Option<u32> {
        let Leaf { scheduler, longest, .. } = &self.leaves[at];
        let ready = scheduler
            .next_ready(now)
            .map(|time| if gave_nothing { time.max(now + Nanos(1)) } else { time });
        self.asleep[at] = ready.filter(|time| *time > now);
        (ready == Some(now)).then_some(*longest)
    }

    fn rouse(&mut self, now: Nanos, at: usize) {
        let node = self.leaves[at].share.index();
        if let Some(length) = self.next_offer(now, at, false) {
            self.appear(now, node, (length, node));
        }
    }

    /// The virtual time that an offer sees that comes now. The link's goes on while a packet is
    /// sent.
    fn virtual_time(&self, node: usize, now: Nanos) -> Exact {
        let at_end = self.nodes[node].virtual_time.clone();
        if node != self.link() {
            return at_end;
        }
        let (started, at_start) = &self.sending;
        at_end.min(at_start + exact_nanos(now - *started))
    }

    /// A node without an offer gets one, as do those above that have none.
    fn appear(&mut self, now: Nanos, node: usize, offer: (u32, usize)) {
        let Some(parent) = self.nodes[node].parent else { return };
        let mut virtual_time = self.virtual_time(parent, now);
        let is_over = virtual_time == self.nodes[parent].virtual_time;
        let serves = |node: usize| node != self.link() && self.nodes[node].offer.is_some();
        if is_over && !serves(parent) && self.offering(parent).next().is_none() {
            // A busy period begins, and nothing is left of the one before.
            virtual_time = virtual_time.max(self.nodes[parent].latest.ceil());
            self.nodes[parent].virtual_time = virtual_time.clone();
            if parent == self.link() {
                self.sending = (now, virtual_time.clone());
            }
        }
        let start = self.nodes[node].start.clone().max(virtual_time.ceil());
        self.offer(node, start, offer);
        if parent != self.link() && self.nodes[parent].offer.is_none() {
            let child = self.choose(parent).expect("there is an offer");
            let (length, _) = self.nodes[child].offer.expect("it was chosen");
            self.appear(now, parent, (length, child));
        }
    }

    fn offer(&mut self, number: usize, start: Exact, offer: (u32, usize)) {
        let node = &mut self.nodes[number];
        (node.start, node.offer) = (start, Some(offer));
        let finish = self.finish(number);
        if let Some(parent) = self.nodes[number].parent {
            let latest = &mut self.nodes[parent].latest;
            *latest = latest.clone().max(finish);
        }
    }

    fn finish(&self, node: usize) -> Exact {
        let Node { offer, start, rate, .. } = &self.nodes[node];
        start + exact(offer.map_or(0, |(length, _)| length).into()) / rate
    }

    /// The child whose offer is next.
    fn choose(&mut self, node: usize) -> Option<usize> {
        let least = self.offering(node).map(|child| self.nodes[child].start.ceil()).min()?;
        let first_to_finish = self.offering(node).map(|child| self.finish(child).ceil()).min()?;
        let latest = first_to_finish + exact(REACH);
        let virtual_time = match self.nodes[node].virtual_time.clone() {
            none_started if none_started.ceil() < least => least,
            virtual_time => virtual_time.min(latest),
        };
        let has_started = |child: &usize| self.nodes[*child].start.ceil() <= virtual_time.ceil();
        let key = |child: &usize| (self.finish(*child).ceil(), *child);
        let chosen = self.offering(node).filter(has_started).min_by_key(key)?;
        self.nodes[node].virtual_time = virtual_time;
        Some(chosen)
    }

    /// A node's offer was taken by a packet of this length. What it offers next starts where that
    /// one finishes.
    fn release(&mut self, number: usize, length: u32, next: Option<u32>) {
        let Some(parent) = self.nodes[number].parent else { return };
        let length_exact = exact(length.into());
        let served = &length_exact / &self.nodes[parent].rate;
        self.nodes[parent].virtual_time += served;
        let node = &mut self.nodes[number];
        let (_, child) = node.offer.take().expect("it was chosen");
        node.start += length_exact / &node.rate;
        let finish = node.start.clone();
        let latest = &mut self.nodes[parent].latest;
        *latest = latest.clone().max(finish.clone());
        let offer = if child == number {
            next.map(|length| (length, number))
        } else {
            self.choose(number).and_then(|child| {
                let (length, _) = self.nodes[child].offer?;
                Some((length, child))
            })
        };
        if let Some(offer) = offer {
            self.offer(number, finish, offer);
        }
        self.release(parent, length, None);
    }
}

/// Drops as they are known outside a leaf.
fn outward<'a>(
    classes: &'a [ClassId],
    drops: &'a mut dyn DropSink,
) -> Box<dyn FnMut(Packet, DropReason) + 'a> {
    Box::new(move |packet, reason| {
        drops.dropped(Packet { class: classes[packet.class.index()], ..packet }, reason);
    })
}
