//! The commands of Linux, and what they share.

mod apply;
mod control_socket;
mod demo;
mod emulate;
mod forwarding;
mod kernel;
mod live;
mod measurement;
mod past;
mod reload;
mod report;
mod reserve;
mod routers;
mod rsvp;
mod status;
mod top;
mod watch;

use std::process::Command;

use laxity_kernel::apply::ApplyError;
use laxity_live::LiveError;
use laxity_live::archive::ArchiveError;
use laxity_live::reservations::JournalError;

use crate::Promises;
use crate::args::LinuxCommand;
use crate::failure::Failure;

/// Carries a command out.
pub(crate) fn run(command: &LinuxCommand) -> Result<Promises, Failure> {
    match command {
        LinuxCommand::Live(live) => live::run(live),
        LinuxCommand::Emulate(emulate) => emulate::run(emulate),
        LinuxCommand::Apply(apply) => apply::run(apply),
        LinuxCommand::Status(status) => status::run(status),
        LinuxCommand::Reload(reload) => reload::run(&reload.instance),
        LinuxCommand::Reserve(arguments) => reserve::reserve(arguments),
        LinuxCommand::Release(arguments) => reserve::release(arguments),
        LinuxCommand::Reservations(arguments) => reserve::list(arguments),
        LinuxCommand::Rsvp(arguments) => rsvp::run(arguments),
        LinuxCommand::Top(top) => top::run(&top.instance),
        LinuxCommand::Watch(watch) => watch::run(watch),
    }
}

/// This program, as it is started again for a guardian.
fn own_command() -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "laxity".into());
    let is_python =
        program.file_name().is_some_and(|name| name.to_string_lossy().contains("python"));
    let mut command = Command::new(program);
    if is_python {
        command.args(["-m", "laxity"]);
    }
    command
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Plan(error) => Failure::input(error),
            error @ (LiveError::OneInterface(_)
            | LiveError::Cgroup { .. }
            | LiveError::Network
            | LiveError::OneLink
            | LiveError::XdpRouters
            | LiveError::RouterArrivals
            | LiveError::XdpWire
            | LiveError::UnequalThreads(..)
            | LiveError::HostThreads
            | LiveError::LedgerThreads
            | LiveError::ArrivingRate
            | LiveError::UnheardRate
            | LiveError::NoReservations
            | LiveError::Overhead { .. }
            | LiveError::Reservations { .. }
            | LiveError::Journal(JournalError::Damaged { .. })
            | LiveError::History(ArchiveError::NoHistory(_))) => Failure::input(error),
            error => Failure::system(error),
        }
    }
}

impl From<ApplyError> for Failure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::NothingToUndo(_) => Failure::input(error),
            ApplyError::System(error) if error.is_missing() => Failure::input(error),
            error => Failure::system(error),
        }
    }
}
