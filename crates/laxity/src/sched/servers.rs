//! The servers of WF2Q+ and its hierarchy (Bennett, Zhang 1997): who may send next, whatever it is
//! that they send.
//!
//! A leaf that has something to send offers a packet of some length. If it then sends one of
//! another length, it has competed with a finishing time of its offer and is charged for what it
//! sent.

use alloc::vec::Vec;
use core::hint::black_box;
use core::num::NonZeroU32;

use super::ancestry;
use super::pace::{Moment, Pace};
use crate::error::SetupError;
use crate::packet::ClassId;
use crate::queue::EligibleSet;
use crate::queue::serial::{REACH, Stamp, whole};
use crate::units::{Nanos, Rate};

/// A class of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The class it is part of; `None` at the top.
    pub parent: Option<ClassId>,
    /// The rate it is guaranteed when all are busy.
    pub rate: Rate,
}

/// The link, the classes that share it and the classes below them. Ties are broken by the lowest
/// class number.
///
/// Virtual times are exact, in nanoseconds at the rate of the server; they are rounded up to whole
/// ones where they are compared, and where a class that was idle starts from its server's.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    classes: Vec<Class>,
    /// The first one is the link.
    servers: Vec<Server>,
    sending: Sending,
}

/// The link among the servers.
const LINK: u32 = 0;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Class {
    pace: Pace,
    /// The server that serves it, and its place there.
    server: u32,
    place: u32,
    /// The server that it is to the classes below it.
    below: Option<NonZeroU32>,
    /// The length of the head packet that it offers or has offered last.
    length: u32,
    /// The starting time of that packet.
    start: Moment,
    /// Its finishing time; once it is sent, that of what was sent.
    finish: Moment,
}

#[derive(Clone, Debug)]
struct Server {
    pace: Pace,
    /// The class that it is; none for the link.
    class: Option<u32>,
    /// Counts what was dispatched.
    virtual_time: Moment,
    /// No head packet has a lower finishing time.
    least: i128,
    /// The greatest finishing time of any class, rounded up.
    latest: u128,
    /// The classes that it serves, by place.
    members: Vec<u32>,
    /// Start times, and finishing times for deadlines, of the head packets that wait, by place.
    heads: EligibleSet,
    /// The class below that was chosen: its head packet is that of the class that this server is.
    /// The link chooses when it sends and has none.
    head: Option<u32>,
}

/// The packet that the link sends or has sent last.
#[derive(Clone, Copy, Debug)]
struct Sending {
    started: Nanos,
    /// The link's virtual time then.
    virtual_time: Moment,
}

impl Servers {
    /// The servers of these classes, numbered in their order, on a link of `rate`. A parent may
    /// come after its children.
    ///
    /// # Errors
    /// If a parent does not exist or a class lies below itself.
    pub(super) fn new(rate: Rate, classes: &[Share]) -> Result<Self, SetupError> {
        let parents: Vec<_> = classes.iter().map(|class| class.parent).collect();
        ancestry::check(&parents)?;
        let mut this = Servers {
            classes: classes.iter().map(|class| Class::new(class.rate)).collect(),
            servers: alloc::vec![Server::new(rate, None)],
            sending: Sending { started: Nanos::ZERO, virtual_time: Moment::at(0) },
        };
        for (class, parent) in (0..).zip(parents) {
            let server = parent.map_or(LINK, |parent| this.below(parent, classes));
            let members = &mut this.servers[server as usize].members;
            let place = members.len() as u32;
            members.push(class);
            let class = &mut this.classes[class as usize];
            (class.server, class.place) = (server, place);
        }
        for server in &mut this.servers {
            server.members.shrink_to_fit();
            server.heads = EligibleSet::new(server.members.len());
        }
        Ok(this)
    }

    /// The server that a class is to the classes below it.
    fn below(&mut self, class: ClassId, classes: &[Share]) -> u32 {
        let below = self.classes[class.index()].below.get_or_insert_with(|| {
            self.servers.push(Server::new(classes[class.index()].rate, Some(class.0)));
            NonZeroU32::new((self.servers.len() - 1) as u32).expect("the first one is the link")
        });
        below.get()
    }

    /// Whether there is a class of this number with none below it.
    pub(super) fn is_leaf(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|class| class.below.is_none())
    }

    /// Whether no leaf offers anything.
    pub(super) fn is_idle(&self) -> bool {
        self.servers[LINK as usize].is_passive()
    }

    /// A leaf that offered nothing offers a packet, and so does every class above that had none.
    pub(super) fn arrive(&mut self, now: Nanos, leaf: u32, length: u32) {
        let mut at = leaf;
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            let mut virtual_time = match number {
                LINK => self.sending.virtual_time_at(now).min(server.virtual_time),
                _ => server.virtual_time,
            };
            if virtual_time == server.virtual_time && server.is_passive() {
                // A new busy period: what classes had in the last one counts for none.
                virtual_time = virtual_time.max(Moment::at(server.latest as i128));
                server.virtual_time = virtual_time;
                if number == LINK {
                    self.sending = Sending { started: now, virtual_time };
                }
            }
            let start = virtual_time.ceil();
            class.finish = class.finish.max(Moment::at(start));
            server.admit(class, length);
            match server.class {
                Some(parent) if server.head.is_none() => {
                    self.choose(number);
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
    pub(super) fn next(&mut self, now: Nanos) -> Option<u32> {
        let link = &mut self.servers[LINK as usize];
        let mut leaf = link.take_next()?;
        self.sending = Sending { started: now, virtual_time: link.virtual_time };
        while let Some(below) = self.classes[leaf as usize].below {
            leaf = self.servers[below.get() as usize].head?;
        }
        Some(leaf)
    }

    /// A leaf of the link that may well be next: loads what is known of it, so that its ways from
    /// memory overlap with what is done until then.
    #[inline(always)]
    pub(super) fn likely_next(&self) -> Option<u32> {
        let link = &self.servers[LINK as usize];
        let class = link.members[link.heads.likely_next()? as usize];
        black_box(self.classes[class as usize].length);
        Some(class)
    }

    /// The leaf that is served sends a packet of this length and then offers another one, or
    /// nothing: from there up, virtual times go on and every class gets its next head packet. A
    /// leaf that sends nothing after all has sent a packet of length 0.
    pub(super) fn depart(&mut self, leaf: u32, length: u32, next_length: Option<u32>) {
        let (mut at, mut next_length) = (leaf, next_length);
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            server.virtual_time = server.pace.after(server.virtual_time, length);
            server.head = None;
            if length != class.length {
                class.finish = class.pace.after(class.start, length);
                server.latest = server.latest.max(class.finish.ceil() as u128);
            }
            if let Some(length) = next_length {
                server.admit(class, length);
            }
            let Some(parent) = server.class else { return };
            next_length = self.choose(number);
            at = parent;
        }
    }

    /// The packet that a leaf offers, which was not served, makes way for another of this length or
    /// for none: from there up, a class whose head packet it was gets another one with the same
    /// start time.
    pub(super) fn replace(&mut self, leaf: u32, next_length: Option<u32>) {
        let (mut at, mut next_length) = (leaf, next_length);
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            let was_chosen = server.head.take_if(|head| *head == at).is_some();
            if !was_chosen {
                server.heads.remove(class.place);
            }
            class.finish = class.start;
            if let Some(length) = next_length {
                server.admit(class, length);
            }
            match server.class {
                Some(parent) if was_chosen => {
                    next_length = self.choose(number);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        let of_server = |server: &Server| {
            server.members.capacity() * size_of::<u32>() + server.heads.footprint()
        };
        let below = self.servers.iter().map(of_server).sum::<usize>();
        self.classes.capacity() * size_of::<Class>()
            + self.servers.capacity() * size_of::<Server>()
            + below
    }

    /// A server chooses among the head packets of the classes below it and takes it out; returns
    /// its length.
    fn choose(&mut self, server: u32) -> Option<u32> {
        let server = &mut self.servers[server as usize];
        server.head = server.take_next();
        server.head.map(|class| self.classes[class as usize].length)
    }
}

impl Sending {
    /// The link's virtual time as its transmission goes on: `V(t + s) = V(t) + s`.
    fn virtual_time_at(&self, now: Nanos) -> Moment {
        self.virtual_time.later(i128::from((now - self.started).0))
    }
}

impl Server {
    fn new(rate: Rate, class: Option<u32>) -> Self {
        Server {
            pace: Pace::new(rate),
            class,
            virtual_time: Moment::at(0),
            least: 0,
            latest: 0,
            members: Vec::new(),
            heads: EligibleSet::new(0),
            head: None,
        }
    }

    /// A class offers a packet of this length, which starts where the one before it finished.
    fn admit(&mut self, class: &mut Class, length: u32) {
        class.length = length;
        class.start = class.finish;
        class.finish = class.pace.after(class.start, length);
        let finish = class.finish.ceil();
        self.latest = self.latest.max(finish as u128);
        self.heads.insert(class.start.ceil() as Stamp, finish as Stamp, class.place);
    }

    /// Whether no class below has a head packet.
    fn is_passive(&self) -> bool {
        self.head.is_none() && self.heads.is_empty()
    }

    /// The class to serve: of those that have started the first to finish is next, and if none has,
    /// the virtual time goes on to the least start time. Where classes are promised more than the
    /// server has, finishing times fall behind the virtual time, which waits for them at [`REACH`].
    fn take_next(&mut self) -> Option<u32> {
        if self.virtual_time > Moment::at(self.least + i128::from(REACH)) {
            self.least = self.near(self.heads.first_deadline()?);
            let latest = Moment::at(self.least + i128::from(REACH));
            self.virtual_time = self.virtual_time.min(latest);
        }
        let now = self.virtual_time.ceil() as Stamp;
        let place = self.heads.take_least_deadline(now).or_else(|| {
            self.least = self.near(self.heads.first_eligible()?);
            self.virtual_time = Moment::at(self.least);
            self.heads.take_least_deadline(self.virtual_time.ceil() as Stamp)
        })?;
        Some(self.members[place as usize])
    }

    /// The whole time that the stamp of a head packet stands for.
    fn near(&self, stamp: Stamp) -> i128 {
        whole(stamp, self.virtual_time.ceil() as u128) as i128
    }
}

impl Class {
    fn new(rate: Rate) -> Self {
        Class {
            pace: Pace::new(rate),
            server: LINK,
            place: 0,
            below: None,
            length: 0,
            start: Moment::at(0),
            finish: Moment::at(0),
        }
    }
}
