//! A hierarchy whose schedulers inside shares take these for links.

use laxity::packet::ClassId;
use laxity::sched::{Hierarchy, Leaf, Share};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, LinkSpec};

use crate::subject::Built;

/// What is inside a share is set up for its rate, and for no latency.
pub(super) fn without_latency(plan: &Plan) -> Built {
    let ids = (0..plan.classes.len() as u32).map(ClassId);
    let upper: Vec<_> = ids.filter(|id| plan.has_share(*id)).collect();
    let number = |id: ClassId| upper.binary_search(&id).ok().map(|at| ClassId(at as u32));
    let rates = plan.wf2q_shares();
    let share = |id: &ClassId| {
        let Share { parent, rate } = rates[id.index()];
        Share { parent: parent.and_then(number), rate }
    };
    let shares: Vec<_> = upper.iter().map(share).collect();
    let class = |id: ClassId| &plan.classes[id.index()];
    let holds = upper.iter().filter(|id| class(**id).inside.is_some() || class(**id).is_leaf());
    let leaves = holds.filter_map(|&id| {
        let classes = if class(id).is_leaf() { vec![id] } else { class(id).children.clone() };
        let longest = classes.iter().map(|id| plan.max_packet(class(*id))).max()?;
        let share = number(id)?;
        let rate = shares[share.index()].rate;
        let link =
            LinkSpec { rate, max_packet: longest, latency: Some(Nanos(0)), ..plan.link.clone() };
        let alone = |id: &ClassId| Class {
            parent: None,
            children: Vec::new(),
            inside: None,
            ..class(*id).clone()
        };
        let inside = Plan {
            scheduler: class(id).scheduling().scheduler,
            classes: classes.iter().map(alone).collect(),
            link,
            ..plan.clone()
        };
        let scheduler = inside.build_scheduler(1);
        Some(Leaf { share, longest: longest.0 as u32, scheduler, classes })
    });
    let leaves = leaves.collect();
    let hierarchy = Hierarchy::new(plan.link.rate, &shares, leaves);
    Box::new(hierarchy.expect("the plan's classes make a hierarchy"))
}
