//! Packet scheduling by deadline: guaranteed delay for real-time traffic, the lowest delay that is
//! left for everything else, and the proof of both before the first packet is sent.
//!
//! This crate is the science alone: no clock, no I/O, no threads, no `unsafe`, `no_std` with
//! `alloc`. Time is an argument of every call, a packet is a record of 32 bytes, and its payload
//! stays with the caller.
//!
//! ```
//! use laxity::admit::edf::{RealTime, System};
//! use laxity::link::Link;
//! use laxity::packet::{ClassId, Packet};
//! use laxity::police::TokenBucket;
//! use laxity::sched::Edf;
//! use laxity::scheduler::{DropReason, Scheduler};
//! use laxity::units::{Bytes, Nanos, Rate};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! // Voice is due 5 ms after it arrives. What does a link of 10 Mbit/s guarantee?
//! let (rate, deadline): (Rate, Nanos) = ("10mbit".parse()?, "5ms".parse()?);
//! let contract = TokenBucket { bucket: Bytes(300), rate: Rate(1_200_000) };
//! let voice = RealTime { deadline, arrival: vec![contract], packet: Bytes(100) };
//! let (max_packet, best_effort_packet) = (Bytes(1500), Some(Bytes(1500)));
//! let (latency, real_time) = (Nanos(0), vec![voice]);
//! let system = System { rate, latency, max_packet, real_time, best_effort_packet };
//! let left = system.effective_residual_capacity(); // what best effort may have
//! let bound = system.test(&left).classes[0].bound.ok_or("it is not admitted")?;
//! assert!(bound <= deadline);
//!
//! // Class 0 is voice and class 1 best effort. Both come at once.
//! let mut edf = Edf::for_system(&system).ok_or("it is not admitted")?;
//! let mut drops = |packet: Packet, _: DropReason| panic!("{packet:?} is dropped");
//! for (class, length) in [(0, 100), (1, 1500)] {
//!     let packet = Packet { class: ClassId(class), length, ..Packet::default() };
//!     edf.enqueue(Nanos(0), packet, &mut drops);
//! }
//! // Best effort goes first, as voice can wait. Its deadline is the earliest that keeps others.
//! let mut link = Link::new(rate);
//! let first = edf.dequeue(Nanos(0), &mut drops).ok_or("two packets wait")?;
//! assert_eq!((first.packet.class, first.deadline), (ClassId(1), Some(Nanos(2_400_000))));
//! let free_at = link.transmit(Nanos(0), first.packet.length);
//! let second = edf.dequeue(free_at, &mut drops).ok_or("one packet waits")?;
//! assert!(link.transmit(free_at, second.packet.length) <= bound);
//! # Ok(())
//! # }
//! ```
//!
//! # What is where
//!
//! From units up to whole ports:
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`units`] | times, sizes and rates as whole numbers, read from texts such as `5ms` and `10mbit` |
//! | [`packet`] | the record that stands for a packet |
//! | [`link`] | when the last bit of a packet leaves, with nothing lost to rounding |
//! | [`autorate`] | the rate of a shaper before a link whose rate nobody knows |
//! | [`pacer`] | when the next packet may start, for a sender that is woken late |
//! | [`curve`] | piecewise-linear curves of time and their min-plus algebra, in exact fractions |
//! | [`service`], [`window`] | requirements of classes: service curves of two pieces, loss tolerances |
//! | [`admit`] | admission tests: whether a plan fits, the delay bound of each class, and if it does not fit, why |
//! | [`scheduler`] | the contract that every discipline keeps |
//! | [`sched`] | the disciplines: EDF, H-FSC, DWCS, TDP, WF²Q+, WFQ, DRR, QFQ+, static priority, FQ-CoDel, FIFO, schedulers below shares, and any order that is a rank ([`Pifo`](sched::Pifo): Sivaraman et al. 2016, Shrivastav 2019) |
//! | [`deadline_queue`] | datagrams that are due, expire and have ranks, for programs that send them |
//! | [`aqm`] | queue management in front of any discipline: drop-tail, RED, CHOKe, CoDel, PIE |
//! | [`police`] | whether a packet conforms to its arrival curve, and how it is treated if not |
//! | [`reserve`] | books of what is promised, for flows that come and go |
//! | [`regulator`] | holds packets until they keep to an arrival curve again |
//! | [`explain`] | why a packet waited, cause by cause |
//! | [`port`] | the books around a scheduler: arrived = sent + dropped + queued, for every class |
//! | [`histogram`] | distributions of delays, exact but for quantiles |
//! | [`queue`] | the ordered queues that disciplines are made of, each with its cost |
//! | [`error`] | why a discipline or a queue management refuses its settings |
//!
//! A packet takes the way [`police`], [`port`], [`aqm`], [`sched`], [`link`]; each may be left out.
//!
//! # Features
//!
//! `admission`, on by default, holds [`admit`] and [`curve`] with the big numbers that they compute
//! in, and what EDF and service curves take from them: deadlines along curves. Without it there are
//! the schedulers alone.
#![no_std]
#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(all(test, not(feature = "admission")))]
compile_error!(
    "the tests of schedulers hold them to what is proved: they need the feature `admission`"
);

#[cfg(feature = "admission")]
pub mod admit;
pub mod aqm;
pub mod autorate;
#[cfg(feature = "admission")]
pub mod curve;
pub mod deadline_queue;
pub mod error;
pub mod explain;
pub mod handover;
pub mod histogram;
mod id;
pub mod link;
mod memory;
mod named;
pub mod overhead;
pub mod pacer;
pub mod packet;
pub mod police;
pub mod port;
pub mod queue;
pub mod regulator;
#[cfg(feature = "admission")]
pub mod reserve;
pub mod sched;
pub mod scheduler;
pub mod service;
#[cfg(test)]
mod testing;
pub mod units;
pub mod window;

/// The examples of the README and of guides.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/cake.md")]
#[doc = include_str!("../../../docs/dualpi2.md")]
#[doc = include_str!("../../../docs/fq-codel.md")]
#[doc = include_str!("../../../docs/hierarchy.md")]
#[doc = include_str!("../../../docs/priority.md")]
#[doc = include_str!("../../../docs/reservations.md")]
#[doc = include_str!("../../../docs/tdp.md")]
pub struct Guides;
