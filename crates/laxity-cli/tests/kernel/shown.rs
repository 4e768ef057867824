//! What the kernel shows of an applied plan comes back as a plan with the same bounds: by netlink,
//! and as far as `tc` shows all digits, by that.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use rand::SeedableRng;
use serde_json::Value;

use crate::bounds::{KINDS, drawn};
use crate::lab::{only, plan as file, route, run, says};
use crate::uml::{inside, whole};

const LIMIT: Duration = Duration::from_secs(1800);

#[test]
fn what_is_shown_comes_back_bounded_alike() {
    inside("shown::what_is_shown_comes_back_bounded_alike", LIMIT, || {
        route();
        let mut draw = laxity_search::Generator::seed_from_u64(7);
        let (plans, mut compared) = (whole(4, 200), 0);
        for number in 0..plans {
            let kind = KINDS[number % KINDS.len()];
            let text = drawn(kind, &mut draw);
            let path = file("drawn.toml", &text);
            says(0, &["apply", &path, "--dev", "left", "--drop-queues"]);
            let back = file("back.toml", &only(&["import", "kernel", "--dev", "left"]));
            let mut before = bounds(&path);
            if kind == Kind::Priority {
                before.retain(|name, _| has_its_level_alone(&text, name));
            }
            let mut same = |back: &str| {
                let (text, after) = (std::fs::read_to_string(back).expect("a plan"), bounds(back));
                assert_eq!(before, after, "{path}: {text}");
                compared += after.len();
            };
            same(&back);
            // Of curves tc shows three digits.
            if kind != Kind::Hfsc {
                same(&by_tc(&path));
            }
            // The next one numbers its classes as a script does.
            run("tc", "qdisc del dev left root");
            std::fs::remove_dir_all("/run/laxity").expect("what was remembered");
        }
        println!("{plans} plans came back, {compared} classes with equal bounds");
        assert!(compared > plans / 2);
    });
}

/// Classes that share a level are one to the kernel, and nothing is promised of it.
fn has_its_level_alone(plan: &str, name: &str) -> bool {
    let plan = Plan::parse(plan, "drawn.toml", Path::new(".")).expect("a plan");
    let levels = plan.priority_levels();
    let own = plan.class(name).expect("a class of it").index();
    plan.leaves().filter(|(id, _)| levels[id.index()] == levels[own]).count() == 1
}

/// The plan of what `tc -j` shows. Names and contracts, for which the kernel has no place, are
/// those of the script.
fn by_tc(path: &str) -> String {
    let script = only(&["export", "tc", path, "--dev", "left"]);
    let contracts: String = script
        .lines()
        .filter(|line| line.starts_with("#:"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let shown = ["qdisc show dev left", "class show dev left", "filter show dev left parent 2:"]
        .map(|what| run("tc", &format!("-j -d {what}")));
    let shown = file("shown.json", &(contracts + &shown.join("\n")));
    file("by-tc.toml", &only(&["import", "tc", &shown]))
}

/// The bounds under Linux of the classes that have one.
fn bounds(plan: &str) -> BTreeMap<String, u64> {
    let checked = only(&["check", plan, "--for", "linux", "--json"]);
    let checked: Value = serde_json::from_str(&checked).expect("JSON");
    let bound = |class: &Value| Some((class["name"].as_str()?.into(), class["bound_ns"].as_u64()?));
    checked["classes"].as_array().expect("classes").iter().filter_map(bound).collect()
}
