//! `laxity import tc --run`: what a script issues when its own shell runs it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use laxity_linux::jail::{Ending, Jail, Limits, Record, ScriptRun};
use laxity_tc::{Import, LARGEST_SCRIPT, Options, RecordedCommand, Recording, import_recording};

use crate::args::ImportTc;
use crate::failure::Failure;
use crate::input;

/// How many lines of what a script says are told.
const MOST_LINES: usize = 12;
/// The most signs of a line that are told.
const LONGEST: usize = 200;
/// What the kernel answers where the sandbox refuses something.
const REFUSED: [&str; 5] = [
    "Read-only file system",
    "Operation not permitted",
    "Permission denied",
    "Network is unreachable",
    "Function not implemented",
];

/// Runs the script, and imports what it issued. Also returns the name for messages.
pub(super) fn import(arguments: &ImportTc) -> Result<(Import, String), Failure> {
    if arguments.script == Path::new("-") {
        return Err(Failure::input(
            "--run needs the script as a file: its shell opens it by its name",
        ));
    }
    if fs::metadata(&arguments.script).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(Failure::input(format!(
            "{} is no file: --run needs the script as one, for its shell opens it by its name",
            input::shown(&arguments.script)
        )));
    }
    let name = input::shown(&arguments.script);
    let script = input::text(&arguments.script, LARGEST_SCRIPT as u64)?;
    let limits = Limits { time: Duration::from_nanos(arguments.run_limit.0), ..Limits::default() };
    let mut jail = Jail::new(&arguments.script).limits(limits);
    for argument in arguments.arguments.iter().chain(&arguments.words) {
        jail = jail.argument(argument);
    }
    for (name, value) in &arguments.variables {
        jail = jail.variable(name, value);
    }
    let ran = jail.run().map_err(Failure::system)?;
    let remarks = told(&ran, limits.time);
    let commands = ran.records.into_iter().map(recorded).collect();
    let options = Options {
        link_rate: arguments.link_rate,
        device: arguments.dev.clone(),
        ..Options::default()
    };
    let recording = Recording { script: &script, commands, remarks };
    Ok((import_recording(&recording, &name, &options)?, name))
}

fn recorded(record: Record) -> RecordedCommand {
    RecordedCommand { words: record.words, input: record.input, at: record.at }
}

/// What is to be said of a run.
fn told(ran: &ScriptRun, limit: Duration) -> Vec<String> {
    let mut told = vec![format!(
        "the script ran in a sandbox, as root by its own account, with no variables but those of --set: it issued {} commands. \
         What else it read is this machine's, and may be different on another",
        ran.records.len()
    )];
    let seconds = limit.as_secs_f64();
    told.extend(match ran.ending {
        Ending::Exited(0) => None,
        Ending::Exited(status) => Some(format!("the script ended with status {status}")),
        Ending::Signal(signal) => Some(format!("the script was ended by signal {signal}")),
        Ending::Time => Some(format!(
            "the script was ended after {seconds} s, the limit: what it would have issued later is missing. Give it more with --run-limit"
        )),
        Ending::Memory => Some("the script was ended, for it took more memory than it may".into()),
        Ending::Processes => {
            Some("the script was ended, for it started more processes than it may".into())
        }
    });
    if ran.left_running {
        told.push("the script left processes running, which were ended".into());
    }
    if ran.full {
        told.push("the script issued more than is recorded: the rest is missing".into());
    }
    let said = String::from_utf8_lossy(&ran.said);
    let mut lines: Vec<&str> = Vec::new();
    for line in said.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !lines.contains(&line) && lines.len() <= MOST_LINES {
            lines.push(line);
        }
    }
    for line in lines.iter().take(MOST_LINES) {
        let who = if REFUSED.iter().any(|refused| line.contains(refused)) {
            "the sandbox refused something, and the script said"
        } else {
            "the script said"
        };
        let shown: String = line.chars().take(LONGEST).collect();
        told.push(format!("{who} `{}`", shown.replace(char::is_control, " ")));
    }
    if lines.len() > MOST_LINES {
        told.push("the script said more than that".into());
    }
    told
}
