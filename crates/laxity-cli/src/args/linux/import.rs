//! `laxity import kernel` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Rate;

/// `laxity import kernel`.
#[derive(Args, Debug)]
#[command(after_help = "\
Names and contracts of a plan come back, too, if `laxity apply` gave it to the interface. The interface stays as it is.

Example: laxity import kernel --dev eth0 --out plan.toml")]
pub(crate) struct ImportKernel {
    /// The interface.
    #[arg(long, value_name = "IF")]
    pub dev: String,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
    /// The rate of the link, such as 10mbit [default: that of its token bucket, or of the one class
    /// at the top].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub link_rate: Option<Rate>,
}
