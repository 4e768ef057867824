//! Where in a frame its packet of IP is, past what links put in front of it.
//!
//! VLAN tags (802.1Q, 802.1ad, and what came before it), tags of backbones, ports and redundancy,
//! labels of MPLS, PPPoE and PPP, LLC and SNAP are gone through, in whatever order they come. What
//! is inside a packet of IP is not looked for: of a tunnel the outer packet counts.
//!
//! Frames come from outside, cut short or malformed: every access is checked, and each step goes on
//! in the frame, so that there are no more steps than bytes.

#[cfg(test)]
mod tests;

use laxity::packet::Ecn;

use crate::matching::Headers;

/// What was found in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// The outermost VLAN tag: three bits of priority, one of drop eligibility, and the VLAN.
    pub tag: Option<u16>,
    /// Where what is inside begins; the frame may be cut short before.
    pub at: usize,
    /// What that is.
    pub inside: Inside,
}

/// What is inside a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A packet of IP.
    Ip,
    /// No IP packet and no container of one, or too little of it is there to tell.
    Other,
    /// Something that may hold packets of IP.
    Opaque(Opaque),
}

/// What may hold packets of IP, and is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// Encrypted frames of Ethernet (802.1AE).
    Macsec,
    /// Frames on their way between routing bridges (RFC 6325).
    Trill,
    /// Frames on their way through service functions (RFC 8300).
    ServiceChain,
    /// What MPLS carries that is not IP (RFC 4385).
    Pseudowire,
    /// PPP whose headers or payloads are compressed or encrypted (RFC 1144, 1962, 1968, 2507,
    /// 5795).
    CompressedPpp,
    /// Fragments of PPP (RFC 1990).
    MultilinkPpp,
    /// Encrypted frames of 802.11.
    EncryptedWifi,
    /// Several packets in a frame of 802.11 (A-MSDU).
    AggregatedWifi,
    /// Packets in packets.
    Tunnel,
}

impl Opaque {
    /// All of them, in the order of their numbers.
    pub const ALL: [Opaque; 9] = [
        Opaque::Macsec,
        Opaque::Trill,
        Opaque::ServiceChain,
        Opaque::Pseudowire,
        Opaque::CompressedPpp,
        Opaque::MultilinkPpp,
        Opaque::EncryptedWifi,
        Opaque::AggregatedWifi,
        Opaque::Tunnel,
    ];

    /// What such frames are called, several of them.
    pub fn name(self) -> &'static str {
        match self {
            Opaque::Macsec => "MACsec",
            Opaque::Trill => "TRILL",
            Opaque::ServiceChain => "NSH",
            Opaque::Pseudowire => "MPLS pseudowires",
            Opaque::CompressedPpp => "compressed or encrypted PPP",
            Opaque::MultilinkPpp => "multilink PPP",
            Opaque::EncryptedWifi => "encrypted 802.11",
            Opaque::AggregatedWifi => "aggregates of 802.11 (A-MSDU)",
            Opaque::Tunnel => "tunnels (GRE, VXLAN, IP in IP)",
        }
    }

    /// That of packets with these headers, if they are those of a tunnel.
    pub fn from_headers(headers: &Headers) -> Option<Opaque> {
        /// IPv4, IPv6, GRE and MPLS in IP.
        const IN_IP: [u8; 4] = [4, 41, 47, 137];
        const UDP: u8 = 17;
        /// VXLAN and Geneve.
        const IN_UDP: [u16; 2] = [4789, 6081];
        let protocol = headers.ip?.protocol;
        let is_to = |port| headers.ports.is_some_and(|ports| ports.destination == port);
        let is_tunnel =
            IN_IP.contains(&protocol) || protocol == UDP && IN_UDP.into_iter().any(is_to);
        is_tunnel.then_some(Opaque::Tunnel)
    }
}

/// What comes next in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// An EtherType, or the length of what is behind LLC.
    EtherType,
    /// LLC (802.2), SNAP perhaps.
    Llc,
    /// A session of PPPoE (RFC 2516).
    PppOE,
    /// PPP with or without address and control (RFC 1661, 1662).
    Ppp,
    /// Labels (RFC 3032).
    Mpls,
    /// A packet of IP, if its version says so.
    Ip,
}

/// EtherTypes of VLAN tags: 802.1Q, 802.1ad, and what came before it.
pub const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl Encapsulation {
    /// Of a frame of Ethernet.
    #[inline]
    pub fn from_ethernet(frame: &[u8]) -> Encapsulation {
        // Most frames are so, and forwarding waits for this.
        match frame.get(12..14) {
            Some([0x08, 0x00] | [0x86, 0xdd]) => {
                Encapsulation { tag: None, at: 14, inside: Inside::Ip }
            }
            _ => Encapsulation::from_layer(frame, Layer::EtherType, 12),
        }
    }

    /// The encapsulation of a frame whose `layer` begins at byte `at`.
    #[inline(never)]
    pub fn from_layer(frame: &[u8], layer: Layer, at: usize) -> Encapsulation {
        go_on(frame, Step::On(layer, at), None)
    }

    /// The encapsulation of a frame whose part with this EtherType begins at byte `at`.
    pub fn from_ether_type(frame: &[u8], ether_type: u16, at: usize) -> Encapsulation {
        let mut tag = None;
        let step = typed(frame, ether_type, at, &mut tag);
        go_on(frame, step, tag)
    }

    /// The packet of IP, or what is there of it.
    #[inline]
    pub fn packet<'a>(&self, frame: &'a [u8]) -> Option<&'a [u8]> {
        frame.get(self.at..).filter(|_| self.inside == Inside::Ip)
    }
}

#[derive(Clone, Copy)]
enum Step {
    On(Layer, usize),
    Found(Inside, usize),
}

fn go_on(frame: &[u8], mut step: Step, mut tag: Option<u16>) -> Encapsulation {
    loop {
        step = match step {
            Step::Found(inside, at) => return Encapsulation { tag, at, inside },
            Step::On(Layer::EtherType, at) => match number(frame, at) {
                Some(ether_type) => typed(frame, ether_type, at + 2, &mut tag),
                None => other(at),
            },
            Step::On(Layer::Llc, at) => llc(frame, at),
            Step::On(Layer::PppOE, at) => pppoe(frame, at),
            Step::On(Layer::Ppp, at) => ppp(frame, at),
            Step::On(Layer::Mpls, at) => mpls(frame, at),
            Step::On(Layer::Ip, at) => match frame.get(at).map(|first| first >> 4) {
                Some(4 | 6) => Step::Found(Inside::Ip, at),
                _ => other(at),
            },
        }
    }
}

fn other(at: usize) -> Step {
    Step::Found(Inside::Other, at)
}

fn opaque(what: Opaque, at: usize) -> Step {
    Step::Found(Inside::Opaque(what), at)
}

fn typed(frame: &[u8], ether_type: u16, at: usize, outermost: &mut Option<u16>) -> Step {
    match ether_type {
        0x0800 | 0x86dd => Step::Found(Inside::Ip, at),
        _ if TAGS.contains(&ether_type) => {
            let Some(tag) = number(frame, at) else { return other(at) };
            *outermost = outermost.or(Some(tag));
            Step::On(Layer::EtherType, at + 2)
        }
        // Redundancy (802.1CB), and ports behind a switch (VN-Tag, 802.1BR).
        0xf1c1 | 0x8926 => Step::On(Layer::EtherType, at + 4),
        0x893f => Step::On(Layer::EtherType, at + 6),
        // A customer's frame in a backbone (802.1ah): a tag, two addresses.
        0x88e7 => Step::On(Layer::EtherType, at + 4 + 12),
        0x8847 | 0x8848 => Step::On(Layer::Mpls, at),
        0x8864 => Step::On(Layer::PppOE, at),
        0x88e5 => opaque(Opaque::Macsec, at),
        0x22f3 => opaque(Opaque::Trill, at),
        0x894f => opaque(Opaque::ServiceChain, at),
        ..=1500 => Step::On(Layer::Llc, at),
        _ => other(at),
    }
}

fn llc(frame: &[u8], at: usize) -> Step {
    let rest = frame.get(at..).unwrap_or_default();
    match rest {
        // SNAP: Ethernet's types, also as bridges to Ethernet put them (802.1H).
        [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00 | 0xf8, ..] => Step::On(Layer::EtherType, at + 6),
        // A frame of Ethernet (RFC 2684), with a checksum at its end or without.
        [0xaa, 0xaa, 0x03, 0x00, 0x80, 0xc2, 0x00, 0x01 | 0x07, ..] => {
            Step::On(Layer::EtherType, at + 8 + 2 + 12)
        }
        [0x06, 0x06, 0x03, ..] => Step::On(Layer::Ip, at + 3),
        [0xfe, 0xfe, 0x03, 0xcc | 0x8e, ..] => Step::On(Layer::Ip, at + 4),
        [0xfe, 0xfe, 0x03, 0xcf, ..] => Step::On(Layer::Ppp, at + 4),
        _ => other(at),
    }
}

fn pppoe(frame: &[u8], at: usize) -> Step {
    const HEADER: usize = 6;
    match frame.get(at..) {
        Some([0x11, 0x00, ..]) => Step::On(Layer::Ppp, at + HEADER),
        _ => other(at),
    }
}

fn ppp(frame: &[u8], at: usize) -> Step {
    let at = match frame.get(at..) {
        Some([0xff, 0x03, ..]) => at + 2,
        _ => at,
    };
    let (protocol, at) = match frame.get(at..) {
        // The first byte of two is even: one that is not is all of a number that was compressed.
        Some(&[only, ..]) if only & 1 == 1 => (u16::from(only), at + 1),
        Some(&[first, second, ..]) => (u16::from_be_bytes([first, second]), at + 2),
        _ => return other(at),
    };
    match protocol {
        0x21 | 0x57 => Step::On(Layer::Ip, at),
        0x281 | 0x283 => Step::On(Layer::Mpls, at),
        0x03 | 0x05 | 0x2d | 0x2f | 0x61..=0x69 | 0x2063..=0x2069 => {
            opaque(Opaque::CompressedPpp, at)
        }
        0x53 | 0x55 | 0xfb | 0xfd => opaque(Opaque::CompressedPpp, at),
        0x3d => opaque(Opaque::MultilinkPpp, at),
        _ => other(at),
    }
}

fn mpls(frame: &[u8], at: usize) -> Step {
    let Some(&[_, _, last, _]) = frame.get(at..).and_then(|rest| rest.first_chunk()) else {
        return other(at);
    };
    let (is_bottom, at) = (last & 1 == 1, at + 4);
    if !is_bottom {
        return Step::On(Layer::Mpls, at);
    }
    // Whether that is IP is told by nothing else (RFC 4928); what begins with 1 manages a path (RFC
    // 5586).
    match frame.get(at).map(|first| first >> 4) {
        Some(4 | 6) => Step::Found(Inside::Ip, at),
        Some(1) | None => other(at),
        Some(_) => opaque(Opaque::Pseudowire, at),
    }
}

/// Two bytes as a number.
fn number(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?))
}

/// The DS field of a packet of IP (RFC 2474): the code point, and the two bits of ECN.
#[inline]
pub fn ds(packet: &[u8]) -> Option<u8> {
    match *packet {
        [first, ds, ..] if first >> 4 == 4 => Some(ds),
        [first, second, ..] if first >> 4 == 6 => Some(first << 4 | second >> 4),
        _ => None,
    }
}

/// What congestion may do with a packet whose DS field is this (RFC 3168, RFC 9331).
#[inline]
pub fn ecn(ds: u8) -> Ecn {
    match ds & 0b11 {
        0b00 => Ecn::NotCapable,
        0b01 => Ecn::L4s,
        0b10 => Ecn::Capable,
        _ => Ecn::Experienced,
    }
}
