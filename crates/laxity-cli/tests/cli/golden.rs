//! Compares every output of every plan of the repository with a recorded one, byte for byte.
//!
//! `golden/outputs.txt` has a line for each output: its length, its SHA-256, and the command that
//! made it. `golden/texts` holds some outputs as texts, so that a diff shows what a change alters.
//! After an intended change, `LAXITY_RECORD=1 cargo test -p laxity-cli --test cli golden` writes
//! all of them again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use crate::folder::{Folder, repository};
use crate::new::CABLE;
use crate::schedulers;

const GOLDEN: &str = include_str!("golden/outputs.txt");
/// Where outputs that differ are put to be looked at.
const ACTUAL: &str = "target/golden";

/// Traffic for so long: enough for every kind of row, and seconds for all plans together.
const DURATIONS: [(&str, &str); 8] = [
    ("papers/low-delay-best-effort/", "20s"),
    ("papers/edf-choke/", "4s"),
    ("papers/tdp/", "2s"),
    ("papers/hfsc/", "2s"),
    ("papers/dwcs/", "4s"),
    ("examples/dumbbell", "7s"),
    ("examples/backbone", "1s"),
    ("examples/", "3s"),
];

/// Files of papers that hold times which were taken by a clock.
const CLOCKED: [&str; 6] = [
    "dwcs/figure-5a.svg",
    "dwcs/figure-5b.svg",
    "dwcs/figure-6.svg",
    "dwcs/verdicts.json",
    "hfsc/figure-13.svg",
    "hfsc/verdicts.json",
];

/// Outputs that are kept as texts: a kind of proof, run, table or file each.
const TEXTS: [&str; 24] = [
    "examples/home-uplink.toml why home-uplink.toml --slowest 2 --duration 3s",
    "examples/two-hops.toml why two-hops.toml --slowest 2 --duration 3s",
    "examples/home-uplink.toml check home-uplink.toml",
    "examples/home-uplink.toml check home-uplink.toml --json",
    "examples/home-uplink.toml check home-uplink.toml --scheduler hfsc",
    "examples/home-uplink.toml check home-uplink.toml --scheduler hfsc --json",
    "examples/home-uplink.toml run home-uplink.toml --out out --duration 3s",
    "examples/home-uplink.toml run home-uplink.toml --out out --duration 3s: out/summary.json",
    "examples/home-uplink.toml compare home-uplink.toml --schedulers \
     fifo,hfsc,drr,edf,edf/two-line,dwcs --out compared --duration 3s",
    "examples/gateway.toml check gateway.toml",
    "examples/media-server.toml check media-server.toml --scheduler dwcs/deadline-first --json",
    "examples/media-server.toml run media-server.toml --out out --duration 3s",
    "examples/media-server.toml run media-server.toml --seeds 3 --out several --duration 3s",
    "examples/time-frames.toml check time-frames.toml",
    "examples/time-frames.toml check time-frames.toml --json",
    "examples/two-hops.toml check two-hops.toml",
    "examples/two-hops.toml check two-hops.toml --json",
    "examples/two-hops.toml run two-hops.toml --out out --duration 3s",
    "examples/two-hops.toml run two-hops.toml --out out --duration 3s: out/summary.json",
    "examples/dumbbell.toml run dumbbell.toml --out out --duration 7s",
    "fit home-uplink.toml",
    "import tc gateway.tc --out imported.toml: imported.toml",
    "import libreqos village-network.json village-devices.csv --out village",
    "new --link docsis --up 10mbit --down 100mbit --for calls,games --hosts 4 --out household: household/up.toml",
];

/// Outputs by the command that made them.
type Outputs = BTreeMap<String, Vec<u8>>;

#[test]
fn outputs_are_as_before() {
    let plans = plans();
    let (next, outputs) = (AtomicUsize::new(0), Mutex::new(Outputs::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let of_plan = of_plan(plan);
                    outputs.lock().unwrap().extend(of_plan);
                }
            });
        }
    });
    let mut outputs = outputs.into_inner().unwrap();
    outputs.extend(of_no_plan());
    let lines: Vec<String> = outputs.iter().map(|(name, bytes)| line(name, bytes)).collect();
    if std::env::var_os("LAXITY_RECORD").is_some() {
        for name in TEXTS {
            fs::write(text_file(name), &outputs[name]).unwrap();
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(repository("crates/laxity-cli/tests/cli/golden/outputs.txt"), text).unwrap();
        return;
    }
    let mut differ = String::new();
    for name in TEXTS {
        let file = text_file(name);
        if !fs::read(&file).is_ok_and(|text| text == outputs[name]) {
            writeln!(differ, "{name}: see {} beside {file}", keep(name, &outputs[name])).unwrap();
        }
    }
    for ((name, bytes), line) in outputs.iter().zip(&lines) {
        if !GOLDEN.lines().any(|golden| golden == line) {
            writeln!(differ, "{name}: see {}", keep(name, bytes)).unwrap();
        }
    }
    assert!(differ.is_empty(), "outputs are not as they were:\n{differ}");
    assert_eq!(GOLDEN.lines().count(), lines.len(), "there are fewer outputs than before");
}

/// Where an output is kept as a text.
fn text_file(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || ".-".contains(c) { c } else { '_' };
    let file: String = name.chars().map(plain).collect();
    repository(&format!("crates/laxity-cli/tests/cli/golden/texts/{file}"))
}

fn line(name: &str, bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    });
    format!("{:>9} {digest} {name}", bytes.len())
}

/// Puts an output where it can be compared with another.
fn keep(name: &str, bytes: &[u8]) -> String {
    let folder = repository(ACTUAL);
    fs::create_dir_all(&folder).unwrap();
    let file = format!("{folder}/{}", name.replace(['/', ' '], "_"));
    fs::write(&file, bytes).unwrap();
    file
}

/// The plans of examples and papers, as they are named in the repository.
fn plans() -> Vec<String> {
    let mut plans = Vec::new();
    let papers = fs::read_dir(repository("papers")).unwrap();
    let papers = papers.map(|paper| format!("papers/{}", paper.unwrap().file_name().display()));
    for folder in papers.chain(["examples".to_string()]) {
        for file in fs::read_dir(repository(&folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".toml") && name != "claims.toml" && !name.ends_with("-study.toml") {
                plans.push(format!("{folder}/{name}"));
            }
        }
    }
    plans
}

fn of_plan(plan: &str) -> Outputs {
    let place = Place::of(plan);
    let file = Path::new(plan).file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(repository(plan)).unwrap();
    let duration = DURATIONS.iter().find(|(of, _)| plan.starts_with(of));
    let lasts: Vec<&str> = duration.map_or(vec![], |(_, duration)| vec!["--duration", duration]);
    let mut outputs = Outputs::new();
    let mut run = |arguments: &[&str]| outputs.extend(place.run(plan, arguments));
    run(&["check", file]);
    run(&["check", file, "--json"]);
    let is_network = text.contains("\n[network");
    let framed = text.contains("kind = \"tdp\"");
    for scheduler in schedulers().iter().filter(|_| !framed) {
        run(&["check", file, "--scheduler", scheduler]);
        run(&["check", file, "--scheduler", scheduler, "--json"]);
    }
    run(&[&["run", file, "--out", "out"], &lasts[..]].concat());
    run(&[&["run", file, "--json", "--seed", "2"], &lasts[..]].concat());
    if !text.contains("model = \"capture\"") {
        run(&[&["run", file, "--seeds", "3", "--out", "several"], &lasts[..]].concat());
    }
    if plan.starts_with("examples/") {
        run(&[&["why", file, "--slowest", "2"], &lasts[..]].concat());
    }
    if !framed {
        let kinds =
            if is_network { "fifo,edf,drr,wf2q" } else { "fifo,hfsc,drr,edf,edf/two-line,dwcs" };
        let compare = ["compare", file, "--schedulers", kinds, "--out", "compared"];
        run(&[&compare[..], &lasts[..]].concat());
        run(&[&["compare", file, "--json", "--schedulers", kinds], &lasts[..]].concat());
    }
    outputs
}

/// What commands say that need no plan, and importing.
fn of_no_plan() -> Outputs {
    let place = Place::of("examples/gateway.toml");
    let mut outputs = Outputs::new();
    let commands: [&[&str]; 7] = [
        &["schema"],
        &["import", "tc", "gateway.tc", "--out", "imported.toml"],
        &["import", "tc", "gateway.tc"],
        &["fit", "home-uplink.toml"],
        &["fit", "home-uplink.toml", "--json"],
        &["import", "libreqos", "village-network.json", "village-devices.csv", "--out", "village"],
        &[&CABLE[..], &["--out", "household"]].concat(),
    ];
    commands.iter().for_each(|command| outputs.extend(place.run("", command)));
    for paper in ["low-delay-best-effort", "edf-choke", "hfsc", "dwcs", "tdp"] {
        let repeated = ["reproduce", paper, "--seeds", "2", "--duration", "2s", "--out", "papers"];
        // What is printed says how long it took.
        let files = place.run("", &repeated).into_iter().filter(|(name, _)| name.contains(": "));
        outputs.extend(files.filter(|(name, _)| !CLOCKED.iter().any(|file| name.ends_with(file))));
    }
    outputs
}

/// A copy of the folder of a plan, to run the command in.
struct Place(Folder);

impl Place {
    fn of(plan: &str) -> Place {
        let mut place = Folder::new();
        let from = Path::new(plan).parent().unwrap();
        for file in fs::read_dir(repository(from.to_str().unwrap())).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_str().unwrap();
                place = place.with(name, fs::read(&path).unwrap());
            }
        }
        Place(place)
    }

    /// Runs a command; what it printed, how it ended, and the files that it wrote.
    fn run(&self, plan: &str, arguments: &[&str]) -> Outputs {
        let before = self.0.content();
        let ended = self.0.laxity(arguments);
        let name = format!("{plan} {}", arguments.join(" ")).trim().to_string();
        let printed = format!("{}{}exit code {:?}\n", ended.stdout, ended.stderr, ended.code);
        let mut outputs = Outputs::from([(name.clone(), printed.into_bytes())]);
        for (path, bytes) in self.0.content() {
            let file = path.strip_prefix(self.0.path("")).unwrap().display().to_string();
            // The manifest names the program as it was called.
            let is_manifest = file.ends_with("manifest.json");
            if let Some(bytes) = bytes.filter(|_| !is_manifest && !before.contains_key(&path)) {
                outputs.insert(format!("{name}: {file}"), bytes);
            }
        }
        outputs
    }
}
