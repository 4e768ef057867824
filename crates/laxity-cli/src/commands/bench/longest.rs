//! The longest operation, in instructions: of a process that is watched step by step.

use std::fmt::Display;
use std::process::Command;

use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_report::{quantity, table};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::Serialize;

use super::natural::Driver;
use super::timing::Mode;
use crate::args::Case;
use crate::failure::Failure;

/// Operations that are watched.
const OPERATIONS: usize = 100;
/// How far time jumps before them.
const JUMP: Nanos = Nanos(3_600_000_000_000);
/// An operation that takes more is not watched to its end.
const MOST: u64 = 1_000_000;
/// The watched process raises this signal where an operation begins.
const BEGINS: Signal = Signal::SIGUSR1;

/// What one packet out and one in takes, in instructions.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Longest {
    discipline: String,
    classes: u32,
    /// None above [`MOST`].
    longest: Option<u64>,
    median: Option<u64>,
}

/// What the watched process does.
pub(super) fn perform<S: Scheduler>(scheduler: S, classes: u32) {
    let mut driver = Driver::new(scheduler, classes, Mode::Together);
    for _ in 0..2 * classes.max(1_000) {
        driver.turn();
    }
    driver.wait(JUMP);
    let begins = |signal| raise(signal).expect("it may signal itself");
    ptrace::traceme().expect("whoever started it watches");
    begins(Signal::SIGSTOP);
    // What the telling takes is known from the first two.
    begins(BEGINS);
    begins(BEGINS);
    for _ in 0..OPERATIONS {
        driver.turn();
        begins(BEGINS);
    }
}

/// Watches a process that performs so.
pub(super) fn watch(case: Case, classes: u32) -> Result<Longest, Failure> {
    let discipline = case.name();
    let program = std::env::current_exe().map_err(refused)?;
    let mut command = Command::new(program);
    command.args(["bench", "--watched", "--only", &discipline]);
    let process = command.args(["--classes", &classes.to_string()]).spawn().map_err(refused)?;
    let mut steps = steps_of(Pid::from_raw(process.id().cast_signed())).map_err(refused)?;
    let told = steps.first().copied().unwrap_or_default();
    let is_whole = steps.len() > OPERATIONS;
    let mut steps: Vec<_> = steps.drain(..).skip(1).map(|steps| steps - told.min(steps)).collect();
    steps.sort_unstable();
    let longest = steps.last().copied().filter(|_| is_whole);
    let median = is_whole.then(|| steps[steps.len() / 2]);
    Ok(Longest { discipline, classes, longest, median })
}

/// The instructions between two signals that an operation begins, for as long as there are any.
fn steps_of(process: Pid) -> nix::Result<Vec<u64>> {
    let (mut all, mut steps, mut has_begun) = (Vec::new(), 0, false);
    loop {
        match waitpid(process, None)? {
            WaitStatus::Stopped(_, BEGINS) => {
                all.extend(has_begun.then_some(steps));
                (steps, has_begun) = (0, true);
            }
            WaitStatus::Stopped(_, Signal::SIGTRAP | Signal::SIGSTOP) => steps += 1,
            WaitStatus::Stopped(_, signal) => {
                ptrace::step(process, signal)?;
                continue;
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Ok(all),
            _ => {}
        }
        if steps > MOST {
            ptrace::kill(process)?;
        } else {
            ptrace::step(process, None)?;
        }
    }
}

fn refused(why: impl Display) -> Failure {
    Failure::system(format!("no process can be watched step by step: {why}"))
}

/// For people.
pub(super) fn text(figures: &[Longest]) -> String {
    let count = |number: Option<u64>| {
        number.map_or_else(|| format!("above {}", quantity::count(MOST)), quantity::count)
    };
    let row = |figure: &Longest| {
        let classes = quantity::count(figure.classes.into());
        vec![figure.discipline.clone(), classes, count(figure.median), count(figure.longest)]
    };
    let rows: Vec<_> = figures.iter().map(row).collect();
    let header = ["discipline", "classes", "median [instructions]", "longest [instructions]"];
    format!(
        "{}\n\nOne packet out and one in, {OPERATIONS} times after an hour in which nothing was asked for: all classes \
         wake at one instant.",
        table::table(&header, &rows)
    )
}
