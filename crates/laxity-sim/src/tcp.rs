//! TCP endpoints as state machines: one sender, one receiver, no clock and no network of their own.
//!
//! Data flow one way in segments of one length. A segment is numbered by its place in the transfer
//! (0, 1, 2, …), and windows, thresholds and SACK blocks count segments instead of octets, as the
//! one-way agents of ns-2 do. There is no handshake and no end of a connection. Where a
//! specification speaks of SMSS, read one segment.
//!
//! The caller passes the time with every call, carries each [`Segment`] that [`Sender::poll_send`]
//! returns to [`Receiver::on_segment`] and each [`Ack`] back to [`Sender::on_ack`], and calls
//! `on_timer` when the time of `next_timer` has come:
//!
//! ```
//! use laxity::units::Nanos;
//! use laxity_sim::tcp::{Acknowledging, Config, Receiver, Sender, Variant};
//!
//! let mut sender = Sender::new(Config { transfer: Some(100), ..Config::modern(1_500) });
//! let mut receiver = Receiver::new(Acknowledging::Every, Variant::CUBIC);
//! let mut now = Nanos::ZERO;
//! while !sender.is_finished() {
//!     let round: Vec<_> = std::iter::from_fn(|| sender.poll_send(now)).collect();
//!     now += Nanos(50_000_000);
//!     for segment in &round {
//!         if let Some(ack) = receiver.on_segment(now, segment) {
//!             sender.on_ack(now, &ack);
//!         }
//!     }
//! }
//! assert_eq!(receiver.delivered(), 100);
//! ```

mod bbr;
mod config;
mod cubic;
mod dctcp;
mod flight;
mod hystart;
mod pacing;
mod probe;
mod rack;
mod ranges;
mod rate;
mod receiver;
mod scoreboard;
mod segment;
mod sender;
mod timing;
mod window;

#[cfg(test)]
mod tests;

pub use config::{Config, Counts, Variant};
pub use laxity::packet::Ecn;
pub use laxity_plan::model::{
    TcpCongestion as Congestion, TcpRecovery as Recovery, TcpSlowStart as SlowStart,
};
pub use receiver::{Acknowledging, Receiver};
pub use segment::{Ack, Blocks, Segment};
pub use sender::Sender;
pub use timing::Timing;
