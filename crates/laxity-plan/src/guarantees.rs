//! What a plan's classes are guaranteed, whatever the discipline.

use laxity::admit::{Breakdown, Source, Traffic, Unbounded};
use laxity::packet::ClassId;
use laxity::port::Promise;
use laxity::units::{Bytes, Nanos};

use crate::discipline::{Bounds, Growth, Queues, Services};
use crate::model::{Class, Plan, Police};

impl Plan {
    /// What every class is promised: its deadline, and where the discipline's admission test proves
    /// one, its bound.
    pub fn promises(&self) -> impl Iterator<Item = Promise> {
        let promise = |(class, bound): (&Class, Result<Nanos, Unbounded>)| Promise {
            deadline: class.deadline,
            bound: bound.ok(),
        };
        self.classes.iter().zip(self.bounds()).map(promise)
    }

    /// The delay bound of every class.
    pub fn bounds(&self) -> Bounds {
        if self.is_beyond_proof() {
            return vec![Err(Unbounded::VaryingRate); self.classes.len()];
        }
        self.for_this_plan(self.scheduler.discipline().bounds(self))
    }

    /// Bounds with the reason of those classes that have none because their demoted packets stay in
    /// their queue.
    fn without_demoting(&self, mut bounds: Bounds) -> Bounds {
        for (id, class) in (0..).map(ClassId).zip(&self.classes) {
            let bound = &mut bounds[id.index()];
            // Any other reason would be there under another `police`, too.
            if class.police == Police::Demote
                && matches!(
                    bound,
                    Ok(_) | Err(Unbounded::NoArrival | Unbounded::UnknownCrossTraffic)
                )
                && class.arrival_under(&self.queued_at(id).1).is_none()
            {
                *bound = Err(Unbounded::Demotes);
            }
        }
        bounds
    }

    /// Bounds that a discipline proved of a link that sends whenever it can, as they are for this
    /// plan: its link may [stall](crate::model::LinkSpec::stall), and classes whose demoted packets
    /// stay in their queue, or that order their own flows, have none.
    pub fn for_this_plan(&self, bounds: Bounds) -> Bounds {
        let bounds = self.without_demoting(self.of_queues(bounds));
        let stall = self.link.stall;
        if stall == Nanos::ZERO {
            return bounds;
        }
        let growths = self.growths_beside(|| bounds.clone());
        let later = |bound: Nanos, growth: Growth| bound.saturating_add(growth.delay_for(stall));
        bounds.into_iter().zip(growths).map(|(bound, growth)| Ok(later(bound?, growth))).collect()
    }

    /// What the bound of a class is made of: the sum of its terms is the one among
    /// [`bounds`](Plan::bounds).
    ///
    /// # Errors
    /// The reason if it has none.
    pub fn breakdown(&self, class: ClassId) -> Result<Breakdown, Unbounded> {
        let mut bounds = self.bounds();
        bounds.swap_remove(class.index())?;
        let discipline = self.scheduler.discipline();
        let mut breakdown = discipline.breakdown(self, class).ok_or(Unbounded::NoGuarantee)?;
        if self.link.stall > Nanos::ZERO {
            let bounds = || self.without_demoting(discipline.bounds(self));
            let growth = self.growths_beside(bounds)[class.index()];
            breakdown.add(Source::Stall, growth.delay_for(self.link.stall));
        }
        Ok(breakdown)
    }

    /// How much later the packets of each class are if the link could send and did not; meaningful
    /// for classes with a bound.
    pub fn growths(&self) -> Vec<Growth> {
        self.growths_beside(|| self.bounds_without_stall())
    }

    /// The delay bounds if the link sends whenever it can.
    fn bounds_without_stall(&self) -> Bounds {
        if self.is_beyond_proof() {
            return vec![Err(Unbounded::VaryingRate); self.classes.len()];
        }
        self.without_demoting(self.of_queues(self.scheduler.discipline().bounds(self)))
    }

    /// The same beside bounds, which most disciplines need not know for that.
    fn growths_beside(&self, bounds: impl FnOnce() -> Bounds) -> Vec<Growth> {
        match self.scheduler.room().proof.growths {
            Some(growths) => growths(self, &bounds()),
            None => vec![Growth::EQUAL; self.classes.len()],
        }
    }

    /// The service of each class by itself, whatever the others send. `None` where it depends on
    /// them, or nothing is guaranteed.
    pub fn services(&self) -> Services {
        if self.serves_by_curves() {
            self.scheduler.discipline().services(self)
        } else {
            vec![None; self.classes.len()]
        }
    }

    /// Whether classes may be served by curves of their own. On a link that stalls they are not:
    /// others may come first in the meantime.
    fn serves_by_curves(&self) -> bool {
        self.link.is_punctual() && self.link.stall == Nanos::ZERO
    }

    /// [`bounds`](Plan::bounds) and [`services`](Plan::services), in the time of one where they
    /// follow from the same. If `alone`, those that hold whatever other classes send.
    pub fn bounds_and_services(&self, alone: bool) -> (Bounds, Services) {
        let discipline = self.scheduler.discipline();
        match self.serves_by_curves() {
            true if alone => discipline.whatever_others_send(self),
            true => discipline.bounds_and_services(self),
            false => (self.bounds(), self.services()),
        }
    }

    /// The service of each class together with all the classes that it waits behind.
    ///
    /// This is a strict service curve. It holds for any order among these classes, which the
    /// discipline's [`Proof`](crate::discipline::Proof) names. `None` where none is known.
    pub fn aggregates(&self) -> Services {
        if self.is_beyond_proof() {
            return vec![None; self.classes.len()];
        }
        self.scheduler.discipline().aggregates(self)
    }

    /// The queue of each class, whose packets leave in the order in which they came, with the joint
    /// service of all classes in it. `None` where none is known.
    pub fn queue_services(&self) -> Queues {
        if self.is_beyond_proof() || self.link.stall > Nanos::ZERO {
            return vec![None; self.classes.len()];
        }
        self.scheduler.discipline().queues(self)
    }

    /// Whether the link may be late or change its rate, and the discipline has no proof for that.
    pub fn is_beyond_proof(&self) -> bool {
        !self.link.is_punctual() && !self.scheduler.room().proof.bears_late_links
    }

    /// Whether the consecutive windows of all streams are proved to be kept as long as these are in
    /// step: their first packets come whole gaps apart and every other comes before its predecessor
    /// is due.
    pub fn keeps_windows(&self) -> bool {
        let is_whole = self.link.is_punctual() && self.link.threads.is_none();
        is_whole && (self.scheduler.room().keeps_windows)(self)
    }

    /// What is known of the traffic of a class in the plan's own scheduler.
    pub(crate) fn traffic(&self, class: &Class) -> Traffic {
        let arrival = class.arrival_under(&self.scheduler).map(|arrival| arrival.buckets.clone());
        let traffic =
            Traffic { arrival: arrival.unwrap_or_default(), packet: self.max_packet(class) };
        // A class that does not come here delays no other class.
        let packet = if traffic.is_absent() { Bytes(0) } else { traffic.packet };
        Traffic { packet, ..traffic }
    }
}
