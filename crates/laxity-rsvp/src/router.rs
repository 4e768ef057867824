//! States of paths and reservations in one router (RFC 2205, 3; RFC 2209).
//!
//! A state lasts as long as it is refreshed. A message comes by [`Router::receive`]; what time
//! brings, by [`Router::tick`]. Both return what is to be sent.

mod errors;
mod flow;
mod path;
mod resv;
#[cfg(test)]
mod tests;
mod timing;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use laxity::overhead::Overhead;
use laxity::units::Nanos;

use crate::guaranteed::Contract;
use crate::message::{Kind, LONGEST, Message, ParseError};

pub use flow::Flow;
use path::PathState;
use timing::Timing;

/// What a router asks of its machine.
pub trait Host {
    /// Where packets to an address go from here.
    fn route(&mut self, destination: Ipv4Addr) -> Option<Route>;

    /// Reserves for a flow, for a time.
    ///
    /// # Errors
    /// If there is no room.
    fn reserve(&mut self, flow: &Flow, contract: &Contract, lasts: Nanos) -> Result<(), Refusal>;

    /// Gives a reservation another contract.
    ///
    /// # Errors
    /// If there is no room: then it has the old one.
    fn change(&mut self, flow: &Flow, contract: &Contract, lasts: Nanos) -> Result<(), Refusal>;

    /// Lets a reservation last for a time from now on. Returns whether there is one.
    fn renew(&mut self, flow: &Flow, lasts: Nanos) -> bool;

    /// Ends a reservation.
    fn release(&mut self, flow: &Flow);
}

/// Where packets go.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a host fills it in")]
pub struct Route {
    /// The router's own address at that interface.
    pub address: Ipv4Addr,
    /// The router's own number of that interface.
    pub interface: u32,
    /// What the link offers, if it takes reservations.
    pub link: Option<Link>,
}

/// A link that takes reservations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a host fills it in")]
pub struct Link {
    /// How late the link may be with a packet beside what its flow's rate makes it.
    pub delay: Nanos,
    /// How much later than the link says a packet may leave, as it does if the process that
    /// forwards is late. D is both; deadlines are without this.
    pub lateness: Nanos,
    /// What may still be reserved, in bytes a second.
    pub bandwidth: f32,
    /// The largest packet of IP.
    pub mtu: u32,
    /// Whether packets have a header of Ethernet there.
    pub has_header: bool,
    /// What the link adds to frames.
    pub overhead: Overhead,
}

impl Link {
    /// The length of Ethernet's header.
    const HEADER: u32 = 14;

    /// How many bytes of the link a packet of IP takes.
    pub fn on_link(&self, packet: u32) -> u32 {
        if self.has_header {
            self.overhead.on_link(packet.saturating_add(Link::HEADER))
        } else {
            self.overhead.on_link_of_ip(packet)
        }
    }
}

/// Why a link does not reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its error")]
pub enum Refusal {
    /// There is no room within the deadline. This one would fit with all else as it is.
    Late(Nanos),
    /// There is no room for as much.
    Full,
    /// The link does not answer, or takes no reservations.
    Unavailable,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a host sends it")]
pub struct Datagram {
    /// The address that it is sent from, if it is not the router's own.
    pub source: Option<Ipv4Addr>,
    /// Where it goes.
    pub destination: Ipv4Addr,
    /// Whether the routers on its way are to look at it (RFC 2113).
    pub is_alert: bool,
    /// The time to live.
    pub ttl: u8,
    /// The message.
    pub bytes: Vec<u8>,
}

/// A message that has come.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a host fills it in")]
pub struct Arrival<'a> {
    /// The address that it was sent from.
    pub source: Ipv4Addr,
    /// The time to live that it came with.
    pub ttl: u8,
    /// The message.
    pub bytes: &'a [u8],
}

/// How a router works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the command line has these")]
pub struct Settings {
    /// R: the mean time between two refreshes of a state.
    pub refresh: Nanos,
    /// The seed of the times of refreshes.
    pub seed: u64,
}

/// Why a message was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Discard {
    /// It is no message of RSVP.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// It lacks an object that its kind has.
    #[error("an object that a message of its kind has is not there")]
    Incomplete,
    /// The flow is not served.
    #[error("it is for more than one host, or for ports of a protocol that has none")]
    Unserved,
    /// There are too many flows.
    #[error("there are {} flows already", Router::MOST)]
    TooMany,
    /// It has more than a path state may keep.
    #[error("it is longer than {} bytes", Router::LONGEST_KEPT)]
    TooLong,
    /// Nothing is known here of what it is about.
    #[error("nothing is known of its flow")]
    Unknown,
    /// There is no way to go on, or it has gone on for too long.
    #[error("there is no route, or its time to live is over")]
    NoRoute,
}

/// The states of a router.
#[derive(Debug)]
pub struct Router {
    paths: BTreeMap<Flow, PathState>,
    timing: Timing,
}

impl Router {
    /// The most flows whose states are kept.
    pub const MOST: usize = 4_096;

    /// The most bytes of a message whose objects are kept.
    pub const LONGEST_KEPT: usize = 2_048;

    /// A router without any state.
    pub fn new(settings: Settings) -> Router {
        Router { paths: BTreeMap::new(), timing: Timing::new(settings) }
    }

    /// Follows a message. Returns what is to be sent because of it.
    ///
    /// # Errors
    /// If the message is not used.
    pub fn receive(
        &mut self,
        now: Nanos,
        arrival: Arrival<'_>,
        host: &mut impl Host,
    ) -> Result<Vec<Datagram>, Discard> {
        let message = Message::parse(arrival.bytes)?;
        let mut out = Vec::new();
        if let Some(unknown) = message.unknown() {
            self.refuse_unknown(&message, unknown, host, &mut out);
            return Ok(out);
        }
        match message.kind {
            Kind::Path => self.path(now, &arrival, &message, host, &mut out)?,
            Kind::PathTear => self.path_tear(&arrival, &message, host, &mut out)?,
            Kind::Resv => self.resv(now, &message, host, &mut out)?,
            Kind::ResvTear => self.resv_tear(&message, host, &mut out)?,
            Kind::PathErr => self.path_error(&message, &mut out)?,
            Kind::ResvErr => self.resv_error(message, &mut out)?,
            Kind::ResvConf => confirm(&arrival, message, &mut out)?,
        }
        Ok(out)
    }

    /// Refreshes and ends what is due. Returns what is to be sent.
    pub fn tick(&mut self, now: Nanos, host: &mut impl Host) -> Vec<Datagram> {
        let mut out = Vec::new();
        let due = |(flow, path): (&Flow, &PathState)| (path.next_timer() <= now).then_some(*flow);
        let due: Vec<Flow> = self.paths.iter().filter_map(due).collect();
        for flow in due {
            self.tick_flow(now, flow, host, &mut out);
        }
        out
    }

    /// When [`Router::tick`] has something to do.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.paths.values().map(PathState::next_timer).min()
    }

    /// Ends all reservations and says so, and that the flows are no longer known here.
    pub fn end(&mut self, host: &mut impl Host) -> Vec<Datagram> {
        let mut out = Vec::new();
        let flows: Vec<Flow> = self.paths.keys().copied().collect();
        for flow in flows {
            self.end_path(flow, host, &mut out);
        }
        out
    }

    /// The flows with what is reserved for each.
    pub fn flows(&self) -> impl Iterator<Item = (&Flow, Option<&Contract>)> {
        self.paths.iter().map(|(flow, path)| (flow, path.contract()))
    }
}

/// Passes a confirmation on (RFC 2205, 3.1.9).
fn confirm(
    arrival: &Arrival<'_>,
    mut message: Message,
    out: &mut Vec<Datagram>,
) -> Result<(), Discard> {
    let destination = message.confirm().ok_or(Discard::Incomplete)?;
    let ttl = arrival.ttl.checked_sub(1).filter(|ttl| *ttl > 0).ok_or(Discard::NoRoute)?;
    message.send_ttl = ttl;
    let source = Some(arrival.source);
    out.extend(datagram(&message, source, destination, true));
    Ok(())
}

/// The time to live of messages between neighbours.
const TTL: u8 = 63;

/// A message on its way; `None` if it is too long.
fn datagram(
    message: &Message,
    source: Option<Ipv4Addr>,
    destination: Ipv4Addr,
    is_alert: bool,
) -> Option<Datagram> {
    let bytes = message.bytes().filter(|bytes| bytes.len() <= LONGEST)?;
    Some(Datagram { source, destination, is_alert, ttl: message.send_ttl, bytes })
}
