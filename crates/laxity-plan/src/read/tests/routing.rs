//! Shortest paths beside all paths of a small network, and what is refused.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::model::{Network, NodeId};

const SOURCE: &str = r#"
[[source]]
class = "a"
model = "poisson"
rate = "1kbit"
packet = "100b"
path = "shortest"
"#;

/// A plan with links of these ends and delays, and a source from each node of `paths` to another.
fn plan(links: &[(&str, &str, u64)], paths: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "version = 1\nlink.rate = \"1mbit\"\nscheduler.kind = \"fifo\"\nclass.a = {}\n",
    );
    for (number, (from, to, delay)) in links.iter().enumerate() {
        let between = format!("between = [\"{from}\", \"{to}\"]\ndelay = \"{delay}us\"");
        writeln!(text, "[network.l{number}]\n{between}").unwrap();
    }
    for (from, to) in paths {
        writeln!(text, "{SOURCE}from = \"{from}\"\nto = \"{to}\"").unwrap();
    }
    text
}

/// The nodes that the sources of a plan pass.
fn passed(plan: &Plan) -> Vec<String> {
    let network = plan.network.as_ref().unwrap();
    let path = |source: &crate::model::Source| {
        let first = network.ends(source.path()[0])[0];
        let rest = source.path().iter().map(|hop| network.ends(*hop)[1]);
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ")
    };
    plan.sources.iter().map(path).collect()
}

/// Every path from one node to another that passes none twice: its delay, its links, its nodes.
fn all_paths(
    network: &Network,
    so_far: (u64, Vec<NodeId>),
    to: NodeId,
) -> Vec<(u64, usize, Vec<String>)> {
    let (delay, nodes) = so_far;
    let last = *nodes.last().unwrap();
    if last == to {
        let names = nodes.iter().map(|node| network.nodes[node.index()].name.clone());
        return vec![(delay, nodes.len(), names.collect())];
    }
    let leads_on = |hop: &crate::model::Hop| {
        let [from, next] = network.between(*hop);
        from == last && !nodes.contains(&next)
    };
    let further = |hop: crate::model::Hop| {
        let delay = delay + network.links[hop.link.index()].delay.0;
        let nodes = [&nodes[..], &network.between(hop)[1..]].concat();
        all_paths(network, (delay, nodes), to)
    };
    network.hops().filter(leads_on).flat_map(further).collect()
}

proptest! {
    #[test]
    fn no_path_is_shorter(
        joined in prop::collection::btree_map((0usize..7, 0usize..7), 0u64..4, 4..18),
        paths in prop::collection::vec((0usize..7, 0usize..7), 1..6),
    ) {
        const NAMES: [&str; 7] = ["d", "b", "g", "a", "f", "c", "e"];
        let links: Vec<_> = joined.iter().filter(|((from, to), _)| from < to).collect();
        let links: Vec<_> = links.iter().map(|((a, b), delay)| (NAMES[*a], NAMES[*b], **delay)).collect();
        let named = |node: &str| links.iter().any(|(a, b, _)| *a == node || *b == node);
        let mut ends: Vec<_> = paths.iter().map(|(from, to)| (NAMES[*from], NAMES[*to])).collect();
        ends.retain(|(from, to)| from != to && named(from) && named(to));
        prop_assume!(!links.is_empty() && !ends.is_empty());
        let network = parse(&plan(&links, &[])).unwrap().network.unwrap();
        let least = |(from, to): &(&str, &str)| {
            let named = network.nodes.iter().map(|node| node.name.as_str());
            let [from, to] = [from, to].map(|name| named.clone().position(|node| node == *name));
            let (from, to) = (NodeId::from_index(from.unwrap()), NodeId::from_index(to.unwrap()));
            all_paths(&network, (0, vec![from]), to).into_iter().min()
        };
        let expected: Option<Vec<_>> = ends.iter().map(|ends| Some(least(ends)?.2.join(" "))).collect();
        match (parse(&plan(&links, &ends)), expected) {
            (Ok(plan), Some(expected)) => prop_assert_eq!(passed(&plan), expected),
            (Err(error), None) => prop_assert!(error.message().starts_with("no links lead from")),
            (read, expected) => prop_assert!(false, "{read:?}, not {expected:?}"),
        }
    }
}

#[test]
fn delay_then_links_then_names() {
    let square = [("s", "a", 5), ("a", "t", 5), ("s", "b", 5), ("b", "t", 5)];
    let path =
        |more: &[_]| passed(&parse(&plan(&[&square, more].concat(), &[("s", "t")])).unwrap());
    assert_eq!(path(&[]), ["s a t"]);
    assert_eq!(path(&[("s", "0", 5), ("0", "t", 5)]), ["s 0 t"]);
    assert_eq!(path(&[("s", "t", 10)]), ["s t"]);
    assert_eq!(path(&[("s", "t", 11)]), ["s a t"]);
    assert_eq!(path(&[("b", "c", 2), ("c", "t", 2)]), ["s b c t"]);
}

#[test]
fn a_path_is_held_once() {
    let plan = parse(&plan(&[("a", "b", 1)], &[("a", "b"), ("b", "a"), ("a", "b")])).unwrap();
    let [one, back, again] = [0, 1, 2].map(|source| plan.sources[source].path());
    assert!(std::sync::Arc::ptr_eq(one, again));
    assert_eq!(back[0], one[0].reversed());
}

#[test]
fn what_no_path_is() {
    let links = [("a", "b", 1), ("b", "c", 1), ("d", "e", 1)];
    let wrong = |paths: &[_], old: &str, new: &str| {
        let error = parse(&plan(&links, paths).replacen(old, new, 1)).unwrap_err();
        let at = error.text()[error.span().unwrap()].to_string();
        (error.message().to_string(), error.help().unwrap_or_default().to_string(), at)
    };
    let said = |message: &str, help: &str, at: &str| (message.into(), help.into(), at.into());
    let from_to = "from = \"a\"\nto = \"c\"\n";
    assert_eq!(
        wrong(&[("a", "c"), ("a", "e")], "", ""),
        said("no links lead from `a` to `e`", "from `a` they lead to `b`, `c`", "\"e\"")
    );
    assert_eq!(wrong(&[("a", "a")], "", "").0, "a path from a node to itself");
    assert_eq!(wrong(&[("a", "x")], "", "").0, "no link joins a node `x`");
    assert_eq!(wrong(&[("a", "c")], "from = \"a\"\n", "").0, "`from` is missing");
    assert_eq!(
        wrong(&[("a", "c")], "path = \"shortest\"\n", ""),
        said("`from` without `path`", "write `path = \"shortest\"` beside it", "\"a\"")
    );
    assert_eq!(
        wrong(&[("a", "c")], "\"shortest\"", "[\"a\", \"b\"]"),
        said(
            "`from` beside the nodes of a path",
            "leave it out, or write `path = \"shortest\"`",
            "\"a\""
        )
    );
    let laps = format!("{from_to}laps = 2");
    assert_eq!(
        wrong(&[("a", "c")], from_to, &laps).0,
        "`laps` of a path that does not end where it begins"
    );
    let longest = wrong(&[("a", "c")], "\"shortest\"", "\"longest\"");
    assert!(longest.1.contains("shortest"), "{longest:?}");
    let chain: Vec<_> = (0..1001).map(|at| (at.to_string(), (at + 1).to_string())).collect();
    let links: Vec<_> = chain.iter().map(|(from, to)| (&from[..], &to[..], 0)).collect();
    assert!(parse(&plan(&links, &[("1", "1001")])).is_ok());
    let error = parse(&plan(&links, &[("0", "1001")])).unwrap_err();
    assert_eq!(error.message(), "the shortest path from `0` to `1001` has 1001 links");
}
