//! What shows and controls running links on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use laxity_live::status::PastSpan;

use crate::args::value::duration;

/// Where a running link is shown, reported and controlled.
#[derive(Args, Debug)]
pub(crate) struct Monitoring {
    /// Show a page, the status as JSON and metrics for Prometheus over HTTP at this address, such
    /// as 9464 or 10.0.0.1:9464. A port alone is one of 127.0.0.1. Everyone who can reach the
    /// address sees all of it.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// The socket by which status, reload and top reach it [default: IN-OUT.sock, of routers that
    /// of the first and the last node, of watch IN-OUT.watch.sock, in $XDG_RUNTIME_DIR/laxity, or
    /// in /run/laxity].
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
    /// At the end, write a page with tables and figures into this file. One of this name that is
    /// there already is kept: the new one gets a number, as in report-2.html.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// An IP address and a port, or a port of this machine alone.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse();
    let near = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    port.map(near).or_else(|_| text.parse()).map_err(|_| {
        "write a port, as in 9464, or an IP address and a port, as in 10.0.0.1:9464 or [::1]:9464".into()
    })
}

/// Selects a running link.
#[derive(Args, Debug)]
pub(crate) struct Instance {
    /// The control socket of the running command [default: that of the only one that runs].
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
}

/// `laxity status`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 1 if packets took longer than their bound and what the link was late; under watch, than their bound.
With --dev: prints the kernel's counts of each class, without delays, beside the plan's promises. Exits with 1 if
the interface no longer has what was applied.

With --history: exits with 1 if packets took longer than their bound in that time.

Examples: laxity status --json
          laxity status --dev eth0 --over 1s
          laxity status --history uplink.history --back week")]
pub(crate) struct Status {
    #[command(flatten)]
    pub instance: Instance,
    /// The interface that `laxity apply` gave a plan to.
    #[arg(long = "dev", value_name = "INTERFACE", conflicts_with = "control")]
    pub interface: Option<String>,
    /// Look twice, so long apart, and tell the rates in between.
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "interface", allow_hyphen_values = true)]
    pub over: Option<laxity::units::Nanos>,
    /// Print the last hour, day or week of a link that is or was forwarded over with this history.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["control", "interface"])]
    pub history: Option<PathBuf>,
    /// How far back.
    #[arg(long, value_name = "TIME", default_value = "hour", requires = "history")]
    pub back: Span,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How far back a history is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Span {
    /// An hour, by seconds.
    Hour,
    /// A day, by ten seconds.
    Day,
    /// A week, by minutes.
    Week,
}

impl From<Span> for PastSpan {
    fn from(span: Span) -> Self {
        match span {
            Span::Hour => PastSpan::Hour,
            Span::Day => PastSpan::Day,
            Span::Week => PastSpan::Week,
        }
    }
}

/// `laxity reload`.
#[derive(Args, Debug)]
#[command(after_help = "\
What is queued goes on under the new plan. A plan that cannot be read or is not admitted changes nothing, and the
command exits with 1. `laxity watch` keeps its plan.

Example: laxity reload")]
pub(crate) struct Reload {
    #[command(flatten)]
    pub instance: Instance,
}

/// `laxity top`.
#[derive(Args, Debug)]
#[command(after_help = "\
Keys: left and right choose what classes are ordered by, up and down scroll, space changes between
delays of the last second and of all packets, f shows more hosts and flows or none, r reloads the
plans, q ends.

The bar shows how much of its bound the delay of a class uses: solid up to p99, shaded up to the
largest. Delays of the last second are estimates; those of all packets are exact.

Example: laxity top")]
pub(crate) struct Top {
    #[command(flatten)]
    pub instance: Instance,
}
