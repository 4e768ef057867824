//! Link types of captures: the layers of their frames, and names of types that are not read.

mod headers;
mod wifi;

use laxity_plan::encapsulation::{Encapsulation, Inside, Layer};
use laxity_plan::model::Overhead;

/// A kind of link whose frames are read.
struct Link {
    name: &'static str,
    /// Among the LINKTYPE_ values.
    types: &'static [u32],
    look: fn(&[u8]) -> FrameLayers,
}

/// The layers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameLayers {
    pub encapsulation: Encapsulation,
    /// Bytes of a checksum behind the packet.
    trailer: u32,
    is_ethernet: bool,
}

const fn link(name: &'static str, types: &'static [u32], look: fn(&[u8]) -> FrameLayers) -> Link {
    Link { name, types, look }
}

const LINKS: &[Link] = &[
    link("Ethernet", &[1], |frame| FrameLayers {
        is_ethernet: true,
        ..FrameLayers::new(Encapsulation::from_ethernet(frame))
    }),
    // The right number, the two old ones that systems wrote, and those of one version.
    link("raw IP", &[101, 12, 14, 228, 229], |frame| FrameLayers::from(frame, Layer::Ip, 0)),
    link("Linux cooked", &[113], |frame| FrameLayers::cooked(frame, 14, 16)),
    link("Linux cooked v2", &[276], |frame| FrameLayers::cooked(frame, 0, 20)),
    link("BSD loopback", &[0, 108], loopback),
    link("PPP", &[9, 50, 104], |frame| hdlc(frame, 0)),
    // Behind a byte of the direction.
    link("PPP with direction", &[204, 205], |frame| hdlc(frame, 1)),
    link("pppd", &[166], |frame| FrameLayers::from(frame, Layer::Ppp, 2)),
    link("PPPoE", &[51], |frame| FrameLayers::from(frame, Layer::PppOE, 0)),
    link("802.11", &[105], |frame| wifi::frame(frame, 0)),
    link("802.11 with radiotap", &[127], wifi::radiotap),
    link("802.11 with Prism or AVS", &[119, 163], wifi::prism),
    link("ATM (RFC 2684)", &[100, 11], |frame| FrameLayers::from(frame, Layer::Llc, 0)),
    link("SunATM", &[123], headers::sun_atm),
    link("frame relay", &[107], headers::frame_relay),
    link("Token Ring", &[6], headers::token_ring),
    link("FDDI", &[10], |frame| FrameLayers::from(frame, Layer::Llc, 13)),
    link("IP over IEEE 1394", &[138], |frame| FrameLayers::from(frame, Layer::EtherType, 16)),
    link("NFLOG", &[239], headers::netfilter_log),
    link("PFLOG", &[117], headers::packet_filter_log),
    link("IPsec of OpenBSD", &[109], |frame| FrameLayers::from(frame, Layer::Ip, 12)),
];

/// The layers of a frame of a link type, if that type is read.
pub(super) fn look(link_type: u32, frame: &[u8]) -> Option<FrameLayers> {
    let link = LINKS.iter().find(|link| link.types.contains(&link_type))?;
    Some((link.look)(frame))
}

/// Numbers and names of link types, the LINKTYPE_ values of libpcap.
const NAMES: &str = include_str!("links/names.txt");

/// What a type of link is called, in brackets, if it has a name.
pub(crate) fn named(link_type: u32) -> String {
    if (147..=162).contains(&link_type) {
        return " (private use)".to_owned();
    }
    let number = link_type.to_string();
    let mut names = NAMES.lines().filter_map(|line| line.split_once(' '));
    let name = names.find(|(of, _)| *of == number).map(|(_, name)| format!(" ({name})"));
    name.unwrap_or_default()
}

/// The kinds of links that are read, with their types.
pub(crate) fn read() -> String {
    let kinds = LINKS.iter().map(|Link { name, types, .. }| {
        let types: Vec<_> = types.iter().map(u32::to_string).collect();
        format!("{name} ({})", types.join(", "))
    });
    kinds.collect::<Vec<_>>().join(", ")
}

impl FrameLayers {
    fn new(encapsulation: Encapsulation) -> FrameLayers {
        FrameLayers { encapsulation, trailer: 0, is_ethernet: false }
    }

    fn from(frame: &[u8], layer: Layer, at: usize) -> FrameLayers {
        FrameLayers::new(Encapsulation::from_layer(frame, layer, at))
    }

    /// What a kernel puts in place of the link's header, with an EtherType somewhere in it.
    fn cooked(frame: &[u8], ether_type: usize, header: usize) -> FrameLayers {
        /// Smaller numbers are no EtherTypes; one of them is LLC.
        const NUMBERED: u16 = 1500;
        const LLC: u16 = 4;
        let number = frame.get(ether_type..).and_then(<[u8]>::first_chunk).copied();
        match number.map(u16::from_be_bytes) {
            Some(LLC) => FrameLayers::from(frame, Layer::Llc, header),
            None | Some(..=NUMBERED) => FrameLayers::nothing(header),
            Some(ether_type) => {
                FrameLayers::new(Encapsulation::from_ether_type(frame, ether_type, header))
            }
        }
    }

    /// No packet, behind `at` bytes.
    fn nothing(at: usize) -> FrameLayers {
        FrameLayers::new(Encapsulation { tag: None, at, inside: Inside::Other })
    }

    /// The length on the link: of the frame on Ethernet, of the packet elsewhere.
    pub(super) fn length(&self, frame: u32, overhead: &Overhead) -> u32 {
        if self.is_ethernet {
            return overhead.on_link(frame);
        }
        let before = u32::try_from(self.encapsulation.at).unwrap_or(u32::MAX);
        let inside = frame.saturating_sub(before).saturating_sub(self.trailer);
        // Without a packet the frame may be only a header.
        overhead.on_link_of_ip(inside.max(1))
    }
}

/// An address family in the byte order of the writer, and a packet.
fn loopback(frame: &[u8]) -> FrameLayers {
    const HEADER: usize = 4;
    /// IPv4, and IPv6 as Linux, Windows, NetBSD, FreeBSD and macOS number it.
    const OF_IP: [u32; 6] = [2, 10, 23, 24, 28, 30];
    let family = frame.first_chunk::<HEADER>().copied().map(u32::from_le_bytes);
    match family.map(|family| family.min(family.swap_bytes())) {
        Some(family) if OF_IP.contains(&family) => FrameLayers::from(frame, Layer::Ip, HEADER),
        _ => FrameLayers::nothing(HEADER),
    }
}

/// PPP, or what Cisco's routers put in its place: an EtherType behind two bytes.
fn hdlc(frame: &[u8], at: usize) -> FrameLayers {
    match frame.get(at) {
        Some(0x0f | 0x8f) => FrameLayers::from(frame, Layer::EtherType, at + 2),
        _ => FrameLayers::from(frame, Layer::Ppp, at),
    }
}
