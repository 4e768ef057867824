//! The report of a link: written at the end, in a file that is there from the start.

use std::fs;
use std::time::Duration;

use laxity_report::link::{ClassReport, Delays, LinkReport, WayReport, html};

use crate::folder::Folder;
use crate::live::PLAN;
use crate::live::link::Link;

#[test]
fn a_report_says_what_was_measured_under_each_plan() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut link) = Link::start(&folder, &["--report", "report.html"]) else { return };
    link.pass(0, 5000, 20);
    fs::write(folder.path("plan.toml"), PLAN.replace("10ms", "20ms")).unwrap();
    link.running.signal("-HUP");
    link.says("the plan is reloaded");
    link.pass(0, 5000, 30);
    assert_eq!(fs::read_to_string(folder.path("report.html")).unwrap(), "");
    let printed = link.end();
    assert!(printed.ends_with("Report: report.html\n"), "{printed}");
    let report = fs::read_to_string(folder.path("report.html")).unwrap().replace('\u{a0}', " ");
    assert_eq!(report.matches("out: edf/exact at 20 Mbit/s").count(), 2, "{report}");
    for wanted in ["a → b", "call 10 ms", "call 20 ms", "Admission", "Waking up was at most"] {
        assert!(report.contains(wanted), "{wanted} in {report}");
    }
}

/// A burst over a slow link leaves one frame after the other. As it arrived, it waits as long when
/// it is simulated.
#[test]
fn what_was_captured_as_it_arrived_is_repeated() {
    let plan =
        PLAN.replace("20mbit", "400kbit").replace("2mbit", "20kbit").replace("10ms", "900ms");
    let plan = plan + "match = 'any'\n";
    let delays = |at: &str| {
        let folder = Folder::with_plan(&plan);
        let captured = ["--capture", "frames.pcapng", "--capture-at", at];
        let link = Link::start(&folder, &captured)?;
        link.offer(0, 6000, 60);
        std::thread::sleep(Duration::from_millis(300));
        link.end();
        let repeat = ["run", "plan.toml", "--arrivals", "frames.pcapng", "--sort", "--json"];
        let run = folder.laxity(&repeat).json(0);
        let rest = &run["classes"][1];
        assert!(rest["arrived"].as_u64().unwrap() >= 60, "{run}");
        Some((rest["delay_ns"]["p50"].as_u64().unwrap(), rest["delay_ns"]["max"].as_u64().unwrap()))
    };
    let Some((departure, arrival)) = delays("departure").zip(delays("arrival")) else { return };
    // A frame of 142 bytes takes 2.8 ms, 60 of them 170.
    assert!(departure.0 < 6_000_000, "{departure:?}");
    assert!(arrival.0 > 60_000_000 && arrival.1 > 130_000_000, "{arrival:?}");
}

/// A service that is killed is started again with the same options, and what was written before is
/// kept.
#[test]
fn what_was_killed_begins_again() {
    let folder = Folder::with_plan(PLAN);
    let written = ["--report", "report.html", "--capture", "frames.pcapng", "--ledger", "books"];
    for _ in 0..5 {
        let Some(mut link) = Link::start(&folder, &written) else { return };
        link.running.signal("-KILL");
        assert!(!link.running.0.wait().unwrap().success());
    }
    let printed = Link::start(&folder, &written).unwrap().end();
    assert!(printed.ends_with("Report: report-6.html\n"), "{printed}");
    assert!(fs::read_to_string(folder.path("report-6.html")).unwrap().contains("Admission"));
    assert_eq!(fs::read_to_string(folder.path("report.html")).unwrap(), "");
    assert!(folder.path("frames-6.pcapng").exists());
    assert_eq!(fs::read_dir(folder.path("books")).unwrap().count(), 6);
}

/// Before anything is forwarded or watched; and what is bad leaves nothing behind.
#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::with_plan(PLAN);
    fs::write(folder.path("notes.txt"), "mine").unwrap();
    fs::write(folder.path("bad.toml"), "version = ").unwrap();
    for command in ["live", "watch"] {
        let run = |plan: &str, to: &str, report: &str| {
            folder.laxity(&[command, plan, "--in", "lo", "--out", to, "--report", report])
        };
        let ended = run("plan.toml", "lo", "nowhere/r.html");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains("No such file") && ended.stderr.contains("--report"));
        for ended in [run("bad.toml", "lo", "r.html"), run("plan.toml", "nowhere", "r.html")] {
            assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        }
        let socket = ["--control", "notes.txt"];
        let arguments = [command, "plan.toml", "--in", "lo", "--out", "lo", "--report", "r.html"];
        assert_eq!(folder.laxity(&[&arguments[..], &socket].concat()).code, Some(3));
        assert!(!folder.path("r.html").exists(), "{command}");
    }
    assert_eq!(fs::read_to_string(folder.path("notes.txt")).unwrap(), "mine");
}

/// Reports of a link with more and longer of everything than anyone has, and of a link that is
/// there, if one may be had.
pub(crate) fn samples(folder: &Folder) -> Vec<String> {
    fs::write(folder.path("odd-link.html"), html(&odd())).unwrap();
    let mut reports = vec!["odd-link.html".to_string()];
    let of_link = Folder::with_plan(PLAN);
    let path = folder.path("link.html");
    if let Some(link) = Link::start(&of_link, &["--report", path.to_str().unwrap()]) {
        link.pass(0, 5000, 100);
        link.end();
        reports.push("link.html".into());
    }
    reports
}

fn odd() -> LinkReport {
    let delays = Delays {
        min: 1,
        mean: 5e6,
        p50: 4_000_000,
        p99: 9_999_999,
        p99_9: 11_000_000,
        max: 123_456_789_012,
    };
    let class = |at: u64| ClassReport {
        name: if at.is_multiple_of(7) {
            "unbroken".repeat(8)
        } else {
            format!("WWWWWWWWWWWWW number {at}")
        },
        arrived: 1_234_567_890 * at,
        sent: 1_234_567_890,
        unsent: ["lost", "forgotten", "queue-full"].map(|why| (why.to_string(), at)).into(),
        throughput_bps: 1e9 / (at + 1) as f64,
        delay: (!at.is_multiple_of(5)).then_some(delays),
        deadline_ns: at.is_multiple_of(2).then_some(10_000_000 + 97_000 * at),
        bound_ns: (!at.is_multiple_of(3)).then_some(9_000_000 + 97_000 * at),
        bound_misses: at % 4,
        spread: (1..200).map(|step| (step * step * (1_000 + 10 * at), 300 - step)).collect(),
        bytes: (0..480).map(|step| (step * at * 997) % 10_000).collect(),
    };
    let way = |title: &str, classes: Vec<ClassReport>| WayReport {
        title: title.into(),
        kept: false,
        headline: Some("9 packets took longer than their bound.".into()),
        remarks: vec!["At the busiest, 20 Mbit/s left for 100 ms.".into(); 3],
        admission: None,
        late: Some(delays),
        measured: "from one tap to the other",
        unsent: "lost",
        rate_bps: 20_000_000,
        duration_ns: 48_000_000_000,
        interval_ns: 100_000_000,
        classes,
    };
    LinkReport {
        title: "untitled".repeat(20),
        facts: vec![("Interfaces", format!("{0} → {0}", "x".repeat(15)))],
        remarks: vec!["Lost at a: 3 missed, 4 unreadable.".into()],
        ways: vec![
            way("out: edf/exact at 20 Mbit/s", (0..60).map(class).collect()),
            way("back: fifo at 20 Mbit/s", vec![ClassReport::default()]),
        ],
    }
}
