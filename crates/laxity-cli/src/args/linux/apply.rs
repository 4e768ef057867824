//! `laxity apply` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use crate::args::export::Kernel;
use crate::args::value::duration;

/// `laxity apply`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity apply plan.toml --dev eth0 --dry-run
          laxity apply up.toml --dev eth0 --ingress down.toml --confirm 30s
          laxity apply --undo --dev eth0

Prints the difference between interface and plan and changes only that: + is added, ~ is changed in place, - is
taken away. The interface ends with the old set-up or the new, also if the kernel refuses a step or this process
is killed. With --ingress, frames that arrive are led to a device of the kind ifb, whose discipline they wait in;
what others have for arriving frames is not touched, but refused. With --confirm, press Enter or run `laxity apply --keep`: for changes over the very link that is
changed. Applied are only plans whose promises `laxity check --for linux` proves; without --offload the interface
is asked for it. Needs CAP_NET_ADMIN.

Guide: docs/linux.md")]
pub(crate) struct Apply {
    /// The plan; - reads standard input.
    #[arg(required_unless_present_any = ["undo", "keep", "guard"])]
    pub plan: Option<PathBuf>,
    /// The interface.
    #[arg(long = "dev", value_name = "INTERFACE")]
    pub interface: String,
    /// A plan for what arrives there. Without one, what holds for that stays as it is.
    #[arg(long, value_name = "PLAN", requires = "plan")]
    pub ingress: Option<PathBuf>,
    /// Print the difference and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Do also what drops packets that wait.
    #[arg(long)]
    pub drop_queues: bool,
    /// Put the old set-up back after this time, such as 30s, unless someone confirms.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub confirm: Option<Nanos>,
    /// Confirm what was applied with --confirm.
    #[arg(long, conflicts_with_all = ["plan", "undo", "dry_run", "drop_queues", "confirm"])]
    pub keep: bool,
    /// Give the interface back what it had before the last `laxity apply`.
    #[arg(long, conflicts_with = "plan")]
    pub undo: bool,
    /// Give it back what it had before the first of all that were applied since.
    #[arg(long, requires = "undo")]
    pub all: bool,
    #[command(flatten)]
    pub kernel: Kernel,
    /// Print the difference as JSON.
    #[arg(long)]
    pub json: bool,
    /// Be the process that ends what another began.
    #[arg(long, hide = true, conflicts_with_all = ["plan", "undo", "keep"])]
    pub guard: bool,
}
