//! How much later the packets of a class are when their link is late.

use laxity::units::Nanos;

/// How much later a class's packets are when the link could send for some time and did not.
///
/// Suppose a class has a bound on a link that keeps its rate. Under EDF the packets sent before one
/// of its own are due or came before it; under round robin, fair queueing and service curves the
/// class has its share of what is sent; in one queue all of them came before. There a lost
/// nanosecond delays the class by a nanosecond. Static priority and deficit round robin multiply
/// or add to the loss, see their rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The delay that any loss adds.
    pub(super) at_once: Nanos,
    /// Each `lost` nanoseconds add a delay of `later` nanoseconds; without end if `lost` is 0.
    pub(super) later: u64,
    pub(super) lost: u64,
}

impl Growth {
    /// As much later as the link lost.
    pub(crate) const EQUAL: Growth = Growth { at_once: Nanos::ZERO, later: 1, lost: 1 };

    /// Later without limit once anything is lost.
    pub(super) const ENDLESS: Growth = Growth { at_once: Nanos::MAX, ..Growth::EQUAL };

    /// How much later packets are if the link lost this much time, rounded up.
    pub fn delay_for(self, lost: Nanos) -> Nanos {
        if lost == Nanos::ZERO || self == Growth::EQUAL {
            return lost;
        }
        let later = u128::from(lost.0) * u128::from(self.later);
        let left = u128::from(self.lost);
        let later = if left == 0 { u128::MAX } else { later.div_ceil(left) };
        self.at_once.saturating_add(Nanos(u64::try_from(later).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::discipline::Kind;
    use crate::model::Plan;

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
        let later = |lost| {
            growths("priority").iter().map(|one| one.delay_for(Nanos(lost)).0).collect::<Vec<_>>()
        };
        assert_eq!(later(0), [0, 0, 0]);
        assert_eq!(later(1_000), [1_000, 2_000, 4_000]);
        assert_eq!(later(1), [1, 2, 4]);
        assert_eq!(growths("fifo"), [Growth::EQUAL; 3]);
        // What round robin promises whatever others send, as much later.
        let (drr, lost) = (plan("drr"), Nanos(749));
        let alone = drr.scheduler.discipline().whatever_others_send(&drr).0;
        for ((growth, bound), alone) in drr.growths().iter().zip(drr.bounds()).zip(alone) {
            let later = bound.unwrap().saturating_add(growth.delay_for(lost));
            assert_eq!(later, alone.map_or(Nanos::MAX, |alone| alone + lost));
            assert_eq!(growth.delay_for(Nanos::ZERO), Nanos::ZERO);
        }
        let all = Growth { later: 1, lost: 0, ..Growth::EQUAL };
        assert_eq!((all.delay_for(Nanos(0)), all.delay_for(Nanos(1))), (Nanos(0), Nanos::MAX));
    }
}
