//! Datagrams put together to messages.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};

use laxity::packet::{Ecn, Packet};
use laxity::units::Nanos;
use socket2::SockAddr;

use crate::Datagram;
use crate::control::Control;
use crate::sys::Message;

/// A datagram that waits for the next flush.
#[derive(Debug)]
pub(crate) struct Waiting<B> {
    pub packet: Packet,
    pub starts_at: Nanos,
    pub datagram: Datagram<B>,
}

/// The most datagrams of a message that every kernel takes.
const MOST_SEGMENTS: usize = 64;

/// The most bytes of a message, below what one IP packet holds with any headers.
const MOST_BYTES: usize = 65_000;

/// What may be put together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining {
    /// The time of the rate from the first datagram's start to the last one's.
    pub longest: Nanos,
    /// Only datagrams that are shorter.
    pub below: usize,
}

impl<B: AsRef<[u8]>> Waiting<B> {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.datagram.bytes.as_ref()
    }

    fn length(&self) -> usize {
        self.bytes().len()
    }

    /// How many of those that wait, this one first, go in one message.
    pub(crate) fn joined(waiting: &[Self], joining: Option<Joining>) -> usize {
        let (Some(first), Some(Joining { longest, below })) = (waiting.first(), joining) else {
            return waiting.len().min(1);
        };
        let length = first.length();
        if length == 0 || length >= below {
            return 1;
        }
        let most = MOST_SEGMENTS.min(MOST_BYTES / length).max(1);
        let before = first.starts_at.saturating_add(longest);
        let is_alike = |next: &&Self| {
            next.starts_at < before
                && next.length() == length
                && next.datagram.to == first.datagram.to
                && next.traffic_class() == first.traffic_class()
        };
        1 + waiting[1..].iter().take(most - 1).take_while(is_alike).count()
    }

    /// The message that begins with this datagram. `slices` are the bytes of all its datagrams.
    pub(crate) fn message<'a>(
        &self,
        slices: &'a [IoSlice<'a>],
        is_v4: bool,
        transmit_at: Option<u64>,
    ) -> Message<'a> {
        let to = reachable(self.datagram.to, is_v4);
        let mut control = Control::new();
        if self.traffic_class() != 0 {
            let goes_over_v4 = matches!(to.ip().to_canonical(), IpAddr::V4(_));
            control.traffic_class(goes_over_v4, self.traffic_class());
        }
        if slices.len() > 1 {
            control.segments(self.length() as u16);
        }
        if let Some(at) = transmit_at {
            control.transmit_time(at);
        }
        Message { to: SockAddr::from(to), slices, control }
    }

    /// The byte of the IP header with code point and ECN (RFC 2474, RFC 3168).
    fn traffic_class(&self) -> u8 {
        let ecn = match self.packet.ecn {
            Ecn::NotCapable => 0,
            Ecn::L4s => 1,
            Ecn::Capable => 2,
            Ecn::Experienced => 3,
        };
        self.datagram.dscp << 2 | ecn
    }
}

/// The destination in the family of the socket: sockets of IPv6 reach hosts of IPv4 by mapped
/// addresses (RFC 4291 section 2.5.5.2).
fn reachable(to: SocketAddr, is_v4: bool) -> SocketAddr {
    let ip = match to.ip() {
        ip if is_v4 => ip.to_canonical(),
        IpAddr::V4(ip) => ip.to_ipv6_mapped().into(),
        IpAddr::V6(_) => return to,
    };
    SocketAddr::new(ip, to.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(length: usize, starts_at: u64, port: u16) -> Waiting<Vec<u8>> {
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        let (packet, starts_at) = (Packet::default(), Nanos(starts_at));
        Waiting { packet, starts_at, datagram: Datagram::new(vec![0; length], to) }
    }

    const JOINING: Joining = Joining { longest: Nanos(1_000), below: usize::MAX };

    #[test]
    fn what_is_alike_and_close_together_is_one_message() {
        let alike = [waiting(10, 0, 1), waiting(10, 500, 1), waiting(10, 999, 1)];
        assert_eq!(Waiting::joined(&alike, Some(JOINING)), 3);
        assert_eq!(Waiting::joined(&alike, None), 1);
        assert_eq!(Waiting::joined(&alike, Some(Joining { below: 10, ..JOINING })), 1);
        let late = [waiting(10, 0, 1), waiting(10, 1_000, 1)];
        let longer = [waiting(10, 0, 1), waiting(11, 0, 1)];
        let elsewhere = [waiting(10, 0, 1), waiting(10, 0, 2)];
        let mut marked = [waiting(10, 0, 1), waiting(10, 0, 1)];
        marked[1].packet.ecn = Ecn::Experienced;
        for apart in [late, longer, elsewhere, marked] {
            assert_eq!(Waiting::joined(&apart, Some(JOINING)), 1);
        }
    }

    #[test]
    fn messages_are_no_longer_than_kernels_take() {
        for (length, most) in [(0, 1), (1, 64), (1_200, 54), (40_000, 1)] {
            let many: Vec<_> = (0..100).map(|_| waiting(length, 0, 1)).collect();
            assert_eq!(Waiting::joined(&many, Some(JOINING)), most, "{length}");
        }
    }

    #[test]
    fn destinations_are_in_the_family_of_the_socket() {
        let v4 = SocketAddr::from(([192, 0, 2, 1], 5));
        let mapped = "[::ffff:192.0.2.1]:5".parse().expect("an address");
        assert_eq!([reachable(v4, false), reachable(mapped, false)], [mapped, mapped]);
        assert_eq!([reachable(v4, true), reachable(mapped, true)], [v4, v4]);
    }
}
