//! README does what it says: every command of its blocks runs, and prints what the block shows.
//!
//! - A command is a line of a `sh` block, or one that begins with `$ ` in a `console` block, which shows
//!   behind it what is printed. A line `…` there stands for lines that are left out.
//! - `laxity …` and `cargo run --release -- …`, which is the same, run in one folder with the files of the
//!   examples, one after another as a reader would type them.
//! - Other commands of cargo build, install and test the workspace: what they name is looked for, and
//!   they are not run.
//! - `laxity bench`, `laxity reproduce` and `laxity live --demo` measure how fast this machine is, for minutes.
//!   They run with arguments that make them short, and no block may show what they print.

use std::fs;

use crate::folder::{Folder, repository};

/// A command and what is shown of what it prints.
struct Shown<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

/// What makes a command short whose output is of this machine.
const SHORTER: [(&str, &[&str]); 3] = [
    ("bench", &["--only", "fifo", "--classes", "1"]),
    ("live", &["--duration", "2s"]),
    ("reproduce", &["--seeds", "1", "--duration", "1s"]),
];

/// The capture that a reader has.
const CAPTURE: &str = "my-capture.pcapng";

#[test]
fn what_it_shows_is_printed() {
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let folder = as_cloned();
    let shown = shown(&readme);
    assert!(shown.iter().any(|shown| !shown.output.is_empty()), "no block shows any output");
    for Shown { command, output } in shown {
        let words: Vec<_> = command.split_whitespace().collect();
        match words[..] {
            ["laxity", ref arguments @ ..]
            | ["cargo", "run", "--release", "--", ref arguments @ ..] => {
                let short = SHORTER.iter().find(|(name, _)| *name == arguments[0]);
                let more = short.map_or(&[][..], |(_, more)| *more);
                assert!(short.is_none() || output.is_empty(), "`{command}` is shown with timings");
                let ended = folder.laxity(&[arguments, more].concat());
                if ended.code == Some(3) && arguments[0] == "live" {
                    eprintln!("SKIPPED: `{command}`: {}", ended.stderr);
                    continue;
                }
                // A plan that is not admitted, or a shortened figure, is an answer, too.
                assert!(matches!(ended.code, Some(0 | 1)), "`{command}`: {}", ended.stderr);
                if !output.is_empty() {
                    assert!(fits(&output, &ended.stdout), "`{command}` prints:\n{}", ended.stdout);
                }
            }
            ["cargo", ref arguments @ ..] => {
                let (named, is_there) = named(arguments);
                assert!(is_there, "`{command}`: there is no {named}");
            }
            _ => panic!("README has a command that this test does not know: `{command}`"),
        }
    }
}

#[test]
fn left_out_lines_are_any_and_others_are_not() {
    let printed = "one\ntwo  \nthree\nfour\n";
    assert!(fits(&["one", "two", "three", "four"], printed));
    assert!(fits(&["one", "…", "four"], printed));
    assert!(fits(&["…", "three", "…"], printed));
    assert!(!fits(&["one", "two", "three"], printed));
    assert!(!fits(&["one", "…", "two", "four"], printed));
}

/// The files that README's commands name, where they are after cloning.
fn as_cloned() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("examples")).unwrap();
    for file in fs::read_dir(repository("examples")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path("examples").join(file.file_name())).unwrap();
    }
    let recorded = fs::read(repository("examples/home-uplink.pcap")).unwrap();
    folder.with(CAPTURE, recorded)
}

/// The commands of all blocks of a text.
fn shown(text: &str) -> Vec<Shown<'_>> {
    let mut all: Vec<Shown<'_>> = Vec::new();
    let mut language = None;
    for line in text.lines() {
        match (language, line.strip_prefix("```")) {
            (None, Some(opened)) => language = Some(opened),
            (Some(_), Some(_)) => language = None,
            (Some("sh"), None) if !line.is_empty() => {
                all.push(Shown { command: line, output: Vec::new() });
            }
            (Some("console"), None) => match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown { command, output: Vec::new() }),
                (None, Some(shown)) => shown.output.push(line),
                (None, None) => panic!("a block begins with what is printed: {line}"),
            },
            _ => {}
        }
    }
    all
}

/// Whether that is printed, but for spaces at the ends of lines.
fn fits(shown: &[&str], printed: &str) -> bool {
    let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
    fits_lines(shown, &printed)
}

fn fits_lines(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        (["…", shown @ ..], _) => {
            (0..=printed.len()).any(|skipped| fits_lines(shown, &printed[skipped..]))
        }
        ([first, shown @ ..], [line, printed @ ..]) => first == line && fits_lines(shown, printed),
        (_, []) => false,
    }
}

/// What of the workspace a command of cargo names, and whether it is there.
fn named<'a>(arguments: &[&'a str]) -> (&'a str, bool) {
    let behind = |option| {
        let at = arguments.iter().position(|argument| *argument == option)?;
        arguments.get(at + 1).copied()
    };
    let is_file = |name: String| fs::exists(repository(&name)).unwrap();
    if let Some(path) = behind("--path") {
        return (path, is_file(format!("{path}/Cargo.toml")));
    }
    if let (Some(package), Some(example)) = (behind("-p"), behind("--example")) {
        let folder = format!("crates/{package}/examples/{example}");
        return (example, is_file(format!("{folder}.rs")) || is_file(format!("{folder}/main.rs")));
    }
    match arguments {
        ["xtask", step, ..] => {
            let known = fs::read_to_string(repository("xtask/src/main.rs")).unwrap();
            let variant = format!("Command::{}{}", step[..1].to_uppercase(), &step[1..]);
            (step, known.contains(&variant))
        }
        _ => panic!("README has a command of cargo that this test does not know: {arguments:?}"),
    }
}
