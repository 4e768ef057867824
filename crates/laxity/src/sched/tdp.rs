//! Time-driven priority (Baldi, Marchetto, Risso, Galante, Scopigno, Stirano 2006, *Time driven
//! priority router implementation and first experiments*).
//!
//! A [common time reference](CommonTime) divides time into frames. What a node sends in frame t,
//! the next node sends in frame t + d; d is the forwarding delay. Everything that is to be sent in
//! a frame is queued before the frame begins and leaves before it ends, so that delays are bounded,
//! vary by less than two frames along any path, and nothing is lost to congestion (section II.B):
//! provided that no frame is [reserved](crate::admit::tdp) beyond its capacity. Best effort uses
//! what is left of the frames.
//!
//! [`Tdp`] is one output of a router (section III.C). What tells it the frames of packets is, in
//! the network, the [marks](Upstream) that the node before gave them (section III.B), and at its
//! edge a [reservation](Edge).
//!
//! Today's cyclic queuing and forwarding (IEEE 802.1Qch-2017) is this with d = 1, two queues and no
//! marks: there a packet's frame is the one in which it is received. With more queues, as here,
//! links may be longer than a frame.

mod edge;
mod explain;
mod mark;
mod marking;
mod output;
mod settings;
#[cfg(test)]
mod tests;
mod time;

pub use edge::{Contract, ContractId, Edge, FrameAssigner, Slots};
pub use mark::Mark;
pub use marking::Upstream;
pub use output::Tdp;
pub use settings::{TdpSettings, capacity};
pub use time::CommonTime;
