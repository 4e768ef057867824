//! Were a network's promises kept?

use std::collections::HashMap;

use laxity_sim::network::{EndToEnd, NetworkSummary};

use crate::verdict::{Broken, Promise};

/// Every broken promise of a run: from end to end, and what was proved of single hops.
///
/// A class that is promised no delay is owed its bounds as long as it keeps to its arrival curve.
pub fn broken_promises(summary: &NetworkSummary) -> Vec<Broken> {
    let whole = summary.classes.iter().flat_map(from_end_to_end);
    let by_name: HashMap<_, _> =
        summary.classes.iter().map(|class| (class.name.as_str(), class)).collect();
    let hops = summary.hops.iter().flat_map(|hop| {
        hop.classes.iter().filter_map(|class| {
            let ends = by_name.get(class.name.as_str()).copied();
            let (bound_ns, misses) = (class.bound_ns?, class.bound_misses);
            (misses > 0 && ends.is_some_and(is_owed)).then(|| Broken {
                class: format!("{} at {} → {}", class.name, hop.from, hop.to),
                promise: Promise::Bound { bound_ns, misses },
                proved: true,
                nonconforming: ends.map_or(0, |ends| ends.nonconforming),
            })
        })
    });
    whole.chain(hops).collect()
}

/// Whether any class was promised a delay, or one was proved.
pub fn promised_anything(summary: &NetworkSummary) -> bool {
    summary.classes.iter().any(|class| class.deadline_ns.or(class.bound_ns).is_some())
}

fn from_end_to_end(class: &EndToEnd) -> impl Iterator<Item = Broken> {
    let late = class.deadline_ns.filter(|_| class.deadline_misses > 0);
    let late =
        late.map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.deadline_misses });
    let beyond = class.bound_ns.filter(|_| class.bound_misses > 0 && is_owed(class));
    let beyond = beyond.map(|bound_ns| Promise::Bound { bound_ns, misses: class.bound_misses });
    let within = |deadline: u64| class.bound_ns.is_some_and(|bound| bound <= deadline);
    late.into_iter().chain(beyond).map(move |promise| Broken {
        class: class.name.clone(),
        promise,
        proved: match promise {
            Promise::Deadline { deadline_ns, .. } => within(deadline_ns),
            _ => true,
        },
        nonconforming: class.nonconforming,
    })
}

fn is_owed(class: &EndToEnd) -> bool {
    class.deadline_ns.is_some() || class.nonconforming == 0
}
