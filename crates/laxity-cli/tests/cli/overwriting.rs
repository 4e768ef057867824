//! What `--out` writes over, and what it leaves.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::bad_input::{PLAN, refused};
use crate::folder::Folder;

const ARRIVALS: &str = "time_ns,class,length\n5,voice,100\n6,ftp,1500\n";
const NAMES: [&str; 6] = [
    "summary.json",
    "report.html",
    "delays.svg",
    "packets.csv",
    "packets.parquet",
    "manifest.json",
];

/// A folder with `out/deep/`, and `here`, which is `out`.
fn nested() -> Folder {
    let folder = Folder::with_plan(PLAN).with("in.csv", ARRIVALS);
    fs::create_dir_all(folder.path("out/deep")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("out", folder.path("here")).unwrap();
    folder
}

/// Ways to write `out`.
const WAYS: [&str; 5] = ["out", "out/", "./out/deep/..", "out/../out/.", "here"];

#[test]
fn a_command_does_not_write_over_what_it_reads() {
    let own = "would be replaced by its results: give --out another folder";
    for name in NAMES {
        for (input, out) in WAYS.iter().flat_map(|input| WAYS.map(|out| (input, out))) {
            let path = format!("{input}/{name}");
            let folder = nested().with(&format!("out/{name}"), ARRIVALS);
            let run = ["run", "plan.toml", "--arrivals", &path, "--out", out];
            refused(&folder, &run, &["--arrivals", name, own]);
            // Nor would it go because an earlier run wrote it.
            refused(&folder, &[&run[..], &["--packets", "none"]].concat(), &[own]);
            let folder = nested().with(&format!("out/{name}"), PLAN);
            let compare = ["compare", &path, "--schedulers", "fifo,edf", "--out", out];
            refused(&folder, &compare, &["the plan", name, own]);
        }
    }
}

#[test]
fn nor_over_recordings_that_its_plan_names() {
    let model = &PLAN[PLAN.find("class = \"voice\"\nmodel").unwrap()..];
    let source = "model = \"capture\"\nfile = \"../out/packets.csv\"\n";
    let folder = nested().with("out/packets.csv", ARRIVALS);
    let folder =
        folder.with("out/deep/plan.toml", PLAN.replace(model, source).replace("../", "../../"));
    for out in WAYS {
        let run = ["run", "out/deep/plan.toml", "--out", out];
        refused(&folder, &run, &["a `file` of the plan", "packets.csv"]);
    }
    folder.laxity(&["run", "out/deep/plan.toml", "--out", "else"]).printed(0);
}

#[cfg(unix)]
#[test]
fn nor_through_links() {
    let links: [fn(&Folder); 3] = [
        |folder| fs::hard_link(folder.path("in.csv"), folder.path("out/packets.csv")).unwrap(),
        |folder| {
            std::os::unix::fs::symlink("../in.csv", folder.path("out/packets.csv")).unwrap();
        },
        |folder| {
            fs::rename(folder.path("in.csv"), folder.path("out/packets.csv")).unwrap();
            std::os::unix::fs::symlink("out/packets.csv", folder.path("in.csv")).unwrap();
        },
    ];
    for link in links {
        let folder = nested();
        link(&folder);
        let run = ["run", "plan.toml", "--arrivals", "in.csv", "--out", "out"];
        refused(&folder, &run, &["--arrivals, in.csv"]);
        folder.laxity(&["run", "plan.toml", "--arrivals", "in.csv", "--out", "else"]).printed(0);
    }
}

fn files(folder: &Folder, inner: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path(inner)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The files that the manifest of `out` names, itself included, which all are there.
fn named(folder: &Folder) -> BTreeSet<String> {
    let manifest = folder.json("out/manifest.json");
    let mut named = BTreeSet::from(["manifest.json".to_string()]);
    for file in manifest["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let length = folder.path(&format!("out/{name}")).metadata().unwrap().len();
        assert_eq!(file["bytes"], length, "{name}");
        named.insert(name.into());
    }
    named
}

const COMMANDS: [&[&str]; 4] = [
    &["run", "plan.toml", "--packets", "csv"],
    &["run", "plan.toml", "--packets", "parquet"],
    &["run", "plan.toml", "--packets", "none"],
    &["compare", "plan.toml", "--schedulers", "fifo,edf"],
];

#[test]
fn a_folder_holds_the_files_of_one_run_and_what_was_there_besides() {
    let foreign = ["notes.txt", "packets.pcap", ".hidden", "verdicts.json"];
    for (first, second) in COMMANDS.iter().flat_map(|a| COMMANDS.map(|b| (a, b))) {
        let folder = Folder::with_plan(PLAN);
        let out = ["--duration", "100ms", "--out", "out"];
        folder.laxity(&[first, &out[..]].concat()).printed(0);
        for name in foreign {
            fs::write(folder.path(&format!("out/{name}")), "mine").unwrap();
        }
        folder.laxity(&[second, &out[..]].concat()).printed(0);
        let mut expected = named(&folder);
        expected.extend(foreign.map(str::to_string));
        assert_eq!(files(&folder, "out"), expected, "{first:?}, then {second:?}");
    }
}

/// Whatever a manifest says, only what a run may have written goes, and only as it was written.
#[test]
fn a_manifest_does_not_have_other_files_removed() {
    let folder = Folder::with_plan(PLAN).with("beside.txt", "mine");
    folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--out", "out"]).printed(0);
    let mut manifest = folder.json("out/manifest.json");
    let file = |name: &str| json!({ "name": name, "bytes": 4 });
    let inner = folder.path("beside.txt").to_str().unwrap().to_string();
    manifest["files"] =
        ["mine.txt", "../beside.txt", &inner, "packets.parquet", "."].map(file).into();
    let folder = folder
        .with("out/manifest.json", manifest.to_string())
        .with("out/mine.txt", "mine")
        .with("out/packets.parquet", "my own");
    folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--out", "out"]).printed(0);
    assert_eq!(folder.text("out/mine.txt"), "mine");
    assert_eq!(folder.text("beside.txt"), "mine");
    assert_eq!(folder.text("out/packets.parquet"), "my own");
    // Of this size it is the file that the manifest tells of.
    let folder =
        folder.with("out/manifest.json", manifest.to_string()).with("out/packets.parquet", "ours");
    folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--out", "out"]).printed(0);
    assert!(!folder.path("out/packets.parquet").exists());
}

#[test]
fn a_folder_in_the_place_of_a_file_is_told_before_anything_is_moved() {
    let folder = Folder::with_plan(PLAN);
    let run = ["run", "plan.toml", "--duration", "100ms", "--out", "out"];
    folder.laxity(&[&run[..], &["--packets", "parquet"]].concat()).printed(0);
    fs::create_dir(folder.path("out/packets.csv")).unwrap();
    let before = folder.content();
    let ended = folder.laxity(&run);
    assert_eq!(ended.code, Some(3));
    assert!(ended.stderr.contains("packets.csv"), "{}", ended.stderr);
    assert!(folder.content() == before);
}

/// A run that is killed while it moves its files leaves them without a manifest, and the next run
/// clears what it and the run before it wrote.
#[test]
fn files_of_a_run_that_was_killed_while_it_published_do_not_stay() {
    let run = |folder: &Folder, packets: &str| {
        let run = ["run", "plan.toml", "--duration", "100ms", "--out", "out", "--packets", packets];
        folder.laxity(&run).printed(0);
    };
    let left = "out/.laxity-unfinished-killed";
    let folder = Folder::with_plan(PLAN);
    // Killed after the manifest of the earlier run was set aside.
    run(&folder, "parquet");
    fs::create_dir(folder.path(left)).unwrap();
    let earlier = format!("{left}/earlier-manifest.json");
    fs::rename(folder.path("out/manifest.json"), folder.path(&earlier)).unwrap();
    run(&folder, "csv");
    assert_eq!(files(&folder, "out"), named(&folder));
    // Killed after all but the manifest and the summary were moved; the summary is the user's.
    fs::create_dir(folder.path(left)).unwrap();
    for name in ["manifest.json", "summary.json"] {
        let to = format!("{left}/{name}");
        fs::rename(folder.path(&format!("out/{name}")), folder.path(&to)).unwrap();
    }
    run(&folder, "none");
    assert_eq!(files(&folder, "out"), named(&folder));
    // Killed when all was done but for clearing up.
    run(&folder, "csv");
    fs::create_dir(folder.path(left)).unwrap();
    fs::copy(folder.path("out/manifest.json"), folder.path(&earlier)).unwrap();
    let failing = ["run", "plan.toml", "--duration", "1ns", "--out", "out", "--seed", "-1"];
    refused(&folder, &failing, &["--seed"]);
    run(&folder, "csv");
    assert_eq!(files(&folder, "out"), named(&folder));
}
