//! Echoes of ICMP (RFC 792, RFC 4443): hosts that answer probes.
//!
//! The kernel has sockets for that which need no capability where `net.ipv4.ping_group_range`
//! allows them; else raw ones are opened, with `CAP_NET_RAW`.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::{Doing, Error};
use crate::sys;

/// What stands before the payload of an echo.
const HEADER: usize = 8;
/// A secret and a number, and zeros up to what is usual.
const PAYLOAD: usize = 56;
const REQUEST: usize = HEADER + PAYLOAD;
const PLACE: usize = 256;

/// Sockets for echoes, one for each family of the hosts.
#[derive(Debug)]
pub struct Pinger {
    sockets: Vec<Socket>,
    secret: u64,
}

#[derive(Debug)]
struct Socket {
    /// Not of UDP, but addresses and calls are the same.
    socket: UdpSocket,
    family: Family,
    is_raw: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Pinger {
    /// Opens what is needed for these hosts. `secret` tells answers from those to others.
    ///
    /// # Errors
    /// If neither kind of socket can be opened.
    pub fn open(hosts: &[IpAddr], secret: u64) -> Result<Pinger, Error> {
        let is_needed = |family: &Family| hosts.iter().any(|host| Family::from(*host) == *family);
        let families = [Family::V4, Family::V6].into_iter().filter(is_needed);
        let sockets = families.map(Socket::open).collect::<Result<_, _>>()?;
        Ok(Pinger { sockets, secret })
    }

    /// Asks a host for an echo of this number.
    ///
    /// # Errors
    /// If there is no way to it, or no room to send.
    pub fn send(&self, host: IpAddr, number: u64) -> io::Result<()> {
        let family = Family::from(host);
        let socket = self.sockets.iter().find(|socket| socket.family == family);
        let socket = socket.ok_or(io::ErrorKind::AddrNotAvailable)?;
        let request = request(family, self.secret, number);
        socket.socket.send_to(&request, SocketAddr::new(host, 0)).map(drop)
    }

    /// The next echo that came back: its host and its number; `None` if there is none.
    ///
    /// # Errors
    /// If a socket cannot be used any more.
    pub fn receive(&self) -> io::Result<Option<(IpAddr, u64)>> {
        let mut place = [0; PLACE];
        for socket in &self.sockets {
            loop {
                match socket.socket.recv_from(&mut place) {
                    Ok((length, from)) => {
                        if let Some(number) = socket.number(&place[..length], self.secret) {
                            return Ok(Some((from.ip(), number)));
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // Errors of single echoes, such as that a host cannot be reached.
                    Err(error) if sys::is_lost(&error) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        Ok(None)
    }

    /// Numbers of its sockets that no others get until the machine starts anew, by which a
    /// [host's link](crate::host_link) lets probes pass.
    ///
    /// # Errors
    /// If the kernel has none.
    pub fn cookies(&self) -> Result<Vec<u64>, Error> {
        let cookie = |socket: &Socket| sys::cookie(socket.socket.as_fd());
        self.sockets.iter().map(cookie).collect::<io::Result<_>>().doing("number a socket")
    }

    /// What becomes readable when an echo comes back.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().map(|socket| socket.socket.as_fd())
    }
}

impl From<IpAddr> for Family {
    fn from(host: IpAddr) -> Self {
        match host {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

impl Family {
    /// The numbers of a request and of its answer.
    fn kinds(self) -> [u8; 2] {
        match self {
            Family::V4 => [8, 0],
            Family::V6 => [128, 129],
        }
    }
}

impl Socket {
    fn open(family: Family) -> Result<Socket, Error> {
        let (domain, protocol) = match family {
            Family::V4 => (libc::AF_INET, libc::IPPROTO_ICMP),
            Family::V6 => (libc::AF_INET6, libc::IPPROTO_ICMPV6),
        };
        let open = |kind| sys::socket(domain, kind | libc::SOCK_NONBLOCK, protocol);
        let (socket, is_raw) = match open(libc::SOCK_DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => {
                let raw = open(libc::SOCK_RAW);
                (raw.privileged("open a socket for echoes", "CAP_NET_RAW")?, true)
            }
        };
        Ok(Socket { socket: UdpSocket::from(socket), family, is_raw })
    }

    /// The number of an echo, if it answers a request of ours.
    fn number(&self, packet: &[u8], secret: u64) -> Option<u64> {
        let header = match (self.family, self.is_raw) {
            // A raw socket of IPv4 shows the header of IP, too.
            (Family::V4, true) => usize::from(packet.first()? & 15) * 4,
            (Family::V4 | Family::V6, _) => 0,
        };
        let echo = packet.get(header..)?;
        let numbers = echo.get(HEADER..HEADER + 16)?;
        let (own, number) = numbers.split_at(8);
        let [_, answer] = self.family.kinds();
        let is_own = echo[0] == answer && own == secret.to_be_bytes();
        is_own.then(|| number.try_into().ok().map(u64::from_be_bytes))?
    }
}

/// A request for an echo.
fn request(family: Family, secret: u64, number: u64) -> [u8; REQUEST] {
    let [kind, _] = family.kinds();
    let mut packet = [0; REQUEST];
    packet[0] = kind;
    packet[4..6].copy_from_slice(&(secret as u16).to_be_bytes());
    packet[6..8].copy_from_slice(&(number as u16).to_be_bytes());
    packet[8..16].copy_from_slice(&secret.to_be_bytes());
    packet[16..24].copy_from_slice(&number.to_be_bytes());
    if family == Family::V4 {
        // That of IPv6 the kernel fills in.
        let checksum = checksum(&packet);
        packet[2..4].copy_from_slice(&checksum.to_be_bytes());
    }
    packet
}

/// The checksum of the Internet (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum = words.sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_checksum_that_fits() {
        for number in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            assert_eq!(checksum(&request(Family::V4, 77, number)), 0);
        }
    }

    #[test]
    fn only_own_answers_count() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = Socket { socket, family: Family::V4, is_raw: true };
        let mut packet = vec![0x45; 20];
        packet.extend(request(Family::V4, 77, 5));
        assert_eq!(socket.number(&packet, 77), None, "a request");
        packet[20] = 0;
        assert_eq!(socket.number(&packet, 77), Some(5));
        assert_eq!(socket.number(&packet, 78), None);
        for length in 0..packet.len() {
            let _ = socket.number(&packet[..length], 77);
        }
        assert_eq!(socket.number(&packet[..40], 77), None);
    }
}
