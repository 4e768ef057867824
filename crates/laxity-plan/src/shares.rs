//! The classes' shares of the link, where a plan leaves them to be derived: any plan runs under
//! any scheduler.

use laxity::packet::ClassId;
use laxity::sched::Share;
use laxity::sched::dwcs::{Stream, Streams};
use laxity::sched::hfsc::{ClassSpec, Curves};
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Rate};
use laxity::window::Loss;

use crate::model::{Class, Plan, TokenBucket};

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

    /// The classes as WF2Q+ takes them: each with its guaranteed rate.
    pub fn wf2q_shares(&self) -> Vec<Share> {
        let rates = self.guaranteed_rates();
        let share = |(class, rate): (&Class, Rate)| Share { parent: class.parent, rate };
        self.classes.iter().zip(rates).map(share).collect()
    }

    /// The classes as H-FSC takes them. A class without curves shares at its guaranteed rate. A
    /// leaf with a deadline and no real-time curve gets the one that its contract asks for.
    pub fn hfsc_classes(&self) -> Vec<ClassSpec> {
        let rates = self.guaranteed_rates();
        let spec = |(class, rate): (&Class, Rate)| {
            let Curves { real_time, link_share, upper_limit } = class.curves;
            let link_share = match (real_time, link_share) {
                (None, None) => Some(ServiceCurve::linear(rate)),
                _ => link_share,
            };
            let real_time = real_time.or_else(|| self.promised_curve(class));
            let curves = Curves { real_time, link_share, upper_limit };
            ClassSpec { parent: class.parent, curves }
        };
        self.classes.iter().zip(rates).map(spec).collect()
    }

    /// The service that keeps a class's deadline for its slowest token bucket. H-FSC is late by up
    /// to one packet's time on the link (Stoica, Zhang, Ng 2000, Theorem 2), so the curve is due that
    /// much before the deadline; but never sooner than the link could send the burst.
    fn promised_curve(&self, class: &Class) -> Option<ServiceCurve> {
        let slowest =
            class.arrival.as_ref()?.buckets.iter().min_by_key(|line| (line.rate, line.bucket))?;
        let late = self.link.rate.time_for(self.link.max_packet);
        let fastest = self.link.rate.time_for(slowest.bucket);
        let delay = class.deadline?.saturating_sub(late).max(fastest);
        Some(ServiceCurve::for_burst(slowest.bucket, delay, slowest.rate))
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

    /// How many bytes each class may send in a round of deficit round robin: in proportion to the
    /// weights, the least as much as one packet, so that every turn sends. Where the greatest would
    /// not fit then, it is as large as can be, and the least may take several turns to send.
    pub fn drr_quanta(&self) -> Vec<u32> {
        let weights = self.flat_weights();
        let extreme = |weight: Option<&u64>| u128::from(weight.copied().unwrap_or(1));
        let (least, greatest) = (extreme(weights.iter().min()), extreme(weights.iter().max()));
        let packet = u128::from(self.link.max_packet.0);
        let most = u128::from(u32::MAX);
        let (quantum, of) = match (packet * greatest).div_ceil(least) <= most {
            true => (packet, least),
            false => (most, greatest),
        };
        weights
            .into_iter()
            .map(|weight| (quantum * u128::from(weight)).div_ceil(of) as u32)
            .collect()
    }

    /// The classes as DWCS takes them. A class without `gap` has its `deadline` for one. A class
    /// without `loss` may lose nothing if its packets are due at all, otherwise everything.
    pub fn dwcs_streams(&self) -> Vec<Streams> {
        let [nothing, everything] =
            [0, 1].map(|lost| Loss::new(lost, 1).expect("at most the one packet of the window"));
        let streams = |class: &Class| {
            let gap = class.gap.or(class.deadline);
            let loss = class.loss.unwrap_or(if gap.is_some() { nothing } else { everything });
            Streams { stream: Stream { gap, loss, late: class.late }, count: class.count }
        };
        self.classes.iter().map(streams).collect()
    }

    /// The token buckets that a class's deadlines hold for: its `arrival`, or of a class with a
    /// `gap` alone, for each of its streams a packet at once and one a gap.
    pub fn contract(&self, class: &Class) -> Option<Vec<TokenBucket>> {
        if let Some(arrival) = &class.arrival {
            return Some(arrival.buckets.clone());
        }
        let packets = self.max_packet(class).0 * u64::from(class.count);
        let bits_in_a_second = u128::from(packets) * u128::from(NANOBITS_PER_BYTE);
        let rate = bits_in_a_second.div_ceil(class.gap?.0.into());
        let rate = Rate(u64::try_from(rate).unwrap_or(u64::MAX));
        Some(vec![TokenBucket { bucket: Bytes(packets), rate }])
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
