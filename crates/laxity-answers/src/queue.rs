//! Whether queues hold what may wait of classes that are promised a delay.

use laxity::admit::{Unbounded, arrival_curve};
use laxity::aqm::Limit;
use laxity::curve::{ceil_bytes, exact};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::Class;

use crate::reason::{Finding, Reason};

/// The classes with a promised delay whose queue limit is below what may arrive within their bound.
pub fn too_small(plan: &Plan, bounds: &[Result<Nanos, Unbounded>]) -> Vec<Reason> {
    let classes = plan.classes.iter().zip(bounds);
    classes.filter_map(|(class, bound)| needs_more(plan, class, bound.ok()?)).collect()
}

fn needs_more(plan: &Plan, class: &Class, bound: Nanos) -> Option<Reason> {
    class.deadline.or(class.end_to_end)?;
    let waiting = arrival_curve(&class.arrival.as_ref()?.buckets);
    let needed = ceil_bytes(&waiting.value(&exact(bound.0)))?;
    let holds = match class.queue.as_ref()?.limit() {
        Limit::None => return None,
        Limit::Bytes(bytes) => Bytes(bytes),
        Limit::Packets(packets) => Bytes(packets.saturating_mul(plan.min_packet(class).0)),
    };
    let finding = Finding::QueueTooSmall { needed_bytes: needed.0 };
    (holds < needed).then(|| Reason::class(&class.name, finding))
}
