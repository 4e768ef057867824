//! The path of a packet through a live forwarder: classify, police, schedule, pace, reload, and a
//! ledger of it all. No I/O, no clock, no threads: frames and the time go in, sends and the next
//! wake-up come out.
//!
//! ```
//! use laxity::units::Nanos;
//! use laxity_forward::{Event, Forwarder, Frame, Settings, ds};
//! use laxity_plan::{Plan, matching::Headers};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let text = "version = 1\nlink.rate = \"10mbit\"\nscheduler.kind = \"edf\"\n[class.rest]\n";
//! # let (plan, bytes) = (Plan::parse(text, "plan.toml", std::path::Path::new("."))?, [0; 60]);
//!
//! let mut forwarder = Forwarder::new(plan, Settings::default())?;
//! let mut buffers = vec![Some(bytes)]; // the caller's own, by the handles that it gives them
//! let mut sink = |event: &Event| match event {
//!     Event::Sent(sent) => drop(buffers[sent.packet.handle as usize].take()), // to the interface
//!     Event::Dropped(dropped) => buffers[dropped.packet.handle as usize] = None,
//!     _ => {} // for the ledger
//! };
//! let frame = Frame {
//!     headers: Headers::from_ethernet(&bytes),
//!     ecn: ds::ecn(&bytes),
//!     length: 60,
//!     ..Frame::default()
//! };
//! forwarder.arrive(Nanos(1_000), frame, &mut sink);
//! let wake = forwarder.poll(Nanos(1_000), &mut sink); // and again then, or when a frame arrives
//! assert_eq!((wake, buffers[0]), (None, None));
//! # Ok(())
//! # }
//! ```
//!
//! # What is where
//!
//! | | |
//! | --- | --- |
//! | [`Forwarder`] | [`arrive`](Forwarder::arrive), [`poll`](Forwarder::poll), [`reload`](Forwarder::reload) |
//! | [`PreparedPlan`] | a plan with all that is built to follow it, away from the thread that forwards |
//! | [`router`] | a node of a network, with a scheduler at every port, in time frames or without |
//! | [`Sorter`] | the class and flow of a frame: the plan's matches behind a cache that no attacker fills by choice |
//! | [`Event`] | what is told: arrivals, sends, drops, reloads |
//! | [`ds`] | congestion, as IP packets say it |
//! | [`ledger`] | events as bytes, from which `laxity_sim::replay` repeats every dispatch and drop |
//! | [`layers`] | where the headers of a frame are |
//! | [`segment`] | frames of 64 kB that a kernel did not cut, and checksums that it did not complete |
//!
//! A packet takes the way cache, limits, meter, scheduler, pacer. Nothing on it allocates: what is
//! queued stands in a slab of [`Settings::backlog`] places, flows in a table of
//! [`Settings::flows`], and schedulers keep what they have grown to.
//!
//! Where a plan [says](laxity_plan::model::LinkSpec::wire) what the wire behind the link does to
//! packets, that wire is emulated: a packet that is sent is lost there, or
//! [delivered](Event::Delivered) when it comes out. What is made up for then costs no accuracy, as
//! long as it is less than the delay of the wire.
//!
//! # What holds
//!
//! A thread that forwards is woken late now and then. Each [`SentPacket`] reports the
//! [`lateness`](SentPacket::lateness) of its start: the time since the link was free and a packet
//! was ready. The forwarder makes up for up to [`Settings::catch_up`] of lateness. It sends the
//! next packets at once, and they gather in the queue behind, for example that of a modem. The
//! length of that queue stays within `catch_up`. Lateness beyond that is lost time. A packet's
//! [`allowance`](SentPacket::allowance) is the time lost since the link was idle, plus the arrears
//! of the queue behind after it has sent the packet:
//!
//! **Every packet whose class has a bound, and is not demoted, is delayed by at most that bound and
//! [what was late](SentPacket::late)**, which is its allowance where frames are taken in at once
//! and handed over at once, as long as the classes that the bound rests on keep to their contracts.
//! `police` enforces the contracts. A delay lasts from the [arrival](Frame::arrived) of a frame at
//! the interface to the last bit out of the queue behind. Lateness counts from the arrival as well,
//! however late the frame is [taken in](Forwarder::arrive). A frame that had arrived before the
//! forwarder was last called, and is taken in later, counts from that call on. The time before is
//! late for the frame itself, and counts as lost for all others: packets come up to that time
//! closer together than they arrived, which is no worse than a link that was late. The allowance is
//! at most the sum of all lateness since the link was idle, plus one nanosecond for each loss of
//! time. Two disciplines add to it ([`growths`](laxity_plan::Plan::growths)). Static priority adds
//! the time of packets that go first because of the lost time. Deficit round robin adds the
//! difference between the bound, which may count on the traffic of others, and the bound that holds
//! for any traffic.
//!
//! The reason: the pacer counts times as if no wake-up had been late, except that everything comes
//! later by the lost time. The guarantees of a scheduler on a link that sends without pause hold
//! for these times. The queue behind is behind these times by its reported arrears. A
//! [reload](Forwarder::reload) counts as a link that was late since the arrival of the oldest
//! packet that it hands over.
#![deny(missing_docs)]

mod cache;
mod checksum;
mod classify;
pub mod ds;
mod error;
mod event;
mod forwarder;
mod gate;
mod key;
pub mod layers;
pub mod ledger;
mod outlet;
mod prepared;
mod queued;
mod reload;
pub mod router;
pub mod segment;
mod under_way;

pub use cache::Classification;
pub use classify::Sorter;
pub use error::Refusal;
pub use event::{
    ArrivedPacket, DeliveredPacket, DroppedPacket, Event, LossCause, LostPacket, SentPacket, Sink,
};
pub use forwarder::{Forwarder, Frame, Settings};
pub use prepared::PreparedPlan;
