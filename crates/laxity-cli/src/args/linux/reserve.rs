//! `laxity reserve`, `release` and `reservations` on the command line.

use clap::Args;
use laxity::units::Nanos;

use super::control::Instance;
use crate::args::value::duration;

/// `laxity reserve`.
#[derive(Args, Debug)]
#[command(after_help = "\
The link runs with `laxity live PLAN --reservations FILE`, or routers do, with --port. A reservation is one more class
of the plan, whose match is tested before all others. It is granted if everything that is promised still holds with it, and at once on disk.

Exits with 1 if it is refused, and says what would fit.

Examples: laxity reserve call-7 --match 'udp dport 5004' --deadline 10ms --bucket 600b --rate 100kbit --packet 200b
          laxity reserve film --set 'weight=3' --match 'tcp sport 8080' --in 120min --for 90min
          laxity reserve call-8 --deadline 10ms --bucket 600b --rate 100kbit --hold 5s
          laxity reserve call-8 --commit
          laxity reserve film --change --set 'weight=5' --match 'tcp sport 8080'
          laxity reserve call-9 --path a,r1,r2,b --end-to-end 20ms --bucket 600b --rate 100kbit --packet 200b

Guide: docs/reservations.md")]
pub(crate) struct Reserve {
    /// Its name, and that of its class.
    pub name: String,
    /// The delay that it is promised.
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// In a network: the nodes of its path, or its two ends for the fastest one.
    #[arg(long, value_name = "NODE,NODE", value_delimiter = ',')]
    pub path: Vec<String>,
    /// In a network: the delay that it is promised from end to end. Where links serve by deadline
    /// it is split over them.
    #[arg(long, value_name = "TIME")]
    pub end_to_end: Option<String>,
    /// The size of its token bucket.
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub bucket: Option<String>,
    /// The rate of its token bucket.
    #[arg(long, value_name = "RATE", requires = "bucket")]
    pub rate: Option<String>,
    /// Its largest packet.
    #[arg(long, value_name = "SIZE", requires = "bucket")]
    pub packet: Option<String>,
    /// The packets that belong to it, in the words of plans.
    #[arg(long = "match", value_name = "EXPRESSION")]
    pub matching: Option<String>,
    /// Any other key of a class, such as weight=3 or curve=2mbit. The value is written as in a
    /// plan, or is a text without quotes.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// It begins so much later.
    #[arg(long = "in", value_name = "TIME", value_parser = duration)]
    pub ahead: Option<Nanos>,
    /// It ends by itself after this time. With --renew: from now on.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub lasts: Option<Nanos>,
    /// Only hold it: it ends after this time unless --commit comes before.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub hold: Option<Nanos>,
    /// Grant one that is held.
    #[arg(
        long,
        conflicts_with_all = ["deadline", "path", "end_to_end", "bucket", "matching", "set", "ahead", "lasts", "hold", "renew"]
    )]
    pub commit: bool,
    /// Give one that is there another class from now on: that of the other options. Its path stays.
    #[arg(long, conflicts_with_all = ["path", "ahead", "lasts", "hold", "commit", "renew"])]
    pub change: bool,
    /// Give one that is there another end: after --for, or none.
    #[arg(
        long,
        conflicts_with_all = ["deadline", "path", "end_to_end", "bucket", "matching", "set", "ahead", "hold"]
    )]
    pub renew: bool,
    #[command(flatten)]
    pub instance: Instance,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `laxity release`.
#[derive(Args, Debug)]
#[command(after_help = "\
Its packets go to other classes from then on. Its capacity may be promised again when nobody waits any longer
because of what it sent.

Example: laxity release call-7")]
pub(crate) struct Release {
    /// Its name.
    pub name: String,
    #[command(flatten)]
    pub instance: Instance,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `laxity reservations`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: laxity reservations")]
pub(crate) struct Reservations {
    #[command(flatten)]
    pub instance: Instance,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
