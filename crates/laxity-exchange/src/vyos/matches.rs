//! Matches of a class: any of its filters, each a test of everything in it.

use laxity_plan::matching::Match;

use super::config::Node;
use crate::error::shown;

/// The match of a class, if any of its filters can be said. Others are notes.
pub(super) fn matching(root: &Node, class: &Node, notes: &mut Vec<String>) -> Option<String> {
    let own = class.all(&["match"]);
    let groups = class.all(&["match-group"]).flat_map(|(name, _)| {
        let path = ["qos", "traffic-match-group", name, "match"];
        root.all(&path).collect::<Vec<_>>()
    });
    let mut filters = Vec::new();
    for (name, node) in own.chain(groups) {
        match filter(node) {
            Ok(filter) => filters.push(filter),
            Err(why) => {
                notes.push(format!("{}: match {}: not kept: {why}", node.line, shown(name)))
            }
        }
    }
    (!filters.is_empty()).then(|| filters.join(" or "))
}

/// The tests of a filter: its packets pass them all.
fn filter(node: &Node) -> Result<String, String> {
    let mut tests = Vec::new();
    for (word, below) in node.all(&[]) {
        match word {
            "ip" | "ipv6" => packet(if word == "ip" { "ip" } else { "ip6" }, below, &mut tests)?,
            "vif" => tests.push(format!("vlan {}", value(below, word)?)),
            "description" => {}
            other => return Err(format!("a match does not test `{}`", shown(other))),
        }
    }
    let filter = tests.join(" and ");
    match filter.parse::<Match>() {
        Ok(_) => Ok(filter),
        Err(error) => Err(format!("`{}`: {}", shown(&filter), error.message())),
    }
}

/// Tests of the headers of IP and above.
fn packet(version: &str, node: &Node, tests: &mut Vec<String>) -> Result<(), String> {
    tests.push(version.into());
    for (word, below) in node.all(&[]) {
        match word {
            "dscp" => tests.push(format!("dscp {}", dscp(value(below, word)?))),
            "protocol" => tests.push(protocol(value(below, word)?)),
            "source" | "destination" => {
                let side = if word == "source" { "s" } else { "d" };
                for (what, below) in below.all(&[]) {
                    let test = match what {
                        "address" => "addr",
                        "port" => "port",
                        other => return Err(format!("a match does not test `{}`", shown(other))),
                    };
                    tests.push(format!("{side}{test} {}", value(below, what)?));
                }
            }
            other => return Err(format!("a match does not test `{} {}`", version, shown(other))),
        }
    }
    Ok(())
}

fn value<'a>(node: &'a Node, word: &str) -> Result<&'a str, String> {
    node.value(&[]).map(|(value, _)| value).ok_or_else(|| format!("`{word}` has no value"))
}

/// A protocol by its name or number.
fn protocol(word: &str) -> String {
    match word {
        "ipv6-icmp" => "icmp6".into(),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("protocol {number}"),
        name => name.to_ascii_lowercase(),
    }
}

/// A code point. The names of precedence and of services are those of VyOS.
fn dscp(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    match word.as_str() {
        "default" => "0",
        "lowdelay" => "4",
        "throughput" => "2",
        "reliability" => "1",
        "priority" => "cs1",
        "immediate" => "cs2",
        "flash" => "cs3",
        "flash-override" => "cs4",
        "critical" => "cs5",
        "internet" => "cs6",
        "network" => "cs7",
        _ => return word,
    }
    .into()
}
