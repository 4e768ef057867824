//! A flow: its destination and its sender.

use std::fmt;
use std::net::Ipv4Addr;

use crate::message::{Filter, Session};

/// A flow of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a flow is nothing else")]
pub struct Flow {
    /// Where they go.
    pub session: Session,
    /// Where they come from.
    pub sender: Filter,
}

/// Protocols of IP with ports: TCP, UDP and SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];

impl Flow {
    /// Whether it goes from one host to one host, and has ports only where its protocol has.
    pub(super) fn is_served(&self) -> bool {
        let Flow { session, sender } = self;
        let is_host = |address: Ipv4Addr| {
            !address.is_multicast() && !address.is_broadcast() && !address.is_unspecified()
        };
        let may_have_ports = WITH_PORTS.contains(&session.protocol);
        let has_ports = session.port != 0 || sender.port != 0;
        // RFC 2205, 3.2: a sender has no port where its session has none.
        let fits = session.port != 0 || sender.port == 0;
        is_host(session.destination)
            && is_host(sender.source)
            && session.protocol != 0
            && fits
            && (may_have_ports || !has_ports)
    }

    /// Its packets, in the match language of plans.
    pub fn expression(&self) -> String {
        let Flow { session, sender } = self;
        let port = |side: &str, port: u16| match port {
            0 => String::new(),
            port => format!(" and {side} {port}"),
        };
        format!(
            "protocol {} and saddr {} and daddr {}{}{}",
            session.protocol,
            sender.source,
            session.destination,
            port("sport", sender.port),
            port("dport", session.port)
        )
    }
}

/// Its name among reservations, such as `rsvp 17 10.0.0.1:4000 > 10.0.1.2:5000`.
impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flow { session, sender } = self;
        write!(
            f,
            "rsvp {} {}:{} > {}:{}",
            session.protocol, sender.source, sender.port, session.destination, session.port
        )
    }
}
