//! Rules of QoSmate, `config rule`: which packets get a code point, and so a class.

use laxity_plan::matching::Match;

use super::super::uci::Section;
use super::super::{Router, Rule, Urgency};
use crate::Error;
use crate::error::shown;

/// Reads a rule. One that a match cannot say is a note.
pub(super) fn read(section: &Section, router: &mut Router) -> Result<(), Error> {
    let name = section.value("name").or(section.name.as_deref()).unwrap_or("rule").to_owned();
    let line = section.line;
    if section.switch("enabled")? == Some(false) {
        return Ok(());
    }
    let note = |why: &str| format!("{line}: rule {}: {why}", shown(&name));
    let Some(class) = section.value("class") else {
        return Err(Error::at(line, "this rule has no `class`: a code point such as cs5"));
    };
    let urgency = match class.to_ascii_lowercase().as_str() {
        "ef" | "cs5" | "cs6" | "cs7" => Urgency::RealTime,
        "cs4" | "af41" | "af42" => Urgency::Video,
        "cs1" | "cs2" | "af11" => Urgency::Bulk,
        _ => {
            let class = shown(class);
            router.notes.push(note(&format!("class {class} has nothing of its own in the plan")));
            return Ok(());
        }
    };
    let both = (direction(section, false), direction(section, true));
    let (Some(there), Some(back)) = both else {
        router.notes.push(note("not kept: it tests every packet, or what a match cannot say"));
        return Ok(());
    };
    let matching = if there == back { there } else { format!("({there} or {back})") };
    if matching.parse::<Match>().is_err() {
        router.notes.push(note("not kept: a match cannot say it"));
        return Ok(());
    }
    router.rules.push(Rule { name, matching, urgency });
    Ok(())
}

/// The test of a rule, or of the packets of the same connections on their way back.
fn direction(section: &Section, is_back: bool) -> Option<String> {
    let [near, far] = if is_back { ["d", "s"] } else { ["s", "d"] };
    let protocols: Vec<&str> = values(section, "proto").collect();
    let mut tests: Vec<String> = Vec::new();
    match protocols[..] {
        [] => {}
        [protocol] => tests.push(protocol.into()),
        _ => tests.push(format!("protocol {{{}}}", protocols.join(", "))),
    }
    let ends = [
        ("src_ip", near, "addr"),
        ("dest_ip", far, "addr"),
        ("src_port", near, "port"),
        ("dest_port", far, "port"),
    ];
    for (option, side, what) in ends {
        let all: Vec<&str> = values(section, option).collect();
        let (not, are): (Vec<&str>, Vec<&str>) =
            all.iter().partition(|value| value.starts_with("!="));
        if !are.is_empty() {
            tests.push(format!("{side}{what} {{{}}}", are.join(", ")));
        }
        for other in not {
            tests.push(format!("not {side}{what} {}", other.trim_start_matches("!=").trim()));
        }
    }
    (!tests.is_empty()).then(|| tests.join(" and "))
}

/// The values of an option or a list, which commas and spaces separate.
fn values<'a>(section: &'a Section, name: &'a str) -> impl Iterator<Item = &'a str> {
    let values = section.list(name).flat_map(|option| option.value.split([',', ' ']));
    values.filter(|value| !value.is_empty())
}
