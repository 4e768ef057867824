//! Links so fast that delays are of a microsecond and less: no time loses its digits.

use std::path::Path;

use laxity_plan::Plan;
use serde_json::Value;

use crate::folder::{Folder, repository};
use crate::kinds;

/// A link at 100 Gbit/s under a discipline.
fn link(kind: &str) -> String {
    let promised = |name: &str, more: &str| {
        format!(
            "[class.{name}]\ndeadline = '40us'\n{more}\n\
             arrival = {{ bucket = '9kB', rate = '10gbit', packet = '1500b' }}\n\
             [[source]]\nclass = '{name}'\nmodel = 'poisson'\nrate = '5gbit'\npacket = '1500b'\n"
        )
    };
    let of = match kind {
        "hfsc" => "curve = '20gbit'",
        "dwcs" => "gap = '3us'\nloss = '1/80'",
        _ => "",
    };
    let of = if kind == "dwcs" {
        promised("voice", of).replace("deadline = '40us'\n", "")
    } else {
        promised("voice", of) + &promised("video", of)
    };
    let rest = if kind == "hfsc" { "curve = '10gbit'" } else { "" };
    format!(
        "version = 1\nlink = {{ rate = '100gbit', max-packet = '1500b' }}\nscheduler.kind = '{kind}'\n\
         run.duration = '300us'\n{of}[class.rest]\n{rest}\n\
         [[source]]\nclass = 'rest'\nmodel = 'poisson'\nrate = '80gbit'\npacket = '1500b'\n"
    )
}

/// Two such links in a row.
fn network(kind: &str) -> String {
    let path = |text: &str, class: &str| {
        let source = format!("class = '{class}'\nmodel");
        text.replace(&source, &format!("path = ['a', 'b', 'c']\n{source}"))
    };
    let text = ["voice", "video", "rest"].iter().fold(link(kind), |text, class| path(&text, class));
    text + "[network.one]\nbetween = ['a', 'b']\n[network.two]\nbetween = ['b', 'c']\n"
}

/// The example's hall with links a thousand times as fast, and frames as much shorter.
fn hall() -> String {
    let text = std::fs::read_to_string(repository("examples/time-frames.toml")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.contains(".clock"));
    let text = lines.collect::<Vec<_>>().join("\n");
    // So that some transfers come to their end.
    let text =
        text.replace("model = \"tcp\"", "model = \"tcp\"\ntransfer = \"10kB\"\nevery = \"20ms\"");
    // In this order, so that nothing becomes faster twice.
    let faster = [("mbit\"", "gbit\""), ("kbit\"", "mbit\""), ("us\"", "ns\""), ("ms\"", "us\"")];
    faster.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

const STUDY: &str = "version = 1\nplan = 'plan.toml'\nseeds = 2\n\
                     [grid]\n'class.voice.deadline' = ['40us', '60us']\nscheduler = ['edf', 'fifo']\n";

/// What is written of a time: a number that is nothing but zeros, which no time is that is not
/// none.
fn zeros(text: &str) -> Vec<&str> {
    let is_zero = |word: &&str| {
        let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
        digits.contains('.') && digits.chars().all(|c| c == '0' || c == '.')
    };
    text.split(|c: char| c.is_whitespace() || c == '\u{a0}' || "<>".contains(c))
        .filter(is_zero)
        .collect()
}

fn look(text: &str, what: &[&str]) {
    assert_eq!(zeros(text), [""; 0], "{what:?}: {text}");
    for head in [" ms ", "[ms]", ", ms\n"] {
        assert!(!text.contains(head), "{what:?} has a column of{head}: {text}");
    }
}

/// What stands in the tables of a report and under the pointer; the axis of a chart may begin at
/// 0.0.
fn cells(report: &str) -> String {
    let parts = report.split('<').filter_map(|part| {
        let (tag, text) = part.split_once('>')?;
        let name = tag.split_whitespace().next()?;
        ["th", "td", "title", "span"].contains(&name).then_some(text)
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// All that a command says, on the terminal and in its report.
fn told(folder: &Folder, command: &[&str]) -> String {
    let ended = folder.laxity(&[command, &["--out", "out"]].concat());
    assert!(matches!(ended.code, Some(0 | 1)), "{command:?}: {}", ended.stderr);
    look(&ended.stdout, command);
    look(&cells(&folder.text("out/report.html")), command);
    ended.stdout
}

#[test]
fn no_time_is_printed_as_zero() {
    for kind in kinds() {
        let folder = Folder::with_plan(&link(kind)).with("study.toml", STUDY);
        let run = told(&folder, &["run", "plan.toml"]);
        as_measured(&run, &folder.json("out/summary.json"));
        told(&folder, &["run", "plan.toml", "--seeds", "2"]);
        told(&folder, &["compare", "plan.toml", "--schedulers", "fifo,edf"]);
        look(&folder.laxity(&["check", "plan.toml"]).stdout, &["check", kind]);
        let plan = Plan::parse(&link(kind), "plan.toml", Path::new("")).unwrap();
        if plan.bounds().iter().any(Result::is_ok) {
            told(&folder, &["check", "plan.toml", "--worst-case", "--packets", "2000"]);
        }
        if kind == "edf" {
            told(&folder, &["sweep", "study.toml"]);
        }
    }
}

#[test]
fn nor_of_networks() {
    for (plan, has_limits) in [(network("edf"), true), (network("wfq"), true), (hall(), false)] {
        let folder = Folder::with_plan(&plan);
        let run = ["run", "plan.toml", "--duration", "300us"];
        told(&folder, &run);
        told(&folder, &[&run[..], &["--seeds", "2"]].concat());
        told(&folder, &[&["compare"], &run[1..], &["--schedulers", "fifo,wfq"]].concat());
        let check = folder.laxity(&["check", "plan.toml"]);
        look(&check.stdout, &["check"]);
        assert!(check.stdout.contains("µs"), "{}", check.stdout);
        if has_limits {
            let limits = folder.laxity(&["check", "plan.toml", "--limits"]).printed(0);
            look(&limits, &["limits"]);
            told(&folder, &["check", "plan.toml", "--worst-case", "--packets", "2000"]);
        }
    }
}

/// What the table of classes says is what the summary says.
fn as_measured(printed: &str, summary: &Value) {
    let header = printed.lines().find(|line| line.starts_with("class")).unwrap();
    let unit = header.split_whitespace().skip_while(|word| *word != "min").nth(1).unwrap();
    let nanos = ["ns", "µs", "ms"].iter().position(|known| *known == unit).unwrap();
    let nanos = 1000f64.powi(i32::try_from(nanos).unwrap());
    for class in summary["classes"].as_array().unwrap() {
        let name = class["name"].as_str().unwrap();
        let row = printed.lines().find(|line| line.starts_with(name)).unwrap();
        let cells: Vec<&str> = row.split_whitespace().skip(6).collect();
        let delay = |of: &str| class["delay_ns"][of].as_f64();
        let times = ["min", "mean", "p50", "p99", "p99_9", "max"].map(delay);
        let promises = ["bound_ns", "deadline_ns"].map(|of| class[of].as_f64());
        assert!(times[0].is_some(), "{name} sent nothing: {printed}");
        for (cell, time) in cells.iter().zip(times.into_iter().chain(promises)) {
            let shown = cell.trim_end_matches('!').parse::<f64>().ok().map(|shown| shown * nanos);
            let is_same = match (shown, time) {
                (Some(shown), Some(time)) => (shown / time - 1.0).abs() < 0.001,
                (shown, time) => shown.is_none() && time.is_none(),
            };
            assert!(is_same, "{name}: {cell} {unit} of {time:?} in {printed}");
        }
    }
}
