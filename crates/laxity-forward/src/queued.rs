//! What the forwarder keeps of every packet that is queued.

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::matching::Headers;
use slab::Slab;

/// Packets that are queued, by the handle under which the scheduler knows them, in a list by
/// arrival. It never grows beyond what it is made for.
#[derive(Clone, Debug)]
pub(crate) struct PacketList<Q = QueuedPacket> {
    packets: Slab<Linked<Q>>,
    first: usize,
    last: usize,
}

/// A packet as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket {
    /// Its number among all that arrived.
    pub number: u64,
    /// When it arrived at the interface.
    pub arrived: Nanos,
    /// With the caller's handle.
    pub packet: Packet,
    pub headers: Headers,
}

#[derive(Clone, Copy, Debug)]
struct Linked<Q> {
    queued: Q,
    before: usize,
    after: usize,
}

const NONE: usize = usize::MAX;

impl<Q> PacketList<Q> {
    /// An empty list with room for `most` packets.
    pub(crate) fn new(most: usize) -> Self {
        PacketList { packets: Slab::with_capacity(most), first: NONE, last: NONE }
    }

    /// Keeps the newest packet; returns the handle for the scheduler.
    pub(crate) fn insert(&mut self, queued: Q) -> u64 {
        let slot = self.packets.insert(Linked { queued, before: self.last, after: NONE });
        match self.packets.get_mut(self.last) {
            Some(last) => last.after = slot,
            None => self.first = slot,
        }
        self.last = slot;
        slot as u64
    }

    /// Lets go of a packet that the scheduler gives back.
    pub(crate) fn remove(&mut self, handle: u64) -> Q {
        let Linked { queued, before, after } = self.packets.remove(handle as usize);
        match self.packets.get_mut(before) {
            Some(before) => before.after = after,
            None => self.first = after,
        }
        match self.packets.get_mut(after) {
            Some(after) => after.before = before,
            None => self.last = before,
        }
        queued
    }

    /// What is known under a handle.
    pub(crate) fn get(&self, handle: u64) -> Option<&Q> {
        self.packets.get(handle as usize).map(|linked| &linked.queued)
    }

    /// The one that has waited the longest.
    pub(crate) fn oldest(&self) -> Option<&Q> {
        self.packets.get(self.first).map(|linked| &linked.queued)
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Changes all of them, in the order of their arrival.
    pub(crate) fn update(&mut self, mut change: impl FnMut(&mut Q)) {
        let mut next = self.first;
        while let Some(linked) = self.packets.get_mut(next) {
            change(&mut linked.queued);
            next = linked.after;
        }
    }

    /// All of them with their handles, in the order of their arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Q)> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let slot = next;
            let linked = self.packets.get(slot)?;
            next = linked.after;
            Some((slot as u64, &linked.queued))
        })
    }
}

impl PacketList {
    /// The packet of a handle is of another class and flow from now on, or demoted.
    pub(crate) fn change(&mut self, handle: u64, packet: Packet) {
        self.packets[handle as usize].queued.packet = packet;
    }
}
