//! Several seeds: the same bytes on any number of threads, means of what single runs give, and one
//! verdict over all.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};
use crate::packets::BUSY;

/// Exit code, printed text and written files of a command on `threads` threads.
fn on_threads(folder: &Folder, threads: &str, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let mut command = folder.command(&[arguments, &["--out", "out"]].concat());
    let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = ["out/summary.json", "out/report.html"].map(|file| folder.text(file));
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), [printed].into_iter().chain(files).collect())
}

#[test]
fn threads_do_not_matter() {
    let network = std::fs::read_to_string(repository("examples/two-hops.toml")).unwrap();
    for (plan, schedulers) in [(BUSY, "fifo,edf,hfsc"), (&network, "hfsc,drr")] {
        let folder = Folder::with_plan(plan);
        let run = ["run", "plan.toml", "--seeds", "5", "--duration", "400ms"];
        let compare = [&["compare"], &run[1..], &["--schedulers", schedulers]].concat();
        for arguments in [&run[..], &compare] {
            let alone = on_threads(&folder, "1", arguments);
            assert_eq!(alone, on_threads(&folder, "4", arguments));
            assert!(alone.1[0].contains("Means over 5 seeds"), "{}", alone.1[0]);
        }
    }
}

/// The figure of a class.
fn figure<'a>(seeds: &'a Value, class: &str, name: &str) -> &'a Value {
    let figures = seeds["figures"].as_array().unwrap();
    let is_it =
        |one: &&Value| one["class"] == class && one["figure"] == name && one.get("at").is_none();
    figures.iter().find(is_it).unwrap()
}

#[test]
fn means_are_those_of_the_runs() {
    let folder = Folder::with_plan(BUSY);
    let run = ["run", "plan.toml", "--duration", "500ms", "--json"];
    let seeds = [&run[..], &["--seeds", "4", "--seed", "11"]].concat();
    let seeds = folder.laxity(&seeds).json(0);
    assert_eq!(seeds["seeds"], serde_json::json!([11, 12, 13, 14]));
    let mut means = Vec::new();
    for (seed, result) in
        ["11", "12", "13", "14"].into_iter().zip(seeds["runs"].as_array().unwrap())
    {
        let alone = folder.laxity(&[&run[..], &["--seed", seed]].concat()).json(0);
        assert_eq!(*result, alone);
        let classes = alone["classes"].as_array().unwrap();
        let class = classes.iter().find(|class| class["name"] == "video").unwrap();
        means.push(class["delay_ns"]["mean"].as_f64().unwrap());
    }
    let told = figure(&seeds, "video", "delay_ns.mean");
    let mean = means.iter().sum::<f64>() / 4.0;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    // Student's t for three degrees of freedom.
    let half = 3.182_446 * (squares / 3.0).sqrt() / 2.0;
    let close = |told: &Value, ours: f64| (told.as_f64().unwrap() / ours - 1.0).abs() < 1e-6;
    assert!(half > 0.0 && close(&told["mean"], mean) && close(&told["half_width"], half), "{told}");
}

#[test]
fn a_promise_that_one_seed_breaks_is_broken() {
    let folder = Folder::with_plan(BUSY);
    let run = ["run", "plan.toml", "--duration", "500ms", "--scheduler", "fifo", "--seeds", "3"];
    let told = folder.laxity(&run).printed(1);
    assert!(told.contains("LATE: video: ") && told.contains("seed"), "{told}");
    let json = folder.laxity(&[&run[..], &["--json"]].concat()).json(1);
    let broken = &json["verdict"]["broken"][0];
    let under = |run: &&Value| run["verdict"]["kept"] == false;
    let late = json["runs"].as_array().unwrap().iter().filter(under).map(|run| &run["seed"]);
    assert_eq!(
        broken["seeds"].as_array().unwrap().iter().collect::<Vec<_>>(),
        late.collect::<Vec<_>>()
    );
    // The same arrivals under each scheduler of a comparison.
    let compare = ["compare", "plan.toml", "--schedulers", "fifo,edf", "--seeds", "3", "--json"];
    let runs = folder.laxity(&[&compare[..], &["--duration", "500ms"]].concat()).json(0);
    for class in ["video", "web"] {
        let arrived = [0, 1].map(|run| figure(&runs[run], class, "arrived"));
        assert_eq!(arrived[0], arrived[1]);
    }
}

#[test]
fn what_has_no_seeds_is_said() {
    let folder = Folder::with_plan(BUSY).with("one.csv", "time_ns,class,length\n5,web,100\n");
    for (more, says) in [
        (&["--seeds", "0"][..], "from 1 to 10000"),
        (&["--seeds", "-3"], "invalid value '-3' for '--seeds <N>'"),
        (&["--seeds", "10001"], "from 1 to 10000"),
        (&["--seeds", "2", "--seed", "18446744073709551615"], "go beyond the largest"),
        (&["--seeds", "2", "--packets", "csv"], "cannot be used with"),
        (&["--seeds", "2", "--arrivals", "one.csv"], "a recording is the same with every seed"),
    ] {
        refused(&folder, &[&["run", "plan.toml", "--out", "out"], more].concat(), &[says]);
    }
    let constant = BUSY.split("[[source]]").next().unwrap().to_owned()
        + "[[source]]\nclass = \"web\"\nmodel = \"constant\"\nrate = \"1mbit\"\npacket = \"500b\"\n";
    let folder = Folder::with_plan(&constant);
    let told = folder.laxity(&["run", "plan.toml", "--seeds", "2"]).printed(0);
    assert!(told.contains("every seed came to the same figures"), "{told}");
    let told = folder.laxity(&["run", "plan.toml", "--seeds", "1"]).printed(0);
    assert!(!told.contains("every seed"), "one seed has no spread: {told}");
}
