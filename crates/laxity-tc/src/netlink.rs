//! A [`Setup`] in messages of rtnetlink, without a socket: written for the kernel, and read from
//! it.
//!
//! An [`Object`] is a qdisc, a class or a filter of an interface. A [`Setup`] has items for the
//! kinds that are read. Their objects are brought into one form, in which two are equal if the
//! kernel cannot tell them apart. Objects of other kinds keep the kernel's own bytes and can be put
//! back. (Linux, include/uapi/linux/rtnetlink.h, pkt_sched.h and pkt_cls.h.)

mod attributes;
mod cake;
mod class;
mod filter;
mod flower;
pub mod ingress;
mod object;
mod police;
mod qdisc;
mod size_table;
mod statistics;
#[cfg(test)]
mod tests;

pub use attributes::Attributes;
pub use object::{Action, Object, Request, Sort, dump};
pub use statistics::Statistics;

use crate::export::text;
use crate::setup::{Item, Qdisc, QdiscKind, Setup};

/// The objects of a set-up: its disciplines, then its classes, then its filters.
pub fn objects(setup: &Setup) -> Vec<Object> {
    let qdiscs = setup.qdiscs.iter().map(qdisc::object);
    let classes = setup.classes.iter().map(class::object);
    qdiscs.chain(classes).chain(setup.filters.iter().map(filter::object)).collect()
}

/// The item that an object is, if its kind and all of its parameters are known.
pub fn item(object: &Object) -> Option<Item> {
    match object.sort {
        Sort::Qdisc => qdisc::read(object).map(Item::Qdisc),
        Sort::Class => class::read(object).map(Item::Class),
        Sort::Filter => filter::read(object).map(Item::Filter),
    }
}

/// An object that the kernel shows, in the form of [`objects`] and without its statistics. `None`
/// for objects that the kernel makes by itself: disciplines without a handle, their own classes,
/// tables of filters, and disciplines for arriving packets.
pub fn shown(object: &Object) -> Option<Object> {
    let is_there_by_itself = match object.sort {
        Sort::Qdisc => object.handle.0 == 0 || object.handle.major() == 0xffff,
        Sort::Class => {
            object.handle.minor() == 0 || !class::ADDED.contains(&object.kind().as_str())
        }
        Sort::Filter => filter::is_table(object),
    };
    if is_there_by_itself {
        return None;
    }
    Some(match item(object) {
        Some(Item::Qdisc(qdisc)) => qdisc::object(&qdisc),
        Some(Item::Class(class)) => class::object(&class),
        Some(Item::Filter(filter)) => filter::object(&filter),
        None if object.sort == Sort::Filter => filter::settable(object),
        None => object.settable(),
    })
}

/// The object to send for a change: without the parameters that the kernel refuses to be told
/// twice.
fn changing(object: &Object) -> Object {
    match item(object) {
        Some(Item::Qdisc(Qdisc { kind: kind @ QdiscKind::FqCodel(_), handle, parent, .. })) => {
            let options = qdisc::numbered(&kind, &qdisc::FQ_CODEL, Some("flows"));
            Object::new(Sort::Qdisc, handle, parent, kind.name()).with(object::OPTIONS, &options)
        }
        _ => object.clone(),
    }
}

/// The command that adds an object to an interface, in the words of `tc` without `tc` itself. The
/// words of an object of another kind end with that kind.
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

/// The parameters of an object in the words of `tc`; none for an object of another kind.
pub fn parameters(object: &Object) -> String {
    let command = command(object, "DEV");
    let behind = command.split_once(&format!(" {}", object.kind()));
    behind.map_or(String::new(), |(_, parameters)| parameters.trim().into())
}
