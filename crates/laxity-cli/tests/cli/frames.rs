//! Time-driven priority, from plans to what is written.

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

/// Frames that carry 1000 bytes, two flows that have 400 of them, and best effort.
const FRAMES: &str = r#"version = 1
title = "Two flows and best effort"

[link]
rate = "8mbit"
delay = "100us"
max-packet = "400b"

[scheduler]
kind = "tdp"
frame = "1ms"
frames = 10

[class.one]
gap = "1ms"
end-to-end = "10ms"

[class.two]
gap = "1ms"
end-to-end = "10ms"

[class.rest]
queue = { kind = "droptail", limit = 50 }

[network]
ab = { between = ["a", "b"] }
bc = { between = ["b", "c"] }

[run]
duration = "2s"
warm-up = "100ms"

[[source]]
class = "one"
model = "constant"
rate = "3.2mbit"
packet = "400b"
start = "50ms"
path = ["a", "b", "c"]

[[source]]
class = "two"
model = "constant"
rate = "3.2mbit"
packet = "400b"
start = "50ms"
path = ["b", "c"]

[[source]]
class = "rest"
model = "poisson"
rate = "8mbit"
packet = "100b"
path = ["a", "b", "c"]
"#;

#[test]
fn frames_are_assigned_proved_and_kept() {
    let folder = Folder::with_plan(FRAMES);
    let text = folder.laxity(&["check", "plan.toml"]).printed(0);
    for wanted in ["Admitted.", "b → c", "▇▇▇▇▇▇▇▇▇▇", "clocks may be wrong by up to"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let proof = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    // A frame and a gap at the edge, two frames on to b and a frame there, 0.1 ms on to c.
    assert_eq!(proof["classes"][0]["bound_ns"], 5_100_000);
    let text = folder.laxity(&["run", "plan.toml", "--out", "out"]).printed(0);
    assert!(text.contains("padding sent") && text.contains("jitter"), "{text}");
    let summary = folder.json("out/summary.json");
    let [one, two, rest] = [0, 1, 2].map(|class| &summary["classes"][class]);
    for class in [one, two] {
        assert_eq!((&class["dropped"], &class["bound_misses"]), (&0.into(), &0.into()));
        let transit = &class["transit_ns"];
        assert!(transit["max"].as_u64().unwrap() - transit["min"].as_u64().unwrap() < 2_000_000);
    }
    assert!(rest["dropped"].as_u64().unwrap() > 1000, "best effort gets what is left");
    let last = &summary["hops"][1];
    assert!(last["utilization"].as_f64().unwrap() > 0.99, "{last}");
    assert_eq!(
        (&last["frames"]["late"], &summary["hops"][0]["frames"]["losses"]),
        (&0.into(), &0.into())
    );
    let report = folder.text("out/report.html");
    assert!(report.contains("What is reserved of") && report.contains("Frames and losses"));
}

#[test]
fn a_flow_too_many_is_refused_by_name() {
    let crowded = FRAMES.replacen("[class.rest]\n", "[class.rest]\ngap = \"1ms\"\n", 1);
    let folder = Folder::with_plan(&crowded.replace("packet = \"100b\"", "packet = \"400b\""));
    let text = folder.laxity(&["check", "plan.toml"]).printed(1);
    for wanted in ["NOT ADMITTED", "the others fit", "no frames are left for it", "b → c, frame 0"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = folder.laxity(&["check", "plan.toml", "--exact"]).printed(1);
    assert!(text.contains("no fewer can be left out"), "{text}");
    let text = folder.laxity(&["run", "plan.toml"]).printed(1);
    assert!(text.contains("NOT ADMITTED"), "{text}");
}

#[test]
fn the_same_arrivals_go_without_frames_as_well() {
    let folder = Folder::with_plan(FRAMES);
    let compare = ["compare", "plan.toml", "--schedulers", "fifo,drr,tdp", "--json"];
    let runs = folder.laxity(&compare).json(0);
    let sent = |run: usize| runs[run]["classes"][0]["sent"].clone();
    assert_eq!((sent(0), sent(1)), (sent(2), sent(2)));
}

#[test]
fn clocks_that_are_too_wrong_are_seen() {
    let ideal = FRAMES.replacen("frames = 10", "frames = 10\nclock-error = \"0s\"", 1);
    let wrong = |by: &str| {
        let node = format!("[node]\nb.clock = {{ {by} }}\n\n[run]");
        Folder::with_plan(&ideal.replacen("[run]", &node, 1))
    };
    let text = wrong("behind = \"300us\"").laxity(&["check", "plan.toml"]).printed(1);
    assert!(text.replace('\u{a0}', " ").contains("clocks may be wrong by 300 µs"), "{text}");
    let run = wrong("ahead = \"3ms\"").laxity(&["run", "plan.toml", "--json"]).json(1);
    assert!(run["hops"][1]["frames"]["late"].as_u64().unwrap() > 100, "{}", run["hops"][1]);
}

#[test]
fn frames_need_a_network_and_a_plan_that_has_them() {
    let folder = Folder::with_plan(FRAMES);
    let alone = FRAMES[..FRAMES.find("[network]").unwrap()].replacen("delay = \"100us\"\n", "", 1);
    let alone = Folder::with_plan(&alone.replace("end-to-end = \"10ms\"\n", ""));
    refused(&alone, &["check", "plan.toml"], &["`kind = \"tdp\"` without a network"]);
    let fifo = repository("examples/dumbbell.toml");
    refused(&folder, &["run", &fifo, "--scheduler", "tdp"], &["`frame` and `frames`"]);
}

/// The promises of the repository's plans, and the first of the paper's scenarios for a second.
#[test]
fn the_examples_are_admitted() {
    let folder = Folder::new();
    for plan in
        ["examples/time-frames.toml", "papers/tdp/scenario-1.toml", "papers/tdp/scenario-2.toml"]
    {
        let plan = repository(plan);
        folder.laxity(&["check", &plan]).printed(0);
        let run = ["run", &plan, "--duration", "1s", "--json"];
        folder.laxity(&run).json(0);
    }
}
