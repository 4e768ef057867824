//! From a plan to what acts on it: a scheduler behind its queues.

use laxity::aqm::{Limit, Managed};
use laxity::packet::ClassId;
use laxity::police::{Meter, Policer};
use laxity::scheduler::{Backlog, Scheduler, Withdraw};
use laxity::units::Nanos;

use crate::model::{Arrival, Class, DropTailSpec, Plan, QueueSpec};

impl Plan {
    /// The plan's classes under its discipline, behind their queues, which draw random numbers made
    /// from `seed`. For time-driven priority it is what orders the packets that have no frame.
    pub fn build_scheduler(&self, seed: u64) -> Box<dyn Scheduler + Send> {
        if self.is_hierarchy_of_schedulers() {
            return Box::new(self.hierarchy(seed));
        }
        self.behind_queues(self.scheduler.discipline().build(self, seed), seed)
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
        let policies: Vec<_> = queues.iter().map(|queue| queue.management().policy()).collect();
        let managed = Managed::new(scheduler, &policies, &queue_of, seed);
        Box::new(managed.expect("reading refuses what no queue management takes"))
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

    /// What the queues hold, where [`drops_tails`](Self::drops_tails) says that this is all there is to them.
    pub fn tails(&self) -> Tails {
        let (queues, queue_of) = self.queues();
        Tails { limits: queues.iter().map(QueueSpec::limit).collect(), queue_of }
    }

    /// The entrance that holds packets to the arrival curves of their classes, and counts those that break
    /// them from `measured_from` on.
    pub fn policer(&self, measured_from: Nanos) -> Policer {
        let meter = |class: &Class| Some(class.arrival.as_ref()?.meter());
        let classes = self.classes.iter().map(|class| (meter(class), class.police));
        Policer::new(classes, measured_from)
    }

    /// Whether a packet of a class gets in beside what is queued where there is memory for no more than
    /// `most`. Classes that do not say what they send leave an eighth of it to those that do: whatever
    /// comes of the former, what is promised to the latter is not shut out.
    pub fn has_memory(&self, class: ClassId, length: u32, queued: Backlog, most: Backlog) -> bool {
        let is_known = self.classes[class.index()].arrival.is_some();
        let part = |all: u64| if is_known { all } else { all - all / 8 };
        (queued.packets as u64) < part(most.packets as u64)
            && queued.bytes.saturating_add(length.into()) <= part(most.bytes)
    }

    /// Whether any number of packets may be queued.
    pub fn limits_nothing(&self) -> bool {
        self.queue.is_none() && self.classes.iter().all(|class| class.queue.is_none())
    }

    /// Whether what gets into a queue leaves it as it came, and it is known at once what does not get in: queues
    /// drop their tails and nothing else.
    pub fn drops_tails(&self) -> bool {
        let of_classes = self.classes.iter().filter_map(|class| class.queue.as_deref());
        of_classes
            .chain(&self.queue)
            .all(|queue| matches!(queue, QueueSpec::DropTail(DropTailSpec { mark: None, .. })))
    }
}

/// The limits of queues that drop their tails.
#[derive(Clone, Debug)]
pub struct Tails {
    /// What each queue never exceeds.
    pub limits: Vec<Limit>,
    /// The queue of each class, by its place among these, if it belongs to one.
    pub queue_of: Vec<Option<usize>>,
}

impl Arrival {
    /// A meter that tells which packets keep to the curve.
    pub fn meter(&self) -> Meter {
        let shortest = self.shortest.unwrap_or_default().0;
        Meter::new(self.buckets.iter().copied())
            .of_at_least(u32::try_from(shortest).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
