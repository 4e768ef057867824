//! A raw socket for messages of RSVP (RFC 2205, 3.3): those to this machine, and those that pass
//! it with the option of IP that asks routers to look at them (RFC 2113).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::{Doing, Error};
use crate::sys;

/// The number of RSVP among the protocols of IP.
const PROTOCOL: u8 = 46;
/// The largest packet of IP.
const LARGEST: usize = 65_535;
/// "Router shall examine packet."
const ROUTER_ALERT: [u8; 4] = [0x94, 4, 0, 0];
const HEADER: usize = 20;

/// The socket.
#[derive(Debug)]
pub struct RsvpSocket {
    /// Not of UDP, but addresses and calls are the same.
    socket: UdpSocket,
    place: Box<[u8]>,
}

/// A message with what is said of it in the header of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a packet has these")]
pub struct Packet<'a> {
    /// Where it comes from; unspecified for this machine's own address.
    pub source: Ipv4Addr,
    /// Where it goes.
    pub destination: Ipv4Addr,
    /// The time to live.
    pub ttl: u8,
    /// Whether routers on its way are asked to look at it.
    pub is_alert: bool,
    /// The message.
    pub message: &'a [u8],
}

impl RsvpSocket {
    /// Opens the socket. From then on the kernel no longer forwards messages that ask routers to
    /// look at them.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW`.
    pub fn open() -> Result<RsvpSocket, Error> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let open = || {
            let socket = sys::socket(libc::AF_INET, kind, PROTOCOL.into())?;
            for option in [libc::IP_HDRINCL, IP_ROUTER_ALERT] {
                sys::set_option(socket.as_fd(), libc::IPPROTO_IP, option, &1i32)?;
            }
            Ok(UdpSocket::from(socket))
        };
        let socket: io::Result<UdpSocket> = open();
        let socket = socket.privileged("open a socket for RSVP", "CAP_NET_RAW")?;
        Ok(RsvpSocket { socket, place: vec![0; LARGEST].into_boxed_slice() })
    }

    /// The next message that came; `None` if there is none.
    ///
    /// # Errors
    /// If the socket cannot be used any more.
    pub fn receive(&mut self) -> io::Result<Option<Packet<'_>>> {
        loop {
            match self.socket.recv(&mut self.place) {
                Ok(length) => {
                    // Shown again below: the borrow of one that is returned lasts.
                    if read(&self.place[..length]).is_some() {
                        return Ok(read(&self.place[..length]));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if sys::is_lost(&error) => return Err(error),
                // Errors of single packets, such as that a host cannot be reached.
                Err(_) => {}
            }
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If there is no way to its destination, or no room to send.
    pub fn send(&self, packet: Packet<'_>) -> io::Result<()> {
        let destination = SocketAddr::from((packet.destination, 0));
        self.socket.send_to(&written(packet), destination).map(drop)
    }
}

/// Not in every version of `libc` for Linux: `linux/in.h`.
const IP_ROUTER_ALERT: i32 = 5;

impl AsFd for RsvpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn written(packet: Packet<'_>) -> Vec<u8> {
    let options: &[u8] = if packet.is_alert { &ROUTER_ALERT } else { &[] };
    let words = (HEADER + options.len()) / 4;
    let mut bytes = vec![0; HEADER];
    bytes[0] = 0x40 | words as u8;
    // The precedence of what controls a network (RFC 2474, class selector 6).
    bytes[1] = 6 << 5;
    // The kernel fills in the length, the checksum and, where it is zero, the source.
    bytes[8] = packet.ttl;
    bytes[9] = PROTOCOL;
    bytes[12..16].copy_from_slice(&packet.source.octets());
    bytes[16..20].copy_from_slice(&packet.destination.octets());
    bytes.extend(options);
    bytes.extend(packet.message);
    bytes
}

fn read(packet: &[u8]) -> Option<Packet<'_>> {
    let header: &[u8; HEADER] = packet.first_chunk()?;
    let length = usize::from(header[0] & 15) * 4;
    let options = packet.get(HEADER..length)?;
    let address = |place: usize| Some(Ipv4Addr::from(*header[place..].first_chunk::<4>()?));
    Some(Packet {
        source: address(12)?,
        destination: address(16)?,
        ttl: header[8],
        is_alert: options.chunks(4).any(|option| option == ROUTER_ALERT),
        message: &packet[length..],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let [source, destination] = [[10, 0, 0, 1], [10, 0, 1, 2]].map(Ipv4Addr::from);
        for is_alert in [false, true] {
            let packet = Packet { source, destination, ttl: 7, is_alert, message: b"message" };
            let bytes = written(packet);
            assert_eq!(read(&bytes), Some(packet));
            for length in 0..bytes.len() {
                let read = read(&bytes[..length]);
                assert!(read.is_none_or(|read| read.message.len() < packet.message.len()));
            }
        }
        assert_eq!(read(&[0x4f; 30]), None, "its header is cut off");
        assert_eq!(read(&[0x41; 30]), None, "its header is too short");
    }
}
