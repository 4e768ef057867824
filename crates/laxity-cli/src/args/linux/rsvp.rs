//! `laxity rsvp` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use super::control::Instance;
use crate::args::value::duration;

/// `laxity rsvp`.
#[derive(Args, Debug)]
#[command(after_help = "\
This router's kernel forwards, and `laxity live PLAN --dev INTERFACE --reservations FILE` serves the link. Senders
describe their traffic and receivers ask for guaranteed service (RFC 2205, RFC 2210, RFC 2212). What is granted is a
class of that link with a deadline, an arrival curve and a match, held as long as it is refreshed; what is not is
answered with an error. Advertised are C = the sender's bucket, and D = the time of the link's largest packet, the
link's latency and --lateness.

SIGINT and SIGTERM end it, and what it reserved is given back. Needs CAP_NET_RAW; gives up all privileges once its
socket is open.

Example: laxity live uplink.toml --dev wan --reservations promised &
         laxity rsvp uplink.toml --dev wan

Guide: docs/reservations.md")]
pub(crate) struct Rsvp {
    /// The plan of the link.
    pub plan: PathBuf,
    /// The interface that the link is behind.
    #[arg(long = "dev", value_name = "INTERFACE")]
    pub interface: String,
    /// The mean time between two refreshes of a state, to neighbours.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub refresh: Nanos,
    /// By how much later packets may leave than the plan's link lets them, since the process that
    /// forwards may be late: a part of D.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1ms")]
    pub lateness: Nanos,
    #[command(flatten)]
    pub instance: Instance,
}
