//! Where the headers of a frame are.

use laxity_plan::encapsulation::TAGS;

/// The versions of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    V4,
    V6,
}

/// Where in a frame its headers begin. All of them are whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers {
    pub network: Network,
    /// The header of IP.
    pub ip: usize,
    /// That of the protocol above, past extension headers.
    pub transport: usize,
    pub protocol: u8,
    /// What is above that.
    pub payload: usize,
    /// The end of the packet.
    pub end: usize,
}

/// The length of the header of IPv6.
pub(super) const IPV6: usize = 40;

/// Extension headers that say nothing of who the packet is for: hop by hop, destination.
const PASSED: [u8; 2] = [0, 60];
const OF_TCP: u8 = 6;

impl Layers {
    /// Those of a frame of Ethernet that holds a whole packet of this protocol.
    pub(super) fn new(frame: &[u8], protocol: u8) -> Option<Layers> {
        let mut ip = 14;
        while TAGS.contains(&number(frame, ip - 2)?) {
            ip += 4;
        }
        let packet = frame.get(ip..)?;
        let (network, transport, above, told) = match number(frame, ip - 2)? {
            0x0800 => v4(packet)?,
            0x86dd => v6(packet)?,
            _ => return None,
        };
        if above != protocol {
            return None;
        }
        // What is longer than a length can say gives it as zero.
        let length = if told == 0 { packet.len() } else { told };
        let packet = packet.get(..length)?;
        let header = match protocol {
            OF_TCP => usize::from(packet.get(transport + 12)? >> 4).max(5) * 4,
            _ => 8,
        };
        packet.get(transport..transport + header)?;
        let transport = ip + transport;
        let (payload, end) = (transport + header, ip + length);
        Some(Layers { network, ip, transport, protocol, payload, end })
    }
}

/// Which it is, its header's length, the protocol above and the packet's length.
type Ip = (Network, usize, u8, usize);

fn v4(packet: &[u8]) -> Option<Ip> {
    let header = packet.first_chunk::<20>()?;
    let length = usize::from(header[0] & 0xf) * 4;
    // A fragment is not cut again.
    let is_whole = number(packet, 6)? & 0x3fff == 0;
    let is_v4 = header[0] >> 4 == 4 && length >= header.len() && packet.len() >= length;
    let told = usize::from(number(packet, 2)?);
    (is_v4 && is_whole).then_some((Network::V4, length, header[9], told))
}

fn v6(packet: &[u8]) -> Option<Ip> {
    let header = packet.first_chunk::<IPV6>()?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let (mut protocol, mut length) = (header[6], IPV6);
    while PASSED.contains(&protocol) {
        let extension = packet.get(length..)?.first_chunk::<8>()?;
        protocol = extension[0];
        length += 8 + 8 * usize::from(extension[1]);
    }
    let told = match usize::from(number(packet, 4)?) {
        0 => 0,
        payload => IPV6 + payload,
    };
    Some((Network::V6, length, protocol, told))
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
