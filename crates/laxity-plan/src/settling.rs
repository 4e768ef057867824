//! How long a class that has ended is felt by others.

use laxity::reserve::settling::{Promised, settling_time};
use laxity::sched::cake::Isolation;
use laxity::units::{Bytes, Nanos};

use crate::model::{BestEffort, Plan, SchedulerSpec};

/// Why what a class sent may be felt after its end.
enum Felt {
    /// Promised packets go before all others, and wait for one another.
    PromisedFirst,
    /// A promised class waits for its own packets alone, or its bound is as long as any of its
    /// busy periods.
    Isolated,
    /// Nobody knows for how long.
    Unknown,
}

impl Plan {
    /// How long a class of the link is felt at most after its last packet has come. From then on
    /// what is promised to the others holds as if the class had never been. `None` if nobody knows.
    ///
    /// Where promised packets go before all others it is the [settling
    /// time](laxity::reserve::settling). Where classes are isolated it is the longest bound: the
    /// queue of the class is empty then. Under EDF best effort is to have no deadlines in the
    /// meantime.
    pub fn settling_time(&self) -> Option<Nanos> {
        let bounds = self.bounds();
        let promised =
            || self.leaves().filter_map(|(id, class)| Some((class, bounds[id.index()].ok()?)));
        match self.felt() {
            Felt::Isolated => Some(promised().map(|(_, bound)| bound).max().unwrap_or_default()),
            Felt::Unknown => promised().next().is_none().then_some(Nanos::ZERO),
            Felt::PromisedFirst => {
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

    fn felt(&self) -> Felt {
        if self.network.is_some() || self.has_inner_schedulers() {
            return Felt::Unknown;
        }
        match self.scheduler {
            SchedulerSpec::Edf(edf) if edf.best_effort != BestEffort::Background => Felt::Unknown,
            SchedulerSpec::Edf(_)
            | SchedulerSpec::Fifo
            | SchedulerSpec::Priority
            | SchedulerSpec::Dwcs(_) => Felt::PromisedFirst,
            SchedulerSpec::Cake(cake) if cake.settings.isolation == Isolation::Flowblind => {
                Felt::Unknown
            }
            SchedulerSpec::Wfq
            | SchedulerSpec::Wf2q
            | SchedulerSpec::Qfq
            | SchedulerSpec::Hfsc
            | SchedulerSpec::Cake(_)
            | SchedulerSpec::FqCodel(_)
            | SchedulerSpec::DualPi2(_) => Felt::Isolated,
            // Its bounds count on what others send.
            SchedulerSpec::Drr | SchedulerSpec::Tdp(_) => Felt::Unknown,
        }
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
        assert_eq!(settling_time("kind = 'edf'", due), None);
        assert_eq!(settling_time("kind = 'wfq'", none), Some(Nanos(3_000_001)));
        assert_eq!(settling_time("kind = 'drr'", none), None);
        assert_eq!(settling_time("kind = 'fq-codel'", none), Some(Nanos(0)));
    }
}
