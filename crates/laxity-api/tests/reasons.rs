//! Every refusal is told apart by a program: each has codes, which the documentation lists, and
//! numbers.

use laxity_answers::reason::Reason;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

use laxity::units::Nanos;
use laxity_api::{Plan, check};
use laxity_plan::discipline::Kind;

/// The plans of the examples under every discipline that takes them, with shorter and shorter
/// deadlines.
fn plans() -> Vec<Plan> {
    let mut plans = Vec::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for file in std::fs::read_dir(examples).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let Ok(plan) = Plan::read(&path) else { continue };
        if plan.classes.len() > 50 || plan.sources.len() > 50 {
            continue;
        }
        let names = Kind::ALL.iter().flat_map(|kind| kind.room().names);
        let own = [plan.clone()].into_iter();
        let under = own.chain(names.filter_map(|name| plan.clone().under(name).ok()));
        for plan in under {
            plans.extend([1, 5, 20].map(|divisor| sooner(&plan, divisor)));
        }
    }
    plans
}

fn sooner(plan: &Plan, divisor: u64) -> Plan {
    let mut plan = plan.clone();
    for class in &mut plan.classes {
        for deadline in [&mut class.deadline, &mut class.end_to_end].into_iter().flatten() {
            *deadline = Nanos((deadline.0 / divisor).max(1));
        }
    }
    plan
}

#[test]
fn every_refusal_has_a_code_and_numbers() {
    let documentation =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md"));
    let documentation = documentation.unwrap();
    let (mut refused, mut codes) = (0, BTreeSet::new());
    for plan in plans() {
        let Ok(checked) = check(&plan) else { continue };
        let json = serde_json::to_value(&checked).unwrap();
        let reasons = json["reasons"].as_array().unwrap();
        assert!(!reasons.is_empty(), "{:?}", plan.title);
        for (reason, json) in checked.reasons().iter().zip(reasons) {
            let code = json["code"].as_str().unwrap().to_owned();
            assert!(documentation.contains(&format!("`{code}`")), "{code} is not documented");
            assert!(json["sentence"].as_str().unwrap().ends_with('.'), "{json}");
            let has_number = json.as_object().unwrap().values().any(Value::is_number);
            assert!(!reason.refuses() || has_number, "{json}");
            codes.insert(code);
        }
        let is_refused = checked.reasons().iter().any(Reason::refuses);
        assert_eq!(json["admitted"] == false, is_refused);
        refused += usize::from(is_refused);
    }
    assert!(refused >= 200, "{refused}");
    for wanted in ["late", "unbounded", "interval", "deadlines-hold", "promises-hold", "no-test"] {
        assert!(codes.contains(wanted), "{wanted} is not among {codes:?}");
    }
}
