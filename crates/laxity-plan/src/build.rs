//! From a plan to what acts on it: a scheduler behind its queues.

use laxity::aqm::{Limit, ManagedScheduler};
use laxity::packet::Packet;
use laxity::police::{Meter, Policer};
use laxity::sched::LeafQueues;
use laxity::scheduler::{Backlog, Scheduler, Withdraw};
use laxity::units::Nanos;

use crate::model::{Class, DropTailSpec, Plan, Police, QueueSpec};

impl Plan {
    /// The plan's classes under its discipline, behind their queues, which draw random numbers made
    /// from `seed`. For time-driven priority it is what orders the packets that have no frame.
    pub fn build_scheduler(&self, seed: u64) -> Box<dyn Scheduler + Send> {
        if let Some(scheduler) = self.build_withdrawing(seed) {
            return scheduler;
        }
        if self.is_hierarchy_of_schedulers() {
            return Box::new(self.hierarchy(seed));
        }
        let upper = self.behind_queues(self.scheduler.discipline().build(self, seed), seed);
        let leaves = self.leaf_schedulers(seed);
        if leaves.is_empty() {
            return upper;
        }
        Box::new(LeafQueues::new(upper, leaves).expect("a leaf has one scheduler"))
    }

    /// The same scheduler where it gives back any packet it holds; `None` where queue management
    /// stands before it or a class holds a scheduler of its own.
    pub fn build_withdrawing(&self, seed: u64) -> Option<Box<dyn Withdraw + Send>> {
        let is_plain = self.limits_nothing()
            && !self.is_hierarchy_of_schedulers()
            && !self.classes.iter().any(|class| self.orders_own_flows(class));
        is_plain.then(|| self.scheduler.discipline().build(self, seed))
    }

    /// A scheduler of the plan's classes behind their queues.
    pub fn behind_queues(
        &self,
        scheduler: Box<dyn Withdraw + Send>,
        seed: u64,
    ) -> Box<dyn Scheduler + Send> {
        let (queues, queue_of) = self.queues();
        if queues.is_empty() {
            return scheduler;
        }
        let policies: Vec<_> = queues.iter().map(QueueSpec::policy).collect();
        let managed = ManagedScheduler::new(scheduler, &policies, &queue_of, seed);
        let managed = managed.expect("reading refuses what no queue management takes");
        if self.demotes() { Box::new(managed.with_demoted_giving_way()) } else { Box::new(managed) }
    }

    /// Whether any class's packets may be demoted.
    fn demotes(&self) -> bool {
        self.classes.iter().any(|class| class.police == Police::Demote)
    }

    /// All queues, and which of them each class belongs to.
    fn queues(&self) -> (Vec<QueueSpec>, Vec<Option<usize>>) {
        let mut queues: Vec<_> = self.queue.into_iter().collect();
        let mut queue_of = vec![self.queue.map(|_| 0); self.classes.len()];
        for (class, queue_of) in self.classes.iter().zip(&mut queue_of) {
            if let Some(queue) = &class.queue {
                *queue_of = Some(queues.len());
                queues.push(**queue);
            }
        }
        (queues, queue_of)
    }

    /// What the queues hold, where [`drops_tails`](Self::drops_tails) says that this is all there
    /// is to them.
    pub fn tails(&self) -> Tails {
        let (queues, queue_of) = self.queues();
        Tails { limits: queues.iter().map(QueueSpec::limit).collect(), queue_of }
    }

    /// The entrance that holds packets to the arrival curves of their classes, and counts those
    /// that break them from `measured_from` on.
    pub fn policer(&self, measured_from: Nanos) -> Policer {
        let classes = self.classes.iter().map(|class| (self.meter(class), class.police));
        Policer::new(classes, measured_from)
    }

    /// A meter of the class's contract. A packet conforms if it keeps to `arrival` and its length
    /// is within the limits of the class's packets, since bounds count on both. Where bounds count
    /// on a `gap`, or frames are reserved for packets, it also keeps to that. `None` if bounds
    /// count on nothing about the class.
    pub fn meter(&self, class: &Class) -> Option<Meter> {
        let buckets = self.scheduler.discipline().contract(self, class);
        let line = self.framed_line(class);
        if buckets.is_none() && line.is_none() {
            return None;
        }
        let [shortest, longest] = [self.min_packet(class), self.max_packet(class)]
            .map(|length| u32::try_from(length.0).unwrap_or(u32::MAX));
        let meter = Meter::new(buckets.unwrap_or_default()).with_lengths(shortest..=longest);
        Some(line.into_iter().fold(meter, Meter::with_packets))
    }

    /// Whether a packet [finds memory](has_memory) beside what is queued.
    pub fn has_memory(&self, packet: &Packet, queued: Backlog, most: Backlog) -> bool {
        let has_contract = self.classes[packet.class.index()].arrival.is_some();
        has_memory(packet, has_contract, queued, most)
    }

    /// Whether any number of packets may be queued.
    pub fn limits_nothing(&self) -> bool {
        self.queue.is_none() && self.classes.iter().all(|class| class.queue.is_none())
    }

    /// Whether what gets into a queue leaves it as it came, and it is known at once what does not
    /// get in: queues drop their tails and nothing else.
    pub fn drops_tails(&self) -> bool {
        if self.demotes() && !self.limits_nothing() {
            return false;
        }
        let of_classes = self.classes.iter().filter_map(|class| class.queue.as_deref());
        of_classes
            .chain(&self.queue)
            .all(|queue| matches!(queue, QueueSpec::DropTail(DropTailSpec { mark: None, .. })))
    }
}

/// Whether a packet finds memory beside what is queued, where there is memory for no more than
/// `most`. Packets of classes without a contract, which is `arrival`, and demoted ones leave an
/// eighth of it to all others: their number has no bound, and they shut out nothing that is
/// promised.
#[inline]
pub fn has_memory(packet: &Packet, has_contract: bool, queued: Backlog, most: Backlog) -> bool {
    let is_known = has_contract && !packet.demoted;
    let part = |all: u64| if is_known { all } else { all - all / 8 };
    (queued.packets as u64) < part(most.packets as u64)
        && queued.bytes.saturating_add(packet.length.into()) <= part(most.bytes)
}

/// The limits of queues that drop their tails.
#[derive(Clone, Debug)]
pub struct Tails {
    /// What each queue never exceeds.
    pub limits: Vec<Limit>,
    /// The queue of each class, by its place among these, if it belongs to one.
    pub queue_of: Vec<Option<usize>>,
}

#[cfg(test)]
mod tests;
