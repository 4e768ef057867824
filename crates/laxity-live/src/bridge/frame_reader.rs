//! What a plan looks at, read from a frame and from what the host knows of it.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use laxity_forward::{Frame, ds};
use laxity_linux::connections::{Connections, Ends, Inside};
use laxity_linux::frames::{Handle, Origin, Pool, Side};
use laxity_plan::acks::AckTable;
use laxity_plan::encapsulation::Encapsulation;
use laxity_plan::matching::{Headers, HostMarks, Ports};

/// Reads frames. Where connections are known, a packet has the address that it has inside: the
/// plan sees hosts and not the router that they are behind.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    connections: Option<Connections>,
}

impl FrameReader {
    /// One that knows the host's connections.
    pub(super) fn new(connections: Option<Connections>) -> Self {
        FrameReader { connections }
    }

    /// Takes note of connections that began or ended.
    ///
    /// # Errors
    /// If nothing can be heard of them any more.
    pub(super) fn hear(&mut self) -> io::Result<()> {
        self.connections.as_mut().map_or(Ok(()), Connections::hear)
    }

    /// How often connections changed faster than was heard, if they are known.
    pub(super) fn unheard(&self) -> Option<u64> {
        self.connections.as_ref().map(Connections::unheard)
    }

    /// What becomes readable when connections begin or end.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.connections.as_ref().map(AsFd::as_fd)
    }

    /// A frame that has arrived at a side, A being the host's. Acknowledgements are looked at if
    /// they are known.
    pub(super) fn read(
        &self,
        pool: &Pool,
        at: Side,
        handle: Handle,
        acks: Option<&mut AckTable>,
    ) -> Frame {
        let bytes = pool.bytes(handle);
        let mut headers = Headers::from_ethernet(bytes);
        if let Some(Origin { mark, priority, cgroups }) = pool.origin(handle) {
            headers.host = HostMarks { mark, priority, cgroups, connection_mark: 0 };
        }
        if let Some(connections) = &self.connections
            && let Some(ends) = ends(&headers, bytes, at)
            && let Some(inside) = connections.inside(&ends)
        {
            translate(&mut headers, at, inside);
        }
        let ack = acks.map(|acks| acks.tag_frame(&headers, bytes));
        Frame {
            headers,
            ecn: ds::ecn(bytes),
            ack: ack.unwrap_or_default(),
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            arrived: None,
            handle: handle.0.into(),
        }
    }
}

/// The ends of a packet, as it is outside.
fn ends(headers: &Headers, frame: &[u8], at: Side) -> Option<Ends> {
    let ip = headers.ip?;
    let (from, to) = match headers.ports {
        Some(Ports { source, destination }) => (source, destination),
        None => [echo(ip.protocol, frame).unwrap_or_default(); 2].into(),
    };
    let (source, destination) = ((ip.source, from), (ip.destination, to));
    let protocol = ip.protocol;
    Some(match at {
        Side::A => Ends { protocol, local: source, remote: destination },
        Side::B => Ends { protocol, local: destination, remote: source },
    })
}

/// The identifier of a question or answer of ICMP, such as a ping's.
fn echo(protocol: u8, frame: &[u8]) -> Option<u16> {
    const ICMP: u8 = 1;
    const ICMPV6: u8 = 58;
    let packet = Encapsulation::from_ethernet(frame).packet(frame)?;
    let header = match protocol {
        ICMP => usize::from(packet.first()? & 0xf) * 4,
        ICMPV6 => 40,
        _ => return None,
    };
    packet.get(header + 4..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

/// Puts in what is inside.
fn translate(headers: &mut Headers, at: Side, inside: &Inside) {
    headers.host.connection_mark = inside.mark;
    let is_outgoing = at == Side::A;
    if let Some(ip) = &mut headers.ip {
        let place: &mut IpAddr = if is_outgoing { &mut ip.source } else { &mut ip.destination };
        *place = inside.address;
    }
    if let Some(ports) = &mut headers.ports {
        let place = if is_outgoing { &mut ports.source } else { &mut ports.destination };
        *place = inside.port;
    }
}
