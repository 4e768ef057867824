//! Where the least is left to be promised.

use std::collections::BTreeMap;

use laxity::units::Rate;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Network, Source};

/// The link of a plan, or the output of its network where the least is left.
pub(super) struct Fullest {
    /// The output of a network.
    pub at: Option<String>,
    /// The long-term rates of all classes there that are promised a delay, together.
    pub promised: Rate,
    /// The rate of the link.
    pub rate: Rate,
}

impl Fullest {
    pub(super) fn new(plan: &Plan) -> Fullest {
        match &plan.network {
            Some(network) => Fullest::of_network(plan, network),
            None => Fullest { at: None, promised: plan.promised_rate(), rate: plan.link.rate },
        }
    }

    fn of_network(plan: &Plan, network: &Network) -> Fullest {
        let mut promised: BTreeMap<Hop, u64> = BTreeMap::new();
        for (id, class) in plan.leaves() {
            let is_promised = class.end_to_end.or(class.relative_deadline()).is_some();
            let Some(Rate(rate)) = plan.sustained_rate(class).filter(|_| is_promised) else {
                continue;
            };
            let feeds = |source: &&Source| plan.fed_by(source).any(|fed| fed == id);
            for hop in
                plan.sources.iter().find(feeds).iter().flat_map(|source| source.path().iter())
            {
                let sum = promised.entry(*hop).or_default();
                *sum = sum.saturating_add(rate);
            }
        }
        let left =
            |(hop, promised): &(Hop, u64)| network.link(*hop).rate.0.saturating_sub(*promised);
        match promised.into_iter().min_by_key(left) {
            Some((hop, promised)) => Fullest {
                at: Some(network.output(hop)),
                promised: Rate(promised),
                rate: network.link(hop).rate,
            },
            None => Fullest { at: None, promised: Rate(0), rate: plan.link.rate },
        }
    }
}
