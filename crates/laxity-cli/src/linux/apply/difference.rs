//! What an interface has beside what it is to have, as lines.

use std::collections::HashMap;

use laxity_kernel::device::DeviceState;
use laxity_kernel::objects::Key;
use laxity_kernel::record::{Promise, Record};
use laxity_kernel::steps::{Action, Steps};
use laxity_report::table;
use laxity_tc::netlink::{Object, Sort, parameters};
use laxity_tc::setup::Handle;
use serde::Serialize;

/// The most lines of one kind that are shown.
const MOST: usize = 200;

/// The steps that are about to be taken.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    steps: Vec<Line>,
    /// The classes whose queues are lost.
    drops: Vec<LostQueue>,
    /// Whether the queue of the whole interface is lost that someone added.
    drops_root: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    action: &'static str,
    what: &'static str,
    handle: String,
    class: Option<String>,
    parent: String,
    kind: String,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Debug, Serialize)]
struct LostQueue {
    handle: String,
    class: Option<String>,
    /// Packets that wait in it now.
    queued: u32,
}

impl Difference {
    /// Of the steps from what is shown; classes are called what they were, or are to be.
    pub(super) fn new(
        steps: &Steps,
        shown: &DeviceState,
        settled: Option<&Record>,
        promises: &[Promise],
    ) -> Difference {
        let before = settled.map_or(&[][..], |record| &record.promises);
        let named = before.iter().chain(promises).map(|promise| (promise.class, &*promise.name));
        let names: HashMap<Handle, &str> = named.collect();
        let name = |handle| names.get(&handle).map(ToString::to_string);
        let line = |step: &laxity_kernel::steps::Step| {
            let object = &step.object;
            let old = shown.objects.get(&Key::new(object)).map(parameters);
            let (action, before, after) = match step.action {
                Action::Add => ("add", None, Some(parameters(object))),
                Action::Replace => ("replace", None, Some(parameters(object))),
                Action::Change => ("change", old, Some(parameters(object))),
                Action::Delete => ("delete", old, None),
            };
            Line {
                action,
                what: object.sort.name(),
                handle: place(object),
                class: if object.sort == Sort::Class { name(object.handle) } else { None },
                parent: object.parent.to_string(),
                kind: object.kind(),
                before,
                after,
            }
        };
        let dropped = |handle: &Handle| LostQueue {
            handle: handle.to_string(),
            class: name(*handle),
            queued: shown.queued(*handle),
        };
        Difference {
            steps: steps.steps.iter().map(line).collect(),
            drops: steps.drops.iter().map(dropped).collect(),
            drops_root: steps.drops_root,
        }
    }

    /// As a table, and whose packets are dropped.
    pub(super) fn text(&self) -> String {
        if self.steps.is_empty() {
            return "Nothing to change: the interface has all of it.".into();
        }
        let shown = self.steps.iter().take(MOST);
        let rows: Vec<Vec<String>> = shown.map(Line::row).collect();
        let mut text = table::table(&["", "", "number", "at", "class", "parameters"], &rows);
        if self.steps.len() > MOST {
            text += &format!("\n… and {} more", self.steps.len() - MOST);
        }
        text.push('\n');
        if self.drops_root {
            text += "\nPackets that wait at the interface are dropped.";
        }
        for LostQueue { handle, class, queued } in self.drops.iter().take(MOST) {
            let name = class.as_deref().unwrap_or(handle);
            let packets = if *queued == 1 { "packet" } else { "packets" };
            text += &format!("\nClass {name} loses its queue: {queued} {packets} now.");
        }
        if self.drops.len() > MOST {
            text += &format!("\n… and {} more classes.", self.drops.len() - MOST);
        }
        text
    }
}

impl Line {
    fn row(&self) -> Vec<String> {
        let sign = match self.action {
            "add" => "+",
            "delete" => "-",
            "change" => "~",
            _ => "±",
        };
        let parameters = match (&self.before, &self.after) {
            (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
            (_, Some(after)) => after.clone(),
            (before, None) => before.clone().unwrap_or_default(),
        };
        vec![
            sign.into(),
            format!("{} {}", self.what, self.kind),
            self.handle.clone(),
            self.parent.clone(),
            self.class.clone().unwrap_or_default(),
            parameters,
        ]
    }
}

fn place(object: &Object) -> String {
    match object.sort {
        Sort::Filter => format!("{}/{}", object.priority(), object.handle.0 & 0xfff),
        Sort::Qdisc | Sort::Class => object.handle.to_string(),
    }
}
