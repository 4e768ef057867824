//! Networks in the files of other tools.

use std::path::PathBuf;

use clap::Args;
use laxity::units::{Nanos, Rate};

/// `laxity import saihu`, `laxity import wopanet`.
#[derive(Args, Debug)]
#[command(after_help = "\
What the file says in another way is listed on standard error. What a plan cannot say is refused.

Examples: laxity import saihu demo.json --out demo.toml
          laxity import wopanet network.xml | laxity check -")]
pub(crate) struct ImportNetwork {
    /// The network; - reads standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
}

/// `laxity import tsnkit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every stream becomes a class with a `gap` and an `end-to-end`, along the shortest path.

Example: laxity import tsnkit 1_task.csv 1_topo.csv --out streams.toml")]
pub(crate) struct ImportTsnkit {
    /// The streams: stream,src,dst,size,period,deadline,jitter.
    #[arg(value_name = "STREAMS")]
    pub streams: PathBuf,
    /// The links: link,q_num,rate,t_proc,t_prop.
    #[arg(value_name = "TOPOLOGY")]
    pub topology: PathBuf,
    /// The length of a time frame [default: the shortest that divides all periods and holds two of
    /// the largest packets].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub frame: Option<Nanos>,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
}

/// `laxity import vyos`.
#[derive(Args, Debug)]
#[command(after_help = "\
What the plan says in another way, or not at all, is listed on standard error and at the head of the plan.

Examples: laxity import vyos config.boot --out plan.toml
          show configuration commands | laxity import vyos - --policy WAN-OUT")]
pub(crate) struct ImportVyos {
    /// The configuration, as `set` commands or with braces; - reads standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The policy that is wanted [default: the one at the way out of an interface, or the only
    /// one].
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// The rate of the link, such as 10mbit [default: the policy's bandwidth].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub link_rate: Option<Rate>,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
}

/// `laxity import libreqos`.
#[derive(Args, Debug)]
#[command(after_help = "\
Writes down.toml and up.toml, which must not be there yet: nodes as a tree of H-FSC with their rates as limits, circuits
as its leaves, told by their addresses, with their minimum guaranteed and their maximum as a limit. Prints what each
circuit is guaranteed. Nodes below which more is to be guaranteed than they have are named. All errors of a file are
listed, each with its line and column.

Example: laxity import libreqos network.json ShapedDevices.csv --out plans
Guide:   docs/import.md")]
pub(crate) struct ImportLibreqos {
    /// The tree of nodes, network.json.
    #[arg(value_name = "NETWORK")]
    pub network: PathBuf,
    /// The circuits, ShapedDevices.csv.
    #[arg(value_name = "DEVICES")]
    pub devices: PathBuf,
    /// The folder for the plans.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// The rate of the link to the subscribers [default: that of the nodes at the top together].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub down: Option<Rate>,
    /// The rate of the link from the subscribers [default: that of the nodes at the top together].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub up: Option<Rate>,
    /// Print JSON: what each circuit is guaranteed, and the nodes.
    #[arg(long)]
    pub json: bool,
}

/// `laxity export saihu`, `laxity export wopanet`.
#[derive(Args, Debug)]
#[command(after_help = "\
What the file leaves out is listed on standard error. What it cannot say is refused: links that are not fifo, propagation,
and classes of several flows.

Examples: laxity export saihu network.toml --out network.json
          laxity export wopanet network.toml --out network.xml")]
pub(crate) struct ExportNetwork {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// Write into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `laxity export tsnkit`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: laxity export tsnkit frames.toml --streams 1_task.csv --topology 1_topo.csv"
)]
pub(crate) struct ExportTsnkit {
    /// The plan, with `kind = \"tdp\"`; - reads standard input.
    pub plan: PathBuf,
    /// Write the streams into this file, which must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub streams: PathBuf,
    /// Write the links into this file, which must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub topology: PathBuf,
}
