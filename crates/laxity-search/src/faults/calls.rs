//! Faults in how flows come and go.

use laxity::units::{Bytes, Nanos, Rate};
use laxity_answers::reservations::calls::Rules;
use laxity_plan::Plan;

use super::CallsFault;

pub(super) const EDF: &str = "kind = 'edf', best-effort-order = 'fifo'";
pub(super) const BACKGROUND: &str = "kind = 'edf', best-effort = 'background'";
pub(super) const PRIORITY: &str = "kind = 'priority'";
pub(super) const WF2Q: &str = "kind = 'wf2q'";
pub(super) const WFQ: &str = "kind = 'wfq'";
pub(super) const QFQ: &str = "kind = 'qfq'";
pub(super) const DRR: &str = "kind = 'drr'";
pub(super) const HFSC: &str = "kind = 'hfsc'";
pub(super) const CAKE: &str = "kind = 'cake', diffserv = 'diffserv4', rtt = '1000s'";

const NOTHING: CallsFault =
    CallsFault { scheduler: None, rules: |rules| rules, change: |_| {}, plan: |_| {} };

/// What has ended is not felt.
pub(super) const fn free_at_once(scheduler: &'static str) -> CallsFault {
    let rules = |rules| Rules { felt: |_, _| Some(Nanos::ZERO), ..rules };
    CallsFault { scheduler: Some(scheduler), rules, ..NOTHING }
}

/// What has ended is felt for half of its time.
pub(super) const fn free_halfway(scheduler: &'static str) -> CallsFault {
    let rules =
        |rules| Rules { felt: |_, settling| settling.map(|Nanos(all)| Nanos(all / 2)), ..rules };
    CallsFault { scheduler: Some(scheduler), rules, ..NOTHING }
}

/// What has ended is felt for a packet of the link less.
pub(super) const fn free_early(scheduler: &'static str) -> CallsFault {
    fn less(plan: &Plan, settling: Option<Nanos>) -> Option<Nanos> {
        let packet = plan.link.rate.time_for(plan.link.max_packet);
        settling.map(|settling| settling.saturating_sub(packet))
    }
    let rules = |rules| Rules { felt: less, ..rules };
    CallsFault { scheduler: Some(scheduler), rules, ..NOTHING }
}

pub(super) const KEPT_DEADLINES: CallsFault =
    CallsFault { scheduler: Some(EDF), change: |change| change.is_settling = false, ..NOTHING };

pub(super) const NO_WAIT: CallsFault =
    CallsFault { scheduler: Some(EDF), rules: |rules| Rules { wait: false, ..rules }, ..NOTHING };

/// What the last call sends is not taken from best effort.
pub(super) const OLD_CURVE: CallsFault =
    CallsFault { scheduler: Some(EDF), plan: without_last, ..NOTHING };

fn without_last(plan: &mut Plan) {
    let last = |name: &str| name.rsplit_once('#')?.1.parse::<usize>().ok();
    let calls = plan.classes.iter_mut().filter(|class| last(&class.name).is_some());
    let Some(class) = calls.max_by_key(|class| last(&class.name)) else { return };
    for line in class.arrival.iter_mut().flat_map(|arrival| &mut arrival.buckets) {
        (line.bucket, line.rate) = (Bytes(1), Rate(1));
    }
}
