//! Hierarchical fair service curves.

use laxity::admit::{Breakdown, hfsc};
use laxity::packet::ClassId;
use laxity::sched::hfsc::{ClassSpec, Curves};
use laxity::scheduler::Withdraw;
use laxity::service::ServiceCurve;
use laxity::units::{Nanos, Rate};

use super::room::{Bounds, Discipline, Holders, Proof, Room, Services, where_proved};
use crate::model::{Class, Plan, SchedulerSpec, TokenBucket};

pub(super) const ROOM: Room = Room {
    class_keys: &[Room::SHARES, &["upper-limit"]],
    has_levels: true,
    holders: Holders::Leaves,
    is_held_to_promises: true,
    ..Room::plain(&["hfsc"], Some(SchedulerSpec::Hfsc), Proof::ISOLATED)
};

/// `kind = "hfsc"`.
pub(super) struct Hfsc;

impl Discipline for Hfsc {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let hfsc = laxity::sched::Hfsc::new(&plan.hfsc_classes());
        Box::new(hfsc.expect("reading refuses what is no hierarchy"))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        plan.of_queues(plan.hfsc_system().test().bounds)
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        plan.hfsc_system().breakdown(class.index())
    }

    fn services(&self, plan: &Plan) -> Services {
        where_proved(plan.of_queues(plan.hfsc_system().services()))
    }
}

impl Plan {
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

    /// The plan as H-FSC's admission test sees it.
    pub fn hfsc_system(&self) -> hfsc::System {
        let class = |(spec, class)| hfsc::Class { spec, traffic: self.traffic(class) };
        let classes = self.hfsc_classes().into_iter().zip(&self.classes).map(class);
        hfsc::System { rate: self.link.rate, classes: classes.collect() }
    }

    /// The service curve that keeps a class's deadline for its slowest token bucket. H-FSC is late
    /// by up to one packet's time on the link (Stoica, Zhang, Ng 2000, Theorem 2), plus the link's
    /// stall. The curve therefore serves the burst that much before the deadline, but never sooner
    /// than the link can send it.
    fn promised_curve(&self, class: &Class) -> Option<ServiceCurve> {
        let slowest = TokenBucket::slowest(&class.arrival.as_ref()?.buckets)?;
        let packet = self.link.rate.time_for(self.link.max_packet);
        let late = Nanos(packet.0.saturating_add(self.link.stall.0));
        let fastest = self.link.rate.time_for(slowest.bucket);
        let delay = class.deadline?.saturating_sub(late).max(fastest);
        Some(ServiceCurve::for_burst(slowest.bucket, delay, slowest.rate))
    }
}
