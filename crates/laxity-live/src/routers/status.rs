//! What was measured of routers, as it is shown.

use laxity::packet::ClassId;
use laxity::scheduler::DropReason;
use laxity_answers::verdict::live::keeps_frames;
use laxity_linux::clock::Clock;
use laxity_plan::model::{Class, SchedulerSpec};

use super::measurement::ClassBooks;
use super::task::Period;
use crate::status::{
    ClassStatus, DelayStatus, FramesStatus, JitterStatus, NetworkStatus, PassageStatus, WayStatus,
    by_reason,
};
use crate::worker::Counts;

impl Period {
    /// All ways through the routers.
    pub(super) fn way(&self, counts: &Counts) -> WayStatus {
        let Period { plan, measured, .. } = self;
        let class = |(id, class): (ClassId, &Class)| {
            let queued = counts.queued.get(id.index()).copied().unwrap_or_default();
            class_status(class, &measured.classes[id.index()], queued)
        };
        let classes = plan.leaves().map(class).collect();
        let broken = measured.broken();
        WayStatus { broken, ..WayStatus::from_classes("network", plan, classes) }
    }

    /// What is more to be said than of a link.
    pub(super) fn network(&self, counts: &Counts, nodes: Vec<String>) -> NetworkStatus {
        let Period { plan, measured, since, .. } = self;
        let duration = Clock::Monotonic.now().saturating_sub(*since);
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
}

fn class_status(class: &Class, of: &ClassBooks, queued: u64) -> ClassStatus {
    let reasons = DropReason::ALL.iter().map(|reason| reason.name()).zip(of.dropped);
    ClassStatus {
        name: class.name.clone(),
        arrived: of.arrived,
        sent: of.left,
        // With what did not come to the next router.
        dropped: by_reason(reasons.chain([(PassageStatus::LOST, of.lost)])),
        nonconforming: of.nonconforming,
        demoted: Some(of.demoted),
        queued: Some(queued),
        bytes_sent: of.bytes,
        delay_ns: DelayStatus::new(&of.delay),
        deadline_ns: of.end_to_end.map(|promised| promised.0),
        deadline_misses: of.late,
        bound_ns: of.bound.map(|bound| bound.0),
        bound_misses: of.beyond,
        broken: of.broken,
        forfeit: of.is_forfeit,
        waits: None,
        second: None,
        watched: None,
    }
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
