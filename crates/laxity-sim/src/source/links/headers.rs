//! Headers of links that say where they end.

use laxity_plan::encapsulation::Layer;

use super::FrameLayers;

/// ATM as Sun's cards hand it over: what a cell's circuit carries, and the circuit.
pub(super) fn sun_atm(frame: &[u8]) -> FrameLayers {
    const KIND: u8 = 0x0f;
    const LLC: u8 = 2;
    match frame.first().map(|first| first & KIND) {
        Some(LLC) => FrameLayers::from(frame, Layer::Llc, 4),
        _ => FrameLayers::nothing(4),
    }
}

/// A circuit number of two to four bytes, the last one odd, then the content (RFC 2427), or an
/// EtherType as in Cisco routers.
pub(super) fn frame_relay(frame: &[u8]) -> FrameLayers {
    const LONGEST: usize = 4;
    let is_last = |byte: &u8| byte & 1 == 1;
    let Some(last) = frame.iter().take(LONGEST).position(is_last) else {
        return FrameLayers::nothing(LONGEST);
    };
    let at = last + 1;
    match frame.get(at..).unwrap_or_default() {
        [0x03, 0xcc | 0x8e, ..] => FrameLayers::from(frame, Layer::Ip, at + 2),
        [0x03, 0x00, 0x80, 0x00, 0x00, 0x00, ..] => {
            FrameLayers::from(frame, Layer::EtherType, at + 6)
        }
        [0x03, 0x80, 0x00, 0x00, 0x00, ..] => FrameLayers::from(frame, Layer::EtherType, at + 5),
        [0x03, ..] => FrameLayers::nothing(at + 1),
        _ => FrameLayers::from(frame, Layer::EtherType, at),
    }
}

/// Access and frame control, two addresses, and the bridges on the way if the source says that
/// there are any.
pub(super) fn token_ring(frame: &[u8]) -> FrameLayers {
    const HEADER: usize = 14;
    const OF_LLC: u8 = 0x40;
    const ROUTED: u8 = 0x80;
    const LENGTH: u8 = 0x1f;
    let of_llc = frame.get(1).is_some_and(|control| control & 0xc0 == OF_LLC);
    let is_routed = frame.get(8).is_some_and(|source| source & ROUTED != 0);
    let route = frame.get(HEADER).filter(|_| is_routed).map_or(0, |first| first & LENGTH);
    let at = HEADER + usize::from(route);
    if of_llc { FrameLayers::from(frame, Layer::Llc, at) } else { FrameLayers::nothing(at) }
}

/// A log of the Linux packet filter: a header and typed pieces with lengths, one of them the
/// packet.
pub(super) fn netfilter_log(frame: &[u8]) -> FrameLayers {
    const HEADER: usize = 4;
    const PIECE: usize = 4;
    const PACKET: u16 = 9;
    let mut at = HEADER;
    while let Some(&[a, b, c, d]) = frame.get(at..).and_then(<[u8]>::first_chunk) {
        // In the byte order of the writer.
        let small = |bytes: [u8; 2]| u16::from_le_bytes(bytes).min(u16::from_be_bytes(bytes));
        let (length, kind) = (usize::from(small([a, b])), small([c, d]));
        if kind == PACKET {
            return FrameLayers::from(frame, Layer::Ip, at + PIECE);
        }
        at += length.max(PIECE).next_multiple_of(4);
    }
    FrameLayers::nothing(at)
}

/// What OpenBSD's packet filter logs: how long its header is comes first.
pub(super) fn packet_filter_log(frame: &[u8]) -> FrameLayers {
    let header = frame.first().map_or(0, |length| usize::from(*length));
    FrameLayers::from(frame, Layer::Ip, header.next_multiple_of(4))
}
