//! Words of a plan that `tc` has none for, in comments of scripts: `#: 2:10 deadline = "5ms"`. An
//! export writes them and an import reads them.

use std::collections::HashMap;
use std::fmt::Write as _;

use laxity_plan::Plan;
use laxity_plan::model::Police;

use crate::setup::Handle;

/// The beginning of such a comment.
pub(crate) const MARK: &str = "#:";
/// The keys of a class that are taken from comments.
const OF_CLASS: [&str; 4] = ["name", "deadline", "arrival", "police"];
/// The keys of the link.
const OF_LINK: [&str; 2] = ["max-packet", "min-packet"];

/// Keys of a plan with their values in TOML.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contract {
    link: Vec<(String, String)>,
    classes: HashMap<Handle, Vec<(String, String)>>,
}

impl Contract {
    /// Reads the comments of a script. Other keys are left to people, and so is what is about
    /// another interface than the one that is asked for: what follows `#: dev NAME`.
    pub(crate) fn read(script: &str, device: Option<&str>) -> Contract {
        let mut contract = Contract::default();
        let mut is_asked_for = true;
        for line in script.lines() {
            let Some(words) = line.trim_start().strip_prefix(MARK) else { continue };
            if let Some(name) = words.trim().strip_prefix("dev ") {
                is_asked_for = device.is_none_or(|device| device == name);
            }
            if !is_asked_for {
                continue;
            }
            let Some((head, value)) = words.split_once('=') else { continue };
            let mut head = head.split_whitespace();
            let (Some(whose), Some(key), None) = (head.next(), head.next(), head.next()) else {
                continue;
            };
            let entry = (key.to_string(), value.trim().to_string());
            match Handle::parse(whose) {
                None if whose == "link" && OF_LINK.contains(&key) => contract.link.push(entry),
                Some(handle) if OF_CLASS.contains(&key) => {
                    contract.classes.entry(handle).or_default().push(entry);
                }
                _ => {}
            }
        }
        contract
    }

    /// The lines for `[link]`; `None` if nothing is said of it.
    pub(crate) fn link(&self) -> Option<String> {
        let lines = self.link.iter().map(|(key, value)| format!("{key} = {value}\n"));
        (!self.link.is_empty()).then(|| lines.collect())
    }

    /// The name of a class.
    pub(crate) fn name(&self, handle: Handle) -> Option<String> {
        let (_, value) = self.classes.get(&handle)?.iter().find(|(key, _)| key == "name")?;
        let name = value.strip_prefix('"')?.strip_suffix('"')?;
        (!name.is_empty() && fits_a_line(name)).then(|| name.to_string())
    }

    /// The lines for a class.
    pub(crate) fn class(&self, handle: Handle) -> String {
        let lines = self.classes.get(&handle).into_iter().flatten();
        let lines = lines.filter(|(key, _)| key != "name");
        lines.map(|(key, value)| format!("{key} = {value}\n")).collect()
    }
}

/// The classes that have a number of their own. Those that share a band of prio are one class to
/// the kernel, and what one of them says does not hold for it.
pub(crate) fn alone(numbered: &[(usize, Handle)]) -> impl Iterator<Item = (usize, Handle)> {
    let mut classes: HashMap<Handle, usize> = HashMap::new();
    for (_, handle) in numbered {
        *classes.entry(*handle).or_default() += 1;
    }
    numbered.iter().copied().filter(move |(_, handle)| classes[handle] == 1)
}

/// Writes the lengths of the link's packets, on which bounds rest.
pub(crate) fn write_link(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "{MARK} link max-packet = \"{}b\"", plan.link.max_packet.0);
    let _ = writeln!(text, "{MARK} link min-packet = \"{}b\"", plan.link.min_packet.0);
}

/// Writes a class's name and its side of the contract.
pub(crate) fn write_class(plan: &Plan, at: usize, handle: Handle, text: &mut String) {
    let class = &plan.classes[at];
    let mut say = |key: &str, value: String| {
        let _ = writeln!(text, "{MARK} {handle} {key} = {value}");
    };
    // A name that a line cannot hold is left to the import to make.
    if fits_a_line(&class.name) {
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

fn fits_a_line(name: &str) -> bool {
    !name.chars().any(|c| c.is_control() || matches!(c, '"' | '\\'))
}
