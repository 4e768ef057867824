//! One file a command.

mod bench;
mod check;
mod compare;
mod export;
mod fit;
mod import;
mod new;
mod replay;
#[cfg(feature = "papers")]
mod reproduce;
mod run;
mod seeds;
mod sweep;
mod tune;
mod why;

use clap::CommandFactory;

use crate::args::{Arguments, Command, Completions, Manual};
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<Promises, Failure> {
    match command {
        Command::New(new) => new::run(new),
        Command::Check(check) => check::run(check),
        Command::Run(run) => run::run(run),
        Command::Compare(compare) => compare::run(compare),
        Command::Why(why) => why::run(why),
        Command::Sweep(sweep) => sweep::run(sweep),
        Command::Tune(tune) => tune::run(tune),
        #[cfg(target_os = "linux")]
        Command::Linux(command) => crate::linux::run(command),
        Command::Replay(replay) => replay::run(replay),
        Command::Fit(fit) => fit::run(fit),
        Command::Import { from } => import::run(from),
        Command::Export { to } => export::run(to),
        #[cfg(feature = "papers")]
        Command::Reproduce(reproduce) => reproduce::run(reproduce),
        Command::Bench(bench) => bench::run(bench),
        Command::Schema(_) => schema(),
        Command::Completions(completions) => self::completions(completions),
        Command::Manual(manual) => self::manual(manual),
    }
}

/// `laxity schema`.
fn schema() -> Result<Promises, Failure> {
    print_json(&laxity_plan::schema())?;
    Ok(Promises::Kept)
}

/// `laxity completions`.
fn completions(arguments: &Completions) -> Result<Promises, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "laxity", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Promises::Kept)
}

/// `laxity manual`.
fn manual(arguments: &Manual) -> Result<Promises, Failure> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| Failure::unwritable(folder, &error))?;
    Ok(Promises::Kept)
}
