//! What an interface has beside what it is to have, as lines.

use std::collections::HashMap;

use laxity_kernel::device::{Counters, DeviceState};
use laxity_kernel::objects::{Key, Objects};
use laxity_kernel::record::{Promise, Record};
use laxity_kernel::setup::{Change, IngressDevice};
use laxity_kernel::steps::{Action, Step, Steps};
use laxity_report::table;
use laxity_tc::netlink::{Object, Sort, ingress, parameters};
use laxity_tc::setup::Handle;
use serde::Serialize;

/// The most lines of one kind that are shown.
const MOST: usize = 200;

/// The steps that are about to be taken.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    #[serde(flatten)]
    egress: Part,
    /// Those for what arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    ingress: Option<Part>,
}

/// The steps of one direction.
#[derive(Debug, Serialize)]
struct Part {
    /// The device that frames are led to when they arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    steps: Vec<Line>,
    /// The classes whose queues are lost.
    drops: Vec<LostQueue>,
    /// Whether the queue of the whole interface is lost that someone added.
    drops_root: bool,
    /// Packets that wait there now, if it is lost.
    root_queued: u32,
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
    /// Of a change of what is shown; classes are called what they were, or are to be.
    pub(super) fn new(
        change: &Change,
        shown: &DeviceState,
        settled: Option<&Record>,
        wanted: &Record,
    ) -> Difference {
        let promises = [settled, Some(wanted)].into_iter().flatten();
        let names = Names::new(promises.clone().flat_map(|record| &record.promises));
        let egress = Part::new(&change.egress, &shown.setup.egress, &shown.egress, &names);
        let there = shown.setup.ingress.as_ref().and_then(|there| there.device.as_ref());
        let comes = change.ingress.added.as_ref();
        let device = comes.or(there).filter(|_| !change.ingress.is_empty());
        let ingress = device.map(|device| {
            let plans = promises.filter_map(|record| record.ingress.as_ref());
            let names = Names::new(plans.flat_map(|plan| &plan.promises));
            let none = Objects::default();
            let before = there.map_or(&none, |there| &there.objects);
            let hook = |step| Line::new(step, &none, &names);
            let link = |action| move |device: &IngressDevice| Line::link(action, device);
            let changes = &change.ingress;
            let mut part = Part::new(&changes.device, before, &shown.ingress, &names);
            let first = changes.unhooked.iter().map(hook);
            let first = first.chain(changes.removed.iter().map(link("delete")));
            let first = first.chain(changes.added.iter().map(link("add")));
            part.steps.splice(0..0, first);
            part.steps.extend(changes.hooked.iter().map(hook));
            Part { device: Some(device.name.clone()), ..part }
        });
        Difference { egress, ingress }
    }

    /// As tables, and whose packets are dropped.
    pub(super) fn text(&self) -> String {
        match &self.ingress {
            None if self.egress.steps.is_empty() => {
                "Nothing to change: the interface has all of it.".into()
            }
            None => self.egress.text(),
            Some(ingress) => {
                let egress = if self.egress.steps.is_empty() {
                    "Nothing to change for what leaves.\n".into()
                } else {
                    self.egress.text()
                };
                let device = ingress.device.as_deref().unwrap_or_default();
                format!("{egress}\nWhat arrives, which waits at {device}:\n\n{}", ingress.text())
            }
        }
    }
}

/// What classes are called, by number.
struct Names<'a>(HashMap<Handle, &'a str>);

impl<'a> Names<'a> {
    fn new(promises: impl Iterator<Item = &'a Promise>) -> Names<'a> {
        Names(promises.map(|promise| (promise.class, &*promise.name)).collect())
    }

    fn get(&self, handle: Handle) -> Option<String> {
        self.0.get(&handle).map(ToString::to_string)
    }
}

impl Part {
    fn new(steps: &Steps, before: &Objects, counters: &Counters, names: &Names<'_>) -> Part {
        let dropped = |handle: &Handle| LostQueue {
            handle: handle.to_string(),
            class: names.get(*handle),
            queued: counters.queued(*handle),
        };
        Part {
            device: None,
            steps: steps.steps.iter().map(|step| Line::new(step, before, names)).collect(),
            drops: steps.drops.iter().map(dropped).collect(),
            drops_root: steps.drops_root,
            root_queued: if steps.drops_root { counters.queued(Handle::ROOT) } else { 0 },
        }
    }

    /// As a table, and whose packets are dropped.
    fn text(&self) -> String {
        let shown = self.steps.iter().take(MOST);
        let rows: Vec<Vec<String>> = shown.map(Line::row).collect();
        let mut text = table::table(&["", "", "number", "at", "class", "parameters"], &rows);
        if self.steps.len() > MOST {
            text += &format!("\n… and {} more", self.steps.len() - MOST);
        }
        text.push('\n');
        if self.drops_root {
            text += &format!("\nThe interface loses its queue: {} now.", packets(self.root_queued));
        }
        for LostQueue { handle, class, queued } in self.drops.iter().take(MOST) {
            let name = class.as_deref().unwrap_or(handle);
            text += &format!("\nClass {name} loses its queue: {} now.", packets(*queued));
        }
        if self.drops.len() > MOST {
            text += &format!("\n… and {} more classes.", self.drops.len() - MOST);
        }
        text
    }
}

impl Line {
    fn new(step: &Step, before: &Objects, names: &Names<'_>) -> Line {
        let object = &step.object;
        let old = before.get(&Key::new(object)).map(parameters);
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
            class: if object.sort == Sort::Class { names.get(object.handle) } else { None },
            parent: object.parent.to_string(),
            kind: object.kind(),
            before,
            after,
        }
    }

    /// A device that comes or goes.
    fn link(action: &'static str, device: &IngressDevice) -> Line {
        Line {
            action,
            what: "link",
            handle: device.name.clone(),
            class: None,
            parent: String::new(),
            kind: ingress::IFB.into(),
            before: None,
            after: None,
        }
    }

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

fn packets(count: u32) -> String {
    format!("{count} {}", if count == 1 { "packet" } else { "packets" })
}

fn place(object: &Object) -> String {
    match object.sort {
        Sort::Filter => format!("{}/{}", object.priority(), object.handle.0 & 0xfff),
        Sort::Qdisc | Sort::Class => object.handle.to_string(),
    }
}
