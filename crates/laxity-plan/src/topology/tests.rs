//! What is read, refused and drawn.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const ZOO: &str = include_str!("tests/zoo.graphml");
const ZOO_AS_GML: &str = include_str!("tests/zoo.gml");
const ABILENE: &str = include_str!("tests/abilene.txt");
const ABILENE_AS_XML: &str = include_str!("tests/abilene.xml");

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
    assert_eq!(
        wrong("target=\"4\"", "target=\"5\""),
        "line 41: no node has the `id` `5`, the `target`"
    );
    assert_eq!(
        wrong("<edge source=\"3\" target=\"4\"", "<edge id=\"e9\" source=\"x\" target=\"4\""),
        "line 41: no node has the `id` `x`, the `source` of the edge `e9`"
    );
    assert_eq!(
        wrong("<edge source=\"3\" target=\"4\"", "<edge id=\"e9\" source=\"3\""),
        "line 41: there is no `target` of the edge `e9`"
    );
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

/// A label that is too long for a name, or has a line's end in it, leaves the node its `id`.
#[test]
fn labels_that_are_no_names() {
    for label in ["x".repeat(65), "north\nsouth".into()] {
        let topology =
            Topology::parse(&ZOO.replacen(">Prague<", &format!(">{label}<"), 1)).unwrap();
        assert_eq!(topology.nodes, ["Vienna", "1", "Internet 2", "Internet 3", "4"]);
        // Nor is it one with the `id` behind it.
        let twice = ZOO.replace(">Internet<", &format!(">{label}<"));
        let topology = Topology::parse(&twice).unwrap();
        assert_eq!(topology.nodes, ["Vienna", "Prague", "2", "3", "4"]);
    }
    let just = "x".repeat(64);
    let topology = Topology::parse(&ZOO.replacen(">Prague<", &format!(">{just}<"), 1)).unwrap();
    assert_eq!(topology.nodes[1], just);
    let id = "y".repeat(65);
    let long = ZOO.replacen("<node id=\"4\" />", &format!("<node id=\"{id}\" />"), 1);
    assert!(Topology::parse(&long).unwrap_err().message.contains("cannot be the name of a node"));
}

/// What a file of GraphML says, written as GML says it.
#[test]
fn gml_is_graphml_in_other_words() {
    let topology = Topology::parse(ZOO_AS_GML).unwrap();
    let mut expected = Topology::parse(ZOO).unwrap();
    assert_eq!(shown(&topology), shown(&expected));
    for (old, new, names) in [
        ("\"Prague\"", "\"Praha &amp; &#268;esk&#xE1; &what; R&D\"", "Praha & Česká &what; R&D"),
        ("\"Prague\"", "\"]\"", "]"),
        (
            "Latitude 50.08804",
            "LATITUDE 50.08804 graphics [ x 1 center [ y 2 ] label \"no\" ]",
            "Prague",
        ),
    ] {
        let changed = Topology::parse(&ZOO_AS_GML.replacen(old, new, 1)).unwrap();
        assert_eq!(changed.nodes[1], names);
        expected.nodes[1] = names.into();
        assert_eq!(shown(&changed), shown(&expected));
    }
    let graph = &ZOO_AS_GML[ZOO_AS_GML.find("graph [").unwrap()..];
    assert_eq!(Topology::parse(graph).unwrap().links, topology.links);
}

#[test]
fn gml_that_is_none() {
    let wrong = |old: &str, new: &str| {
        assert!(ZOO_AS_GML.contains(old), "{old}");
        Topology::parse(&ZOO_AS_GML.replacen(old, new, 1)).unwrap_err().to_string()
    };
    assert_eq!(
        wrong("target 4", "target 5"),
        "line 39: no node has the `id` `5`, the `target` of the edge `e6`"
    );
    assert_eq!(wrong("id 4", "name 4"), "line 27: a node without `id`");
    assert_eq!(wrong("Latitude 50.08804", "Latitude north"), "line 12: `north` is no Latitude");
    assert_eq!(
        Topology::parse("graph [\nnode [ id \"0 ] ]").unwrap_err().to_string(),
        "line 2: a text without its second quote"
    );
    assert_eq!(wrong("\"Prague\"", "]"), "line 15: `label` has no value");
    assert_eq!(wrong("\"Prague\"", "\"a\" \"b\""), "line 15: a key is expected here");
    assert!(wrong("155000000.0", "-1").starts_with("line 39: `LinkSpeedRaw` is `-1`"));
    let open = ZOO_AS_GML.trim_end().strip_suffix(']').unwrap();
    assert_eq!(
        Topology::parse(open).unwrap_err().to_string(),
        "line 39: the list `graph` does not end"
    );
    let deep = format!("graph {}", "[ a ".repeat(1_000_000));
    assert_eq!(
        Topology::parse(&deep).unwrap_err().to_string(),
        "line 1: more than 64 lists within one another"
    );
    assert_eq!(Topology::parse("graph [ ]").unwrap_err().to_string(), "line 1: there are no links");
}

#[test]
fn networks_of_sndlib_in_both_formats() {
    let native = Topology::parse(ABILENE).unwrap();
    assert_eq!(native.nodes, ["ATLAM5", "ATLAng", "CHINng"]);
    let links = shown(&native);
    assert_eq!(
        links.iter().map(|link| &*link.0).collect::<Vec<_>>(),
        ["ATLAM5--ATLAng", "ATLAng--CHINng"]
    );
    // Both are in Atlanta; Chicago is about 950 km from there.
    let delays: Vec<u64> = links.iter().map(|link| link.2.unwrap()).collect();
    assert!(delays[0] < 20_000 && (4_500_000..5_000_000).contains(&delays[1]), "{delays:?}");
    let xml = Topology::parse(ABILENE_AS_XML).unwrap();
    assert_eq!(xml, native);
    for on_a_picture in [
        Topology::parse(&ABILENE_AS_XML.replacen("geographical", "pixel", 1)),
        Topology::parse(&ABILENE_AS_XML.replacen("33.75", "233.75", 1)),
        Topology::parse(&ABILENE.replacen("33.75", "233.75", 1)),
    ] {
        assert!(on_a_picture.unwrap().links.iter().all(|link| link.delay.is_none()));
    }
    let no_place = Topology::parse(&ABILENE.replacen(" ( -84.38 33.75 )", "", 1)).unwrap();
    assert_eq!(no_place.links.iter().filter(|link| link.delay.is_none()).count(), 1);

    let wrong = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        Topology::parse(&text.replacen(old, new, 1)).unwrap_err().to_string()
    };
    let missing = "no node has the `id` `X`, the `target` of the edge `ATLAng_CHINng`";
    assert_eq!(wrong(ABILENE, "ATLAng CHINng )", "ATLAng X )"), format!("line 15: {missing}"));
    let old = "<target>CHINng</target>";
    assert_eq!(wrong(ABILENE_AS_XML, old, "<target>X</target>"), format!("line 14: {missing}"));
    assert_eq!(
        wrong(ABILENE, "( ATLAng CHINng )", "ATLAng CHINng"),
        "line 15: `ATLAng_CHINng ATLAng CHINng 0.00 0.00 0.00 0.00 ( )` is no link: `NAME ( SOURCE TARGET )`, and capacities"
    );
    assert!(
        wrong(ABILENE_AS_XML, "<networkStructure>", "").contains("this is no XML that is read")
    );
    let bare = Topology::parse("<network><networkStructure><nodes/></networkStructure></network>");
    assert_eq!(
        bare.unwrap_err().to_string(),
        "line 1: this `network` has no `networkStructure` with `nodes` and `links`"
    );
}

proptest! {
    /// Whatever is cut out of a file or put into it, a network comes of it or an error with a line
    /// of the file.
    #[test]
    fn damaged_files_are_read_or_refused(
        file in prop::sample::select(&[ZOO, ZOO_AS_GML, ABILENE, ABILENE_AS_XML][..]),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize), 0..4),
        put in "[\\[\\]\"#&;( )a-z0-9\n]{0,20}", at in any::<prop::sample::Index>(),
    ) {
        let mut text = file.to_string();
        let boundary = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        for (at, length) in cuts {
            let from = boundary(&text, at.index(text.len() + 1));
            let to = boundary(&text, (from + length).min(text.len()));
            text.replace_range(from..to.max(from), "");
        }
        let at = boundary(&text, at.index(text.len() + 1));
        text.insert_str(at, &put);
        match Topology::parse(&text) {
            Ok(topology) => {
                for link in &topology.links {
                    let [from, to] = link.between.map(|node| &topology.nodes[node as usize]);
                    prop_assert!(from != to);
                }
            }
            Err(error) => prop_assert!((1..=text.lines().count().max(1)).contains(&error.line), "{}", error),
        }
    }
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
    let columns = "a topology is GraphML, GML, a network of SNDlib, or CSV with the columns from, to, rate, delay";
    assert_eq!(wrong("from,too\na,b\n"), format!("line 1: no column is called `too`: {columns}"));
    assert_eq!(wrong("from,from\n"), format!("line 1: two columns are called `from`: {columns}"));
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
    let fast = Wire { rate: Some(Rate(1_000_000_000)), delay: None };
    let topology = dumbbell(2, Wire { rate: None, delay: Some(Nanos(7)) }, fast);
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
        let topology = fat_tree(k, Wire::default());
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
