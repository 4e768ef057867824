//! The queues of classes.

use laxity_plan::model::QueueLimit;

use crate::assembly::{Assembly, Discipline, Root};
use crate::notes::Notes;
use crate::toml::Queue;

/// Gives each queue its limit, and tells what of them is not kept.
pub(super) fn queues(setup: &mut Assembly, root: &Root, notes: &mut Notes) {
    let own = QueueLimit::Packets(setup.queue_length);
    let mut unsaid = false;
    let of_classes = setup.classes.iter_mut().filter(|class| class.is_leaf);
    let of_classes = of_classes.map(|class| {
        let line = class.origin.line;
        &mut class.queue.get_or_insert_with(|| (line, Queue::limited(None))).1
    });
    let all: Vec<&mut Queue> = match root.discipline {
        Discipline::FqCodel(_) | Discipline::Cake(_) => Vec::new(),
        Discipline::Fifo => setup.queue.iter_mut().map(|(_, queue)| queue).collect(),
        Discipline::Hfsc { .. }
        | Discipline::Htb { .. }
        | Discipline::Prio(_)
        | Discipline::Qfq
        | Discipline::Drr => of_classes.collect(),
    };
    for queue in all.into_iter().filter(|queue| queue.limit.is_none()) {
        queue.limit = Some(own);
        unsaid = true;
    }
    if unsaid {
        let text = format!(
            "queues without a limit of their own hold {} packets, the interface's txqueuelen",
            setup.queue_length
        );
        notes.reading(root.line, text);
    }
    for class in &setup.classes {
        let Some((line, queue)) = &class.queue else { continue };
        let handle = class.class.handle;
        if !class.is_leaf {
            notes.not_mapped(*line, format!("the qdisc of {handle}, which has classes below it"));
        } else if let (None, Some(lost)) = (&class.below, &queue.lost) {
            notes.not_mapped(*line, format!("{handle}: {lost}"));
        }
    }
}
