//! `laxity check --explain`: what bounds are made of.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

fn example(name: &str) -> Folder {
    Folder::with_plan(&std::fs::read_to_string(repository(&format!("examples/{name}"))).unwrap())
}

/// A packet of 1500 bytes takes 12 ms at 1 Mbit/s, and one of 200 bytes 1.6 ms.
#[test]
fn the_bound_of_a_call_is_a_long_packet_and_its_own() {
    let folder = example("why/long-packet.toml");
    let asked = ["check", "plan.toml", "--explain", "call", "--json"];
    let answer: Value = serde_json::from_str(&folder.laxity(&asked).printed(0)).unwrap();
    let [bound] = &answer["explained"].as_array().unwrap()[..] else { panic!("{answer}") };
    let terms = bound["terms"].as_array().unwrap();
    let blocking = terms.iter().find(|term| term["term"] == "blocking").unwrap();
    assert_eq!([&blocking["of"], &blocking["bytes"]], [&Value::from("upload"), &1_500.into()]);
    assert_eq!(blocking["time_ns"], 12_000_000);
    assert!((11_000_000..12_000_000).contains(&blocking["used_ns"].as_u64().unwrap()));
    let times = terms.iter().map(|term| term["time_ns"].as_i64().unwrap());
    assert_eq!(times.sum::<i64>(), bound["bound_ns"].as_i64().unwrap());
    let printed = folder.laxity(&asked[..4]).printed(0).replace('\u{a0}', " ");
    let head = "Bound of call: 13.6 ms; the slowest of 500 packets took 13.59 ms";
    assert!(printed.contains(head), "{printed}");
    assert!(printed.contains("a packet of upload is in the way"), "{printed}");
}

#[test]
fn a_path_is_told_hop_by_hop() {
    let folder = example("why/regulator.toml");
    let asked = ["check", "plan.toml", "--explain", "sensor", "--duration", "1s"];
    let printed = folder.laxity(&asked).printed(0).replace('\u{a0}', " ");
    assert!(printed.contains("Bound of sensor over site → edge → cloud: 14.8 ms by hops added"));
    assert!(printed.contains("site → edge   packets of bulk before it"), "{printed}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = example("why/long-packet.toml");
    refused(&folder, &["check", "plan.toml", "--explain", "calls"], &["`calls`", "`call`"]);
    refused(&folder, &["check", "plan.toml", "--duration", "1s"], &["--explain"]);
}
