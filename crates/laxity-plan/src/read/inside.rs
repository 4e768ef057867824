//! Schedulers inside classes.

use super::Read;
use crate::error::Fault;
use crate::model::SchedulerSpec;
use crate::raw::{self, At, Table};

/// Refuses schedulers inside classes where nothing shares the link among them, and one inside
/// another.
pub fn check(all: &raw::Scheduler, spec: SchedulerSpec, classes: &raw::Classes) -> Read<()> {
    let holding = || classes.0.iter().filter(|(_, Table(class))| class.scheduler.is_some());
    let Some((first, Table(raw::Class { scheduler: Some(At { span, .. }), .. }))) =
        holding().next()
    else {
        return Ok(());
    };
    if spec != SchedulerSpec::Wf2q {
        let message =
            format!("class `{}` has a scheduler, and the link is not shared", first.value);
        return Err(Fault::at(span, message).help(
            "write `kind = \"wf2q\"` in `[scheduler]`, or leave `scheduler` out of the class",
        ));
    }
    if let Some(queue) = &all.queue {
        let message = "`queue` for all classes, which have schedulers of their own";
        return Err(Fault::at(&queue.span, message).help(
            "write it in the classes, as in `scheduler = { kind = \"edf\", queue = { … } }`",
        ));
    }
    for (name, Table(class)) in holding() {
        let above = above(&name.value, classes).skip(1);
        let mut above = above.filter(|other| holding().any(|(name, _)| name.value == *other));
        if let (Some(other), Some(At { span, .. })) = (above.next(), &class.scheduler) {
            let message = format!(
                "class `{}` has a scheduler, and so has class `{other}` above it",
                name.value
            );
            return Err(Fault::at(span, message)
                .help("one of them schedules the packets: leave the other out"));
        }
    }
    Ok(())
}

/// A class and those above it, as long as they are known and do not repeat.
fn above<'a>(name: &'a str, classes: &'a raw::Classes) -> impl Iterator<Item = &'a str> {
    let parent = |name: &&'a str| {
        let (_, Table(class)) = classes.0.iter().find(|(other, _)| other.value == **name)?;
        class.parent.as_ref().map(|parent| parent.value.as_str())
    };
    std::iter::successors(Some(name), parent).take(classes.0.len())
}
