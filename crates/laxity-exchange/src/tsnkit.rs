//! The CSV files of tsnkit (Xue et al. 2024): streams, and the links between their nodes; plans of
//! time-driven priority.
//!
//! A stream sends a packet every `period` from `src` to `dst`, which must arrive within `deadline`;
//! times are in nanoseconds, sizes in bytes. A link has a `rate` in bits per nanosecond, a
//! processing time `t_proc` and a propagation delay `t_prop`.

mod read;
mod waits;
mod write;

use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::{Conversion, Error};

/// The two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// `stream,src,dst,size,period,deadline,jitter`.
    pub streams: String,
    /// `link,q_num,rate,t_proc,t_prop`.
    pub topology: String,
    /// Notes on what the result expresses differently.
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

/// Reads two files as a plan, in time frames of this length, or of the shortest that divides all
/// periods and holds two of the largest packets.
///
/// # Errors
/// If a file is malformed, or says something that a plan cannot: the file, and what is wrong with
/// it.
pub fn import(
    streams: &str,
    topology: &str,
    frame: Option<Nanos>,
) -> Result<Conversion, (File, Error)> {
    read::plan(streams, topology, frame)
}

/// Writes a plan as two files; each of its classes needs a `gap`.
///
/// # Errors
/// If the plan says something that they cannot.
pub fn export(plan: &Plan) -> Result<Files, Error> {
    write::files(plan)
}
