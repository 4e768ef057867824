//! Scripts as people write them, and what becomes of them.

mod basic;
mod cake;
mod curves;
mod exported;
mod filters;
mod fq_codel;
mod htb;
mod leaves;
pub(crate) mod matches;
mod netfilter;
mod prio;
mod qfq;
mod random;
mod refused;
mod scripts;
mod shapes;
mod shells;
mod shown;
mod told;

use std::path::Path;

use laxity::units::Rate;
use laxity_plan::Plan;
use laxity_plan::model::Class;

use super::{Import, NoteKind, Options};

/// A set-up of hfsc with room for more lines: the link, and classes 1:10 and 1:20 below 1:1. The
/// default is 1:20.
const HEAD: &str = "\
tc qdisc add dev eth0 root handle 1: hfsc default 20
tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit ul m2 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 1mbit # voice
tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit # rest
";

fn import(script: &str) -> Import {
    crate::import(script, "folder/script.sh", &Options::default())
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// The same with a link of this many bits a second.
fn import_at(rate: u64, script: &str) -> Import {
    let options = Options { link_rate: Some(Rate(rate)), ..Options::default() };
    crate::import(script, "folder/script.sh", &options).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The plan of a script, read back.
fn plan(script: &str) -> Plan {
    read(&import(script))
}

fn read(import: &Import) -> Plan {
    Plan::parse(&import.plan, "plan.toml", Path::new("")).unwrap()
}

fn class<'a>(plan: &'a Plan, name: &str) -> &'a Class {
    &plan.classes[plan.class(name).unwrap_or_else(|| panic!("no class {name}")).index()]
}

/// The line and message with which a script is refused, and the help.
fn refusal(script: &str) -> (usize, String, String) {
    let error = crate::import(script, "script.sh", &Options::default()).unwrap_err();
    let help = error.help().unwrap_or_default().to_string();
    (error.line().unwrap_or(0), error.message().to_string(), help)
}

/// The notes of one kind, each `LINE: TEXT`.
fn notes(import: &Import, kind: NoteKind) -> Vec<String> {
    let of_kind = import.notes.iter().filter(|note| note.kind == kind);
    of_kind.map(|note| format!("{}: {}", note.line, note.text)).collect()
}
