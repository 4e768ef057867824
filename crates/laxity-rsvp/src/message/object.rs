//! Objects of messages (RFC 2205, 3.1.2 and A).

use std::net::Ipv4Addr;

use super::ParseError;
use super::bytes::Reader;
use super::error::ErrorSpec;
use super::intserv::{Adspec, Flowspec, Tspec};

/// An object of a message.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a router tells all apart")]
pub enum Object {
    /// SESSION: the destination of a flow.
    Session(Session),
    /// RSVP_HOP: the node that sent the message.
    Hop(Hop),
    /// TIME_VALUES: the refresh period of that node, in ms.
    RefreshTime(u32),
    /// ERROR_SPEC: what went wrong.
    Error(ErrorSpec),
    /// STYLE: how senders share a reservation.
    Style(Style),
    /// FLOWSPEC: the service that is asked for.
    Flowspec(Flowspec),
    /// FILTER_SPEC: the sender that it is for.
    Filter(Filter),
    /// SENDER_TEMPLATE: the sender.
    Sender(Filter),
    /// SENDER_TSPEC: what the sender sends.
    SenderTspec(Tspec),
    /// ADSPEC: what the path offers.
    Adspec(Adspec),
    /// RESV_CONFIRM: where a confirmation is to go.
    Confirm(Ipv4Addr),
    /// An object that is passed on as it is.
    Opaque(Opaque),
    /// An object for which the whole message is refused: of an unknown class below 128, or of an
    /// unknown type of a known class.
    Unknown {
        /// Its class.
        class: u8,
        /// Its type.
        kind: u8,
    },
}

/// The destination of a flow (RFC 2205, A.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2205, A.1 has these")]
pub struct Session {
    /// Its address.
    pub destination: Ipv4Addr,
    /// The number of the protocol of IP.
    pub protocol: u8,
    /// The port of its destination, or zero.
    pub port: u16,
}

/// A node, and its interface by a number of its own (RFC 2205, A.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2205, A.2 has these")]
pub struct Hop {
    /// The address of its interface.
    pub address: Ipv4Addr,
    /// What the node that sends a path message calls its interface, and gets back with
    /// reservations for it.
    pub handle: u32,
}

/// How senders share a reservation (RFC 2205, A.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 2205 has these, and room for others")]
pub enum Style {
    /// FF: a sender has a reservation of its own.
    Fixed,
    /// Any other one, by its 24 bits.
    Other(u32),
}

/// A sender (RFC 2205, A.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2205, A.9 has these")]
pub struct Filter {
    /// Its address.
    pub source: Ipv4Addr,
    /// Its port, or zero.
    pub port: u16,
}

/// An object that is passed on as it is: a policy, or one of an unknown class from 192 on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "all objects are formed so")]
pub struct Opaque {
    /// Its class.
    pub class: u8,
    /// Its type.
    pub kind: u8,
    /// What is in it: a multiple of four bytes.
    pub body: Vec<u8>,
}

const FIXED: u32 = 0b01010;

/// The bit of a session by which a node asks others to police: turned off here, as every flow is
/// policed.
const NO_FLAGS: u8 = 0;

impl Object {
    /// Reads the next object; `None` for one that is to be ignored: one of an unknown class from
    /// 128 to 191 (RFC 2205, 3.10), INTEGRITY, which is between neighbours, and SCOPE, which is for
    /// other styles.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Object>, ParseError> {
        let header = (|| Some((reader.u16()?, reader.u8()?, reader.u8()?)))();
        let (length, class, kind) = header.ok_or(ParseError::Length)?;
        let body = usize::from(length).checked_sub(4).filter(|length| length.is_multiple_of(4));
        let body = body.and_then(|length| reader.bytes(length)).ok_or(ParseError::Length)?;
        let mut body_reader = Reader::new(body);
        let object = match (class, kind) {
            (1, 1) => Session::read(&mut body_reader).map(Object::Session),
            (3, 1) => Hop::read(&mut body_reader).map(Object::Hop),
            (5, 1) => body_reader.u32().map(Object::RefreshTime),
            (6, 1) => read_error(&mut body_reader).map(Object::Error),
            (8, 1) => body_reader.u32().map(|word| Object::Style(Style::new(word & 0xff_ffff))),
            (9, 2) => Flowspec::read(&mut body_reader).map(Object::Flowspec),
            (10, 1) => Filter::read(&mut body_reader).map(Object::Filter),
            (11, 1) => Filter::read(&mut body_reader).map(Object::Sender),
            (12, 2) => Tspec::read_object(&mut body_reader).map(Object::SenderTspec),
            (13, 2) => Adspec::read(&mut body_reader).map(Object::Adspec),
            (15, 1) => body_reader.u32().map(|word| Object::Confirm(word.into())),
            (14, _) | (192.., _) => {
                return Ok(Some(Object::Opaque(Opaque { class, kind, body: body.to_vec() })));
            }
            (4 | 7, _) | (128..192, _) => return Ok(None),
            // Class 0 is NULL: it may be anywhere, and says nothing.
            (0, _) => return Ok(None),
            (_, _) => return Ok(Some(Object::Unknown { class, kind })),
        };
        match object {
            Some(object) if body_reader.is_empty() => Ok(Some(object)),
            _ => Err(ParseError::Object(class)),
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend([0; 4]);
        let (class, kind) = match self {
            Object::Session(session) => {
                bytes.extend(session.destination.octets());
                bytes.extend([session.protocol, NO_FLAGS]);
                bytes.extend(session.port.to_be_bytes());
                (1, 1)
            }
            Object::Hop(hop) => {
                bytes.extend(hop.address.octets());
                bytes.extend(hop.handle.to_be_bytes());
                (3, 1)
            }
            Object::RefreshTime(ms) => {
                bytes.extend(ms.to_be_bytes());
                (5, 1)
            }
            Object::Error(error) => {
                bytes.extend(error.node.octets());
                bytes.extend([error.flags, error.code]);
                bytes.extend(error.value.to_be_bytes());
                (6, 1)
            }
            Object::Style(style) => {
                bytes.extend(style.bits().to_be_bytes());
                (8, 1)
            }
            Object::Flowspec(flowspec) => {
                flowspec.write(bytes);
                (9, 2)
            }
            Object::Filter(filter) => {
                filter.write(bytes);
                (10, 1)
            }
            Object::Sender(sender) => {
                sender.write(bytes);
                (11, 1)
            }
            Object::SenderTspec(tspec) => {
                tspec.write_object(bytes);
                (12, 2)
            }
            Object::Adspec(adspec) => {
                adspec.write(bytes);
                (13, 2)
            }
            Object::Confirm(address) => {
                bytes.extend(address.octets());
                (15, 1)
            }
            Object::Opaque(Opaque { class, kind, body }) => {
                bytes.extend(body);
                (*class, *kind)
            }
            Object::Unknown { class, kind } => (*class, *kind),
        };
        // What is longer than this makes a message that is too long, which is not sent.
        let length = u16::try_from(bytes.len() - start).unwrap_or(u16::MAX);
        bytes[start..start + 2].copy_from_slice(&length.to_be_bytes());
        bytes[start + 2..start + 4].copy_from_slice(&[class, kind]);
    }
}

impl Session {
    fn read(reader: &mut Reader<'_>) -> Option<Session> {
        let destination = reader.u32()?.into();
        let [protocol, _flags] = [reader.u8()?, reader.u8()?];
        Some(Session { destination, protocol, port: reader.u16()? })
    }
}

impl Hop {
    fn read(reader: &mut Reader<'_>) -> Option<Hop> {
        Some(Hop { address: reader.u32()?.into(), handle: reader.u32()? })
    }
}

impl Filter {
    fn read(reader: &mut Reader<'_>) -> Option<Filter> {
        let source = reader.u32()?.into();
        reader.u16()?;
        Some(Filter { source, port: reader.u16()? })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.source.octets());
        bytes.extend([0; 2]);
        bytes.extend(self.port.to_be_bytes());
    }
}

impl Style {
    fn new(bits: u32) -> Style {
        if bits == FIXED { Style::Fixed } else { Style::Other(bits) }
    }

    fn bits(self) -> u32 {
        match self {
            Style::Fixed => FIXED,
            Style::Other(bits) => bits & 0xff_ffff,
        }
    }
}

fn read_error(reader: &mut Reader<'_>) -> Option<ErrorSpec> {
    let node = reader.u32()?.into();
    let [flags, code] = [reader.u8()?, reader.u8()?];
    Some(ErrorSpec { node, flags, code, value: reader.u16()? })
}
