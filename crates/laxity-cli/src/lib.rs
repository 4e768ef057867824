//! The `laxity` command, run by the program of that name and by the module for Python.

mod args;
mod commands;
mod failure;
mod input;
mod interrupt;
#[cfg(target_os = "linux")]
mod linux;
mod output;
mod progress;
mod promises;
mod staging;
mod terminal;
mod trace_file;
mod traffic;

use std::ffi::OsString;

use clap::Parser;

use args::Arguments;
use laxity_report::visible::visible;
use promises::Promises;
use terminal::{print, print_json, show};

/// Carries a command line out, program first, and tells the exit code. Wrong usage ends the
/// process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    failure::wrap_for_terminals();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let arguments =
        Arguments::try_parse_from(&arguments).unwrap_or_else(|error| usage(&error, &arguments));
    match commands::run(&arguments.command) {
        Ok(promises) => promises.code(),
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
