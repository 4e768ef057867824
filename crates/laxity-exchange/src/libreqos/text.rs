//! The plan of one direction.

use std::collections::HashSet;
use std::fmt::Write as _;

use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::written::{key, quoted};

use super::grants::Grants;
use super::{Circuit, Direction, Node};

/// The class of packets that are no circuit's, and its name if something else is called so.
const OTHERS: [&str; 2] = ["others", "packets of no circuit"];

/// The share of what has nothing guaranteed, in bits per second: any that is not zero.
const LEAST: u64 = 1000;

/// The plan of one direction as text.
pub(super) fn plan(
    nodes: &[Node],
    circuits: &[Circuit],
    granted: &Grants,
    link: Rate,
    direction: Direction,
) -> String {
    let at = direction as usize;
    let (word, side) = match direction {
        Direction::Down => ("down", "daddr"),
        Direction::Up => ("up", "saddr"),
    };
    let mut text = format!(
        "# Imported with `laxity import libreqos`.\n\
         version = 1\ntitle = \"Circuits, {word}\"\n\n[link]\nrate = \"{link}\"\n\n[scheduler]\nkind = \"hfsc\"\n"
    );
    let names: HashSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    for (number, node) in nodes.iter().enumerate() {
        let rate = node.rate[at];
        let above = node.parent.map_or(link, |parent| nodes[parent].rate[at]);
        let _ = write!(text, "\n[class.{}]\n", key(&node.name));
        parent(nodes, node.parent, &mut text);
        let _ = writeln!(text, "link-share = \"{}\"", Rate(granted.nodes[number].max(LEAST)));
        if rate < above {
            let _ = writeln!(text, "upper-limit = \"{rate}\"");
        }
    }
    for (number, circuit) in circuits.iter().enumerate() {
        let is_taken = names.contains(circuit.id.as_str()) || OTHERS.contains(&circuit.id.as_str());
        let class = if is_taken { format!("circuit {}", circuit.id) } else { circuit.id.clone() };
        let _ = write!(text, "\n[class.{}] # {}\n", key(&class), one_line(&circuit.name));
        parent(nodes, circuit.node, &mut text);
        let maximum = circuit.maximum[at];
        let _ = match granted.circuits[number] {
            // Nothing is left to guarantee.
            0 => writeln!(text, "link-share = \"{}\"", Rate(LEAST)),
            grant => writeln!(text, "curve = \"{}\"", Rate(grant)),
        };
        if maximum < circuit.node.map_or(link, |node| nodes[node].rate[at]) {
            let _ = writeln!(text, "upper-limit = \"{maximum}\"");
        }
        let _ = writeln!(text, "queue = {}", queue(circuit.has_queue[at], maximum));
        let sets = circuit.addresses.iter().filter(|addresses| !addresses.is_empty());
        let sets: Vec<String> = sets.map(|set| format!("{side} {{{}}}", set.join(", "))).collect();
        if !sets.is_empty() {
            let _ = writeln!(text, "match = {}", quoted(&sets.join(" or ")));
        }
    }
    let others = OTHERS.into_iter().find(|name| !names.contains(name)).unwrap_or(OTHERS[0]);
    let rest = Rate((link.0 / 100).max(1));
    let _ = write!(
        text,
        "\n# Packets that are no circuit's: one part in a hundred.\n[class.{}]\nlink-share = \"{rest}\"\n\
         queue = {}\nmatch = \"any\"\n",
        key(others),
        queue(true, rest)
    );
    text
}

fn parent(nodes: &[Node], node: Option<usize>, text: &mut String) {
    if let Some(node) = node {
        let _ = writeln!(text, "parent = {}", quoted(&nodes[node].name));
    }
}

/// The queue of a circuit. CoDel's target is not below the time of one and a half packets.
fn queue(is_managed: bool, rate: Rate) -> String {
    const LIMIT: u32 = 1000;
    if !is_managed {
        return format!("{{ kind = \"droptail\", limit = {LIMIT} }}");
    }
    let packets = rate.time_for(Bytes(1514)).0 / 2 * 3;
    let target = Nanos(packets.next_multiple_of(1_000_000).max(5_000_000));
    let interval = Nanos(100_000_000 + target.0 - 5_000_000);
    format!(
        "{{ kind = \"codel\", limit = {LIMIT}, target = \"{target}\", interval = \"{interval}\", ecn = true }}"
    )
}

/// A text for a comment: nothing in it ends the line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
