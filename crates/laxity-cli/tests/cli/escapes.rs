//! Characters that a terminal would obey, from everywhere that text comes from.

use std::fs;
use std::ops::Range;

use serde_json::Value;

use crate::bad_input::PLAN;
use crate::folder::{Folder, repository};
use crate::packets::BUSY;

/// Sets a title, clears the screen, rings, goes back, turns letters around and breaks lines.
const HARMFUL: &str =
    "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{90}\u{8}\r\u{7f}\u{202e}\u{2066}\u{200f}\u{2028}\0";

/// Those of its characters that TOML lets stand in a string as they are.
const STANDING: &str = "\u{9b}31m\u{90}\u{202e}\u{2066}\u{200f}\u{2028}";

fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n') || HARMFUL.contains(c) && !c.is_ascii_graphic()
}

fn assert_harmless(text: &str, of: impl std::fmt::Debug) {
    let found = text.char_indices().find(|(_, c)| is_harmful(*c));
    if let Some((at, c)) = found {
        let from = text.floor_char_boundary(at.saturating_sub(80));
        panic!("{c:?} in the output of {of:?}: {:?}", &text[from..at + c.len_utf8()]);
    }
}

/// What commands are given a plan with.
const COMMANDS: [&str; 11] = [
    "check plan.toml",
    "check plan.toml --json",
    "run plan.toml --duration 60ms",
    "run plan.toml --duration 60ms --json",
    "run plan.toml --duration 60ms --out out",
    "compare plan.toml --duration 60ms --schedulers fifo,edf --out out",
    "compare plan.toml --duration 60ms --schedulers fifo,edf --json",
    "fit plan.toml",
    "fit plan.toml --arrivals in.csv",
    "fit plan.toml --arrivals in.csv --json",
    "import tc plan.toml",
];

/// What a command prints and writes of a plan.
fn harmless_through(command: &str, folder: &Folder, case: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let ended = folder.laxity(&words);
    assert_harmless(&ended.stdout, (command, case));
    assert_harmless(&ended.stderr, (command, case));
    for file in ["out/report.html", "out/delays.svg"] {
        if let Ok(text) = fs::read_to_string(folder.path(file)) {
            assert_harmless(&text, (file, case));
        }
    }
    let _ = fs::remove_dir_all(folder.path("out"));
}

/// The places between quotes and the bare words before `=` or between brackets, comments left out.
fn places(plan: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let (mut at, mut quoted) = (0, None);
    for line in plan.split_inclusive('\n') {
        let end = line.find(" #").unwrap_or(line.len());
        for (inner, c) in line[..end].char_indices() {
            let here = at + inner;
            match (c, quoted) {
                ('"', None) => quoted = Some(here + 1),
                ('"', Some(from)) => {
                    places.push(from..here);
                    quoted = None;
                }
                _ => {}
            }
        }
        let key = line.find(['=', ']']).filter(|_| !line.starts_with('#'));
        places.extend(key.map(|key| at + key..at + key));
        at += line.len();
    }
    places
}

#[test]
fn a_plan_with_harmful_characters_in_every_string() {
    let plans = [
        format!("title = \"a title\"\n{BUSY}"),
        format!(
            "title = \"a title\"\n{}",
            fs::read_to_string(repository("examples/two-hops.toml")).unwrap()
        ),
        fs::read_to_string(repository("examples/gps-over-edf.toml")).unwrap(),
    ];
    let escaped: String = HARMFUL.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    for (number, plan) in plans.iter().enumerate() {
        for (turn, place) in places(plan).into_iter().enumerate() {
            // In turns, for there are many: escaped, standing, and as no TOML may have them.
            let harm = [escaped.as_str(), STANDING, HARMFUL][turn % 3];
            let mut harmful = plan.clone();
            harmful.insert_str(place.end, harm);
            let folder =
                Folder::with_plan(&harmful).with("in.csv", "time_ns,class,length\n5,web,100\n");
            let case = format!("plan {number}, {place:?}, {harm:?}");
            // All commands read plans alike, so they take turns.
            harmless_through(COMMANDS[turn % COMMANDS.len()], &folder, &case);
        }
        // All names at once, of classes, nodes, links and in the title, so that it is a plan.
        let mut harmful = plan.replace("title = \"", &format!("title = \"{escaped}"));
        for name in ["voice", "video", "web", "bulk", "silent", "core", "edge", "calls", "data"] {
            let turned = format!("\"\u{202e}{name}\u{2066}\"");
            harmful = harmful.replace(&format!("\"{name}\""), &turned);
            harmful = harmful.replace(&format!(".{name}]"), &format!(".{turned}]"));
        }
        let folder = Folder::with_plan(&harmful)
            .with("in.csv", "time_ns,class,length\n5,\u{202e}web\u{2066},100\n");
        for command in COMMANDS {
            harmless_through(command, &folder, &format!("plan {number}, all names"));
        }
    }
}

#[test]
fn json_keeps_what_the_terminal_is_not_shown() {
    let title: String = HARMFUL.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let name = "\u{202e}voice\u{2066}";
    let plan = format!("title = \"{title}\"\n{BUSY}")
        .replace("[class.voice]", &format!("[class.\"{name}\"]"));
    let plan = plan.replace("class = \"voice\"", &format!("class = \"{name}\""));
    let folder = Folder::with_plan(&plan);
    let run = ["run", "plan.toml", "--duration", "400ms", "--json", "--out", "out"];
    let ended = folder.laxity(&run);
    assert_harmless(&ended.stdout, run);
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&printed["title"], &printed["classes"][0]["name"]),
        (&HARMFUL.into(), &name.into())
    );
    assert_eq!(printed, folder.json("out/summary.json"));
    assert!(folder.text("out/packets.csv").contains(name));
    let text = folder.laxity(&["run", "plan.toml", "--duration", "400ms"]).stdout;
    assert!(text.starts_with("␛]0;x␇␛[2J<U+009B>31m"), "{text}");
    // One line, whatever it holds.
    let broken = format!("title = \"one\\nAdmitted. Every deadline holds.\"\n{BUSY}");
    let folder = Folder::with_plan(&broken);
    for command in [&["check", "plan.toml"][..], &["run", "plan.toml", "--duration", "400ms"]] {
        let text = folder.laxity(command).stdout;
        assert!(text.starts_with("one␊Admitted. Every deadline holds.\n"), "{text}");
    }
}

#[test]
fn recordings_scripts_names_and_arguments() {
    let folder = Folder::with_plan(PLAN);
    let csvs = [
        format!("{HARMFUL},class,length\n"),
        format!("time_ns,class,length\n5,{HARMFUL},100\n"),
        format!("time_ns,class,length\n{HARMFUL},voice,100\n"),
    ];
    for csv in csvs {
        let folder = Folder::with_plan(PLAN).with("in.csv", csv);
        for command in COMMANDS {
            harmless_through(command, &folder, "csv");
        }
    }
    let script = "tc qdisc add dev eth0 root handle 1: htb default 10\n\
        RATE=10mbit\n\
        tc class add dev eth0 parent 1: classid 1:10 htb rate $RATE # voice\n\
        tc filter add dev eth0 protocol ip u32 match ip dport 4000 0xffff flowid 1:10\n";
    let words = script.match_indices([' ', '\n']).map(|(at, _)| at);
    for (at, harm) in words.flat_map(|at| [STANDING, HARMFUL, "\u{1b}[31m"].map(|harm| (at, harm)))
    {
        let mut harmful = script.to_string();
        harmful.insert_str(at, harm);
        let folder = Folder::new().with("script.sh", harmful);
        for out in [&[][..], &["--out", "plan.toml"]] {
            let ended = folder.laxity(&[&["import", "tc", "script.sh"], out].concat());
            assert_harmless(&ended.stdout, (at, harm));
            assert_harmless(&ended.stderr, (at, harm));
        }
    }
    // No argument holds a zero.
    let harm = HARMFUL.trim_end_matches('\0');
    let commands: [&[&str]; 12] = [
        &[harm],
        &["check", harm],
        &["check", "plan.toml", harm],
        &["check", "plan.toml", "--scheduler", harm],
        &["run", "plan.toml", "--arrivals", harm],
        &["run", "plan.toml", "--duration", harm],
        &["run", "plan.toml", "--packets", harm],
        &["compare", "plan.toml", "--schedulers", harm],
        &["import", "tc", harm],
        &["reproduce", harm],
        &["bench", "--only", harm],
        &["run", "plan.toml", "--duration", "100ms", "--out", harm],
    ];
    for command in commands {
        let ended = folder.laxity(command);
        assert_harmless(&ended.stdout, command);
        assert_harmless(&ended.stderr, command);
    }
}

#[test]
fn colours_of_our_own_stay() {
    let folder = Folder::with_plan(&PLAN.replace("10mbit", &format!("1{STANDING}0mbit")));
    let output = folder.command(&["check", "plan.toml"]).env("FORCE_COLOR", "1").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("\u{1b}["), "no colours: {text:?}");
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        assert_harmless(&rest[..at], "colours");
        let end = rest[at..].find('m').unwrap();
        let colour = &rest[at + 2..at + end];
        assert!(colour.chars().all(|c| c.is_ascii_digit() || c == ';'), "{colour:?}");
        rest = &rest[at + end + 1..];
    }
    assert_harmless(rest, "colours");
    // The place is still the one that is wrong.
    assert!(text.contains("plan.toml:3:8"), "{text}");
}
