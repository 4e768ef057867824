//! What a forwarder needs of Linux: frames in and out of interfaces, time, privilege.
//!
//! It has the `unsafe` code that the rest would need; every function here is safe to call. It
//! knows nothing of schedulers. A bridge that holds nothing back:
//!
//! ```no_run
//! use laxity_linux::frames::{Backend, Side};
//! use laxity_linux::interface::Interface;
//! use laxity_linux::packet::{Options, Ring};
//! use laxity_linux::sandbox::Sandbox;
//! use laxity_linux::wait::Waiter;
//! use laxity_linux::priority;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! // With privilege: sockets on both interfaces, a place before everyone else.
//! let (a, b) = (Interface::named("eth1")?, Interface::named("eth2")?);
//! let mut backend = Ring::open([&a, &b], &Options::default())?;
//! priority::lock_memory()?;
//! priority::real_time(50)?;
//!
//! // Without: nothing but forwarding is possible from here on.
//! Sandbox::new().enter()?;
//! let (mut waiter, mut frames) = (Waiter::default(), Vec::new());
//! loop {
//!     for side in Side::BOTH {
//!         backend.receive(side, &mut frames)?;
//!         for frame in frames.drain(..) {
//!             backend.send(side.other(), frame); // or look at it, keep it, release it
//!         }
//!         backend.flush(side.other())?;
//!     }
//!     let descriptors = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
//!     waiter.wait(descriptors, None)?; // or until it is time to send a frame
//! }
//! # }
//! ```
//!
//! # What is where
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`clock`] | what time it is; sleeping and spinning until it is later |
//! | [`wait`] | waiting for a frame or for a time, whichever is first |
//! | [`priority`] | real-time priority, a core of one's own, memory that stays |
//! | [`interface`] | interfaces by name, their offloads, and a stream of their changes |
//! | [`frames`] | what every backend is: frames in a pool, received, sent or released by handle |
//! | [`packet`] | backends on `AF_PACKET`, by `recvmmsg` or a `TPACKET_V2` ring; taps with time stamps |
//! | [`xdp`] | the backend on `AF_XDP` |
//! | [`bypass`] | a bridge of the kernel's where a forwarder has ended |
//! | [`cgroup`] | control groups by their paths |
//! | [`host_link`] | the backend between the host's own stack and one of its interfaces |
//! | [`connections`] | connections of the host, and whose they are inside |
//! | [`ping`] | echoes of ICMP from hosts that answer probes |
//! | [`sandbox`] | giving up capabilities, files and system calls |
//! | [`jail`] | running a script that can change nothing, and recording what it tells others to do |
//! | [`route`] | where packets to an address leave |
//! | [`rsvp`] | messages of RSVP, also those that only pass |
//! | [`rtnetlink`] | many requests at once, and what the kernel shows |
//! | [`host`] | names of machines |
//! | [`child`] | programs that are started |
//! | [`namespace`] | network namespaces and cables between them, for tests and demonstrations |
//!
//! # Which backend
//!
//! | | needs | passes | frames of 64 B a second and core |
//! | --- | --- | --- | --- |
//! | [`packet::Mmsg`] | `CAP_NET_RAW` | everything, with unfinished checksums and segments | 0.5 million |
//! | [`packet::Ring`] | the same, and memory for the ring | the same | 0.7 million |
//! | [`xdp::Xdp`] | `CAP_NET_ADMIN` and `CAP_BPF` as well, offloads off | frames up to 3.8 kB | 1.1 million |
//!
//! Measured between veth interfaces on a core of a busy virtual machine, by the example `measure`.
//! There a frame takes 6 to 8 us longer than through the kernel's bridge, and 8 to 11 at p99, if
//! the forwarder runs on the core at which frames arrive; on another it takes 20 to 30 us longer,
//! with a long tail. All of them survive interfaces that are switched off and on or renamed;
//! [`packet`] also such as are removed and come back.
#![cfg(target_os = "linux")]
#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums)]

mod bpf;
pub mod bypass;
pub mod cgroup;
pub mod child;
pub mod clock;
pub mod connections;
mod error;
pub mod frames;
pub mod host;
pub mod host_link;
pub mod interface;
pub mod jail;
pub mod namespace;
mod netlink;
pub mod packet;
pub mod ping;
pub mod priority;
pub mod route;
pub mod rsvp;
pub mod rtnetlink;
pub mod sandbox;
mod seccomp;
mod sys;
pub mod wait;
pub mod xdp;

pub use error::Error;
