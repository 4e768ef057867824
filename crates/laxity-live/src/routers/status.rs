//! What was measured of routers, as it is shown.

use std::collections::BTreeMap;

use laxity::packet::ClassId;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::verdict::live::keeps_frames;
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};

use super::host::Counts;
use super::measured::{ClassBooks, Measured};
use crate::status::{
    ClassStatus, DelayStatus, FramesStatus, JitterStatus, NetworkStatus, PassageStatus, WayStatus,
};

/// What was measured under a plan.
pub(super) struct Measurement<'a> {
    pub plan: &'a Plan,
    pub measured: &'a Measured,
    pub counts: &'a Counts,
    pub duration: Nanos,
}

impl Measurement<'_> {
    /// All ways through the routers.
    pub(super) fn way(&self) -> WayStatus {
        let Measurement { plan, measured, .. } = self;
        WayStatus {
            way: "network".into(),
            title: plan.title.clone(),
            scheduler: plan.scheduler.name().to_string(),
            rate_bps: plan.link.rate.0,
            late: None,
            held_ns: None,
            held_up: false,
            broken: measured.broken(),
            watched: None,
            classes: plan.leaves().map(|(id, class)| self.class(id, class)).collect(),
        }
    }

    /// What is more to be said than of a link.
    pub(super) fn network(&self, nodes: Vec<String>) -> NetworkStatus {
        let Measurement { plan, measured, counts, duration } = self;
        let length = match &plan.scheduler {
            SchedulerSpec::Tdp(spec) => Some(spec.time.frame),
            _ => None,
        };
        NetworkStatus {
            nodes,
            kept: keeps_frames(measured.framed(), length),
            frames: length.map(|length| FramesStatus {
                length_ns: length.0,
                passed: duration.0 / length.0,
                skipped: measured.skipped,
                out_of_step: counts.losses,
                unknown: counts.unknown,
            }),
            classes: plan
                .leaves()
                .map(|(id, class)| passage(class, &measured.classes[id.index()]))
                .collect(),
        }
    }

    fn class(&self, id: ClassId, class: &Class) -> ClassStatus {
        let of = &self.measured.classes[id.index()];
        ClassStatus {
            name: class.name.clone(),
            arrived: of.arrived,
            sent: of.left,
            dropped: dropped(of),
            nonconforming: of.nonconforming,
            demoted: Some(of.demoted),
            queued: Some(self.counts.queued.get(id.index()).copied().unwrap_or_default()),
            bytes_sent: of.bytes,
            delay_ns: DelayStatus::new(&of.delay),
            deadline_ns: None,
            deadline_misses: 0,
            bound_ns: of.bound.map(|bound| bound.0),
            bound_misses: of.beyond,
            watched: None,
        }
    }
}

/// With what did not come to the next router.
fn dropped(of: &ClassBooks) -> BTreeMap<String, u64> {
    let reasons = DropReason::ALL.iter().map(|reason| reason.name()).zip(of.dropped);
    let all = reasons.chain([(PassageStatus::LOST, of.lost)]).filter(|(_, count)| *count > 0);
    all.map(|(reason, count)| (reason.to_string(), count)).collect()
}

fn passage(class: &Class, of: &ClassBooks) -> PassageStatus {
    PassageStatus {
        name: class.name.clone(),
        disturbed: of.bound.map(|_| of.disturbed),
        jitter_ns: (of.transit.count() > 0).then(|| JitterStatus {
            p99: of.jitter_of(99, 100).0,
            max: of.jitter_of(1, 1).0,
            kept: of.bound.map(|_| of.jitter().0),
        }),
    }
}
