//! WF2Q+ from its definition: linear scans and exact fractions.

use std::collections::VecDeque;
use std::vec::Vec;

use crate::curve::{Exact, bytes_per_nano, exact, exact_nanos};
use crate::explain::Rule;
use crate::packet::Packet;
use crate::queue::serial::REACH;
use crate::sched::Share;
use crate::units::{Nanos, Rate};

/// The link and the classes. Each serves those below it.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The classes by number, and behind them the link.
    nodes: Vec<Node>,
    /// When the link last began to send, and what its virtual time was then.
    sending: (Nanos, Exact),
}

#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// Bytes in a nanosecond.
    rate: Exact,
    /// Of a leaf.
    queue: VecDeque<Packet>,
    /// The packet that it offers to its parent, or for the link the one that it sends; of an
    /// interior class with the child that offered it.
    head: Option<(Packet, usize)>,
    /// Virtual times of the head packet, or if there is none of the last one.
    start: Exact,
    finish: Exact,
    /// The virtual time of its children: what was dispatched, in nanoseconds at its rate.
    virtual_time: Exact,
    /// The greatest finishing time that any of its children ever had, rounded up.
    latest: Exact,
}

impl Reference {
    pub(super) fn new(rate: Rate, classes: &[Share]) -> Self {
        let link = classes.len();
        let class = |class: &Share| {
            Node::new(class.rate, Some(class.parent.map_or(link, crate::packet::ClassId::index)))
        };
        let mut nodes: Vec<_> = classes.iter().map(class).collect();
        nodes.push(Node::new(rate, None));
        Reference { nodes, sending: (Nanos::ZERO, exact(0)) }
    }

    pub(super) fn enqueue(&mut self, now: Nanos, packet: Packet) {
        let leaf = packet.class.index();
        self.nodes[leaf].queue.push_back(packet);
        if self.nodes[leaf].queue.len() == 1 {
            self.appear(now, leaf);
        }
    }

    pub(super) fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let link = self.link();
        let mut at = self.choose(link)?;
        self.sending = (now, self.nodes[link].virtual_time.clone());
        while let Some((_, child)) = self.nodes[at].head.filter(|(_, child)| *child != at) {
            at = child;
        }
        let packet = self.nodes[at].queue.pop_front()?;
        self.release(at, packet);
        Some(packet)
    }

    /// The rule by which one leaf was served before another at the last choice of their common
    /// server, given the definition as it was before.
    pub(super) fn precedence(&self, before: &Reference, served: usize, waiting: usize) -> Rule {
        let path =
            |leaf| std::iter::successors(Some(leaf), |&node: &usize| self.nodes[node].parent);
        let parent = |node: usize| self.nodes[node].parent;
        let pairs = path(served).flat_map(|one| path(waiting).map(move |other| (one, other)));
        let (ahead, behind) =
            pairs.into_iter().find(|(one, other)| parent(*one) == parent(*other)).unwrap();
        let server = parent(ahead).unwrap();
        let virtual_time = if server == self.link() {
            &self.sending.1
        } else {
            &before.nodes[server].virtual_time
        };
        let waits = &before.nodes[behind];
        let finish = |node: usize| (before.nodes[node].finish.ceil(), node);
        if waits.start.ceil() > virtual_time.ceil() {
            Rule::Ineligible
        } else if finish(behind) < finish(ahead) {
            Rule::ArrivalOrder
        } else {
            Rule::VirtualFinish
        }
    }

    /// Every class whose head packet it was gets another one with the same start time.
    pub(super) fn withdraw(&mut self, leaf: usize, handle: u64) -> Option<Packet> {
        let at = self.nodes[leaf].queue.iter().position(|packet| packet.handle == handle)?;
        let packet = self.nodes[leaf].queue.remove(at);
        let mut node = leaf;
        let mut has_next = !self.nodes[leaf].queue.is_empty();
        while let Some(parent) = self.nodes[node].parent.filter(|_| at == 0) {
            let start = self.nodes[node].start.clone();
            self.nodes[node].finish = start.clone();
            if node == leaf {
                self.nodes[node].head = None;
            }
            if has_next {
                self.offer(node, start);
            }
            let was_chosen = self.nodes[parent].head.is_some_and(|(_, child)| child == node);
            if parent == self.link() || !was_chosen {
                break;
            }
            self.nodes[parent].head = None;
            has_next = self.choose(parent).is_some();
            node = parent;
        }
        packet
    }

    fn link(&self) -> usize {
        self.nodes.len() - 1
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (0..self.link()).filter(move |&node| self.nodes[node].parent == Some(parent))
    }

    fn offering(&self, parent: usize) -> impl Iterator<Item = usize> {
        self.children(parent).filter(|&node| self.nodes[node].head.is_some())
    }

    /// The virtual time that a packet sees that comes now. The link's goes on while a packet is
    /// sent.
    fn virtual_time(&self, node: usize, now: Nanos) -> Exact {
        let at_end = self.nodes[node].virtual_time.clone();
        if node != self.link() {
            return at_end;
        }
        let (started, at_start) = &self.sending;
        at_end.min(at_start + exact_nanos(now - *started))
    }

    /// A class without a head packet gets one, as do the classes above that have none.
    fn appear(&mut self, now: Nanos, node: usize) {
        let Some(parent) = self.nodes[node].parent else { return };
        let mut virtual_time = self.virtual_time(parent, now);
        let is_over = virtual_time == self.nodes[parent].virtual_time;
        if is_over && self.offering(parent).all(|child| child == node) {
            // A busy period begins, and nothing is left of the one before.
            virtual_time = virtual_time.max(self.nodes[parent].latest.clone());
            self.nodes[parent].virtual_time = virtual_time.clone();
            if parent == self.link() {
                self.sending = (now, virtual_time.clone());
            }
        }
        let start = self.nodes[node].finish.clone().max(virtual_time.ceil());
        self.offer(node, start);
        if self.nodes[parent].head.is_none() && parent != self.link() {
            self.choose(parent);
            self.appear(now, parent);
        }
    }

    /// The first packet of a leaf, or the one that an interior class has chosen, is its head
    /// packet.
    fn offer(&mut self, number: usize, start: Exact) {
        let node = &mut self.nodes[number];
        node.head = node.head.or(node.queue.front().map(|&packet| (packet, number)));
        let (packet, _) = node.head.expect("there is a packet to offer");
        node.finish = &start + node.time_for(packet);
        node.start = start;
        let (parent, finish) = (node.parent, node.finish.ceil());
        if let Some(parent) = parent.map(|parent| &mut self.nodes[parent]) {
            parent.latest = parent.latest.clone().max(finish);
        }
    }

    /// The child whose head packet is next, which becomes the node's own.
    fn choose(&mut self, node: usize) -> Option<usize> {
        let least = self.offering(node).map(|child| self.nodes[child].start.ceil()).min()?;
        let first_to_finish =
            self.offering(node).map(|child| self.nodes[child].finish.ceil()).min()?;
        let latest = first_to_finish + exact(REACH);
        let virtual_time = match self.nodes[node].virtual_time.clone() {
            none_started if none_started.ceil() < least => least,
            virtual_time => virtual_time.min(latest),
        };
        let has_started = |child: &usize| self.nodes[*child].start.ceil() <= virtual_time.ceil();
        let finish = |child: &usize| (self.nodes[*child].finish.ceil(), *child);
        let chosen = self.offering(node).filter(has_started).min_by_key(finish)?;
        let (packet, _) = self.nodes[chosen].head?;
        self.nodes[node].virtual_time = virtual_time;
        self.nodes[node].head = Some((packet, chosen));
        Some(chosen)
    }

    /// A class's head packet is dispatched. What it has next starts where that one finishes.
    fn release(&mut self, node: usize, packet: Packet) {
        let Some(parent) = self.nodes[node].parent else { return };
        let served = self.nodes[parent].time_for(packet);
        self.nodes[parent].virtual_time += served;
        let is_leaf = self.children(node).next().is_none();
        self.nodes[node].head = None;
        let has_next =
            if is_leaf { !self.nodes[node].queue.is_empty() } else { self.choose(node).is_some() };
        if has_next {
            let start = self.nodes[node].finish.clone();
            self.offer(node, start);
        }
        self.release(parent, packet);
    }
}

impl Node {
    fn new(rate: Rate, parent: Option<usize>) -> Self {
        Node {
            parent,
            rate: bytes_per_nano(rate),
            queue: VecDeque::new(),
            head: None,
            start: exact(0),
            finish: exact(0),
            virtual_time: exact(0),
            latest: exact(0),
        }
    }

    fn time_for(&self, packet: Packet) -> Exact {
        exact(packet.length.into()) / &self.rate
    }
}
