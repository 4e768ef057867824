//! A [`Tree`] as the kernel is told of it, and as it tells of one: messages of rtnetlink, without a socket.
//!
//! An [`Object`] is a qdisc, a class or a filter of an interface. Those of kinds that a tree has are brought into one
//! form, in which two are equal if the kernel could not tell them apart; of others the kernel's own bytes are kept, so
//! that they can be put back. (Linux, include/uapi/linux/rtnetlink.h, pkt_sched.h and pkt_cls.h.)

mod attributes;
mod classes;
mod filters;
mod flower;
mod object;
mod police;
mod qdiscs;
mod queues;
mod size_table;
mod statistics;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

pub use attributes::Attributes;
pub use object::{Object, Request, Sort, ask, dump};
pub use statistics::Statistics;

use crate::export::text;
use crate::setup::{Class, Handle, Item, Qdisc, QdiscKind, Setup};

/// The objects of a set-up in the order in which they can be added.
pub fn objects(setup: &Setup) -> Vec<Object> {
    let mut by_qdisc: BTreeMap<u16, Hanging<'_>> = BTreeMap::new();
    for class in &setup.classes {
        by_qdisc.entry(class.handle.major()).or_default().classes.push(class);
    }
    let (roots, queues): (Vec<&Qdisc>, Vec<&Qdisc>) =
        setup.qdiscs.iter().partition(|qdisc| qdisc.parent == Handle::ROOT);
    for queue in queues {
        by_qdisc.entry(queue.parent.major()).or_default().qdiscs.push(queue);
    }
    let mut objects = Vec::new();
    let mut next = VecDeque::from(roots);
    while let Some(qdisc) = next.pop_front() {
        objects.push(qdiscs::object(qdisc));
        let hanging = by_qdisc.remove(&qdisc.handle.major()).unwrap_or_default();
        objects.extend(hanging.classes.into_iter().map(classes::object));
        next.extend(hanging.qdiscs);
    }
    objects.extend(setup.filters.iter().map(filters::object));
    objects
}

/// What hangs at a qdisc or its classes.
#[derive(Default)]
struct Hanging<'a> {
    classes: Vec<&'a Class>,
    qdiscs: Vec<&'a Qdisc>,
}

/// The item that an object is, if its kind and all of its parameters are known.
pub fn item(object: &Object) -> Option<Item> {
    match object.sort {
        Sort::Qdisc => qdiscs::read(object).map(Item::Qdisc),
        Sort::Class => classes::read(object).map(Item::Class),
        Sort::Filter => filters::read(object).map(Item::Filter),
    }
}

/// What the kernel shows in the form of [`objects`], without its statistics. `None` for what it makes by itself:
/// disciplines without a handle, classes that nobody added, tables of filters, and what looks at arriving packets.
pub fn shown(object: &Object) -> Option<Object> {
    let is_there_by_itself = match object.sort {
        Sort::Qdisc => object.handle.0 == 0 || object.handle.major() == 0xffff,
        Sort::Class => {
            object.handle.minor() == 0 || !classes::ADDED.contains(&object.kind().as_str())
        }
        Sort::Filter => filters::is_table(object),
    };
    if is_there_by_itself {
        return None;
    }
    Some(match item(object) {
        Some(Item::Qdisc(qdisc)) => qdiscs::object(&qdisc),
        Some(Item::Class(class)) => classes::object(&class),
        Some(Item::Filter(filter)) => filters::object(&filter),
        None if object.sort == Sort::Filter => filters::settable(object),
        None => object.settable(),
    })
}

/// What is sent to change an object: without what the kernel refuses to hear twice.
pub fn changing(object: &Object) -> Object {
    match item(object) {
        Some(Item::Qdisc(Qdisc { kind: QdiscKind::FqCodel(of), handle, parent, .. })) => {
            let named = Object::new(Sort::Qdisc, handle, parent, "fq_codel");
            named.with(object::OPTIONS, &queues::fq_codel_again(&of))
        }
        _ => object.clone(),
    }
}

/// What adds an object to an interface, in the words of `tc`, without `tc` itself. Of one that a tree has no words for
/// they end with its kind.
pub fn command(object: &Object, device: &str) -> String {
    match item(object) {
        Some(item) => text::item(&item, device),
        None => {
            let Object { sort, handle, parent, .. } = object;
            let place = text::place(*parent);
            let kind = object.kind();
            match sort {
                Sort::Qdisc => format!("qdisc add dev {device} {place} handle {handle} {kind}"),
                Sort::Class => format!("class add dev {device} {place} classid {handle} {kind}"),
                Sort::Filter => {
                    format!("filter add dev {device} {place} prio {} {kind}", object.priority())
                }
            }
        }
    }
}

/// The parameters of an object in the words of `tc`; nothing of one that a tree has no words for.
pub fn parameters(object: &Object) -> String {
    let command = command(object, "DEV");
    let behind = command.split_once(&format!(" {}", object.kind()));
    behind.map_or(String::new(), |(_, parameters)| parameters.trim().into())
}
