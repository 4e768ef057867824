//! The classes' shares of the link, where a plan leaves them to be derived: any plan runs under
//! any scheduler.

use laxity::packet::ClassId;
use laxity::units::Rate;

use crate::model::{Class, Plan};

impl Plan {
    /// The rate that each class is guaranteed in the long run: that of its link-sharing curve, or
    /// of its real-time curve if it has no other. Siblings without curves share by weight what the
    /// others leave of their parent's rate, or of the link's at the top: rounded down, but at least
    /// 1 bit/s each.
    pub fn guaranteed_rates(&self) -> Vec<Rate> {
        let mut rates = vec![self.link.rate; self.classes.len()];
        self.share_out(self.link.rate, &self.top().collect::<Vec<_>>(), &mut rates);
        for class in self.top_down() {
            let rate = rates[class.index()];
            self.share_out(rate, &self.classes[class.index()].children, &mut rates);
        }
        rates
    }

    fn share_out(&self, whole: Rate, siblings: &[ClassId], rates: &mut [Rate]) {
        let class = |id: &ClassId| &self.classes[id.index()];
        let sum = |part: fn(&Class) -> u64| -> u128 {
            siblings.iter().map(|id| u128::from(part(class(id)))).sum()
        };
        let asked = sum(|class| class.rate_asked().map_or(0, |rate| rate.0));
        let left = u128::from(whole.0).saturating_sub(asked);
        let weights = sum(|class| class.rate_asked().map_or(class.weight.0.into(), |_| 0));
        for id in siblings {
            rates[id.index()] = class(id).rate_asked().unwrap_or_else(|| {
                // At most what is left of a rate, so it fits.
                Rate((left * u128::from(class(id).weight.0) / weights).max(1) as u64)
            });
        }
    }

    /// What the classes weigh where all leaves share at one level: their guaranteed rates, or in a
    /// plan without a hierarchy and without curves their weights, in millionths.
    pub fn flat_weights(&self) -> Vec<u64> {
        if !self.has_shares() {
            return self.classes.iter().map(|class| class.weight.0.into()).collect();
        }
        let rates = self.guaranteed_rates();
        // Interior classes have no packets. A leaf's weight in their place changes no ratio.
        let any = self.leaves().next().map_or(1, |(id, _)| rates[id.index()].0);
        let weight = |(class, rate): (&Class, Rate)| if class.is_leaf() { rate.0 } else { any };
        self.classes.iter().zip(rates).map(weight).collect()
    }
}

impl Class {
    /// The long-run rate of its curves; `None` without any.
    fn rate_asked(&self) -> Option<Rate> {
        self.curves.link_share.or(self.curves.real_time).map(|curve| curve.m2())
    }
}

#[cfg(test)]
mod tests;
