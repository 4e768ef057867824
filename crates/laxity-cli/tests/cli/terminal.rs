//! What a person sees: commands under a pseudo-terminal, made by `script` of util-linux.

use std::fs;
use std::process::Command;

use crate::folder::{Folder, repository};

const RED: &str = "\u{1b}[31m";
const RESET: &str = "\u{1b}[0m";

/// What a command writes to a terminal of `columns`; `None` where no terminal can be made.
fn on_a_terminal(arguments: &str, columns: u32, settings: &str) -> Option<String> {
    let folder = Folder::new();
    let laxity = env!("CARGO_BIN_EXE_laxity");
    let shell = format!("stty cols {columns} rows 50 && {settings} {laxity} {arguments}");
    let script = Command::new("script")
        .args(["-qefc", &shell, "/dev/null"])
        .current_dir(folder.path(""))
        .output();
    let Ok(output) = script else {
        eprintln!("skipped: util-linux's `script` is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

/// Every line fits, and nothing is to be seen of instructions for the terminal.
fn is_a_screen(text: &str, columns: usize, case: &str) {
    assert!(!text.is_empty(), "{case}");
    let shown = |c: char| ('\u{2400}'..='\u{2426}').contains(&c);
    assert!(!text.contains(shown), "{case}: {text}");
    let tables = text.lines().filter(|line| line.contains('─'));
    let width = |line: &str| line.trim_end().chars().count();
    assert!(tables.map(width).all(|width| width <= columns), "{case}: {text}");
}

/// Numbers that break promises are red, and without colours the same text is there.
#[test]
fn alarms_are_red_where_there_are_colours() {
    let plan = repository("examples/home-uplink.toml");
    for command in [
        format!("run {plan} --scheduler fifo --duration 1s"),
        format!("compare {plan} --schedulers fifo,edf --duration 1s"),
    ] {
        for columns in [80, 200] {
            let Some(painted) = on_a_terminal(&command, columns, "TERM=xterm-256color") else {
                return;
            };
            let Some(plain) = on_a_terminal(&command, columns, "NO_COLOR=1 TERM=xterm-256color")
            else {
                return;
            };
            let results = |text: &str| {
                text.lines().filter(|line| line.contains('!')).collect::<Vec<_>>().join("\n")
            };
            assert!(
                painted.contains(RED) && !results(&plain).contains('\u{1b}'),
                "{command}: {painted}"
            );
            let washed = painted.replace(RED, "").replace(RESET, "");
            assert_eq!(results(&washed), results(&plain), "{command}");
            let screen = plain.rsplit("\u{1b}[K").next().unwrap_or_default();
            is_a_screen(screen, columns as usize, &command);
        }
    }
}

/// Every example is proved on terminals that are narrow and wide.
#[test]
fn examples_fit_on_terminals() {
    for entry in fs::read_dir(repository("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if !name.ends_with(".toml") || name.contains("study") {
            continue;
        }
        for columns in [80, 200] {
            let Some(text) = on_a_terminal(&format!("check {name}"), columns, "TERM=xterm") else {
                return;
            };
            is_a_screen(&text, columns as usize, &name);
        }
    }
}
