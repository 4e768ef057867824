//! At what load the bounds of a network are lost.

use laxity::units::{Bytes, Rate};

use super::analysis::{Analysis, Goal};
use crate::model::{Plan, TokenBucket};
use crate::network::NetworkPlan;

/// Nobody asks for more times today's traffic, in percent.
const MOST: u64 = 10_000;

/// The largest product of paths and outputs at which the search, some fourteen analyses, is worth
/// its time.
const TOO_MANY: usize = 1_000;

impl NetworkPlan<'_> {
    /// The most that all classes may send with bounds at every output, in percent of what they may:
    /// of their bursts and their rates. Outputs without a bound at any load do not count. `None` if
    /// there is none at a hundredth of it, no more than a hundred times, and `None` where the
    /// network is large.
    pub fn bounded_up_to(self) -> Option<u64> {
        let outlined = self.outlined();
        if outlined.routes.len() * outlined.outputs.len() > TOO_MANY {
            return None;
        }
        let most = self.bounded_at(1);
        if most == 0 {
            return None;
        }
        let (mut bounded, mut lost) = (1, MOST + 1);
        while lost - bounded > 1 {
            let between = bounded.midpoint(lost);
            if self.bounded_at(between) == most { bounded = between } else { lost = between }
        }
        Some(bounded)
    }

    /// How many bounds there are at so much of the traffic.
    fn bounded_at(self, percent: u64) -> usize {
        let plan = self.plan.with_traffic(percent);
        let on = NetworkPlan { plan: &plan, ..self };
        let analysis = Analysis::new(on, Goal::Any);
        let classes = analysis.paths.outputs.iter().flat_map(|output| &output.classes);
        classes.filter(|passing| passing.bound.is_ok()).count()
    }
}

impl Plan {
    /// The plan with the arrival curves of all classes scaled to `percent` percent.
    pub fn with_traffic(&self, percent: u64) -> Plan {
        let part = |of: u64| of.saturating_mul(percent).div_ceil(100);
        let mut plan = self.clone();
        for arrival in plan.classes.iter_mut().filter_map(|class| class.arrival.as_mut()) {
            for TokenBucket { bucket, rate } in &mut arrival.buckets {
                (*bucket, *rate) = (Bytes(part(bucket.0)), Rate(part(rate.0)));
            }
        }
        plan
    }
}
