//! What a plan says and `tc` has no words for, in comments that the import reads: `#: 2:10 deadline = "5ms"`.

use std::collections::HashMap;
use std::fmt::Write as _;

use laxity_plan::Plan;
use laxity_plan::model::Police;

use crate::linux::Carried;
use crate::tree::{Handle, build};

/// What such a comment begins with.
pub const MARK: &str = "#:";
/// The keys of a class that are taken from comments.
pub const OF_CLASS: [&str; 4] = ["name", "deadline", "arrival", "police"];
/// The keys of the link.
pub const OF_LINK: [&str; 2] = ["max-packet", "min-packet"];

/// All that is said of a plan, which is `carried` out so: of classes by the numbers that they have there.
pub fn contracts(plan: &Plan, carried: &Carried) -> String {
    let mut text = String::new();
    of_link(plan, &mut text);
    let kept = carried.tree.names();
    for (at, handle) in alone(&build::handles(plan, carried)) {
        let handle = kept.get(&plan.classes[at].name).copied().unwrap_or(handle);
        of_class(plan, at, handle, &mut text);
    }
    text
}

/// The classes that have a number of their own. Those that share a band of prio are one class to the kernel, and what
/// one of them says does not hold for it.
pub fn alone(numbered: &[(usize, Handle)]) -> impl Iterator<Item = (usize, Handle)> {
    let mut classes: HashMap<Handle, usize> = HashMap::new();
    numbered.iter().for_each(|(_, handle)| *classes.entry(*handle).or_default() += 1);
    numbered.iter().copied().filter(move |(_, handle)| classes[handle] == 1)
}

/// What bounds rest on and a token bucket does not say.
pub fn of_link(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "{MARK} link max-packet = \"{}b\"", plan.link.max_packet.0);
    let _ = writeln!(text, "{MARK} link min-packet = \"{}b\"", plan.link.min_packet.0);
}

/// The class's name and its side of the contract.
pub fn of_class(plan: &Plan, at: usize, handle: Handle, text: &mut String) {
    let class = &plan.classes[at];
    let mut say = |key: &str, value: String| {
        let _ = writeln!(text, "{MARK} {handle} {key} = {value}");
    };
    // A name that a line cannot hold is left to the import to make.
    if !class.name.chars().any(|c| c.is_control() || matches!(c, '"' | '\\')) {
        say("name", format!("\"{}\"", class.name));
    }
    if let Some(deadline) = class.deadline {
        say("deadline", format!("\"{deadline}\""));
    }
    if let Some(arrival) = &class.arrival {
        say("arrival", arrival.to_string());
    }
    match class.police {
        Police::Drop => say("police", "\"drop\"".into()),
        Police::Demote => say("police", "\"demote\"".into()),
        Police::Count => {}
    }
}
