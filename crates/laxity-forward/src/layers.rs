//! Where the headers of an Ethernet frame are.
//!
//! Frames come from outside, cut short or malformed: what cannot be read belongs to the payload.

use std::ops::Range;

use laxity_plan::encapsulation::TAGS;

/// The layers of a frame. All positions lie within it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Layers {
    /// What Ethernet carries, behind all tags.
    pub ether_type: u16,
    /// Where that begins.
    pub network_at: usize,
    /// The version of IP; `None` if the frame holds no header of IP.
    pub ip: Option<IpVersion>,
    /// The protocol above IP, past extension headers that a whole packet has.
    pub protocol: Option<u8>,
    /// Whether IPv6 names a route, so that the destination changes on the way.
    pub is_routed: bool,
    /// Whether the frame is as long as IP says.
    pub is_complete: bool,
    /// The number that IPv4 gives a packet; of a fragment mixed with its position.
    pub identification: Option<u16>,
    /// What is above IP.
    pub transport: Transport,
    /// Where its header begins; it is empty for [`Transport::Other`] without one.
    pub transport_at: usize,
    /// Where what is carried begins, behind that header.
    pub payload: usize,
    /// The end of the packet. Short frames are padded behind it.
    pub end: usize,
}

/// The versions of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two")]
pub enum IpVersion {
    /// 4.
    V4,
    /// 6.
    V6,
}

/// Protocols above IP, by how their packets are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever tells packets apart does it in one of these ways"
)]
pub enum Transport {
    /// TCP with a whole header: by the position in the stream.
    Tcp,
    /// UDP or UDP-Lite with a whole header: by the number that IPv4 gives packets.
    Udp,
    /// Anything else, fragments and what is not IP.
    Other,
}

impl Transport {
    /// Whether interfaces cut and join its packets.
    pub fn is_cut(self) -> bool {
        self != Transport::Other
    }
}

/// The length of the header of IPv6, in bytes.
pub const IPV6_HEADER: usize = 40;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const IS_FRAGMENT: u16 = 0x3fff;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_LITE: u8 = 136;
const SCTP: u8 = 132;
/// Extension headers of IPv6 that a whole packet has: hop by hop, routing, destination.
const EXTENSIONS: [u8; 3] = [0, ROUTING, 60];
const ROUTING: u8 = 43;

impl Layers {
    /// Finds the layers of an Ethernet frame.
    pub fn new(frame: &[u8]) -> Layers {
        let mut at = 12.min(frame.len());
        let ether_type = loop {
            let Some(ether_type) = number(frame, at) else { break 0 };
            at += 2;
            if !TAGS.contains(&ether_type) || frame.len() < at + 2 {
                break ether_type;
            }
            at += 2;
        };
        let none = Layers {
            ether_type,
            network_at: at,
            ip: None,
            protocol: None,
            is_routed: false,
            is_complete: true,
            identification: None,
            transport: Transport::Other,
            transport_at: at,
            payload: at,
            end: frame.len(),
        };
        let ip = match ether_type {
            IPV4 => none.with_v4(frame),
            IPV6 => none.with_v6(frame),
            _ => None,
        };
        ip.unwrap_or_else(|| {
            // An interface may have filled it up with zeros.
            let filled = frame[at..].iter().rev().take_while(|byte| **byte == 0).count();
            Layers { end: frame.len() - filled, ..none }
        })
    }

    /// Source and destination of IP; empty without IP.
    pub fn addresses(&self) -> Range<usize> {
        let at = self.network_at;
        match self.ip {
            None => at..at,
            Some(IpVersion::V4) => at + 12..at + 20,
            Some(IpVersion::V6) => at + 8..at + IPV6_HEADER,
        }
    }

    fn with_v4(self, frame: &[u8]) -> Option<Layers> {
        let packet = &frame[self.network_at..];
        let header = packet.first_chunk::<20>()?;
        let length = usize::from(header[0] & 0xf) * 4;
        if header[0] >> 4 != 4 || length < header.len() || packet.len() < length {
            return None;
        }
        let told = usize::from(number(packet, 2)?);
        // Before it is cut, a long packet may give its length as zero.
        let told = if told < length { packet.len() } else { told };
        let (identification, fragment) = (number(packet, 4)?, number(packet, 6)? & IS_FRAGMENT);
        let layers = Layers {
            ip: Some(IpVersion::V4),
            protocol: Some(header[9]),
            is_complete: told <= packet.len(),
            identification: Some(identification),
            transport_at: self.network_at + length,
            payload: self.network_at + length,
            end: self.network_at + told.min(packet.len()),
            ..self
        };
        if fragment == 0 {
            return Some(layers.with_transport(frame));
        }
        let identification = Some(identification.rotate_left(3) ^ fragment);
        Some(Layers { identification, ..layers })
    }

    fn with_v6(self, frame: &[u8]) -> Option<Layers> {
        let packet = &frame[self.network_at..];
        let header = packet.first_chunk::<IPV6_HEADER>()?;
        if header[0] >> 4 != 6 {
            return None;
        }
        let told = match usize::from(number(packet, 4)?) {
            0 => packet.len(),
            told => IPV6_HEADER + told,
        };
        let end = told.min(packet.len());
        let (mut protocol, mut above, mut is_routed) = (header[6], IPV6_HEADER, false);
        while EXTENSIONS.contains(&protocol) {
            let Some(extension) = packet[..end].get(above..above + 8) else { break };
            let length = 8 + 8 * usize::from(extension[1]);
            if end < above + length {
                break;
            }
            is_routed |= protocol == ROUTING;
            (protocol, above) = (extension[0], above + length);
        }
        let layers = Layers {
            ip: Some(IpVersion::V6),
            protocol: Some(protocol),
            is_routed,
            is_complete: told <= packet.len(),
            transport_at: self.network_at + above,
            payload: self.network_at + above,
            end: self.network_at + end,
            ..self
        };
        Some(layers.with_transport(frame))
    }

    /// Adds what is above IP. A header that is cut short belongs to the payload.
    fn with_transport(self, frame: &[u8]) -> Layers {
        let above = &frame[self.transport_at..self.end];
        let (transport, header) = match self.protocol {
            Some(TCP) => {
                let words = above.get(12).map_or(0, |offset| offset >> 4);
                (Transport::Tcp, usize::from(words) * 4)
            }
            Some(UDP | UDP_LITE) => (Transport::Udp, 8),
            // Interfaces fill in its checksum, too.
            Some(SCTP) => (Transport::Other, 12),
            _ => (Transport::Other, 0),
        };
        let is_whole = header <= above.len() && (transport != Transport::Tcp || header >= 20);
        if is_whole {
            Layers { transport, payload: self.transport_at + header, ..self }
        } else {
            self
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
