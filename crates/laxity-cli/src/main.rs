//! The `laxity` command.

mod args;
mod commands;
mod failure;
mod output;
mod progress;
mod traffic;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    failure::wrap_for_terminals();
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Check(check) => commands::check::run(check),
        Command::Run(run) => commands::run::run(run),
        Command::Compare(compare) => commands::compare::run(compare),
        Command::Fit(fit) => commands::fit::run(fit),
        Command::Import { from } => commands::import::run(from),
        Command::Reproduce(reproduce) => commands::reproduce::run(reproduce),
        Command::Bench(bench) => commands::bench::run(bench),
        Command::Schema(_) => commands::schema(),
    };
    match done {
        Ok(kept) => kept.into(),
        Err(failure) => failure.report(),
    }
}

/// What a command that ran came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promises {
    /// Every promise was kept: exit code 0.
    Kept,
    /// A plan does not fit, a deadline was missed or a figure lies outside its tolerance: exit
    /// code 1.
    Broken,
}

impl Promises {
    fn kept_if(kept: bool) -> Promises {
        if kept { Promises::Kept } else { Promises::Broken }
    }
}

impl From<Promises> for ExitCode {
    fn from(promises: Promises) -> ExitCode {
        ExitCode::from(promises as u8)
    }
}

/// Prints a result. A reader that has gone away, such as `head`, is no failure.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout().lock(), "{}", text.trim_end()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::refused("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&json(value))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results have string keys")
}
