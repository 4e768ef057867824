//! The parts of a frame that forwarding leaves unchanged.
//!
//! Excluded is what a bridge, a router or an interface changes. That is all of Ethernet and VLAN
//! tags. Of IP it is the hop limit, the code point, the congestion marks, the checksum and the
//! options. Above IP it is the checksums, because interfaces fill them in. Of TCP it is also the
//! flags, because offloads move them, and a SYN's options, because routers clamp them.

use std::hash::{BuildHasher, Hasher, RandomState};

use laxity_forward::layers::{Layers, Transport};

/// Finds what tells packets apart.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    hashes: RandomState,
    translated: bool,
}

/// A packet as the link carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The same for packets of the same content, and others have another.
    pub key: u64,
    /// The length of its frame in bytes, as an interface counts it.
    pub length: u32,
}

impl Contents {
    /// By all that stays; addresses and ports do not if they are `translated`.
    pub fn new(translated: bool) -> Self {
        Contents { hashes: RandomState::new(), translated }
    }

    /// Calls `each` with every packet of a frame.
    ///
    /// A frame holds several packets if an offload still has to cut it into `segments`, or has
    /// merged it from such. `segments` is the payload of each, in bytes.
    pub fn each_packet(&self, frame: &[u8], segments: Option<u16>, mut each: impl FnMut(Content)) {
        let layers = Layers::new(frame);
        let payload = &frame[layers.payload..layers.end];
        let size = segments.filter(|_| layers.transport.is_cut()).map_or(usize::MAX, usize::from);
        if payload.len() <= size {
            let key = self.key(frame, &layers, 0, 0, payload);
            return each(Content { key, length: length(frame.len()) });
        }
        let mut begin = 0;
        for (number, part) in payload.chunks(size).enumerate() {
            let key = self.key(frame, &layers, number as u16, begin, part);
            each(Content { key, length: length(layers.payload + part.len()) });
            begin += part.len() as u32;
        }
    }

    /// The key of a segment: which it is, where it begins, and what it carries.
    fn key(&self, frame: &[u8], layers: &Layers, number: u16, begin: u32, part: &[u8]) -> u64 {
        let mut hash = self.hashes.build_hasher();
        hash.write_u16(layers.ether_type);
        if let Some(protocol) = layers.protocol {
            hash.write_u8(protocol);
        }
        if !self.translated {
            hash.write(&frame[layers.addresses()]);
        }
        let header = &frame[layers.transport_at..layers.payload];
        if let (false, Some(ports)) = (self.translated, header.get(..4)) {
            hash.write(ports);
        }
        match layers.transport {
            Transport::Tcp => {
                const SYN: u8 = 2;
                let stands = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
                hash.write_u32(stands.wrapping_add(begin));
                hash.write(&header[8..12]);
                hash.write(&header[14..16]);
                if header[13] & SYN == 0 {
                    hash.write(&header[20..]);
                }
            }
            Transport::Udp | Transport::Other => {
                let identification = layers.identification.map(|first| first.wrapping_add(number));
                hash.write_u16(identification.unwrap_or_default());
            }
        }
        hash.write_usize(part.len());
        hash.write(part);
        hash.finish()
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
