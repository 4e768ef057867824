//! A hierarchy of WF2Q+ servers (Bennett, Zhang 1997), for packets of any kind.
//!
//! A leaf with packets offers one of some length. If it then sends one of another length, it has
//! competed with the finishing time of its offer and is charged for what it sent.

use alloc::vec::Vec;

use super::{Class, Server, Share};
use crate::error::SetupError;
use crate::memory::prefetch;
use crate::packet::ClassId;
use crate::queue::SlotId;
use crate::sched::ancestry;
use crate::sched::pace::Moment;
use crate::scheduler::Reach;
use crate::units::{Nanos, Rate};

crate::id! {
    /// A server of the hierarchy: [`LINK`] or a class with classes below it.
    pub(super) struct ServerId;
}

/// The link among the servers.
pub(super) const LINK: ServerId = ServerId(0);

/// The link, the classes that share it and the classes below them. Ties are broken by the lowest
/// class number.
#[derive(Clone, Debug)]
pub(in crate::sched) struct Servers {
    pub(super) classes: Vec<Class>,
    /// The first one is the link.
    pub(super) servers: Vec<Server>,
    pub(super) sending: Sending,
}

/// The packet that the link sends or has sent last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    started: Nanos,
    /// The link's virtual time then.
    pub(super) virtual_time: Moment,
}

impl Servers {
    /// The servers of these classes, numbered in their order, on a link of `rate`. A parent may
    /// come after its children.
    ///
    /// # Errors
    /// If a parent does not exist or a class lies below itself.
    pub(in crate::sched) fn new(rate: Rate, classes: &[Share]) -> Result<Self, SetupError> {
        let parents: Vec<_> = classes.iter().map(|class| class.parent).collect();
        ancestry::check(&parents)?;
        let mut this = Servers {
            classes: classes.iter().map(|class| Class::new(class.rate)).collect(),
            servers: alloc::vec![Server::new(rate, None)],
            sending: Sending { started: Nanos::ZERO, virtual_time: Moment::at(0) },
        };
        for (number, parent) in (0..).map(ClassId).zip(parents) {
            let id = parent.map_or(LINK, |parent| this.server_below(parent, classes));
            let members = &mut this.servers[id.index()].members;
            let class = &mut this.classes[number.index()];
            (class.server, class.slot) = (id, SlotId::from_index(members.len()));
            members.push(number);
        }
        for server in &mut this.servers {
            server.open();
        }
        Ok(this)
    }

    /// The server that a class is to the classes below it.
    fn server_below(&mut self, class: ClassId, classes: &[Share]) -> ServerId {
        let below = &mut self.classes[class.index()].below;
        if *below == LINK {
            *below = ServerId::from_index(self.servers.len());
            self.servers.push(Server::new(classes[class.index()].rate, Some(class)));
        }
        *below
    }

    /// Whether there is a class of this number with none below it.
    pub(in crate::sched) fn is_leaf(&self, class: ClassId) -> bool {
        self.classes.get(class.index()).is_some_and(|class| class.below == LINK)
    }

    /// Whether no leaf offers anything.
    pub(in crate::sched) fn is_idle(&self) -> bool {
        self.servers[LINK.index()].is_passive()
    }

    /// A leaf that offered nothing offers a packet, and so does every class above that had none.
    pub(in crate::sched) fn arrive(&mut self, now: Nanos, leaf: ClassId, length: u32) {
        let mut at = leaf;
        loop {
            let class = &mut self.classes[at.index()];
            let id = class.server;
            let server = &mut self.servers[id.index()];
            let mut virtual_time = match id {
                LINK => self.sending.virtual_time_at(now).min(server.virtual_time),
                _ => server.virtual_time,
            };
            if virtual_time == server.virtual_time && server.is_passive() {
                virtual_time = server.begin_busy_period();
                if id == LINK {
                    self.sending = Sending { started: now, virtual_time };
                }
            }
            class.tags.wake(Moment::at(virtual_time.ceil()));
            server.offer(class, length);
            match server.class {
                Some(parent) if server.head.is_none() => {
                    self.choose(id);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// The leaf that the link serves at `now`. It [departs](Self::depart) before anything else
    /// happens.
    // It has two callers, and a call costs as much as its work does on a flat link.
    #[inline(always)]
    pub(in crate::sched) fn next(&mut self, now: Nanos) -> Option<ClassId> {
        let link = &mut self.servers[LINK.index()];
        let mut leaf = link.take_next()?;
        self.sending = Sending { started: now, virtual_time: link.virtual_time };
        loop {
            match self.classes[leaf.index()].below {
                LINK => return Some(leaf),
                below => leaf = self.servers[below.index()].head?,
            }
        }
    }

    /// Prefetches a class of the link that may well be next, and returns it.
    #[inline(always)]
    pub(in crate::sched) fn likely_next(&self) -> Option<ClassId> {
        let link = &self.servers[LINK.index()];
        let class = link.members[link.heads.likely_next()?.index()];
        prefetch(&self.classes[class.index()].length);
        Some(class)
    }

    /// Prefetches what a leaf needs to offer a packet.
    #[inline(always)]
    pub(in crate::sched) fn prefetch(&self, leaf: ClassId, reach: Reach) {
        let Some(class) = self.classes.get(leaf.index()) else { return };
        let server = || &self.servers[class.server.index()];
        match reach {
            Reach::Class => prefetch(&class.length),
            Reach::Scheduler => {
                let server = server();
                prefetch(&server.latest);
                prefetch(&server.virtual_time);
                server.heads.prefetch_record();
            }
            Reach::Queue => {
                let server = server();
                server.heads.prefetch(class.slot);
                if let Some(parent) = server.class {
                    prefetch(&self.classes[parent.index()].length);
                }
            }
        }
    }

    /// The leaf that is served sends a packet of this length and then offers another one, or
    /// nothing: from there up, virtual times go on and every class gets its next head packet. A
    /// leaf that sends nothing after all has sent a packet of length 0.
    pub(in crate::sched) fn depart(
        &mut self,
        leaf: ClassId,
        length: u32,
        mut next_length: Option<u32>,
    ) {
        let mut at = leaf;
        loop {
            let class = &mut self.classes[at.index()];
            let id = class.server;
            let server = &mut self.servers[id.index()];
            server.serve(class, length);
            if let Some(length) = next_length {
                server.offer(class, length);
            }
            let Some(parent) = server.class else { return };
            next_length = self.choose(id);
            at = parent;
        }
    }

    /// Replaces the packet that a leaf offers, which was not served, by another of this length or
    /// by none. From there up, a class that had it as head packet gets another one with the same
    /// start time.
    pub(in crate::sched) fn replace(&mut self, leaf: ClassId, mut next_length: Option<u32>) {
        let mut at = leaf;
        loop {
            let class = &mut self.classes[at.index()];
            let id = class.server;
            let server = &mut self.servers[id.index()];
            let was_chosen = server.head.take_if(|head| *head == at).is_some();
            if !was_chosen {
                server.heads.remove(class.slot);
            }
            class.tags.finish = class.tags.start;
            if let Some(length) = next_length {
                server.offer(class, length);
            }
            match server.class {
                Some(parent) if was_chosen => {
                    next_length = self.choose(id);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Bytes held.
    pub(in crate::sched) fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Class>()
            + self.servers.capacity() * size_of::<Server>()
            + self.servers.iter().map(Server::footprint).sum::<usize>()
    }

    /// A server chooses among the head packets of the classes below it and takes it out; returns
    /// its length.
    fn choose(&mut self, server: ServerId) -> Option<u32> {
        let server = &mut self.servers[server.index()];
        server.head = server.take_next();
        server.choices = [server.virtual_time, server.choices[0]];
        server.head.map(|class| self.classes[class.index()].length)
    }
}

impl Sending {
    /// The link's virtual time as its transmission goes on: `V(t + s) = V(t) + s`.
    fn virtual_time_at(&self, now: Nanos) -> Moment {
        self.virtual_time.later(i128::from((now - self.started).0))
    }
}
