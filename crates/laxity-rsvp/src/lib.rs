//! RSVP with guaranteed service for one router: messages and soft state, without I/O and clock.
//!
//! Time is an argument, and what a router asks of its machine is a trait, [`Host`]: where packets
//! go, and whether a link has room. Messages that come are given to [`Router::receive`]; what is to
//! be sent comes back as [`Datagram`]s. [`Router::next_timer`] says when [`Router::tick`] has
//! something to do.
//!
//! | module | what it is | source |
//! | --- | --- | --- |
//! | [`message`] | messages and their objects, read and written | RFC 2205, RFC 2210 |
//! | [`guaranteed`] | from a flow's traffic and rate to a deadline at this hop | RFC 2212 |
//! | [`router`] | states of paths and reservations, their refreshes and ends | RFC 2205, RFC 2209 |
//!
//! The subset is that of one router: IPv4, destinations that are one host, style FF.
#![deny(missing_docs)]

pub mod guaranteed;
pub mod message;
pub mod router;

pub use message::{Message, ParseError};
pub use router::{Datagram, Host, Link, Refusal, Route, Router, Settings};
