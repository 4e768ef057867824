//! Threads around a scheduler, for programs that make their own packets.
//!
//! Producers on threads of their own hand packets to one scheduler thread, each through a ring
//! that it writes without waiting for anyone; the scheduler thread gives them to a sink of the
//! caller's in the order of any [`Scheduler`](laxity::scheduler::Scheduler). Payloads of any type
//! travel beside the packets.
//!
//! ```
//! use laxity::packet::{ClassId, Packet};
//! use laxity::sched::dwcs::{Dwcs, DwcsSettings, Late, Stream, Streams};
//! use laxity::scheduler::{Dispatch, DropReason};
//! use laxity::units::Nanos;
//! use laxity_engine::{Engine, Settings, Sink};
//!
//! struct Printer;
//!
//! impl Sink<&'static str> for Printer {
//!     fn sent(&mut self, dispatch: Dispatch, _starts_at: Nanos, payload: &'static str) {
//!         println!("{payload} to {:?}", dispatch.packet.flow);
//!     }
//!     fn dropped(&mut self, packet: Packet, reason: DropReason, payload: &'static str) {
//!         println!("{payload} for {:?} is {}", packet.flow, reason.name());
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A thousand streams of a packet each 20 ms; one packet of any eight may be late.
//! let stream = Stream { gap: Some("20ms".parse()?), loss: "1/8".parse()?, late: Late::Drop };
//! let scheduler = Dwcs::new(DwcsSettings::default(), &[Streams { stream, count: 1_000 }])?;
//! let engine = Engine::start(scheduler, Printer, Settings::default())?;
//!
//! let mut producer = engine.handle().producer()?; // one for each thread that sends
//! std::thread::spawn(move || {
//!     let packet = Packet { class: ClassId(0), length: 200, ..Packet::default() };
//!     producer.send_or_wait(packet, "hello")
//! });
//! let finished = engine.shutdown()?; // when all producers are dropped and all is sent
//! assert_eq!(finished.statistics.sent, 1);
//! # Ok(())
//! # }
//! ```
//!
//! - A full ring is the producer's to deal with: [`Producer::try_send`] gives the packet back,
//!   [`Producer::send_or_wait`] sleeps, [`Producer::send_or_drop`] drops and counts.
//! - [`Handle::producer`] adds a producer while the engine runs, dropping it removes it;
//!   [`Handle::call`] adds and removes classes and streams of the scheduler.
//! - [`Streams`] asks whether one more stream may come, with a scheduler that proves what it
//!   promises.
//! - [`Settings::pace`] is the rate of a link, or the sink by how long it takes;
//!   [`Settings::spacing`] says how much may go at once.
//! - [`Deadlines`] in place of a scheduler takes deadline, expiry and rank from each payload.
//! - [`Engine::shutdown`] loses nothing and gives the scheduler, the sink and the
//!   [`Statistics`] back. If anything panics it says so, and so do producers' calls.
//!
//! Several schedulers on threads of their own may send over one link: [`RateShare`] moves its rate
//! to those that have packets.
#![deny(missing_docs)]

mod deadlines;
mod engine;
mod handle;
mod lane;
mod pacing;
mod producer;
mod queue;
mod rate_pool;
mod settings;
mod sink;
mod statistics;
mod streams;
mod sync;
#[cfg(test)]
mod tests;
mod wakeup;
mod worker;

pub use deadlines::{Deadlines, HasTerms, Terms};
pub use engine::{Engine, WorkerPanic};
pub use handle::{EngineStopped, Handle, JoinError, PaceError};
pub use producer::{Producer, Refusal, SendError};
pub use queue::Queue;
pub use rate_pool::{Grant, RateShare};
pub use settings::{Pace, Room, Settings, Spacing, StartError};
pub use sink::Sink;
pub use statistics::Statistics;
pub use streams::{Stream, StreamError, Streams};
pub use worker::EngineResult;
