//! The `laxity` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    laxity_cli::run(std::env::args_os()).into()
}
