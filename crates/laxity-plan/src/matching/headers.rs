//! What a match looks at, taken from the first bytes of a frame.
//!
//! Frames come from outside, cut short or malformed: every access here is checked, and whatever
//! is missing is simply not there. (etherparse 0.21 reads past the end of IPv6 extension headers
//! that its lax slicing cut short, so it is a reference in the tests and no more.)

use std::net::IpAddr;

use super::host::HostMarks;
use super::words::{PROTOCOLS, WITH_PORTS, name};
use crate::encapsulation::Encapsulation;

/// The headers of one frame, as far as they are there and whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Headers {
    /// The outermost VLAN.
    pub vlan: Option<u16>,
    /// The priority code point of the outermost VLAN tag, 0 to 7.
    pub pcp: Option<u8>,
    /// The IP header.
    pub ip: Option<IpHeaders>,
    /// The ports, of protocols that have them. A later fragment of a packet has none.
    pub ports: Option<Ports>,
    /// What the host knows of the packet, where it is the host's own.
    pub host: HostMarks,
}

/// What a match looks at in an IPv4 or IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpHeaders {
    /// Source address; its kind is the packet's IP version.
    pub source: IpAddr,
    /// Destination address, of the same kind.
    pub destination: IpAddr,
    /// The number of the protocol above, past any IPv6 extension headers.
    pub protocol: u8,
    /// The differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// The bits of explicit congestion notification, 0 to 3.
    pub ecn: u8,
}

/// Source and destination port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports {
    /// Source.
    pub source: u16,
    /// Destination.
    pub destination: u16,
}

impl IpHeaders {
    /// The name of the protocol above, as a `match` writes it; `None` if it has none there.
    pub fn protocol_name(&self) -> Option<&'static str> {
        name(&PROTOCOLS, self.protocol.into())
    }
}

/// IPv6 extension headers that are skipped to find the protocol above (RFC 8200, RFC 4302).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

impl Headers {
    /// From an Ethernet frame, which may be cut short. What holds no IP has at most a VLAN.
    #[inline]
    pub fn from_ethernet(frame: &[u8]) -> Headers {
        Headers::within(frame, &Encapsulation::from_ethernet(frame))
    }

    /// From a frame in which this was found.
    #[inline]
    pub fn within(frame: &[u8], encapsulation: &Encapsulation) -> Headers {
        let headers = encapsulation.packet(frame).map(Headers::from_ip).unwrap_or_default();
        let vlan = encapsulation.tag.map(|tag| tag & 0xfff);
        let pcp = encapsulation.tag.map(|tag| (tag >> 13) as u8);
        Headers { vlan, pcp, ..headers }
    }

    /// From an IPv4 or IPv6 packet, which may be cut short.
    pub fn from_ip(packet: &[u8]) -> Headers {
        let found = match packet.first().map(|first| first >> 4) {
            Some(4) => ipv4(packet),
            Some(6) => ipv6(packet),
            _ => None,
        };
        let Some((ip, above)) = found else { return Headers::default() };
        let has_ports = WITH_PORTS.contains(&ip.protocol.into());
        let ports = above.filter(|_| has_ports).and_then(ports);
        Headers { ip: Some(ip), ports, ..Headers::default() }
    }
}

/// The header, and what follows it unless that is a later fragment.
type Ip<'a> = Option<(IpHeaders, Option<&'a [u8]>)>;

fn ipv4(packet: &[u8]) -> Ip<'_> {
    let header = packet.first_chunk::<20>()?;
    let length = usize::from(header[0] & 0xf) * 4;
    if length < header.len() {
        return None;
    }
    let ip = IpHeaders {
        source: address4(header, 12),
        destination: address4(header, 16),
        protocol: header[9],
        dscp: header[1] >> 2,
        ecn: header[1] & 3,
    };
    let offset = u16::from_be_bytes([header[6], header[7]]) & 0x1fff;
    // Recorded before segmentation offload, a packet may give its length as zero.
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let end = if total < length { packet.len() } else { total.min(packet.len()) };
    let above = packet.get(length..end).filter(|_| offset == 0);
    Some((ip, above))
}

fn ipv6(packet: &[u8]) -> Ip<'_> {
    let (header, rest) = packet.split_first_chunk::<40>()?;
    // A jumbogram, or recorded before segmentation offload, gives its length as zero.
    let rest = match usize::from(u16::from_be_bytes([header[4], header[5]])) {
        0 => rest,
        length => &rest[..length.min(rest.len())],
    };
    let (protocol, above) = above_extensions(header[6], rest);
    let ip = IpHeaders {
        source: address6(header, 8),
        destination: address6(header, 24),
        protocol,
        dscp: (header[0] & 0xf) << 2 | header[1] >> 6,
        ecn: header[1] >> 4 & 3,
    };
    Some((ip, above))
}

/// Skips extension headers; every one is at least eight bytes, so this ends.
fn above_extensions(mut protocol: u8, mut rest: &[u8]) -> (u8, Option<&[u8]>) {
    let all = rest.len();
    loop {
        let units = match protocol {
            // It comes before all others, or is none.
            HOP_BY_HOP if rest.len() == all => 8,
            ROUTING | DESTINATION => 8,
            FRAGMENT => 0,
            AUTHENTICATION => 4,
            _ => return (protocol, Some(rest)),
        };
        let Some(extension) = rest.first_chunk::<8>() else { return (protocol, None) };
        if protocol == FRAGMENT && u16::from_be_bytes([extension[2], extension[3]]) >> 3 != 0 {
            return (extension[0], None);
        }
        let Some(after) = rest.get(8 + usize::from(extension[1]) * units..) else {
            return (extension[0], None);
        };
        (protocol, rest) = (extension[0], after);
    }
}

fn address4(header: &[u8; 20], at: usize) -> IpAddr {
    std::array::from_fn::<u8, 4, _>(|byte| header[at + byte]).into()
}

fn address6(header: &[u8; 40], at: usize) -> IpAddr {
    std::array::from_fn::<u8, 16, _>(|byte| header[at + byte]).into()
}

/// TCP, UDP, DCCP, SCTP and UDP-Lite all begin with their ports.
fn ports(above: &[u8]) -> Option<Ports> {
    let (source, rest) = number(above)?;
    let (destination, _) = number(rest)?;
    Some(Ports { source, destination })
}

/// Two bytes as a number, and what follows them.
fn number(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (two, rest) = bytes.split_first_chunk()?;
    Some((u16::from_be_bytes(*two), rest))
}
