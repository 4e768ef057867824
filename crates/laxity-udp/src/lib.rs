//! A sink that sends datagrams: paced, in batches, with marks and times.
//!
//! Put it under a [`laxity_engine::Engine`], which says which datagram goes next and when. The
//! sink hands what is due together to the kernel in one call of `sendmmsg`. Datagrams that are
//! alike are one message there (generic segmentation offload).
//!
//! ```
//! use std::net::UdpSocket;
//!
//! use laxity::deadline_queue::DeadlineQueue;
//! use laxity::packet::Packet;
//! use laxity::units::{Nanos, Rate};
//! use laxity_engine::{Deadlines, Engine, Pace, Settings, Spacing, Terms};
//! use laxity_udp::{Datagram, UdpSettings, UdpSink};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let receiver = UdpSocket::bind("127.0.0.1:0")?;
//! let sink = UdpSink::new([UdpSocket::bind("127.0.0.1:0")?], UdpSettings::default())?;
//!
//! // Never more than a millisecond of 20 Mbit/s at once, and one datagram.
//! let pace = Pace::Link(Rate(20_000_000));
//! let settings = Settings { pace, spacing: Spacing::MILLISECOND, ..Settings::default() };
//! let queue = Deadlines::new(DeadlineQueue::new(10_000));
//! let engine = Engine::start(queue, sink, settings)?;
//!
//! let mut producer = engine.handle().producer()?; // one for each thread that sends
//! for _ in 0..40 {
//!     let expires = Some(engine.handle().now() + Nanos(100_000_000));
//!     let terms = Terms { expires, ..Terms::default() };
//!     let to = receiver.local_addr()?;
//!     let datagram = Datagram { dscp: 34, terms, ..Datagram::new(vec![0; 1_200], to) };
//!     // What it takes of the link: with the headers of UDP and IP.
//!     let packet = Packet { length: 1_228, ..Packet::default() };
//!     producer.send_or_drop(packet, datagram);
//! }
//! engine.handle().set_pace(Pace::Link(Rate(30_000_000)))?; // as congestion control says
//! drop(producer);
//!
//! let sink = engine.shutdown()?.sink;
//! assert_eq!(sink.statistics().sent, 40);
//! assert!(sink.statistics().calls < 40);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Datagram`] is what producers send: bytes, destination, socket, code point, and when it is
//!   due and expires.
//! - [`UdpSettings`] says how long a message may be, whether the kernel is told when each datagram
//!   is to start, and whether it says when each has left.
//! - An [`Observer`] gets each datagram back, sent, lost or dropped. [`UdpStatistics`] counts them.
//! - [`Spacing`](laxity_engine::Spacing) of the engine says how much may leave at once.
#![cfg(target_os = "linux")]
#![deny(missing_docs)]

mod batch;
mod control;
mod datagram;
mod departures;
mod observer;
mod outlet;
mod settings;
mod sink;
mod statistics;
mod sys;
#[cfg(test)]
mod tests;
mod times;

pub use datagram::Datagram;
pub use observer::{Departure, Observer};
pub use settings::{SocketError, TransmitTime, UdpSettings};
pub use sink::UdpSink;
pub use statistics::{Loss, UdpStatistics};
