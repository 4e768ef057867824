//! Where in a frame that is what.
//!
//! Frames come from outside, cut short or malformed: what cannot be read belongs to the payload.

use std::ops::Range;

/// The layers of a frame. All places lie within it.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    /// What Ethernet carries, behind all tags.
    pub ether_type: u16,
    /// The protocol above IP.
    pub protocol: Option<u8>,
    /// Source and destination of IP.
    pub addresses: Range<usize>,
    /// The number that IPv4 gives a packet; of a fragment with its place.
    pub identification: Option<u16>,
    /// What is above IP.
    pub transport: Transport,
    /// Its header, which may be nothing.
    pub transport_at: usize,
    /// What is carried, behind that.
    pub payload: usize,
    /// Its end; behind that, short frames are filled up.
    pub end: usize,
}

/// Protocols above IP, by how their packets are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// By where in the stream they stand.
    Tcp,
    /// By the number that IPv4 gives them.
    Udp,
    /// Anything else, fragments and what is not IP.
    Other,
}

impl Transport {
    /// Whether interfaces cut and join its packets.
    pub(super) fn is_cut(self) -> bool {
        self != Transport::Other
    }
}

const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_LITE: u8 = 136;
const SCTP: u8 = 132;
/// Extension headers of IPv6 that a whole packet has: hop by hop, routing, destination.
const EXTENSIONS: [u8; 3] = [0, 43, 60];

impl Layers {
    /// Those of an Ethernet frame.
    pub(super) fn new(frame: &[u8]) -> Layers {
        let mut at = 12.min(frame.len());
        let ether_type = loop {
            let Some(ether_type) = number(frame, at) else { break 0 };
            at += 2;
            if !TAGS.contains(&ether_type) || frame.len() < at + 2 {
                break ether_type;
            }
            at += 2;
        };
        let ip = match ether_type {
            IPV4 => v4(frame, at),
            IPV6 => v6(frame, at),
            _ => None,
        };
        ip.unwrap_or_else(|| {
            // An interface may have filled it up with zeros.
            let filled = frame[at..].iter().rev().take_while(|byte| **byte == 0).count();
            Layers {
                ether_type,
                protocol: None,
                addresses: at..at,
                identification: None,
                transport: Transport::Other,
                transport_at: at,
                payload: at,
                end: frame.len() - filled,
            }
        })
    }

    /// With what is above IP. A header that is cut short belongs to the payload.
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

fn v4(frame: &[u8], at: usize) -> Option<Layers> {
    let packet = &frame[at..];
    let header = packet.first_chunk::<20>()?;
    let length = usize::from(header[0] & 0xf) * 4;
    if header[0] >> 4 != 4 || length < header.len() || packet.len() < length {
        return None;
    }
    let told = usize::from(number(packet, 2)?);
    let end = if told < length { packet.len() } else { told.min(packet.len()) };
    let (identification, fragment) = (number(packet, 4)?, number(packet, 6)?);
    let layers = Layers {
        ether_type: IPV4,
        protocol: Some(header[9]),
        addresses: at + 12..at + 20,
        identification: Some(identification),
        transport: Transport::Other,
        transport_at: at + length,
        payload: at + length,
        end: at + end,
    };
    const IS_FRAGMENT: u16 = 0x3fff;
    match fragment & IS_FRAGMENT {
        0 => Some(layers.with_transport(frame)),
        fragment => {
            let identification = identification.rotate_left(3) ^ fragment;
            Some(Layers { identification: Some(identification), ..layers })
        }
    }
}

fn v6(frame: &[u8], at: usize) -> Option<Layers> {
    let packet = &frame[at..];
    let header = packet.first_chunk::<40>()?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let end = match usize::from(number(packet, 4)?) {
        0 => packet.len(),
        told => packet.len().min(40 + told),
    };
    let (mut protocol, mut above) = (header[6], 40);
    while EXTENSIONS.contains(&protocol) {
        let Some(extension) = packet[..end].get(above..above + 8) else { break };
        let length = 8 + 8 * usize::from(extension[1]);
        if end < above + length {
            break;
        }
        (protocol, above) = (extension[0], above + length);
    }
    let layers = Layers {
        ether_type: IPV6,
        protocol: Some(protocol),
        addresses: at + 8..at + 40,
        identification: None,
        transport: Transport::Other,
        transport_at: at + above,
        payload: at + above,
        end: at + end,
    };
    Some(layers.with_transport(frame))
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
