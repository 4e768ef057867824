//! Networks and circuits of LibreQoS.

use std::time::{Duration, Instant};

use laxity_plan::model::SchedulerSpec;
use proptest::prelude::*;

use super::*;

const NETWORK: &str = r#"{
  "North": { "downloadBandwidthMbps": 100, "uploadBandwidthMbps": 50, "type": "Site", "children": {
    "Mast 1": { "downloadBandwidthMbps": 40, "uploadBandwidthMbps": 20, "type": "AP" },
    "Mast 2": { "downloadBandwidthMbps": 8, "uploadBandwidthMbps": 4, "type": "AP" } } },
  "South": { "downloadBandwidthMbps": 60.5, "uploadBandwidthMbps": 30 }
}"#;

const DEVICES: &str = "\
# circuits of the village
Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment,sqm
1,\"1 Main St., North\",1,router,Mast 1,,\"100.64.0.1, 100.64.0.2\",fd00:1::/56,5,2,50,10,,
1,\"1 Main St., North\",2,phone,Mast 1,,100.64.0.3,,5,2,50,10,,
2,Mill,3,router,Mast 2,,100.64.1.0/28,,6,1,20,5,no, commas please,cake
3,Farm,4,router,Mast 2,,100.64.1.16/28,,10,0.5,20.5,5,,none
4,Harbour,5,router,South,,100.64.2.1,,1,1,2,2,,/none
5,Office,6,router,,,100.64.3.1,,20,20,100,50,,
";

fn imported() -> Import {
    import(NETWORK, DEVICES, LinkRates::default()).unwrap()
}

fn errors(devices: &str) -> Vec<String> {
    let (file, errors) = import(NETWORK, devices, LinkRates::default()).unwrap_err();
    assert_eq!(file, File::Devices);
    errors.iter().map(Error::to_string).collect()
}

fn circuit<'a>(imported: &'a Import, id: &str) -> &'a CircuitGrant {
    imported.circuits.iter().find(|circuit| circuit.id == id).unwrap()
}

#[test]
fn circuits_are_leaves_below_their_nodes() {
    let imported = imported();
    for text in [&imported.down, &imported.up] {
        let plan = Plan::parse(text, "plan", Path::new("")).unwrap();
        assert!(matches!(plan.scheduler, SchedulerSpec::Hfsc));
        let class = |name: &str| plan.classes.iter().position(|class| class.name == name).unwrap();
        let parent = |name: &str| {
            plan.classes[class(name)].parent.map(|id| plan.classes[id.index()].name.as_str())
        };
        assert_eq!(parent("1"), Some("Mast 1"));
        assert_eq!(parent("Mast 1"), Some("North"));
        assert_eq!(parent("5"), None);
    }
    assert!(imported.down.contains("rate = \"160.5mbit\""), "{}", imported.down);
    assert!(
        imported.down.contains("daddr {100.64.0.1, 100.64.0.2, 100.64.0.3} or daddr {fd00:1::/56}")
    );
    assert!(
        imported.up.contains("saddr {100.64.0.1, 100.64.0.2, 100.64.0.3} or saddr {fd00:1::/56}")
    );
}

#[test]
fn where_too_much_is_guaranteed_all_get_the_same_part_and_the_node_is_named() {
    let imported = imported();
    // 6 and 10 Mbit/s below a mast of 8: half of each.
    assert_eq!(circuit(&imported, "2").down.guaranteed_bps, 3_000_000);
    assert_eq!(circuit(&imported, "3").down.guaranteed_bps, 5_000_000);
    assert_eq!(circuit(&imported, "1").down.guaranteed_bps, 5_000_000);
    assert_eq!(circuit(&imported, "3").up.guaranteed_bps, 500_000);
    // Nobody gets more than the mast has.
    assert_eq!(circuit(&imported, "2").down.maximum_bps, 8_000_000);
    let note = "node Mast 2 is oversubscribed down: 16mbit are to be guaranteed below it, and it has 8mbit";
    assert!(imported.notes.iter().any(|text| text.starts_with(note)), "{:?}", imported.notes);
    let node = imported.nodes.iter().find(|node| node.name == "Mast 2").unwrap();
    assert!(node.down.is_oversubscribed && !node.up.is_oversubscribed);
}

#[test]
fn a_direction_without_a_queue_drops_at_its_end() {
    let Import { down, up, .. } = imported();
    let droptail = |text: &str| text.matches("droptail").count();
    assert_eq!((droptail(&down), droptail(&up)), (1, 2));
}

#[test]
fn every_error_has_its_line_and_column() {
    let wrong = DEVICES
        .replace("router,Mast 1,", "router,Mast 9,")
        .replace("100.64.1.16/28,,10,", "100.64.1.999,,fast,")
        .replace("1,1,2,2,,/none", "3,1,2,2,,/none");
    let errors = errors(&wrong);
    let begins = [
        "3:5: Parent Node: `Mast 9` is no node",
        "6:9: Download Min Mbps: `fast`",
        "6:7: IPv4: `100.64.1.999`",
        "7:11: Download Max Mbps: 2mbit is below the minimum of 3mbit",
    ];
    assert_eq!(errors.len(), begins.len(), "{errors:?}");
    for (error, begin) in errors.iter().zip(begins) {
        assert!(error.starts_with(begin), "{error} does not begin with {begin}");
    }
}

#[test]
fn an_address_belongs_to_one_circuit_and_a_circuit_has_one_rate() {
    let twice = errors(&DEVICES.replace("100.64.2.1", "100.64.0.3"));
    assert!(
        twice[0].starts_with("7:7: IPv4: `100.64.0.3` is also an address of circuit `1` in line 3"),
        "{twice:?}"
    );
    let differing = errors(&DEVICES.replace("100.64.0.3,,5,", "100.64.0.3,,4,"));
    assert!(differing[0].starts_with("4:9: Download Min Mbps: differs"), "{differing:?}");
    let missing = errors(&DEVICES.replace("Parent Node", "Parent"));
    assert!(missing[0].starts_with("1: column `Parent Node` is missing"), "{missing:?}");
}

#[test]
fn a_network_is_refused_at_the_node_that_is_wrong() {
    for (from, to, begin) in [
        (
            "\"downloadBandwidthMbps\": 8",
            "\"downloadBandwidthMbps\": -8",
            "North.Mast 2: `downloadBandwidthMbps`",
        ),
        ("\"Mast 2\"", "\"South\"", ""),
        (
            "{ \"downloadBandwidthMbps\": 60.5, \"uploadBandwidthMbps\": 30 }",
            "7",
            "South: a node is",
        ),
        ("\"type\"", "type", "2:"),
    ] {
        let (file, errors) =
            import(&NETWORK.replace(from, to), DEVICES, LinkRates::default()).unwrap_err();
        assert_eq!(file, File::Network);
        assert!(errors[0].to_string().starts_with(begin), "{errors:?}");
    }
}

/// Twenty sites with twenty nodes each, and a circuit of 10 Mbit/s at each in turn.
#[test]
fn ten_thousand_circuits_are_read_in_seconds() {
    let node = |name: String, rate: u64, below: String| {
        format!(
            "\"{name}\": {{\"downloadBandwidthMbps\": {rate}, \"uploadBandwidthMbps\": {rate}{below}}}"
        )
    };
    let site = |site: u64| {
        let masts = (0..20).map(|mast| node(format!("{site}-{mast}"), 400, String::new()));
        let masts = masts.collect::<Vec<_>>().join(",");
        node(format!("site {site}"), 5000, format!(", \"children\": {{{masts}}}"))
    };
    let network = format!("{{{}}}", (0..20).map(site).collect::<Vec<_>>().join(","));
    let mut devices = DEVICES.lines().nth(1).unwrap().to_owned();
    for number in 0..10_000 {
        let (site, mast) = (number / 20 % 20, number % 20);
        let address = format!("100.64.{}.{}", number / 256, number % 256);
        devices += &format!("\nC{number},House,{number},,{site}-{mast},,{address},,10,5,100,50,,");
    }
    let start = Instant::now();
    let imported = import(&network, &devices, LinkRates::default()).unwrap();
    println!("10 000 circuits: {} ms", start.elapsed().as_millis());
    assert_eq!(imported.circuits.len(), 10_000);
    assert!(imported.circuits.iter().all(|circuit| circuit.down.guaranteed_bps == 10_000_000));
    assert!(start.elapsed() < Duration::from_secs(20));
}

proptest! {
    /// Guarantees never exceed what a node or the link has, and nobody gets more than the minimum.
    #[test]
    fn guarantees_fit_everywhere(
        rates in prop::collection::vec(1u64..1000, 1..12),
        parents in prop::collection::vec(any::<prop::sample::Index>(), 12),
        minima in prop::collection::vec((1u64..500, any::<prop::sample::Index>()), 1..30),
        link in 1u64..2000,
    ) {
        let nodes: Vec<Node> = rates.iter().enumerate().map(|(at, rate)| Node {
            name: at.to_string(),
            parent: (at > 0).then(|| parents[at].index(at + 1)).filter(|parent| *parent < at),
            rate: [Rate(*rate); 2],
        }).collect();
        let circuits: Vec<Circuit> = minima
            .iter()
            .map(|(minimum, node)| {
                let node = Some(node.index(nodes.len() + 1)).filter(|node| *node < nodes.len());
                Circuit::with_rates(node, Rate(*minimum))
            })
            .collect();
        let granted = grants(&nodes, &circuits, Rate(link), 0);
        let mut below = vec![0u64; nodes.len()];
        let mut whole = 0;
        for (circuit, grant) in circuits.iter().zip(&granted.circuits) {
            prop_assert!(*grant <= circuit.minimum[0].0);
            whole += grant;
            let mut node = circuit.node;
            while let Some(at) = node {
                below[at] += grant;
                node = nodes[at].parent;
            }
        }
        prop_assert!(whole <= link);
        for (node, sum) in nodes.iter().zip(below) {
            prop_assert!(sum <= node.rate[0].0);
        }
    }

    #[test]
    fn any_files_are_read_or_refused(
        network in "[{}\\[\\]\":,a-c0-9.]{0,40}", devices in "[A-Za-z0-9,\"\\n.#/ -]{0,80}",
    ) {
        let _ = import(&network, DEVICES, LinkRates::default());
        let header = DEVICES.lines().nth(1).unwrap();
        let _ = import(NETWORK, &format!("{header}\n{devices}"), LinkRates::default());
    }
}
