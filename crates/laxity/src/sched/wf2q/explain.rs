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
    /// The rule by which a leaf was served before another one that offers a packet: that of the
    /// server which both are below.
    pub(in crate::sched) fn precedence(&self, served: Served, waiting: ClassId) -> Rule {
        let Some((ahead, behind)) = self.siblings(served.leaf, waiting) else {
            return Rule::Scheduler;
        };
        let waits = &self.classes[behind.index()];
        let has_begun = match waits.server {
            LINK => waits.tags.start.ceil() <= self.sending.virtual_time.ceil(),
            // The inner server has chosen again since, but a packet that had begun and would
            // finish sooner would have been chosen.
            _ => self.finish_of_served(ahead, &served) <= waits.tags.finish.ceil(),
        };
        if has_begun { Rule::VirtualFinish } else { Rule::Ineligible }
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
