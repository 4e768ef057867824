//! What `tc qdisc show`, `tc class show` and `tc filter show` print, as text and as JSON, several
//! after one another, as the commands that set it up.

mod item;
mod json;
mod text;

use std::collections::{HashMap, HashSet};

use laxity_plan::error::Fault;

use crate::netlink::Sort;
use crate::notes::Notes;
use crate::words::command::Command;
use item::ShownItem;

/// The most qdiscs, classes and filters that are read.
const MOST_SHOWN: usize = 100_000;

/// The commands for what is shown; `None` if the text is something else.
pub(crate) fn commands(text: &str, notes: &mut Notes) -> Result<Option<Vec<Command>>, Fault> {
    let Some(mut shown) = text::read(text)? else { return Ok(None) };
    let mut tables = HashSet::new();
    for table in shown.iter().filter(|shown| shown.is_table) {
        if !tables.insert((table.device.clone(), table.parent.clone(), table.before.clone())) {
            let text = "the u32 filters of this priority are in several tables: those that hang at a \
                        class are shown as if they hung at the qdisc, and are read so";
            notes.not_mapped(table.line, text);
        }
    }
    // What only heads others, or what Linux sets up itself.
    shown.retain(|shown| !shown.kind.is_empty());
    if shown.len() > MOST_SHOWN {
        let message = format!("more than {MOST_SHOWN} qdiscs, classes and filters are shown");
        return Err(Fault::new(None, message));
    }
    let of = |sort| shown.iter().filter(move |shown: &&ShownItem| shown.sort == sort);
    let mut commands = Vec::new();
    let (roots, leaves): (Vec<&ShownItem>, Vec<&ShownItem>) =
        of(Sort::Qdisc).partition(|qdisc| qdisc.parent.is_none());
    // What hangs at a token bucket is there before its classes.
    let below = |qdisc: &&ShownItem| {
        let parent = qdisc.parent.as_deref().and_then(|parent| parent.split_once(':'));
        roots.iter().any(|root| {
            ["tbf", "mq", "netem"].contains(&root.kind.as_str())
                && root.device == qdisc.device
                && parent.is_some_and(|(major, _)| {
                    let own = root.handle.trim_end_matches(':');
                    own == major || own == "0" && major.is_empty()
                })
        })
    };
    let (shared, leaves): (Vec<&ShownItem>, Vec<&ShownItem>) = leaves.into_iter().partition(below);
    let mut seen: HashSet<&Option<String>> = of(Sort::Qdisc).map(|shown| &shown.device).collect();
    for class in of(Sort::Class).filter(|class| !seen.contains(&class.device)).collect::<Vec<_>>() {
        if seen.insert(&class.device) {
            let text = "classes are shown without their qdisc: which of them gets what no filter takes, and what hangs at \
                        them, is in what `tc qdisc show` and `tc filter show` print: paste it, too";
            notes.reading(class.line, text);
            commands.push(class.root());
        }
    }
    commands.extend(roots.iter().map(|root| root.command()));
    commands.extend(shared.into_iter().map(ShownItem::command));
    // A class after the one that it is part of, and else by their numbers.
    let mut classes: Vec<&ShownItem> = of(Sort::Class).collect();
    classes.sort_by_cached_key(|class| {
        let (major, minor) = class.handle.split_once(':').unwrap_or_default();
        let half = |text| u32::from_str_radix(text, 16).unwrap_or(0);
        (class.device.clone(), half(major), half(minor))
    });
    let key = |class: &ShownItem, handle: &str| (class.device.clone(), handle.to_string());
    let mut below = HashMap::<_, Vec<&ShownItem>>::new();
    let all: HashSet<_> = classes.iter().map(|class| key(class, &class.handle)).collect();
    let mut waiting = Vec::new();
    for class in classes {
        match class.parent.as_ref().map(|parent| key(class, parent)) {
            Some(parent) if all.contains(&parent) => below.entry(parent).or_default().push(class),
            _ => waiting.push(class),
        }
    }
    waiting.reverse();
    while let Some(class) = waiting.pop() {
        commands.push(class.command());
        let part = below.remove(&key(class, &class.handle)).unwrap_or_default();
        waiting.extend(part.into_iter().rev());
    }
    commands.extend(leaves.into_iter().map(ShownItem::command));
    commands.extend(of(Sort::Filter).map(ShownItem::command));
    Ok(Some(commands))
}
