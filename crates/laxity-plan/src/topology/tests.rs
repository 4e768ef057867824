//! What is read, refused and drawn.

use std::collections::BTreeMap;

use super::*;

const ZOO: &str = include_str!("tests/zoo.graphml");

/// The links by name, with rate and delay as they are written.
fn shown(topology: &Topology) -> Vec<(String, Option<u64>, Option<u64>)> {
    let link = |link: &TopologyLink| {
        (topology.name(link), link.rate.map(|rate| rate.0), link.delay.map(|delay| delay.0))
    };
    topology.links.iter().map(link).collect()
}

#[test]
fn graphml_of_the_zoo() {
    let topology = Topology::parse(ZOO).unwrap();
    assert_eq!(topology.nodes, ["Vienna", "Prague", "Internet 2", "Internet 3", "4"]);
    assert_eq!(
        shown(&topology),
        [
            // The one of the two that takes less time.
            ("Vienna--Prague".into(), Some(2_500_000_000), Some(1_000_000)),
            ("Prague--Internet 2".into(), None, None),
            ("Internet 2--Internet 3".into(), None, Some(3_000_000)),
            ("Internet 3--4".into(), Some(155_000_000), None),
        ]
    );
    let one = Topology::parse(&ZOO.replace("<data key=\"d37\">1ms</data>", "")).unwrap();
    let (_, rate, delay) = shown(&one)[0];
    assert_eq!(rate, Some(10_000_000_000));
    // About 252 km.
    assert!((1_250_000..1_280_000).contains(&delay.unwrap()), "{delay:?}");
}

#[test]
fn graphml_that_is_none() {
    let wrong = |old: &str, new: &str| {
        assert!(ZOO.contains(old), "{old}");
        Topology::parse(&ZOO.replacen(old, new, 1)).unwrap_err().to_string()
    };
    assert_eq!(wrong("target=\"4\"", "target=\"5\""), "line 41: no node is its `target`");
    assert_eq!(
        wrong("155000000.0", "-1"),
        format!("line 41: `LinkSpeedRaw` is `-1`, not 1 to {} bits a second", Rate::LIMIT.0)
    );
    assert_eq!(wrong("48.20849", "north"), "line 11: `north` is no Latitude");
    assert_eq!(wrong("48.20849", "98"), "line 11: no place on Earth is there");
    assert_eq!(wrong(">Prague<", ">4<"), "line 27: another node is called `4`");
    assert_eq!(
        wrong(
            "<node id=\"4\" />",
            "<node id=\"4\" /><node id=\"5\"><data key=\"d33\">4</data></node>"
        ),
        "line 27: another node is called `4`"
    );
    assert_eq!(
        wrong("<node id=\"4\" />", "<node id=\"4\" /><node id=\"4\" />"),
        "line 27: another node has the `id` `4`"
    );
    assert_eq!(
        wrong("<edge source=\"1\" target=\"2\" />", "<hyperedge/>"),
        "line 36: a link of more than two nodes"
    );
    assert_eq!(
        wrong("<graph ", "<other "),
        "line 44: this is no XML that is read here: expected 'other' tag, not 'graph' at 44:3"
    );
    assert!(wrong("3ms", "3").starts_with("line 37: `3` has no unit"));
    assert_eq!(
        wrong("<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<!DOCTYPE a [<!ENTITY b \"c\">]>")
            .split(':')
            .nth(1),
        Some(" this is no XML that is read here")
    );
    assert_eq!(
        Topology::parse("<a/>").unwrap_err().to_string(),
        "line 1: this is no GraphML with a graph"
    );
    let deep = "<graphml>".repeat(200_000);
    assert!(Topology::parse(&deep).is_err());
}

#[test]
fn csv_with_and_without_rates() {
    let topology = Topology::parse("to,from,delay,rate\nb,a,1ms,10gbit\n\"c, d\",b,,\n").unwrap();
    assert_eq!(topology.nodes, ["a", "b", "c, d"]);
    assert_eq!(
        shown(&topology),
        [("a--b".into(), Some(10_000_000_000), Some(1_000_000)), ("b--c, d".into(), None, None)]
    );
    assert_eq!(
        shown(&Topology::parse("\u{feff}from,to\na,b\n").unwrap()),
        [("a--b".into(), None, None)]
    );
    let wrong = |text: &str| Topology::parse(text).unwrap_err().to_string();
    let columns = "a topology is GraphML, or CSV with the columns from, to, rate, delay";
    assert_eq!(wrong("from,too\na,b\n"), format!("line 1: no column is called `too`: {columns}"));
    assert_eq!(wrong("from,from\n"), format!("line 1: no column is called `from`: {columns}"));
    assert_eq!(wrong("from\na\n"), format!("line 1: `from` or `to` is missing: {columns}"));
    assert_eq!(wrong(""), format!("line 1: `from` or `to` is missing: {columns}"));
    assert_eq!(wrong("from,to\n"), "line 1: there are no links");
    assert_eq!(wrong("from,to\na,b\nb,a\n"), "line 3: a second link between `b` and `a`");
    assert_eq!(wrong("from,to\na,a\n"), "line 2: a link from `a` to itself");
    assert_eq!(wrong("from,to\na,b,c\n"), "line 2: 3 fields, where the header has 2");
    assert_eq!(
        wrong("from,to\na,\n"),
        "line 2: `` cannot be the name of a node: it has 1 to 64 printable characters"
    );
    assert!(wrong("from,to,rate\na,b,5\n").starts_with("line 2: `5` has no unit"));
    let long = format!("from,to,rate\na,b,{}\n", "9".repeat(100));
    assert_eq!(wrong(&long), "line 2: this text is too long for a number and its unit");
}

#[test]
fn a_dumbbell() {
    let fast = (Some(Rate(1_000_000_000)), None);
    let topology = Dumbbell { hosts: 2, middle: (None, Some(Nanos(7))), access: fast }.draw();
    let access = |name: &str| (name.to_string(), Some(1_000_000_000), None);
    assert_eq!(
        shown(&topology),
        [
            ("left--right".into(), None, Some(7)),
            access("left-1--left"),
            access("left-2--left"),
            access("right--right-1"),
            access("right--right-2"),
        ]
    );
}

/// Every switch has as many ports, and k³/4 hosts hang below (Al-Fares et al. 2008, section 3.1).
#[test]
fn a_fat_tree() {
    for k in [2, 4, 6, 8] {
        let topology = FatTree { k, rate: None, delay: None }.draw();
        let mut ports: BTreeMap<&str, u32> = BTreeMap::new();
        for node in topology.links.iter().flat_map(|link| link.between) {
            *ports.entry(&topology.nodes[node as usize]).or_default() += 1;
        }
        let count =
            |layer: &str| ports.keys().filter(|name| name.starts_with(layer)).count() as u32;
        assert_eq!(
            ["host", "edge", "agg", "core"].map(count),
            [k * k * k / 4, k * k / 2, k * k / 2, k * k / 4]
        );
        assert!(
            ports
                .iter()
                .all(|(name, ports)| *ports == if name.starts_with("host") { 1 } else { k })
        );
        assert_eq!(topology.links.len() as u32, 3 * k * k * k / 4);
        // A core switch leads to every pod.
        let core = topology.positions["core-1-1"];
        let pods = topology.links.iter().filter(|link| link.between[1] == core);
        let pods: Vec<_> =
            pods.map(|link| topology.nodes[link.between[0] as usize].clone()).collect();
        assert_eq!(pods, (1..=k).map(|pod| format!("agg-{pod}-1")).collect::<Vec<_>>());
    }
}
