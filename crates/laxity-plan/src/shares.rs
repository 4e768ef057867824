//! The classes' shares of the link, where a plan leaves them to be derived: any plan runs under
//! any scheduler.

use laxity::packet::ClassId;
use laxity::units::Rate;

use crate::model::{Class, Plan};

impl Plan {
    /// The rate that each class is guaranteed in the long run: that of its link-sharing curve, or
    /// of its real-time curve if it has no other. Siblings without curves share by weight what the
    /// others leave of their parent's rate, or of the link's at the top: rounded down, but at least
    /// 1 bit/s each. Absent classes have that much and no more.
    pub fn guaranteed_rates(&self) -> Vec<Rate> {
        let is_present = self.present();
        let mut rates = vec![self.link.rate; self.classes.len()];
        self.share_out(self.link.rate, &self.top().collect::<Vec<_>>(), &is_present, &mut rates);
        for class in self.top_down() {
            let rate = rates[class.index()];
            self.share_out(rate, &self.classes[class.index()].children, &is_present, &mut rates);
        }
        rates
    }

    fn share_out(
        &self,
        whole: Rate,
        siblings: &[ClassId],
        is_present: &[bool],
        rates: &mut [Rate],
    ) {
        const LEAST: u64 = 1;
        let class = |id: &ClassId| &self.classes[id.index()];
        let weight = |id: &ClassId| if is_present[id.index()] { class(id).weight.0 } else { 0 };
        let is_open = |id: &&ClassId| class(id).rate_asked().is_none();
        let asked = siblings.iter().filter_map(|id| class(id).rate_asked());
        let absent = siblings.iter().filter(|id| is_open(id) && !is_present[id.index()]);
        let taken = asked.map(|rate| rate.0).chain(absent.map(|_| LEAST)).map(u128::from);
        let left = u128::from(whole.0).saturating_sub(taken.sum());
        let weights: u128 = siblings.iter().filter(is_open).map(|id| u128::from(weight(id))).sum();
        for id in siblings {
            rates[id.index()] = class(id).rate_asked().unwrap_or_else(|| {
                // At most what is left of a rate, so it fits.
                let part = left * u128::from(weight(id)) / weights.max(1);
                Rate((part as u64).max(LEAST))
            });
        }
    }

    /// Of each class whether it has packets, or one below it.
    fn present(&self) -> Vec<bool> {
        let mut present = vec![false; self.classes.len()];
        for (id, _) in self.present_leaves() {
            let up = |id: &ClassId| self.classes[id.index()].parent;
            for class in std::iter::successors(Some(id), up) {
                present[class.index()] = true;
            }
        }
        present
    }

    /// The classes that have packets.
    pub(crate) fn present_leaves(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        self.leaves().filter(|(_, class)| !class.is_absent())
    }

    /// What the classes weigh where all leaves share at one level: their guaranteed rates, or in a
    /// plan without a hierarchy and without curves their weights, in millionths.
    pub fn flat_weights(&self) -> Vec<u64> {
        if !self.has_shares() {
            return self.classes.iter().map(|class| class.weight.0.into()).collect();
        }
        let rates = self.guaranteed_rates();
        // The others have no packets. A weight of one that has changes no ratio.
        let any = self.present_leaves().next().map_or(1, |(id, _)| rates[id.index()].0);
        let has_packets = |class: &Class| class.is_leaf() && !class.is_absent();
        let weight = |(class, rate): (&Class, Rate)| if has_packets(class) { rate.0 } else { any };
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
