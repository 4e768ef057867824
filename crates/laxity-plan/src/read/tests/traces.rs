//! Links whose rates change over time, as plans say so.

use laxity::units::{Nanos, Rate};

use super::*;
use crate::model::NetworkLink;

const PLAN: &str = r#"
version = 1
link = { rate = "4mbit", rate-trace = "steps.csv" }
scheduler.kind = "edf"
class.a = {}
"#;

const NETWORK: &str = r#"
[network.as-the-link]
between = ["a", "b"]
[network.own]
between = ["b", "c"]
rate = "1mbit"
rate-trace = "up.trace"
[network.steady]
between = ["c", "d"]
rate = "1mbit"
[[source]]
class = "a"
model = "backlogged"
packet = "100b"
path = "shortest"
from = "a"
to = "d"
"#;

/// Reads a plan beside two traces.
fn read(text: &str) -> Result<Plan, PlanError> {
    let folder = std::env::temp_dir().join(format!("laxity-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("steps.csv"), "time,rate\n0s,1mbit\n1s,5mbit\n").unwrap();
    std::fs::write(folder.join("up.trace"), "12\n").unwrap();
    Plan::parse(text, "plan.toml", &folder)
}

#[test]
fn a_trace_is_late_with_the_rate() {
    let plan = read(PLAN).unwrap();
    // 3 Mbit are behind after a second at 1 Mbit/s.
    assert_eq!((plan.link.rate, plan.link.latency), (Rate(4_000_000), Some(Nanos(750_000_000))));
    assert_eq!(plan.link.trace.as_ref().unwrap().peak(), Rate(5_000_000));
    assert_eq!(plan.files[0].key.to_string(), "link.rate-trace");
    let fast = read(&PLAN.replace("4mbit", "6mbit")).unwrap();
    assert_eq!(fast.link.latency, None, "it never comes up with that");
    assert_eq!(
        read(&PLAN.replace(", rate-trace = \"steps.csv\"", "")).unwrap().link.latency,
        Some(Nanos(0))
    );
}

#[test]
fn links_of_networks_have_their_own() {
    let plan = read(&format!("{PLAN}{NETWORK}")).unwrap();
    let links = &plan.network.as_ref().unwrap().links;
    let peak = |link: &NetworkLink| (link.trace.is_some(), link.peak().0);
    assert_eq!(
        links.iter().map(peak).collect::<Vec<_>>(),
        [(true, 5_000_000), (true, 12_000_000), (false, 1_000_000)]
    );
    let hop = plan.sources[0].path()[1];
    let here = plan.at_hop(hop);
    // 11 of 12 ms pass without an opportunity.
    assert_eq!((here.link.rate, here.link.latency), (Rate(1_000_000), Some(Nanos(11_000_000))));
}

#[test]
fn what_is_refused() {
    let error = read(&PLAN.replace("steps.csv", "none.csv")).unwrap_err();
    assert!(error.message().ends_with("none.csv: there is no such file"), "{error}");
    let error = read(&PLAN.replace("steps.csv", ".")).unwrap_err();
    assert!(error.message().ends_with("this is not a file"), "{error}");
    let frames = "scheduler = { kind = \"tdp\", frame = \"250us\", frames = 60 }";
    let error =
        read(&format!("{PLAN}{NETWORK}").replace("scheduler.kind = \"edf\"", frames)).unwrap_err();
    assert_eq!(error.message(), "`rate-trace` at link `as-the-link`");
}
