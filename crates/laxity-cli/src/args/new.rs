//! What `laxity new` takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use laxity::units::Rate;
use laxity_api::household::{AccessLink, Application, MOST_DEVICES};

use super::value::whole;

/// `laxity new`.
#[derive(Args, Debug)]
#[command(after_help = "\
Asks for what is not given, if it runs in a terminal. Writes up.toml and down.toml, which must not be there yet: shares
of the link for what has no deadline, and deadlines for what must not wait, the shortest of a few that are proved. A
link that is too small for what matters is said so, with what fits; nothing is written then, and the exit code is 1.

Links:    docsis, pppoe-ptm, bridged-ptm, fibre, pppoe, lte, ethernet, and the other words of tc-cake(8)
Matters:  calls, games, work, streaming, or none

Examples: laxity new
          laxity new --link docsis --up 20mbit --down 250mbit --for calls,games --hosts 4 --out /etc/laxity
          laxity new --from sqm /etc/config/sqm --yes
Guide:    docs/new.md")]
pub(crate) struct New {
    /// The link; its word says what it adds to every frame.
    #[arg(long, value_name = "LINK", conflicts_with = "from")]
    pub link: Option<AccessLink>,
    /// The rate of the link from here, such as 20mbit.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub up: Option<Rate>,
    /// The rate of the link to here.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub down: Option<Rate>,
    /// What matters, separated by commas.
    #[arg(long = "for", value_name = "WHAT", value_delimiter = ',', value_parser = matter)]
    pub applications: Option<Vec<Option<Application>>>,
    /// Devices that are in use at the same time.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_DEVICES.into()))]
    pub hosts: Option<u32>,
    /// Read the settings of a router that shapes its link: cake, sqm, qosify or qosmate, and the
    /// file; - reads standard input.
    #[arg(long, value_names = ["TOOL", "FILE"], num_args = 2)]
    pub from: Option<Vec<OsString>>,
    /// The folder for the plans.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Ask nothing: what is not given is ethernet, for calls, with 4 devices.
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON: where the plans are, and what is proved.
    #[arg(long)]
    pub json: bool,
}

/// The word for nothing that matters.
pub(crate) const NONE: &str = "none";

/// An application, or none.
pub(crate) fn matter(word: &str) -> Result<Option<Application>, String> {
    if word == NONE {
        return Ok(None);
    }
    word.parse().map(Some).map_err(|error| format!("{error}, or {NONE}"))
}
