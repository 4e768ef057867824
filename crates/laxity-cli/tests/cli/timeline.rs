//! The timeline of a page, as a browser shows it and as readers move over it.

use std::fs;

use serde_json::Value;

use crate::folder::{Folder, repository};
use crate::pages::{browser, look};

/// What the browser is told to do.
const DRIVE: &str = include_str!("timeline/drive.js");
/// The largest report of an example, in bytes.
const LARGEST: u64 = 1_000_000;

const PLANS: [(&str, &str); 9] = [
    ("home-uplink", ""),
    ("two-hops", "2s"),
    ("time-frames", "1s"),
    ("dumbbell", "6s"),
    ("why/long-packet", ""),
    ("why/eligible", ""),
    ("why/excess", ""),
    ("why/overload", ""),
    ("why/regulator", ""),
];

/// What the page says of the slowest measured packet of each class is what `laxity why` says.
#[test]
fn the_timeline_of_a_report_says_what_why_says() {
    let Some(browser) = browser() else {
        return eprintln!(
            "SKIPPED: the timeline is looked at in Chromium, and there is none on the path"
        );
    };
    let folder = Folder::new();
    for (name, duration) in PLANS {
        let plan = repository(&format!("examples/{name}.toml"));
        let out = name.replace('/', "-");
        let lasts: &[&str] = if duration.is_empty() { &[] } else { &["--duration", duration] };
        let run = ["run", &plan, "--out", &out, "--packets", "none"];
        let ended = folder.laxity(&[&run[..], lasts].concat());
        assert!(matches!(ended.code, Some(0 | 1)), "{name}: {}", ended.stderr);
        let said = driven(&folder, browser, &format!("{out}/report.html"));
        let classes = said["classes"].as_array().unwrap();
        assert!(!classes.is_empty(), "{name}");
        for class in classes {
            let why = ["why", &plan, "--slowest", "2000", "--json", "--class"];
            let asked = [&why[..], &[class["class"].as_str().unwrap()], lasts].concat();
            let ended = folder.laxity(&asked);
            let why: Value = serde_json::from_str(&ended.stdout).unwrap();
            // It is not the slowest of all where one of the warm-up was slower.
            let mut packets = why["packets"].as_array().unwrap().iter();
            let packet = packets.find(|packet| packet["delay_ns"] == class["delay"]);
            is_what_why_says(name, class, packet.unwrap_or_else(|| panic!("{name}: {class}")));
        }
    }
}

fn is_what_why_says(plan: &str, class: &Value, packet: &Value) {
    let number = |value: &Value| value.as_u64().unwrap();
    let hops = packet["hops"].as_array().unwrap();
    let parts = hops.iter().flat_map(|hop| {
        let output = hop["output"].as_str();
        let part = move |part: &Value| {
            let place = output.map(str::to_string);
            let cause = part["sentence"].as_str().unwrap().to_string();
            (place.into_iter().chain([cause]).collect::<Vec<_>>(), number(&part["time_ns"]))
        };
        hop["parts"].as_array().unwrap().iter().map(part)
    });
    let mut expected: Vec<_> = parts.collect();
    let cells = |row: &Value| -> Vec<String> {
        row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_string()).collect()
    };
    let times = class["times"].as_array().unwrap().iter().map(number);
    let mut said: Vec<_> =
        class["causes"].as_array().unwrap().iter().map(cells).zip(times).collect();
    expected.sort();
    said.sort();
    assert_eq!(said, expected, "{plan}: {class}");
    assert_eq!(said.iter().map(|(_, time)| time).sum::<u64>(), number(&class["delay"]));
}

#[test]
fn a_page_of_a_million_packets_opens_at_what_was_asked_for_and_moves_fluently() {
    let Some(browser) = browser() else {
        return eprintln!(
            "SKIPPED: the timeline is looked at in Chromium, and there is none on the path"
        );
    };
    let folder = Folder::new();
    let plan = repository("papers/low-delay-best-effort/plan.toml");
    let why = ["why", &plan, "--duration", "816s", "--slowest", "2", "--out", "."];
    let ended = folder.laxity(&[&why[..], &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let why: Value = serde_json::from_str(&ended.stdout).unwrap();
    let said = driven(&folder, browser, "why.html");
    assert!(said["packets"].as_u64().unwrap() > 950_000, "{said}");
    let opened = said["opened"].as_str().unwrap();
    assert!(opened.starts_with(&format!("Packet {} of", why["packets"][0]["seq"])), "{opened}");
    let mut frames: Vec<_> =
        said["frames"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    eprintln!("median times of frames in ms: {frames:?}");
    frames.sort_by(f64::total_cmp);
    assert!(frames[frames.len() / 2] < 16.0, "{frames:?}");
}

#[test]
fn reports_of_examples_are_small() {
    let folder = Folder::new();
    let files = fs::read_dir(repository("examples")).unwrap();
    let mut plans = 0;
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_string();
        if !name.ends_with(".toml") || name.contains("study") || name == "live-ring.toml" {
            continue;
        }
        plans += 1;
        let plan = file.to_str().unwrap();
        let ended = folder.laxity(&["run", plan, "--out", &name, "--packets", "none"]);
        assert!(matches!(ended.code, Some(0 | 1)), "{name}: {}", ended.stderr);
        let size = fs::metadata(folder.path(&format!("{name}/report.html"))).unwrap().len();
        eprintln!("{name}: {size} bytes");
        assert!(size < LARGEST, "{name}: {size} bytes");
    }
    assert!(plans >= 8, "{plans}");
}

/// What the timeline of a page says while it is driven.
fn driven(folder: &Folder, browser: &str, page: &str) -> Value {
    let wrapper = format!(
        "<!doctype html><meta charset=utf-8><body><iframe src='{page}' width=1400 height=1000>\
         </iframe><pre></pre><script>{DRIVE}</script>"
    );
    fs::write(folder.path("drive.html"), wrapper).unwrap();
    let said = look(browser, folder, "drive.html", &[]);
    let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["error"], Value::Null, "{page}: {}", said["error"]);
    assert_eq!(said["problems"].as_array().unwrap(), &Vec::<Value>::new(), "{page}");
    said
}

#[test]
fn a_page_is_never_written_over_the_plan() {
    let plan = fs::read_to_string(repository("examples/why/long-packet.toml")).unwrap();
    let folder = Folder::new().with("why.html", &plan);
    let ended = folder.laxity(&["why", "why.html", "--out", "."]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("why.html"), "{}", ended.stderr);
    assert_eq!(folder.text("why.html"), plan);
    assert!(!folder.path("causes.svg").exists());
}
