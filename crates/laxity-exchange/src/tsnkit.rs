//! The CSV files of tsnkit (Xue et al. 2024): streams, and the links between their nodes; plans of
//! time-driven priority.
//!
//! A stream sends a packet every `period` from `src` to `dst`, which must arrive within `deadline`;
//! times are in nanoseconds, sizes in bytes. A link has a `rate` in bits per nanosecond, a
//! processing time `t_proc` and a propagation delay `t_prop`.

mod read;
mod waits;
mod write;

pub use read::import;
pub use write::export;

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
