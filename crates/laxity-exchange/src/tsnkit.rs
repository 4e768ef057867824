//! The CSV files of tsnkit (Xue et al. 2024): streams, and the links between their nodes; plans of
//! time-driven priority.
//!
//! A stream is a packet every `period` from `src` to `dst`, which is to be there within `deadline`;
//! times are in nanoseconds, sizes in bytes. A link has a `rate` in bits a nanosecond, a processing
//! time `t_proc` and a propagation `t_prop`.

mod read;
mod waits;
mod write;

use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::{Carried, Error};

/// The two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// `stream,src,dst,size,period,deadline,jitter`.
    pub streams: String,
    /// `link,q_num,rate,t_proc,t_prop`.
    pub topology: String,
    /// What is said in another way.
    pub notes: Vec<String>,
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two files")]
pub enum File {
    /// The streams.
    Streams,
    /// The links.
    Topology,
}

/// The plan of two files, in time frames of this length, or of the shortest that divides all
/// periods and holds two of the largest packets.
///
/// # Errors
/// If they are no such files, or say what a plan cannot: the file, and what is wrong with it.
pub fn import(
    streams: &str,
    topology: &str,
    frame: Option<Nanos>,
) -> Result<Carried, (File, Error)> {
    read::plan(streams, topology, frame)
}

/// The two files of a plan whose classes have a `gap` each.
///
/// # Errors
/// If the plan says what they cannot.
pub fn export(plan: &Plan) -> Result<Files, Error> {
    write::files(plan)
}
