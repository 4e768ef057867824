//! Messages of RSVP (RFC 2205, 3.1) and their objects.

mod bytes;
mod error;
mod intserv;
mod object;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

use thiserror::Error;

pub use error::{ErrorCode, ErrorSpec};
pub use intserv::{Adspec, Flowspec, General, GuaranteedTerms, Rspec, ServiceTerms, Tspec};
pub use object::{Filter, Hop, Object, Opaque, Session, Style};

use bytes::Reader;

/// The number of RSVP among the protocols of IP.
pub const PROTOCOL: u8 = 46;

/// The most bytes of a message that is read: what fits into a datagram of IP.
pub const LONGEST: usize = 65_515;

/// Kinds of messages, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "RFC 2205 has these")]
pub enum Kind {
    /// A sender describes its traffic to the routers on its way.
    Path,
    /// A receiver asks for a reservation.
    Resv,
    /// A path could not be set up.
    PathErr,
    /// A reservation was refused.
    ResvErr,
    /// A sender ends.
    PathTear,
    /// A receiver ends a reservation.
    ResvTear,
    /// A reservation is confirmed.
    ResvConf,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Path,
        Kind::Resv,
        Kind::PathErr,
        Kind::ResvErr,
        Kind::PathTear,
        Kind::ResvTear,
        Kind::ResvConf,
    ];

    /// Its number in a message.
    pub fn number(self) -> u8 {
        match self {
            Kind::Path => 1,
            Kind::Resv => 2,
            Kind::PathErr => 3,
            Kind::ResvErr => 4,
            Kind::PathTear => 5,
            Kind::ResvTear => 6,
            Kind::ResvConf => 7,
        }
    }
}

/// A message: a header and objects.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the header has these")]
pub struct Message {
    /// What it says.
    pub kind: Kind,
    /// The time to live of IP that it was sent with.
    pub send_ttl: u8,
    /// Its objects, in their order. Those that are to be ignored are left out.
    pub objects: Vec<Object>,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It ends before it should, or says another length.
    #[error("its length is wrong")]
    Length,
    /// It is of another version of RSVP.
    #[error("it is of version {0}, not 1")]
    Version(u8),
    /// The bytes are not those that were sent.
    #[error("its checksum is wrong")]
    Checksum,
    /// Nobody knows what it says.
    #[error("a message of kind {0} is unknown")]
    Kind(u8),
    /// An object does not have the form of its class.
    #[error("an object of class {0} is not formed as RFC 2205 or RFC 2210 says")]
    Object(u8),
}

/// The length of the common header.
const HEADER: usize = 8;

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// If the bytes are none. Objects of unknown classes are no error: see [`Object::Unknown`].
    pub fn parse(bytes: &[u8]) -> Result<Message, ParseError> {
        let mut reader = Reader::new(bytes);
        let header = (|| {
            let [version, kind] = [reader.u8()?, reader.u8()?];
            let sum = reader.u16()?;
            let [send_ttl, _reserved] = [reader.u8()?, reader.u8()?];
            Some((version, kind, sum, send_ttl, reader.u16()?))
        })();
        let (version, kind, sum, send_ttl, length) = header.ok_or(ParseError::Length)?;
        if version >> 4 != 1 {
            return Err(ParseError::Version(version >> 4));
        }
        if usize::from(length) != bytes.len() || !bytes.len().is_multiple_of(4) {
            return Err(ParseError::Length);
        }
        // Zero says that none was computed.
        if sum != 0 && checksum(bytes) != 0 {
            return Err(ParseError::Checksum);
        }
        let known = Kind::ALL.into_iter().find(|known| known.number() == kind);
        let kind = known.ok_or(ParseError::Kind(kind))?;
        let mut objects = Vec::new();
        while !reader.is_empty() {
            objects.extend(Object::read(&mut reader)?);
        }
        Ok(Message { kind, send_ttl, objects })
    }

    /// Writes the message, with its checksum. `None` if it would be longer than [`LONGEST`].
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0x10, self.kind.number(), 0, 0, self.send_ttl, 0, 0, 0];
        for object in &self.objects {
            object.write(&mut bytes);
            if bytes.len() > LONGEST {
                return None;
            }
        }
        let length = u16::try_from(bytes.len()).ok()?;
        bytes[6..HEADER].copy_from_slice(&length.to_be_bytes());
        let sum = checksum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        Some(bytes)
    }

    /// The flow's destination.
    pub fn session(&self) -> Option<Session> {
        self.find(
            |object| if let Object::Session(session) = object { Some(*session) } else { None },
        )
    }

    /// The node that sent it.
    pub fn hop(&self) -> Option<Hop> {
        self.find(|object| if let Object::Hop(hop) = object { Some(*hop) } else { None })
    }

    /// The refresh period of the node that sent it, in ms.
    pub fn refresh_ms(&self) -> Option<u32> {
        self.find(|object| if let Object::RefreshTime(ms) = object { Some(*ms) } else { None })
    }

    /// Its style of reservation.
    pub fn style(&self) -> Option<Style> {
        self.find(|object| if let Object::Style(style) = object { Some(*style) } else { None })
    }

    /// The sender that it is about.
    pub fn sender(&self) -> Option<Filter> {
        self.find(|object| if let Object::Sender(sender) = object { Some(*sender) } else { None })
    }

    /// The traffic of the sender.
    pub fn sender_tspec(&self) -> Option<Tspec> {
        self.find(
            |object| if let Object::SenderTspec(tspec) = object { Some(*tspec) } else { None },
        )
    }

    /// What the path offers.
    pub fn adspec(&self) -> Option<&Adspec> {
        self.find(|object| if let Object::Adspec(adspec) = object { Some(adspec) } else { None })
    }

    /// Where a confirmation is to go.
    pub fn confirm(&self) -> Option<Ipv4Addr> {
        self.find(
            |object| if let Object::Confirm(address) = object { Some(*address) } else { None },
        )
    }

    /// What went wrong.
    pub fn error(&self) -> Option<ErrorSpec> {
        self.find(|object| if let Object::Error(error) = object { Some(*error) } else { None })
    }

    /// The first object whose class or type is not known.
    pub fn unknown(&self) -> Option<(u8, u8)> {
        self.find(|object| match object {
            Object::Unknown { class, kind } => Some((*class, *kind)),
            _ => None,
        })
    }

    /// Filters with the flowspec that each has: its own, or that of the one before it (RFC 2205,
    /// 3.1.4).
    pub fn flows(&self) -> Vec<(Filter, Option<&Flowspec>)> {
        let (mut flows, mut last) = (Vec::new(), None);
        for object in &self.objects {
            match object {
                Object::Flowspec(flowspec) => last = Some(flowspec),
                Object::Filter(filter) => flows.push((*filter, last)),
                _ => {}
            }
        }
        flows
    }

    fn find<'a, T>(&'a self, select: impl Fn(&'a Object) -> Option<T>) -> Option<T> {
        self.objects.iter().find_map(select)
    }
}

/// The checksum of the Internet (RFC 1071). Zero over a message that contains its own.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    let sum = bytes.chunks(2).map(word).sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
