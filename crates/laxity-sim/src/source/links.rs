//! Link types of captures: the layers of their frames, and names of types that are not read.

mod headers;
mod names;
mod wifi;

use laxity_plan::encapsulation::{Encapsulation, Inside, Layer};
use laxity_plan::model::Overhead;

/// A kind of link whose frames are read.
struct Link {
    name: &'static str,
    /// Among the LINKTYPE_ values.
    types: &'static [u32],
    look: fn(&[u8]) -> Content,
}

/// The layers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub encapsulation: Encapsulation,
    /// Bytes of a checksum behind the packet.
    trailer: u32,
    is_ethernet: bool,
}

const LINKS: &[Link] = &[
    Link {
        name: "Ethernet",
        types: &[1],
        look: |frame| Content {
            is_ethernet: true,
            ..Content::new(Encapsulation::from_ethernet(frame))
        },
    },
    // The right number, the two old ones that systems wrote, and those of one version.
    Link {
        name: "raw IP",
        types: &[101, 12, 14, 228, 229],
        look: |frame| Content::from(frame, Layer::Ip, 0),
    },
    Link { name: "Linux cooked", types: &[113], look: |frame| Content::cooked(frame, 14, 16) },
    Link { name: "Linux cooked v2", types: &[276], look: |frame| Content::cooked(frame, 0, 20) },
    Link { name: "BSD loopback", types: &[0, 108], look: loopback },
    Link { name: "PPP", types: &[9, 50, 104], look: |frame| hdlc(frame, 0) },
    // Behind a byte of the direction.
    Link { name: "PPP with direction", types: &[204, 205], look: |frame| hdlc(frame, 1) },
    Link { name: "pppd", types: &[166], look: |frame| Content::from(frame, Layer::Ppp, 2) },
    Link { name: "PPPoE", types: &[51], look: |frame| Content::from(frame, Layer::PppOE, 0) },
    Link { name: "802.11", types: &[105], look: |frame| wifi::frame(frame, 0) },
    Link { name: "802.11 with radiotap", types: &[127], look: wifi::radiotap },
    Link { name: "802.11 with Prism or AVS", types: &[119, 163], look: wifi::prism },
    Link {
        name: "ATM (RFC 2684)",
        types: &[100, 11],
        look: |frame| Content::from(frame, Layer::Llc, 0),
    },
    Link { name: "SunATM", types: &[123], look: headers::sun_atm },
    Link { name: "frame relay", types: &[107], look: headers::frame_relay },
    Link { name: "Token Ring", types: &[6], look: headers::token_ring },
    Link { name: "FDDI", types: &[10], look: |frame| Content::from(frame, Layer::Llc, 13) },
    Link {
        name: "IP over IEEE 1394",
        types: &[138],
        look: |frame| Content::from(frame, Layer::EtherType, 16),
    },
    Link { name: "NFLOG", types: &[239], look: headers::netfilter_log },
    Link { name: "PFLOG", types: &[117], look: headers::packet_filter_log },
    Link {
        name: "IPsec of OpenBSD",
        types: &[109],
        look: |frame| Content::from(frame, Layer::Ip, 12),
    },
];

/// The content of a frame of a link type, if that type is read.
pub(super) fn look(link_type: u32, frame: &[u8]) -> Option<Content> {
    let link = LINKS.iter().find(|link| link.types.contains(&link_type))?;
    Some((link.look)(frame))
}

/// What a type of link is called, in brackets, if it has a name.
pub(crate) fn named(link_type: u32) -> String {
    names::name(link_type).map(|name| format!(" ({name})")).unwrap_or_default()
}

/// The kinds of links that are read, with their types.
pub(crate) fn read() -> String {
    let kinds = LINKS.iter().map(|Link { name, types, .. }| {
        let types: Vec<_> = types.iter().map(u32::to_string).collect();
        format!("{name} ({})", types.join(", "))
    });
    kinds.collect::<Vec<_>>().join(", ")
}

impl Content {
    fn new(encapsulation: Encapsulation) -> Content {
        Content { encapsulation, trailer: 0, is_ethernet: false }
    }

    fn from(frame: &[u8], layer: Layer, at: usize) -> Content {
        Content::new(Encapsulation::from_layer(frame, layer, at))
    }

    /// What a kernel puts in place of the link's header, with an EtherType somewhere in it.
    fn cooked(frame: &[u8], ether_type: usize, header: usize) -> Content {
        /// Smaller numbers are no EtherTypes; one of them is LLC.
        const NUMBERED: u16 = 1500;
        const LLC: u16 = 4;
        let number = frame.get(ether_type..).and_then(<[u8]>::first_chunk).copied();
        match number.map(u16::from_be_bytes) {
            Some(LLC) => Content::from(frame, Layer::Llc, header),
            None | Some(..=NUMBERED) => Content::nothing(header),
            Some(ether_type) => {
                Content::new(Encapsulation::from_ether_type(frame, ether_type, header))
            }
        }
    }

    /// No packet, behind `at` bytes.
    fn nothing(at: usize) -> Content {
        Content::new(Encapsulation { tag: None, at, inside: Inside::Other })
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
fn loopback(frame: &[u8]) -> Content {
    const HEADER: usize = 4;
    /// IPv4, and IPv6 as Linux, Windows, NetBSD, FreeBSD and macOS number it.
    const OF_IP: [u32; 6] = [2, 10, 23, 24, 28, 30];
    let family = frame.first_chunk::<HEADER>().copied().map(u32::from_le_bytes);
    match family.map(|family| family.min(family.swap_bytes())) {
        Some(family) if OF_IP.contains(&family) => Content::from(frame, Layer::Ip, HEADER),
        _ => Content::nothing(HEADER),
    }
}

/// PPP, or what Cisco's routers put in its place: an EtherType behind two bytes.
fn hdlc(frame: &[u8], at: usize) -> Content {
    match frame.get(at) {
        Some(0x0f | 0x8f) => Content::from(frame, Layer::EtherType, at + 2),
        _ => Content::from(frame, Layer::Ppp, at),
    }
}
