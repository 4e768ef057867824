//! Why a packet waits under WF2Q+.

use super::servers::{LINK, Servers};
use super::{Class, Wf2q};
use crate::explain::{Explain, Rule};
use crate::packet::{ClassId, Packet};
use crate::sched::pace::Moment;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Wf2q {
    fn precedence(&self, _: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let offers = !self.packets.is_empty(sent.packet.class.index());
        let served = Served { leaf: sent.packet.class, offers, unused: 0 };
        self.servers.precedence(served, waiting.class)
    }
}

/// A leaf that was just served.
pub(in crate::sched) struct Served {
    pub leaf: ClassId,
    /// Whether it offers another packet.
    pub offers: bool,
    /// By how many bytes it sent less than it offered.
    pub unused: u32,
}

impl Servers {
    /// The rule by which a leaf was served before another one that offers a packet. It is that of
    /// the lowest server above both.
    pub(in crate::sched) fn precedence(&self, served: Served, waiting: ClassId) -> Rule {
        let Some((ahead, behind)) = self.siblings(served.leaf, waiting) else {
            return Rule::Scheduler;
        };
        let Class { tags, server, .. } = self.classes[behind.index()];
        let virtual_time = match server {
            LINK => self.sending.virtual_time,
            // It has chosen again since.
            server => self.servers[server.index()].choices[1],
        };
        let key = (self.finish_of_served(ahead, &served), ahead);
        if tags.start.ceil() > virtual_time.ceil() {
            Rule::Ineligible
        } else if key < (tags.finish.ceil(), behind) {
            Rule::VirtualFinish
        } else {
            // An inner server chooses before its turn comes.
            Rule::ArrivalOrder
        }
    }

    /// The classes below one server that two leaves are, or belong to.
    fn siblings(&self, one: ClassId, other: ClassId) -> Option<(ClassId, ClassId)> {
        let server = |class: ClassId| self.classes[class.index()].server;
        let above = |class: &ClassId| self.servers[server(*class).index()].class;
        let all = |class| core::iter::successors(Some(class), above);
        all(one).find_map(|one| {
            let other = all(other).find(|other| server(*other) == server(one))?;
            (one != other).then_some((one, other))
        })
    }

    /// The finishing time that a class had competed with, rounded up.
    fn finish_of_served(&self, class: ClassId, served: &Served) -> i128 {
        let Class { tags, below, .. } = &self.classes[class.index()];
        let offers = match *below {
            LINK => served.offers,
            below => !self.servers[below.index()].is_passive(),
        };
        let finish: Moment = if offers { tags.start } else { tags.finish };
        let unused = if *below == LINK { served.unused } else { 0 };
        tags.pace.after(finish, unused).ceil()
    }
}
