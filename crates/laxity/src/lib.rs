//! Packet scheduling by deadline: guaranteed delay for real-time traffic, the lowest delay that is
//! left for everything else, and the proof of both before the first packet is sent.
//!
//! This crate is the science alone: no clock, no I/O, no threads, no `unsafe`, `no_std` with
//! `alloc`. Time is an argument of every call.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod admit;
pub mod aqm;
pub mod curve;
pub mod error;
pub mod link;
pub mod packet;
pub mod police;
pub mod port;
pub mod queue;
pub mod sched;
pub mod scheduler;
pub mod service;
#[cfg(test)]
mod testing;
pub mod units;
pub mod window;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExamples;
