//! What is printed and which files are written.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use crate::bad_input::{PLAN, refused};
use crate::folder::{Folder, repository};
use crate::packets::BUSY;
use crate::schedulers;

#[test]
fn a_run_writes_the_files_that_its_manifest_names() {
    let folder = Folder::with_plan(BUSY);
    let run = ["run", "plan.toml", "--duration", "500ms", "--out"];
    for (packets, file) in
        [("csv", Some("packets.csv")), ("parquet", Some("packets.parquet")), ("none", None)]
    {
        folder.laxity(&[&run[..], &[packets, "--packets", packets]].concat()).printed(0);
        let manifest = folder.json(&format!("{packets}/manifest.json"));
        assert_eq!(manifest["plan"], "plan.toml");
        assert_eq!(manifest["seed"], 7);
        assert_eq!(manifest["duration_ns"], 500_000_000);
        let mut named = BTreeSet::from(["manifest.json".to_string()]);
        for file in manifest["files"].as_array().unwrap() {
            let name = file["name"].as_str().unwrap();
            let length = folder.path(&format!("{packets}/{name}")).metadata().unwrap().len();
            assert_eq!(file["bytes"], length, "{name}");
            named.insert(name.to_string());
        }
        let expected = ["manifest.json", "summary.json", "report.html"].into_iter().chain(file);
        assert_eq!(named, expected.map(str::to_string).collect());
        assert_eq!(named, names(&folder, packets));
        assert!(folder.text(&format!("{packets}/report.html")).starts_with("<!DOCTYPE html>"));
    }
}

fn names(folder: &Folder, inner: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path(inner)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn results_of_an_earlier_run_survive_one_that_fails() {
    let folder =
        Folder::with_plan(PLAN).with("bad.csv", "time_ns,class,length\n5,ftp,9\n4,ftp,9\n");
    folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--out", "out"]).printed(0);
    let again = ["run", "plan.toml", "--arrivals", "bad.csv", "--out", "out"];
    refused(&folder, &again, &["bad.csv:3"]);
}

#[test]
fn a_comparison_runs_the_same_arrivals() {
    let folder = Folder::with_plan(BUSY);
    let all = schedulers().join(",");
    let compare = ["compare", "plan.toml", "--json", "--out", "out", "--schedulers", &all];
    // H-FSC does not admit the plan.
    let summaries = folder.laxity(&compare).json(1);
    assert_eq!(summaries, folder.json("out/summary.json"));
    let alone = folder.laxity(&["run", "plan.toml", "--json"]).json(0);
    let summaries = summaries.as_array().unwrap();
    let told: Vec<&str> = summaries.iter().map(|run| run["scheduler"].as_str().unwrap()).collect();
    assert_eq!(told, schedulers());
    for summary in summaries {
        assert_eq!(counts(summary, "arrived"), counts(&alone, "arrived"));
        assert_eq!(counts(summary, "nonconforming"), counts(&alone, "nonconforming"));
        assert!(summary["scheduler"] != alone["scheduler"] || *summary == alone);
    }
}

fn counts<'a>(summary: &'a Value, of: &str) -> Vec<&'a Value> {
    summary["classes"].as_array().unwrap().iter().map(|class| &class[of]).collect()
}

#[test]
fn a_run_is_the_same_from_its_own_arrivals() {
    let folder = Folder::with_plan(BUSY);
    let mut first = folder.laxity(&["run", "plan.toml", "--out", "out", "--json"]).json(0);
    let mut rows: Vec<Vec<String>> = folder
        .text("out/packets.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_string).collect())
        .collect();
    rows.sort_by_key(|row| row[0].parse::<u64>().unwrap());
    let lines = rows.iter().map(|row| format!("{},{},{},{}\n", row[4], row[1], row[3], row[2]));
    let csv = "time_ns,class,length,flow\n".to_string() + &lines.collect::<String>();
    let folder = folder.with("arrivals.csv", csv);
    let again = ["run", "plan.toml", "--arrivals", "arrivals.csv", "--json"];
    let mut again = folder.laxity(&again).json(0);
    // A model's traffic lasts as long as it was asked for, a recording's until its last packet.
    let [asked, recorded] = [&mut first, &mut again].map(|summary| summary["traffic_ns"].take());
    assert_eq!(asked, first["duration_ns"]);
    assert_eq!(recorded.to_string(), rows.last().unwrap()[4]);
    assert_eq!(again, first);
}

#[test]
fn traffic_and_the_time_until_it_has_left_are_told_apart() {
    // Ten packets of 12 ms each in 0.9 s, and then as many at once.
    let plan = "version = 1\n[link]\nrate = \"1mbit\"\n[scheduler]\nkind = \"fifo\"\n[class.a]\n";
    let rows = (0..10).map(|at| format!("{},a,1500\n", at * 100_000_000));
    let rows: String = rows.chain((0..10).map(|_| "1000000000,a,1500\n".to_string())).collect();
    let csv = format!("time_ns,class,length\n{rows}");
    let folder = Folder::with_plan(plan).with("in.csv", csv);
    let run = ["run", "plan.toml", "--arrivals", "in.csv"];
    let printed = folder.laxity(&run).printed(0).replace('\u{a0}', " ");
    assert!(printed.contains("1 s of traffic, measured for 1.12 s"), "{printed}");
    let summary = folder.laxity(&[&run[..], &["--json"]].concat()).json(0);
    assert_eq!(summary["traffic_ns"], 1_000_000_000u64);
    assert_eq!(summary["duration_ns"], 1_120_000_000u64);
    let models = Folder::with_plan(PLAN).laxity(&["run", "plan.toml"]).printed(0);
    let models = models.replace('\u{a0}', " ");
    assert!(models.contains("10 s of traffic, seed"), "{models}");
}

#[test]
fn the_classes_of_a_hierarchy_that_have_packets_are_told() {
    let above = "[class.campus]\nlink-share = \"5mbit\"\n";
    let below = "[class.video]\nparent = \"campus\"";
    let plan = BUSY.replace("[class.video]", &format!("{above}{below}"));
    let folder = Folder::with_plan(&plan);
    for scheduler in schedulers() {
        let run = ["run", "plan.toml", "--json", "--scheduler", scheduler, "--out", "out"];
        let ended = folder.laxity(&run);
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
        let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(counts(&summary, "name"), ["voice", "video", "web", "bulk", "silent"]);
        let parents = counts(&summary, "parent");
        assert_eq!(
            parents,
            [&Value::Null, &"campus".into(), &Value::Null, &Value::Null, &Value::Null]
        );
        let arrived: u64 = counts(&summary, "arrived").into_iter().filter_map(Value::as_u64).sum();
        assert!(arrived > 1000);
        // Rows of tables begin with the mark of their class.
        let report = folder.text("out/report.html");
        assert!(report.contains("</svg>video<") && !report.contains("</svg>campus<"));
        assert!(!folder.text("out/packets.csv").contains("campus"));
    }
    // Without contracts to prove, so that nothing fails to fit.
    let ended = folder.laxity(&["compare", "plan.toml", "--schedulers", "fifo,wfq,drr"]);
    assert!(!ended.printed(0).contains("campus"));
}

#[test]
fn sources_may_share_a_class_with_a_backlogged_one() {
    let backlogged = "[[source]]\nclass = \"bulk\"\nmodel = \"backlogged\"\npacket = \"500b\"\n";
    let folder = Folder::with_plan(&format!("{BUSY}\n{backlogged}\n{backlogged}count = 3\n"));
    let summary = folder.laxity(&["run", "plan.toml", "--json"]).json(0);
    assert_eq!(summary["link"]["utilization"], 1.0);
}

#[test]
fn every_command_prints_json() {
    let folder = Folder::with_plan(BUSY);
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    assert_eq!((&answer["admitted"], &answer["scheduler"]), (&true.into(), &"edf/exact".into()));
    let summary = folder.laxity(&["run", "plan.toml", "--json"]).json(0);
    assert_eq!(summary["duration_ns"], 3_000_000_000u64);
    let example = repository("examples/home-uplink.toml");
    let fitted = folder.laxity(&["fit", &example, "--json"]).json(0);
    assert_eq!(fitted[0]["name"], "audio");
    assert_eq!(fitted[0]["buckets"][0]["bucket_bytes"], 2204);
    let paper =
        ["reproduce", "low-delay-best-effort", "--duration", "2s", "--seeds", "1", "--json"];
    let ended = folder.laxity(&paper);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    serde_json::from_str::<Value>(&ended.stdout).unwrap();
    folder.laxity(&["bench", "--only", "fifo", "--classes", "1", "--json"]).json(0);
}

/// An operation does not take more instructions with a hundred times as many classes, also as all
/// of them wake.
#[cfg(target_os = "linux")]
#[test]
fn no_operation_is_linear_in_the_number_of_classes() {
    let folder = Folder::new();
    let longest = |classes: &str| {
        let arguments = ["bench", "--longest", "--only", "wf2q", "--classes", classes, "--json"];
        let figures = folder.laxity(&arguments).json(0);
        figures[0]["longest"].as_u64().expect("no more than can be watched")
    };
    let [few, many] = ["300", "30000"].map(longest);
    assert!(few > 500 && many < 4 * few, "{few} instructions, then {many}");
}

#[test]
fn the_schema_has_every_key_that_plans_are_written_with() {
    let folder = Folder::new();
    let schema = folder.laxity(&["schema"]).json(0);
    let mut known = BTreeSet::new();
    properties(&schema, &mut known);
    for name in [
        "examples/home-uplink.toml",
        "examples/gateway.toml",
        "papers/low-delay-best-effort/plan.toml",
        "papers/hfsc/plan.toml",
    ] {
        let plan = std::fs::read_to_string(repository(name)).unwrap();
        for key in plan.split_inclusive(['\n', ',', '{']).filter_map(written_key) {
            assert!(known.contains(key), "{name}: {key}");
        }
    }
    assert!(known.contains("best-effort-order") && !known.contains("colour"));
}

/// The names of all properties in a schema.
fn properties<'a>(schema: &'a Value, known: &mut BTreeSet<&'a str>) {
    if let Some(named) = schema["properties"].as_object() {
        known.extend(named.keys().map(String::as_str));
    }
    match schema {
        Value::Object(inner) => inner.values().for_each(|inner| properties(inner, known)),
        Value::Array(inner) => inner.iter().for_each(|inner| properties(inner, known)),
        _ => {}
    }
}

/// The key at the beginning of a piece of a plan.
fn written_key(piece: &str) -> Option<&str> {
    let (key, _) = piece.split('#').next()?.split_once('=')?;
    Some(key.trim())
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::with_plan(BUSY);
    for arguments in [&["schema"][..], &["run", "plan.toml"], &["check", "plan.toml", "--json"]] {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_command_explains_itself() {
    let folder = Folder::new();
    assert!(folder.laxity(&["--version"]).printed(0).starts_with("laxity "));
    let help = folder.laxity(&["--help"]).printed(0);
    assert!(help.contains("Exit codes:"), "{help}");
    for command in ["check", "run", "compare", "fit", "reproduce", "bench", "schema"] {
        assert!(help.contains(command), "{command}");
        let own = folder.laxity(&[command, "--help"]).printed(0);
        assert!(own.contains(&format!("Usage: laxity {command}")), "{own}");
    }
}
