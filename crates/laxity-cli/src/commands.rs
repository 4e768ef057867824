//! One file a command.

#[cfg(target_os = "linux")]
mod apply;
mod bench;
mod check;
mod compare;
#[cfg(target_os = "linux")]
mod demo;
mod export;
mod fit;
#[cfg(target_os = "linux")]
mod forwarding;
mod import;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod reload;
mod replay;
#[cfg(feature = "papers")]
mod reproduce;
#[cfg(target_os = "linux")]
mod routers;
mod run;
mod seeds;
#[cfg(target_os = "linux")]
mod status;
mod sweep;
#[cfg(target_os = "linux")]
mod top;
mod tune;
#[cfg(target_os = "linux")]
mod watch;

use clap::CommandFactory;

#[cfg(target_os = "linux")]
use crate::args::LinuxCommand;
use crate::args::{Arguments, Command, Completions, Manual};
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<Promises, Failure> {
    match command {
        Command::Check(check) => check::run(check),
        Command::Run(run) => run::run(run),
        Command::Compare(compare) => compare::run(compare),
        Command::Sweep(sweep) => sweep::run(sweep),
        Command::Tune(tune) => tune::run(tune),
        #[cfg(target_os = "linux")]
        Command::Linux(command) => run_linux(command),
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

#[cfg(target_os = "linux")]
fn run_linux(command: &LinuxCommand) -> Result<Promises, Failure> {
    match command {
        LinuxCommand::Live(live) => live::run(live),
        LinuxCommand::Apply(apply) => apply::run(apply),
        LinuxCommand::Status(status) => status::run(status),
        LinuxCommand::Reload(reload) => reload::run(&reload.instance),
        LinuxCommand::Top(top) => top::run(&top.instance),
        LinuxCommand::Watch(watch) => watch::run(watch),
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
