//! The host's connections as its connection tracking knows them.
//!
//! Where addresses are translated, a packet at the outer interface says the host's own address and
//! not whose it is. The kernel tells of every connection before its first packet is sent, so
//! a reader that is up to date when it reads a packet knows the packet's connection.
//!
//! Opening needs `CAP_NET_ADMIN`; hearing does not. Where more was told than there was room for, a
//! thread of its own reads the kernel's table anew.

mod table;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{NLM_F_DUMP, NlasIterator};

use crate::error::{Doing, Error};
use crate::rtnetlink::{Message, Rtnetlink};
use crate::sys;
use table::Table;

/// The connections whose packets are of another address inside, or that are marked.
pub struct Connections {
    hearing: Rtnetlink,
    inside: Known,
    /// How often some were told that could not be heard.
    unheard: u64,
    /// What reads the kernel's table anew; none where it has no file.
    table: Option<Table>,
}

/// What is behind ends.
type Known = HashMap<Ends, Inside>;

/// Both ends of a packet at an interface, as they are in the packet there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever has a packet")]
pub struct Ends {
    /// The protocol above IP.
    pub protocol: u8,
    /// Address and port on the host's side. Of ICMP the identifier takes the place of ports.
    pub local: (IpAddr, u16),
    /// The same on the other side.
    pub remote: (IpAddr, u16),
}

/// What is behind the host's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inside {
    /// The address inside.
    pub address: IpAddr,
    /// The port inside.
    pub port: u16,
    /// The connection's mark.
    pub mark: u32,
}

/// A connection of conntrack. Each direction is as its packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connection {
    original: Tuple,
    reply: Tuple,
    mark: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tuple {
    protocol: u8,
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
}

/// The most ends that are known at once; packets of others are as they are outside.
const MOST: usize = 1 << 17;
/// Bytes of what the kernel tells that wait to be heard.
const BUFFER: i32 = 8 << 20;

/// `NFNL_SUBSYS_CTNETLINK` in a message's type, and behind it what is told or asked.
const CONNTRACK: u16 = 1 << 8;
const NEW: u16 = CONNTRACK;
const GET: u16 = CONNTRACK | 1;
const DELETE: u16 = CONNTRACK | 2;
/// `NFNLGRP_CONNTRACK_NEW`, `_UPDATE` and `_DESTROY`.
const GROUPS: [u32; 3] = [1, 2, 3];
/// The length of `struct nfgenmsg`.
const HEADER: usize = 4;

impl Connections {
    /// Hears from now on of the connections of the network namespace of the calling thread, and
    /// knows those that there are.
    ///
    /// # Errors
    /// Without `CAP_NET_ADMIN`, or if the kernel has no connection tracking.
    pub fn open() -> Result<Self, Error> {
        let open = || {
            let hearing = Rtnetlink::hearing_netfilter(&GROUPS)?;
            sys::set_option(hearing.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER)?;
            let inside = HashMap::with_capacity(MOST);
            let table = Table::open().ok();
            let mut connections = Connections { hearing, inside, unheard: 0, table };
            let question = Message { kind: GET, flags: NLM_F_DUMP, payload: &[0; HEADER] };
            let known = Rtnetlink::netfilter()?.dumped(&question, |_, told| Connection::read(told));
            known?.iter().for_each(|connection| learn(&mut connections.inside, connection));
            Ok(connections)
        };
        open().privileged("hear of the host's connections", "CAP_NET_ADMIN")
    }

    /// Takes note of all that was told by now.
    ///
    /// # Errors
    /// If the socket cannot be used any more.
    pub fn hear(&mut self) -> io::Result<()> {
        let Connections { hearing, inside, unheard, table } = self;
        if let Some(table) = table {
            table.follow(inside);
        }
        loop {
            let heard = hearing.hear(|kind, told| {
                let Some(connection) = Connection::read(told) else { return };
                let news = match kind {
                    NEW => News::Begun(connection),
                    DELETE => News::Ended(connection),
                    _ => return,
                };
                news.apply(inside);
                if let Some(table) = table {
                    table.note(news);
                }
            });
            match heard {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if sys::is_lost(&error) => return Err(error),
                Err(_) => {
                    *unheard += 1;
                    if let Some(table) = table {
                        table.read_anew();
                    }
                }
            }
        }
    }

    /// What is behind the host's end, if that is something else than what the packet says, or the
    /// connection is marked.
    pub fn inside(&self, ends: &Ends) -> Option<&Inside> {
        self.inside.get(ends)
    }

    /// How often more was told than there was room for. The kernel's table is read anew each time,
    /// if it has a file (`/proc/net/nf_conntrack`).
    pub fn unheard(&self) -> u64 {
        self.unheard
    }
}

impl AsFd for Connections {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.hearing.as_fd()
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("known", &self.inside.len()).finish_non_exhaustive()
    }
}

/// What is told of a connection.
#[derive(Clone, Copy, Debug)]
enum News {
    /// It begins, or changes.
    Begun(Connection),
    Ended(Connection),
}

impl News {
    fn apply(&self, known: &mut Known) {
        match self {
            News::Begun(connection) => learn(known, connection),
            News::Ended(connection) => connection.ends().iter().for_each(|(ends, _)| {
                known.remove(ends);
            }),
        }
    }
}

fn learn(known: &mut Known, connection: &Connection) {
    for (ends, inside) in connection.ends() {
        if (inside.address, inside.port) == ends.local && inside.mark == 0 {
            known.remove(&ends);
        } else if known.len() < MOST || known.contains_key(&ends) {
            known.insert(ends, inside);
        }
    }
}

impl Connection {
    /// The ends of its packets at an interface behind which the one or the other side is, and what
    /// is behind the host's end there.
    fn ends(&self) -> [(Ends, Inside); 2] {
        let Connection { original, reply, mark } = *self;
        [(original, reply), (reply, original)].map(|(inner, outer)| {
            let ends =
                Ends { protocol: outer.protocol, local: outer.destination, remote: outer.source };
            let (address, port) = inner.source;
            (ends, Inside { address, port, mark })
        })
    }

    /// From a message about one.
    fn read(message: &[u8]) -> Option<Connection> {
        const ORIGINAL: u16 = 1;
        const REPLY: u16 = 2;
        const MARK: u16 = 8;
        let (mut original, mut reply, mut mark) = (None, None, 0);
        for (kind, value) in attributes(message.get(HEADER..)?) {
            match kind {
                ORIGINAL => original = Tuple::read(value),
                REPLY => reply = Tuple::read(value),
                MARK => mark = value.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes)),
                _ => {}
            }
        }
        Some(Connection { original: original?, reply: reply?, mark })
    }
}

impl Tuple {
    fn read(bytes: &[u8]) -> Option<Tuple> {
        const ADDRESSES: u16 = 1;
        const PROTOCOL: u16 = 2;
        let mut addresses = [None; 2];
        let (mut number, mut ports) = (None, [0; 2]);
        for (kind, value) in attributes(bytes) {
            for (inner, value) in attributes(value) {
                match (kind, inner) {
                    (ADDRESSES, 1 | 3) => addresses[0] = address(value),
                    (ADDRESSES, 2 | 4) => addresses[1] = address(value),
                    (PROTOCOL, 1) => number = value.first().copied(),
                    (PROTOCOL, 2) => ports[0] = port(value),
                    (PROTOCOL, 3) => ports[1] = port(value),
                    // The identifier of ICMP and ICMPv6.
                    (PROTOCOL, 4 | 7) => ports = [port(value); 2],
                    _ => {}
                }
            }
        }
        let [source, destination] = addresses;
        Some(Tuple {
            protocol: number?,
            source: (source?, ports[0]),
            destination: (destination?, ports[1]),
        })
    }
}

fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const HEADER: usize = 4;
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let attribute = NlasIterator::new(rest).next()?.ok()?;
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        let value = rest.get(HEADER..length)?;
        rest = rest.get(length.next_multiple_of(HEADER)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => bytes.first_chunk::<4>().map(|bytes| IpAddr::from(*bytes)),
        _ => bytes.first_chunk::<16>().map(|bytes| IpAddr::from(*bytes)),
    }
}

fn port(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = (value.len() as u16 + 4).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn tuple(from: [u8; 4], to: [u8; 4], [source, destination]: [u16; 2]) -> Vec<u8> {
        let addresses = [attribute(1, &from), attribute(2, &to)].concat();
        let protocol = [
            attribute(1, &[17]),
            attribute(2, &source.to_be_bytes()),
            attribute(3, &destination.to_be_bytes()),
        ];
        [attribute(1 << 15 | 1, &addresses), attribute(1 << 15 | 2, &protocol.concat())].concat()
    }

    /// 10.0.0.7:5000 inside is 192.0.2.1:6000 outside, and speaks to 198.51.100.1:53.
    fn message(mark: u32) -> Vec<u8> {
        let original = tuple([10, 0, 0, 7], [198, 51, 100, 1], [5000, 53]);
        let reply = tuple([198, 51, 100, 1], [192, 0, 2, 1], [53, 6000]);
        let parts =
            [attribute(1, &original), attribute(2, &reply), attribute(8, &mark.to_be_bytes())];
        [&[0; HEADER][..], &parts.concat()].concat()
    }

    fn outside() -> Ends {
        let (local, remote) = (([192, 0, 2, 1].into(), 6000), ([198, 51, 100, 1].into(), 53));
        Ends { protocol: 17, local, remote }
    }

    #[test]
    fn what_is_translated_is_known_by_its_ends_outside() {
        let connection = Connection::read(&message(0)).expect("it is whole");
        let mut known = HashMap::new();
        learn(&mut known, &connection);
        let inside = Inside { address: [10, 0, 0, 7].into(), port: 5000, mark: 0 };
        assert_eq!(known, HashMap::from([(outside(), inside)]));
        // A mark concerns both sides.
        learn(&mut known, &Connection::read(&message(5)).expect("it is whole"));
        assert_eq!((known.len(), known[&outside()].mark), (2, 5));
        learn(&mut known, &connection);
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn a_message_that_is_cut_short_is_no_connection() {
        let whole = message(0);
        let end_of_tuples = whole.len() - 8;
        for end in 0..end_of_tuples {
            assert_eq!(Connection::read(&whole[..end]), None, "{end}");
        }
        assert!(Connection::read(&whole[..end_of_tuples]).is_some());
    }
}
