//! Packets that still wait when a run ends: every packet that arrived has its row.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

use crate::folder::Folder;
use crate::kinds;

const SEEDS: u64 = 12;

/// The rows of packets.csv by the values of these columns, counted by verdict.
fn rows(csv: &str, columns: &[&str]) -> BTreeMap<Vec<String>, BTreeMap<String, u64>> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut counts: BTreeMap<_, BTreeMap<_, u64>> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let verdict = fields[at("verdict")];
        let times = [fields[at("start_ns")], fields[at("departure_ns")]];
        assert!(times.iter().all(|time| time.is_empty() != (verdict == "sent")), "{line}");
        let key = columns.iter().map(|column| fields[at(column)].to_string()).collect();
        *counts.entry(key).or_default().entry(verdict.to_string()).or_default() += 1;
    }
    counts
}

/// The rows of a class are those that its summary counts, and all of what arrived.
fn hold(counts: &BTreeMap<String, u64>, class: &Value) {
    let number = |field: &str| class[field].as_u64().unwrap_or(0);
    let of = |verdict: &str| counts.get(verdict).copied().unwrap_or(0);
    assert_eq!((of("sent"), of("queued")), (number("sent"), number("queued")), "{class}");
    let dropped = class["dropped"].as_object().unwrap();
    for (reason, count) in dropped {
        assert_eq!(Some(of(reason)), count.as_u64(), "{class}");
    }
    assert_eq!(counts.values().sum::<u64>(), number("arrived"), "{class}");
}

/// The run of a link lasts until all that arrived has left, however slowly.
#[test]
fn on_a_link() {
    for seed in 0..SEEDS {
        let mut draw = Pcg64::seed_from_u64(seed);
        let mut plan = "version = 1\nlink = { rate = \"8mbit\", max-packet = \"1500b\" }\n\
                        scheduler = { kind = \"hfsc\" }\n"
            .to_string();
        for class in 0..draw.random_range(2..5) {
            let (rate, limit) = (draw.random_range(1..4), draw.random_range(1..400));
            let limit = if draw.random_bool(0.5) {
                format!("upper-limit = \"{limit}kbit\"")
            } else {
                "queue = { kind = \"droptail\", limit = 5 }".to_string()
            };
            plan += &format!("[class.c{class}]\nlink-share = \"{rate}mbit\"\n{limit}\n");
            plan += &format!(
                "[[source]]\nclass = \"c{class}\"\nmodel = \"{}\"\n",
                ["poisson\"\nrate = \"3mbit", "backlogged"][draw.random_range(0..2)]
            );
            plan += "packet = { uniform = [\"100b\", \"1500b\"] }\n";
        }
        let folder = Folder::with_plan(&plan);
        for scheduler in kinds() {
            let run = ["run", "plan.toml", "--json", "--duration", "1s", "--out", "out"];
            let ended = folder.laxity(&[&run[..], &["--scheduler", scheduler]].concat());
            assert!(matches!(ended.code, Some(0 | 1)), "{}\n{plan}", ended.stderr);
            let text = folder.text("out/packets.csv");
            let counts = rows(&text, &["class"]);
            for class in folder.json("out/summary.json")["classes"].as_array().unwrap() {
                let name = vec![class["name"].as_str().unwrap().to_string()];
                hold(&counts.get(&name).cloned().unwrap_or_default(), class);
                assert_eq!(class.get("queued"), None);
            }
            let number = |line: &str| line.split(',').next().unwrap().parse::<u64>().unwrap();
            let mut numbers: Vec<u64> = text.lines().skip(1).map(number).collect();
            numbers.sort_unstable();
            assert!(numbers.iter().enumerate().all(|(at, number)| at as u64 == *number));
        }
    }
}

#[test]
fn in_a_network() {
    let mut queued = 0;
    for seed in 0..SEEDS {
        let mut draw = Pcg64::seed_from_u64(seed);
        let mut plan = "version = 1\nlink = { rate = \"5mbit\", max-packet = \"1500b\" }\n\
                        scheduler = { kind = \"fifo\" }\n"
            .to_string();
        for (from, to) in [("a", "b"), ("b", "c")] {
            let rate = draw.random_range(2..9);
            plan += &format!(
                "[network.{from}{to}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}mbit\"\n\
                 delay = \"3ms\"\n"
            );
        }
        plan += "[class.x]\n[class.y]\nqueue = { kind = \"droptail\", limit = 9 }\n";
        for class in ["x", "y"] {
            let rate = draw.random_range(1..6);
            plan += &format!(
                "[[source]]\nclass = \"{class}\"\nmodel = \"poisson\"\nrate = \"{rate}mbit\"\n\
                 packet = \"900b\"\npath = [\"a\", \"b\", \"c\"]\n\
                 [[source]]\nclass = \"{class}\"\nmodel = \"tcp\"\npacket = \"1500b\"\npath = [\"a\", \"b\", \"c\"]\n"
            );
        }
        let folder = Folder::with_plan(&plan);
        for scheduler in kinds() {
            let run = ["run", "plan.toml", "--json", "--duration", "700ms", "--out", "out"];
            let ended = folder.laxity(&[&run[..], &["--scheduler", scheduler]].concat());
            assert!(matches!(ended.code, Some(0 | 1)), "{}\n{plan}", ended.stderr);
            let counts = rows(&folder.text("out/packets.csv"), &["from", "to", "class"]);
            let summary = folder.json("out/summary.json");
            for hop in summary["hops"].as_array().unwrap() {
                for class in hop["classes"].as_array().unwrap() {
                    let key = [&hop["from"], &hop["to"], &class["name"]];
                    let key = key.map(|name| name.as_str().unwrap().to_string()).to_vec();
                    hold(&counts.get(&key).cloned().unwrap_or_default(), class);
                    queued += class["queued"].as_u64().unwrap_or(0);
                }
            }
        }
    }
    assert!(queued > SEEDS, "{queued} packets were queued at the end");
}
