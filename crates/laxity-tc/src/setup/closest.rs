//! Qdiscs that no plan has, and the words of a plan that come nearest to each.

/// Kinds of qdisc with their nearest counterparts, one a line: `KIND: TEXT`.
const CLOSEST: &str = include_str!("closest.txt");

/// What a qdisc does and which words of a plan come nearest to it.
pub(crate) fn closest(kind: &str) -> Option<&'static str> {
    hints().find(|(known, _)| *known == kind).map(|(_, closest)| closest)
}

/// Kinds with their hints.
fn hints() -> impl Iterator<Item = (&'static str, &'static str)> {
    CLOSEST.lines().filter_map(|line| line.split_once(": "))
}

#[cfg(test)]
mod tests;
