//! The `laxity` command, for whoever starts it: the program of that name, or a module of Python.

mod args;
mod commands;
mod failure;
mod input;
mod interrupt;
#[cfg(target_os = "linux")]
mod measured;
mod output;
mod progress;
mod promises;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod sight;
mod staging;
mod terminal;
mod traffic;

use std::ffi::OsString;

use clap::Parser;

use args::{Arguments, Command};
use laxity_report::visible::visible;
use promises::Promises;
use terminal::{print, print_json};

/// Carries a command line out, program first, and tells the exit code. Wrong usage ends the
/// process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    failure::wrap_for_terminals();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let arguments =
        Arguments::try_parse_from(&arguments).unwrap_or_else(|error| usage(&error, &arguments));
    let done = match &arguments.command {
        Command::Check(check) => commands::check::run(check),
        Command::Run(run) => commands::run::run(run),
        Command::Compare(compare) => commands::compare::run(compare),
        #[cfg(target_os = "linux")]
        Command::Live(live) => commands::live::run(live),
        #[cfg(target_os = "linux")]
        Command::Apply(apply) => commands::apply::run(apply),
        #[cfg(target_os = "linux")]
        Command::Status(status) => commands::status::run(status),
        #[cfg(target_os = "linux")]
        Command::Reload(reload) => commands::reload::run(&reload.asked),
        #[cfg(target_os = "linux")]
        Command::Top(top) => commands::top::run(&top.asked),
        #[cfg(target_os = "linux")]
        Command::Watch(watch) => commands::watch::run(watch),
        Command::Fit(fit) => commands::fit::run(fit),
        Command::Import { from } => commands::import::run(from),
        Command::Export { to } => commands::export::run(to),
        Command::Sweep(sweep) => commands::sweep::run(sweep),
        Command::Tune(tune) => commands::tune::run(tune),
        Command::Replay(replay) => commands::replay::run(replay),
        #[cfg(feature = "papers")]
        Command::Reproduce(reproduce) => commands::reproduce::run(reproduce),
        Command::Bench(bench) => commands::bench::run(bench),
        Command::Schema(_) => commands::schema(),
        Command::Completions(completions) => commands::completions(completions),
        Command::Manual(manual) => commands::manual(manual),
    };
    match done {
        Ok(kept) => kept as u8,
        Err(failure) => failure.report(),
    }
}

/// Ends the command as `clap` does. Its colours are lost where an argument might bring its own.
fn usage(error: &clap::Error, arguments: &[OsString]) -> ! {
    let plain =
        |argument: &OsString| visible(&argument.to_string_lossy()) == argument.to_string_lossy();
    if arguments.iter().all(plain) {
        error.exit()
    }
    terminal::remark(&error.render().to_string());
    std::process::exit(error.exit_code())
}
