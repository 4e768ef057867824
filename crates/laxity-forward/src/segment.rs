//! Frames that a sender left to the interface to cut: one of up to 64 kB becomes the frames that go
//! over the wire.
//!
//! A kernel hands over TCP and UDP uncut and without checksums where the interface that it knows
//! does both (generic segmentation offload). A link that gave such a frame its turn would be taken
//! for as long as 40 packets take. What comes of one is what Linux makes of it where the interface
//! does not: `tcp_gso_segment` and `__udp_gso_segment`.

#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::checksum::Sum;
pub use crate::checksum::complete;
use crate::layers::{IPV6_HEADER, IpVersion, Layers};

/// What a frame is left with, as `struct virtio_net_hdr` says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Whether the checksum is to be completed (`VIRTIO_NET_HDR_F_NEEDS_CSUM`), from where on and
    /// where it is written.
    pub checksum: Option<(u16, u16)>,
    /// What is to be cut: 0 nothing, 1 TCP over IPv4, 4 TCP over IPv6, 5 UDP; 128 besides where
    /// congestion was told of.
    pub gso_type: u8,
    /// The bytes of payload of a segment.
    pub gso_size: u16,
}

impl Offload {
    /// From the header as it is in memory, in the machine's own order of bytes: flags, type, the
    /// headers' length, size, where the checksum begins, where it is.
    pub fn from_header(header: &[u8; 10]) -> Offload {
        const NEEDS_CHECKSUM: u8 = 1;
        let number = |at| u16::from_ne_bytes([header[at], header[at + 1]]);
        Offload {
            checksum: (header[0] & NEEDS_CHECKSUM != 0).then(|| (number(6), number(8))),
            gso_type: header[1],
            gso_size: number(4),
        }
    }

    /// Whether the frame is to be cut.
    pub fn cuts(&self) -> bool {
        self.gso_type & !CONGESTION_TOLD != 0
    }
}

/// Why a frame cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// It is of a kind that is not known.
    #[error("a frame of kind {0} cannot be cut: TCP over IPv4 (1) and IPv6 (4) and UDP (5) can")]
    Kind(u8),
    /// Segments of no size.
    #[error("segments have no size")]
    NoSize,
    /// Its headers are cut short, or not of its kind.
    #[error("the frame's headers are not those of its kind")]
    Headers,
}

/// The segments of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a> {
    frame: &'a [u8],
    layers: Layers,
    size: usize,
}

const TCP_OVER_IPV4: u8 = 1;
const TCP_OVER_IPV6: u8 = 4;
const UDP: u8 = 5;
const CONGESTION_TOLD: u8 = 128;

/// Flags of TCP: on the last segment only, and on the first only.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

const OF_TCP: u8 = 6;
const OF_UDP: u8 = 17;

impl<'a> Segments<'a> {
    /// The segments of a frame of Ethernet that is to be cut.
    ///
    /// # Errors
    /// If the frame is not what it is said to be.
    pub fn new(frame: &'a [u8], offload: &Offload) -> Result<Self, SegmentError> {
        let kind = offload.gso_type & !CONGESTION_TOLD;
        let (protocol, version) = match kind {
            TCP_OVER_IPV4 => (OF_TCP, Some(IpVersion::V4)),
            TCP_OVER_IPV6 => (OF_TCP, Some(IpVersion::V6)),
            UDP => (OF_UDP, None),
            _ => return Err(SegmentError::Kind(offload.gso_type)),
        };
        if offload.gso_size == 0 {
            return Err(SegmentError::NoSize);
        }
        let layers = Layers::new(frame);
        // A route changes the destination that checksums count on, and a fragment is not cut again.
        let can_be_cut = layers.transport.is_cut() && layers.is_complete && !layers.is_routed;
        let fits =
            layers.protocol == Some(protocol) && version.is_none_or(|it| layers.ip == Some(it));
        if !can_be_cut || !fits {
            return Err(SegmentError::Headers);
        }
        Ok(Segments { frame, layers, size: usize::from(offload.gso_size) })
    }

    /// How many there are: at least one.
    pub fn count(&self) -> usize {
        self.payload().len().div_ceil(self.size).max(1)
    }

    /// How long the longest is, in bytes.
    pub fn longest(&self) -> usize {
        self.layers.payload + self.size.min(self.payload().len())
    }

    /// Writes the segment of a number, from 0, and returns it; `None` if there is none, or no room
    /// for the longest.
    pub fn write<'b>(&self, number: usize, out: &'b mut [u8]) -> Option<&'b mut [u8]> {
        if number >= self.count() || out.len() < self.longest() {
            return None;
        }
        let begin = number * self.size;
        let end = self.payload().len().min(begin + self.size);
        let (headers, part) = (&self.frame[..self.layers.payload], &self.payload()[begin..end]);
        let length = headers.len() + part.len();
        let out = &mut out[..length];
        out[..headers.len()].copy_from_slice(headers);
        out[headers.len()..].copy_from_slice(part);
        self.network(number, out);
        if self.layers.protocol == Some(OF_TCP) {
            self.tcp(number, begin, out);
        } else {
            self.udp(out);
        }
        Some(out)
    }

    fn payload(&self) -> &'a [u8] {
        &self.frame[self.layers.payload..self.layers.end]
    }

    /// Its length and number in the header of IP.
    fn network(&self, number: usize, out: &mut [u8]) {
        let Layers { ip, network_at, transport_at, .. } = self.layers;
        let length = out.len() - network_at;
        match ip {
            None => unreachable!("only packets of IP are cut"),
            Some(IpVersion::V4) => {
                let header = &mut out[network_at..transport_at];
                put(header, 2, length as u16);
                put(header, 4, get(header, 4).wrapping_add(number as u16));
                put(header, 10, 0);
                put(header, 10, Sum::default().and(header).fold());
            }
            Some(IpVersion::V6) => put(&mut out[network_at..], 4, (length - IPV6_HEADER) as u16),
        }
    }

    fn tcp(&self, number: usize, begin: usize, out: &mut [u8]) {
        let (is_first, is_last) = (number == 0, number + 1 == self.count());
        let header = &mut out[self.layers.transport_at..];
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        header[4..8].copy_from_slice(&sequence.wrapping_add(begin as u32).to_be_bytes());
        header[13] &= !(if is_last { 0 } else { FIN_PSH } | if is_first { 0 } else { CWR });
        self.sum(16, out);
    }

    fn udp(&self, out: &mut [u8]) {
        let header = &mut out[self.layers.transport_at..];
        put(header, 4, header.len() as u16);
        self.sum(6, out);
    }

    /// Writes the checksum of TCP or UDP, `at` bytes into its header.
    fn sum(&self, at: usize, out: &mut [u8]) {
        let Layers { transport_at, protocol, .. } = self.layers;
        let (before, header) = out.split_at_mut(transport_at);
        put(header, at, 0);
        let addresses = &before[self.layers.addresses()];
        let sum = Sum::default().and(addresses).and_number(protocol.unwrap_or_default().into());
        let sum = sum.and_number(header.len() as u32).and(header).fold_nonzero();
        put(header, at, sum);
    }
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, number: u16) {
    bytes[at..at + 2].copy_from_slice(&number.to_be_bytes());
}
