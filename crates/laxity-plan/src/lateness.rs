//! What it costs a class that the link is late: could send, and does not.
//!
//! Let a link that is proved to bring a class's packets out within a bound lose some time. Under
//! EDF, what comes before a packet is due by its deadline, or came before; under round robin, fair
//! queueing and service curves a class has its share of what is sent; in a queue everything came
//! before. Everything is then as much later as was lost, and nothing more.
//!
//! Under static priority what comes on the levels before goes first, until the packet is sent:
//! during what was lost, too, and while that is sent. With arrival curves A_j of the classes before
//! and C the rate, a packet is sent at the t at which `C (t - lost) - sum A_j(t)` is what it was,
//! so each nanosecond that is lost delays it by `C / (C - sum A_j'(t))`; these slopes never grow,
//! so those where the bound is hold from there on.
//!
//! Under deficit round robin a bound may count on what others send, and so on when: once anything
//! was lost, a class has what it has whatever others send, and that as much later as was lost.

use std::collections::HashMap;

use laxity::police::TokenBucket;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos};

use crate::discipline::Bounds;
use crate::model::{Class, Plan};

/// By how much a class's packets are later when the link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// So much once anything was lost, and ...
    at_once: Nanos,
    /// ... so many nanoseconds ...
    later: u64,
    /// ... for each that many.
    lost: u64,
}

impl Growth {
    /// As much.
    const NONE: Growth = Growth { at_once: Nanos::ZERO, later: 1, lost: 1 };

    /// Without end.
    const ENDLESS: Growth = Growth { at_once: Nanos::MAX, ..Growth::NONE };

    /// As much for each class.
    pub(crate) fn as_lost(plan: &Plan, _: &Bounds) -> Vec<Growth> {
        vec![Growth::NONE; plan.classes.len()]
    }

    /// By how much packets are later if so much was lost, rounded up.
    pub fn of(self, lost: Nanos) -> Nanos {
        if lost == Nanos::ZERO || self == Growth::NONE {
            return lost;
        }
        let later = u128::from(lost.0) * u128::from(self.later);
        let left = u128::from(self.lost);
        let later = if left == 0 { u128::MAX } else { later.div_ceil(left) };
        self.at_once.saturating_add(Nanos(u64::try_from(later).unwrap_or(u64::MAX)))
    }
}

impl Plan {
    /// What it costs each class that has a bound.
    pub fn growths(&self) -> Vec<Growth> {
        self.growths_of(&self.bounds())
    }

    /// The same where the bounds are known.
    pub(crate) fn growths_of(&self, bounds: &Bounds) -> Vec<Growth> {
        (self.scheduler.room().proof.growths)(self, bounds)
    }

    /// Under static priority.
    pub(crate) fn growths_of_levels(&self, bounds: &Bounds) -> Vec<Growth> {
        let (rate, levels) = (self.link.rate, self.priority_levels());
        // What comes while the last byte is sent is too late.
        let last_byte = rate.time_for(Bytes(1)) + Nanos(1);
        let growth = |level: u32, bound: Nanos| {
            let at = bound.saturating_sub(last_byte);
            let before = self.leaves().filter(|(other, _)| levels[other.index()] < level);
            let slope: u64 = before.map(|(_, class)| slope(class, at)).sum();
            Growth { later: rate.0, lost: rate.0.saturating_sub(slope), ..Growth::NONE }
        };
        // The classes on a level all have one bound, if they have any.
        let mut known = HashMap::new();
        let of = |(level, bound): (&u32, &Result<Nanos, _>)| {
            let bound = *bound.as_ref().ok()?;
            Some(*known.entry(*level).or_insert_with(|| growth(*level, bound)))
        };
        let growths = levels.iter().zip(bounds).map(of);
        growths.map(|growth| growth.unwrap_or(Growth::NONE)).collect()
    }

    /// Under deficit round robin.
    pub(crate) fn growths_of_turns(&self, bounds: &Bounds) -> Vec<Growth> {
        let alone = self.drr_bounds_whatever_others_send();
        let growth = |(bound, alone): (&Result<Nanos, _>, &Result<Nanos, _>)| match (bound, alone) {
            (Ok(bound), Ok(alone)) => Growth { at_once: *alone - *bound, ..Growth::NONE },
            (Ok(_), Err(_)) => Growth::ENDLESS,
            (Err(_), _) => Growth::NONE,
        };
        bounds.iter().zip(&alone).map(growth).collect()
    }
}

/// By how many bits a second a class's arrival curve grows from a time on.
fn slope(class: &Class, at: Nanos) -> u64 {
    let bits = |line: &TokenBucket| {
        let burst = u128::from(line.bucket.0) * u128::from(NANOBITS_PER_BYTE);
        burst + u128::from(line.rate.0) * u128::from(at.0)
    };
    let buckets = class.arrival.iter().flat_map(|arrival| &arrival.buckets);
    let least = buckets.min_by_key(|line| (bits(line), line.rate));
    least.map_or(0, |line| line.rate.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::discipline::Kind;

    fn plan(kind: &str) -> Plan {
        let text = format!(
            "version = 1\nlink = {{ rate = \"1mbit\", max-packet = \"1000b\" }}\nscheduler = {{ kind = \"{kind}\" }}\n\
             [class.first]\nlevel = 0\narrival = {{ bucket = \"100b\", rate = \"500kbit\", packet = \"100b\" }}\n\
             [class.second]\nlevel = 1\narrival = {{ bucket = \"100b\", rate = \"250kbit\", packet = \"100b\" }}\n\
             [class.third]\nlevel = 2\narrival = {{ bucket = \"100b\", rate = \"1kbit\", packet = \"100b\" }}\n"
        );
        Plan::parse_for(&text, "test.toml", Path::new("."), Kind::ALL).unwrap()
    }

    fn growths(kind: &str) -> Vec<Growth> {
        plan(kind).growths()
    }

    #[test]
    fn under_static_priority_it_costs_more_the_more_goes_first() {
        let of =
            |lost| growths("priority").iter().map(|one| one.of(Nanos(lost)).0).collect::<Vec<_>>();
        assert_eq!(of(0), [0, 0, 0]);
        assert_eq!(of(1_000), [1_000, 2_000, 4_000]);
        assert_eq!(of(1), [1, 2, 4]);
        assert_eq!(growths("fifo"), [Growth::NONE; 3]);
        // What round robin promises whatever others send, as much later.
        let (drr, lost) = (plan("drr"), Nanos(749));
        let alone = drr.drr_bounds_whatever_others_send();
        for ((growth, bound), alone) in drr.growths().iter().zip(drr.bounds()).zip(alone) {
            let later = bound.unwrap().saturating_add(growth.of(lost));
            assert_eq!(later, alone.map_or(Nanos::MAX, |alone| alone + lost));
            assert_eq!(growth.of(Nanos::ZERO), Nanos::ZERO);
        }
        let all = Growth { later: 1, lost: 0, ..Growth::NONE };
        assert_eq!((all.of(Nanos(0)), all.of(Nanos(1))), (Nanos(0), Nanos::MAX));
    }
}
