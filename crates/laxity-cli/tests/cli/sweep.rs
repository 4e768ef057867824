//! Studies: what is run, what is not run again, what stands in the store, and what is said.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::Folder;

const PLAN: &str = "version = 1
link.rate = '2mbit'
scheduler.kind = 'edf'
[class.voice]
deadline = '10ms'
arrival = { bucket = '400b', rate = '64kbit', packet = '200b' }
[class.web]
[[source]]
class = 'voice'
model = 'constant'
packet = '200b'
rate = '53kbit'
[[source]]
class = 'web'
model = 'poisson'
packet = '1000b'
rate = '1.8mbit'
";

const STUDY: &str = "version = 1
plan = 'plan.toml'
seeds = 4
duration = '2s'
[grid]
'link.rate' = ['2mbit', '3mbit']
scheduler = ['edf', 'fifo']
";

fn folder() -> Folder {
    Folder::with_plan(PLAN).with("study.toml", STUDY)
}

/// The runs in a store, and when they were written.
fn runs(folder: &Folder, store: &str) -> BTreeMap<PathBuf, SystemTime> {
    let mut runs = BTreeMap::new();
    for scheduler in fs::read_dir(folder.path(store).join("runs")).unwrap() {
        for run in fs::read_dir(scheduler.unwrap().path()).unwrap() {
            let path = run.unwrap().path();
            let name = path.strip_prefix(folder.path(store)).unwrap().to_path_buf();
            runs.insert(name, path.metadata().unwrap().modified().unwrap());
        }
    }
    runs
}

fn swept(folder: &Folder, store: &str, more: &[&str]) -> String {
    folder.laxity(&[&["sweep", "study.toml", "--out", store], more].concat()).printed(0)
}

#[test]
fn figures_are_those_of_single_runs() {
    let folder = folder();
    let summary: Value = serde_json::from_str(&swept(&folder, "store", &["--json"])).unwrap();
    assert_eq!(summary["keys"], serde_json::json!(["link.rate", "scheduler"]));
    assert_eq!(summary["runs"], serde_json::json!([16, 16]));
    let lines = summary["lines"].as_array().unwrap();
    let is = |line: &&Value| {
        line["point"] == serde_json::json!(["3mbit", "fifo"])
            && (&line["class"], &line["figure"]) == (&"web".into(), &"delay_ns.p99".into())
    };
    let line = lines.iter().find(is).unwrap();
    assert_eq!((&line["scheduler"], &line["seeds"]), (&"fifo".into(), &4.into()));
    fs::write(folder.path("faster.toml"), PLAN.replace("2mbit", "3mbit")).unwrap();
    let run =
        ["run", "faster.toml", "--scheduler", "fifo", "--seeds", "4", "--duration", "2s", "--json"];
    let run: Value = serde_json::from_str(&folder.laxity(&run).printed(1)).unwrap();
    let figures = run["figures"].as_array().unwrap();
    let figure =
        figures.iter().find(|one| one["class"] == "web" && one["figure"] == "delay_ns.p99");
    let figure = figure.unwrap();
    assert_eq!((&line["mean"], &line["half_width"]), (&figure["mean"], &figure["half_width"]));
    assert_eq!((&line["p5"], &line["p95"]), (&figure["min"], &figure["max"]), "of four");
}

#[test]
fn what_is_there_is_not_run_again() {
    let folder = folder();
    let first = swept(&folder, "store", &[]);
    assert!(first.starts_with("16 of 16 runs made in "), "{first}");
    assert!(first.contains("link.rate  scheduler  class  p99 ms"), "{first}");
    let before = runs(&folder, "store");
    assert_eq!(before.len(), 16);
    let again = swept(&folder, "store", &[]);
    assert!(again.starts_with("0 of 16 runs made in "), "{again}");
    assert_eq!(runs(&folder, "store"), before);
    let page = folder.text("store/report.html");
    assert!(page.contains("Delay, p99 over link.rate") && page.contains("fifo"), "{page}");
    let picture = folder.text("store/delay_ns.p99.svg");
    assert!(picture.starts_with("<svg") && picture.contains("voice"), "{picture}");
    assert_eq!(
        first.lines().skip(1).collect::<Vec<_>>(),
        again.lines().skip(1).collect::<Vec<_>>()
    );

    // A comment changes nothing, another seed adds four runs, another plan makes all anew.
    fs::write(folder.path("plan.toml"), format!("# mine\n{PLAN}")).unwrap();
    fs::write(folder.path("study.toml"), STUDY.replace("seeds = 4", "seeds = [4, 3, 2, 1, 9]"))
        .unwrap();
    assert!(swept(&folder, "store", &[]).starts_with("4 of 20 runs made in "));
    fs::write(folder.path("plan.toml"), PLAN.replace("1.8mbit", "1.7mbit")).unwrap();
    assert!(swept(&folder, "store", &[]).starts_with("20 of 20 runs made in "));
    assert_eq!(runs(&folder, "store").len(), 40);
}

#[test]
fn parts_add_up_to_the_whole() {
    let folder = folder();
    let whole = swept(&folder, "whole", &["--json"]);
    let mut made = 0;
    for part in ["1/3", "2/3", "3/3"] {
        let said = swept(&folder, "parts", &["--shard", part]);
        made += said.split(' ').next().unwrap().parse::<usize>().unwrap();
        assert!(said.contains(" runs of this part made in "), "{said}");
    }
    assert_eq!(made, 16);
    assert_eq!(swept(&folder, "parts", &["--json"]), whole);
}

/// Killed at any moment, it goes on from there: no run is half there, none is made twice.
#[test]
fn it_goes_on_after_a_kill() {
    let folder = folder();
    let study = STUDY.replace("seeds = 4", "seeds = 60").replace("'2s'", "'8s'");
    fs::write(folder.path("study.toml"), study).unwrap();
    let whole = swept(&folder, "whole", &["--json"]);
    let mut kills = 0;
    for wait in [20, 60, 120, 200, 300] {
        let mut sweep = folder.command(&["sweep", "study.toml", "--out", "store"]);
        let mut sweep = sweep.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        kills += usize::from(sweep.try_wait().unwrap().is_none());
        let _ = sweep.kill();
        sweep.wait().unwrap();
    }
    assert!(kills > 0, "all were faster");
    let is_run = |path: &&PathBuf| path.extension().is_some_and(|end| end == "parquet");
    let before = runs(&folder, "store");
    let done = before.keys().filter(is_run).count();
    let said = swept(&folder, "store", &[]);
    assert!(said.starts_with(&format!("{} of 240 runs made in ", 240 - done)), "{done}: {said}");
    let after = runs(&folder, "store");
    for path in before.keys().filter(is_run) {
        assert_eq!(before[path], after[path], "made once");
    }
    assert_eq!(swept(&folder, "store", &["--json"]), whole);
}

#[test]
fn lists_and_samples() {
    let folder = folder();
    let study = "version = 1
plan = 'plan.toml'
duration = '500ms'
[[list]]
'class.voice.deadline' = '20ms'
[[list]]
'source.0.rate' = '40kbit'
[sample]
points = 5
over = { 'link.rate' = { from = '2mbit', to = '8mbit', log = true } }
";
    fs::write(folder.path("study.toml"), study).unwrap();
    let summary: Value = serde_json::from_str(&swept(&folder, "store", &["--json"])).unwrap();
    assert_eq!(summary["runs"], serde_json::json!([10, 10]));
    let keys = ["class.voice.deadline", "source.0.rate", "link.rate"];
    assert_eq!(summary["keys"], serde_json::json!(keys));
    let said = swept(&folder, "store", &["--figure", "sent,tcp.timeouts"]);
    assert!(said.contains("20ms") && said.contains("No run has a figure tcp.timeouts"), "{said}");
    assert!(said.starts_with("0 of 10 runs made in "), "{said}");
}

#[test]
fn bad_studies_are_refused_and_nothing_is_written() {
    for (study, said) in [
        (STUDY.replace("plan.toml", "nothing.toml"), "nothing.toml"),
        (STUDY.replace("version = 1\n", ""), "a study begins with `version = 1`"),
        (STUDY.replace("seeds = 4", "seeds = [1, 1]"), "or a list of different ones"),
        (STUDY.replace("seeds = 4", "seeds = 0"), "a number of them, from 1 to 1000000"),
        (STUDY.replace("seeds = 4", "seeds = 900000"), "more than a study may have"),
        (STUDY.replace("duration", "time"), "unknown key `time`"),
        (STUDY.replace("'2s'", "'2 sheep'"), "study.toml:4"),
        (
            STUDY.replace("'link.rate'", "'lnk.rate'"),
            "the plan has no `lnk`, in which `lnk.rate` would lie",
        ),
        (STUDY.replace("'3mbit'", "'3 sheep'"), "with link.rate = '3 sheep', scheduler = 'edf'"),
        (STUDY.replace("'fifo'", "'fofi'"), "fofi"),
        (STUDY.replace("['edf', 'fifo']", "'edf'"), "`scheduler` takes a list of values"),
        (format!("{STUDY}[sample]\npoints = 3\n"), "a sample has `points`, and keys in `over`"),
        (
            format!(
                "{STUDY}[sample]\npoints = 3\nover = {{ 'link.rate' = {{ from = '2mbit', to = '1mbit' }} }}\n"
            ),
            "`link.rate` takes a range here",
        ),
        (
            format!(
                "{STUDY}[sample]\npoints = 3\nover = {{ 'link.rate' = {{ from = '2mbit', to = '9mbit' }} }}\n"
            ),
            "`link.rate` varies in two places",
        ),
        (
            format!(
                "{STUDY}[sample]\npoints = 9000000000000000000\nover = {{ 'class.web.weight' = {{ from = 1, to = 9 }} }}\n"
            ),
            "study.toml:9",
        ),
        (
            format!(
                "{STUDY}[sample]\npoints = -3\nover = {{ 'class.web.weight' = {{ from = 1, to = 9 }} }}\n"
            ),
            "`points` is a whole number from 1 to 1000000",
        ),
        ("version =".into(), "study.toml:1"),
    ] {
        let folder = folder().with("study.toml", &study);
        refused(&folder, &["sweep", "study.toml", "--out", "store"], &[said]);
    }
    let part = ["sweep", "study.toml", "--out", "store", "--shard", "4/3"];
    refused(&folder(), &part, &["from 1/N to N/N"]);
    let figure = ["sweep", "study.toml", "--out", "store", "--figure", "delay"];
    refused(&folder(), &figure, &["there is no figure `delay`", "delay_ns.p99"]);
}
