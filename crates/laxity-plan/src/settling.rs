//! How long a class that has ended is felt by others.

use laxity::packet::ClassId;
use laxity::reserve::settling::{Promised, settling_time};
use laxity::units::{Bytes, Nanos, Rate};

use crate::discipline::Aftermath;
use crate::model::{Class, Hop, Plan, SchedulerSpec};
use crate::network::NetworkPlan;
use crate::paths::Route;
use crate::tdp::Framing;

impl Plan {
    /// How long a class of the link is felt at most after its last packet has come. From then on
    /// what is promised to the others holds as if the class had never been. `None` if nobody knows,
    /// such as where a class has deadlines and no bound.
    ///
    /// Where promised packets go before all others it is the [settling
    /// time](laxity::reserve::settling). Where classes are isolated it is the longest delay that is
    /// promised, and the longest bound: a scheduler takes over what is queued when the class ends,
    /// and serves it anew. The queue of the class is empty then, unless other plans follow in the
    /// meantime. Under EDF best effort is to have no deadlines in the
    /// meantime; what is queued at the end of the class still came under this plan, so this plan's
    /// bounds count.
    ///
    /// In a network it is felt until its last packet has left the last link, and as long as on a
    /// link from then on; under time-driven priority until the receiver has its last packet.
    pub fn settling_time(&self) -> Option<Nanos> {
        match self.network_plan() {
            Some(on) => on.settling_time(),
            None => self.settling_time_on_link(),
        }
    }

    fn settling_time_on_link(&self) -> Option<Nanos> {
        let bounds = self.bounds();
        let is_unbounded = |id: ClassId, class: &Class| {
            class.relative_deadline().is_some() && bounds[id.index()].is_err()
        };
        if self.leaves().any(|(id, class)| is_unbounded(id, class)) {
            return None;
        }
        let promised =
            || self.leaves().filter_map(|(id, class)| Some((class, bounds[id.index()].ok()?)));
        match self.aftermath() {
            Aftermath::Isolated => {
                let delay = |(class, bound): (&Class, Nanos)| {
                    class.relative_deadline().map_or(bound, |due| due.max(bound))
                };
                let promise = promised().map(delay).max().unwrap_or_default();
                let bound = promised().map(|(_, bound)| bound).max().unwrap_or_default();
                Some(promise.saturating_add(bound))
            }
            Aftermath::Unknown => promised().next().is_none().then_some(Nanos::ZERO),
            Aftermath::PromisedFirst => {
                let traffic: Vec<_> =
                    promised().map(|(class, bound)| (bound, self.traffic(class).arrival)).collect();
                let promised: Vec<_> = traffic
                    .iter()
                    .map(|(bound, arrival)| Promised { bound: *bound, arrival })
                    .collect();
                let packet = self.leaves().map(|(_, class)| self.max_packet(class)).max();
                let (link, packet) = (&self.link, packet.unwrap_or(Bytes(0)));
                // A stall delays the service of a busy period once, as a latency does.
                let latency = link.latency?.saturating_add(link.stall);
                settling_time(link.rate, latency, packet, &promised)
            }
        }
    }

    /// Whether best effort has deadlines that depend on promises. It may then have used up what a
    /// newcomer counts on. Then a newcomer's promise begins when best effort has been without
    /// deadlines for the [settling time](Self::settling_time).
    pub fn newcomers_wait(&self) -> bool {
        matches!(self.scheduler, SchedulerSpec::Edf(edf) if self.gives_deadlines(edf.best_effort))
    }

    /// The long-term rates of all classes of the link that are promised a delay, together.
    pub fn promised_rate(&self) -> Rate {
        let bounds = self.bounds();
        let promised = self.leaves().filter(|(id, _)| bounds[id.index()].is_ok());
        let rates = promised.filter_map(|(_, class)| self.sustained_rate(class));
        Rate(rates.map(|Rate(rate)| rate).fold(0, u64::saturating_add))
    }

    /// The long-term rate of a class's arrival curve; `None` without one.
    pub fn sustained_rate(&self, class: &Class) -> Option<Rate> {
        self.traffic(class).arrival.iter().map(|line| line.rate).min()
    }

    /// How what a class of the link has sent is felt by others after its end.
    pub fn aftermath(&self) -> Aftermath {
        if self.has_inner_schedulers() {
            return Aftermath::Unknown;
        }
        (self.scheduler.room().proof.aftermath)(self)
    }
}

impl NetworkPlan<'_> {
    fn settling_time(self) -> Option<Nanos> {
        if let Some(framed) = self.plan.framed_network() {
            let bounds = Framing::new(framed).bounds();
            return bounds
                .into_values()
                .try_fold(Nanos::ZERO, |longest, bound| Some(longest.max(bound.ok()?.delay())));
        }
        let hops = || self.network.hops();
        // Best effort of an output is put into the background by the plan's own scheduler alone.
        let is_own = |hop| self.plan.scheduling_at(hop).scheduler == self.plan.scheduler;
        if let Some(book) = self.path_book().filter(|_| hops().all(is_own)) {
            let mut longest = self.plan.sources.iter().flat_map(|source| {
                let path: Vec<_> = source.path().iter().map(|hop| hop.in_book()).collect();
                let book = &book;
                self.plan.fed_by(source).map(move |class| {
                    let class = &self.plan.classes[class.index()];
                    let deadline = |hop: &Hop| class.deadline_over(hop.link).or(class.gap);
                    let deadlines: Option<Vec<_>> = source.path().iter().map(deadline).collect();
                    deadlines.map_or(Some(Nanos::ZERO), |all| book.settling_time(&path, &all))
                })
            });
            return longest.try_fold(Nanos::ZERO, |longest, one| Some(longest.max(one?)));
        }
        let is_isolated = |hop| {
            let here = self.plan.at_hop(hop);
            matches!(here.aftermath(), Aftermath::Isolated)
        };
        let paths = self.paths();
        let promised = || paths.routes.iter().filter(|route| self.is_promised(route));
        if !promised().flat_map(|route| route.path.iter()).all(|hop| is_isolated(*hop)) {
            return None;
        }
        promised().try_fold(Nanos::ZERO, |longest, route| Some(longest.max(route.bound().ok()?)))
    }

    fn is_promised(self, route: &Route) -> bool {
        let class = &self.plan.classes[route.class.index()];
        class.relative_deadline().is_some()
            || class.end_to_end.is_some()
            || !class.deadline_over.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Of a class with half of the link's rate beside one without a promise.
    fn settling_time(scheduler: &str, [own, other]: [&str; 2]) -> Option<Nanos> {
        let text = format!(
            "version = 1\nlink = {{ rate = '8mbit', max-packet = '1000b' }}\nscheduler = {{ {scheduler} }}\n\
             [class.a]\n{own}\narrival = {{ bucket = '1000b', rate = '4mbit', packet = '1000b' }}\n\
             [class.b]\n{other}\n"
        );
        Plan::parse(&text, "plan.toml", Path::new("")).unwrap().settling_time()
    }

    #[test]
    fn each_discipline_says_how_long_a_class_is_felt() {
        // A packet of others, and at 1 byte/us what comes in the bound of 2 ms at half of that.
        let (due, levels, none) = (["deadline = '9ms'", ""], ["level = 0", "level = 1"], ["", ""]);
        assert_eq!(
            settling_time("kind = 'edf', best-effort = 'background'", due),
            Some(Nanos(6_000_000))
        );
        // Its bound is longer by a byte.
        assert_eq!(settling_time("kind = 'priority'", levels), Some(Nanos(6_002_000)));
        // What is queued at the end came under deadlines for best effort: a bound of 9 ms.
        assert_eq!(settling_time("kind = 'edf'", due), Some(Nanos(13_000_000)));
        assert_eq!(settling_time("kind = 'wfq'", none), Some(Nanos(6_000_002)));
        assert_eq!(settling_time("kind = 'drr'", none), None);
        assert_eq!(settling_time("kind = 'dwcs'", ["gap = '9ms'", ""]), None);
        assert_eq!(settling_time("kind = 'fq-codel'", none), Some(Nanos(0)));
    }
}
