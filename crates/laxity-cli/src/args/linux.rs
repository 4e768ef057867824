//! Commands of Linux on the command line.

mod apply;
mod control;
mod demo;
mod emulate;
mod import;
mod live;
mod reserve;
mod rsvp;
mod watch;

use clap::Subcommand;

pub(crate) use apply::Apply;
pub(crate) use control::{Instance, Monitoring, Status};
use control::{Reload, Top};
pub(crate) use emulate::Emulate;
pub(crate) use import::ImportKernel;
pub(crate) use live::{FrameBackend, Live, Running};
pub(crate) use reserve::{Release, Reservations, Reserve};
pub(crate) use rsvp::Rsvp;
pub(crate) use watch::Watch;

/// Commands of Linux.
#[derive(Debug, Subcommand)]
pub(crate) enum LinuxCommand {
    /// Forward the frames between two interfaces under a plan.
    Live(Live),
    /// Run a command behind a plan's link, with the wire that is behind it.
    Emulate(Emulate),
    /// Give a plan to the kernel's own disciplines at an interface.
    Apply(Apply),
    /// Print what a link is like that `live`, `watch` or `apply` is at.
    Status(Status),
    /// Have `live` read its plans again and follow them.
    Reload(Reload),
    /// Ask a running link for one more class, with a promise.
    Reserve(Reserve),
    /// Give a reservation back.
    Release(Release),
    /// List what is reserved on a running link.
    Reservations(Reservations),
    /// Take reservations by RSVP at a router, for a running link.
    Rsvp(Rsvp),
    /// Watch classes on a link: rates, queues, delays beside bounds.
    Top(Top),
    /// Measure any shaper from outside, beside a plan's bounds.
    Watch(Watch),
}
