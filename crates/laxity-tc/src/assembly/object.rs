//! Objects that the kernel shows of an interface.

use laxity_plan::error::Fault;

use super::class::{NewClass, Verb};
use super::commands::Commands;
use super::qdisc::{NewQdisc, Place};
use super::state::Origin;
use crate::netlink::{self, Object};
use crate::setup::{Class, Filter, Handle, Item, Qdisc};
use crate::words::command::{Command, Word};
use crate::words::filter::{FilterAction, FilterHead, FilterPlace, Target};

impl Commands {
    /// Takes an object that the kernel shows. Spans of its faults are the number of its line.
    pub(crate) fn take_object(
        &mut self,
        object: &Object,
        device: &str,
        line: usize,
    ) -> Result<(), Fault> {
        let word = |text: &str| Word::new(text, &(line..line));
        let origin = Origin { line, span: line..line, comment: None };
        let Some(item) = netlink::item(object) else {
            // Of a kind that is not known only its name counts.
            let words = netlink::command(object, device);
            let words = words.split_whitespace().map(word).collect();
            return self.take(&Command { words, line, called: None, comment: None });
        };
        let setup = self.device(device);
        match item {
            Item::Qdisc(Qdisc { handle, parent, kind, stab }) => setup.add_qdisc(NewQdisc {
                place: Place::from(parent),
                major: Some(handle.major()),
                sizes: stab,
                adds: true,
                kind: &word(kind.name()),
                read: Box::new(|_| Ok((kind, Vec::new()))),
                origin,
            }),
            Item::Class(Class { handle, parent, kind, .. }) => {
                let named = |handle: Handle| Some((handle, word(&handle.to_string())));
                setup.add_class(NewClass {
                    verb: Verb::Add,
                    handle: named(handle),
                    parent: named(parent),
                    kind: &word(kind.name()),
                    read: Box::new(|| Ok(Some((kind, Vec::new())))),
                    origin,
                })
            }
            Item::Filter(filter) => {
                let Filter { parent, priority, protocol, kind, class, police, is_gone, .. } =
                    filter;
                let called = class.map_or("filter".into(), |class| format!("filter for {class}"));
                let head = FilterHead {
                    place: FilterPlace::At(parent),
                    priority,
                    chain: 0,
                    protocol,
                    kind: kind.name(),
                    table: None,
                    called,
                };
                let policed = police.first().map(|_| "its `action` has no counterpart".into());
                let lost = policed.into_iter().collect();
                let target = Target { class, is_gone, lost };
                let action = FilterAction { kind: kind.clone(), target };
                setup.add_filter(&head, || Ok(action), &origin)
            }
        }
    }
}
