//! Whether queues hold what may wait of classes that are promised a delay.

use std::fmt;

use laxity::admit::{Unbounded, arrival_curve};
use laxity::aqm::Limit;
use laxity::curve::{ceil_bytes, exact};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::Serialize;

use crate::quantity::count;

/// A queue limit that a conforming packet may exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueTooSmall {
    /// Whose queue.
    pub class: String,
    /// What may wait: all that can arrive within the delay bound.
    pub needed_bytes: u64,
}

impl fmt::Display for QueueTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "up to {} bytes of {} may wait, more than its queue holds: raise its `limit`",
            count(self.needed_bytes),
            self.class
        )
    }
}

/// The classes with a promised delay whose queue limit is below what may arrive within their bound.
pub fn too_small(plan: &Plan, bounds: &[Result<Nanos, Unbounded>]) -> Vec<QueueTooSmall> {
    let classes = plan.classes.iter().zip(bounds);
    classes.filter_map(|(class, bound)| needs_more(plan, class, bound.ok()?)).collect()
}

fn needs_more(plan: &Plan, class: &Class, bound: Nanos) -> Option<QueueTooSmall> {
    class.deadline.or(class.end_to_end)?;
    let waiting = arrival_curve(&class.arrival.as_ref()?.buckets);
    let needed = ceil_bytes(&waiting.value(&exact(bound.0)))?;
    let holds = match class.queue.as_ref()?.limit() {
        Limit::None => return None,
        Limit::Bytes(bytes) => Bytes(bytes),
        Limit::Packets(packets) => Bytes(packets.saturating_mul(plan.min_packet(class).0)),
    };
    let class = class.name.clone();
    (holds < needed).then_some(QueueTooSmall { class, needed_bytes: needed.0 })
}
