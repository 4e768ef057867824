//! What went wrong, in numbers (RFC 2205, A.5 and B).

use std::net::Ipv4Addr;

/// An error and the node that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2205, A.5 has these")]
pub struct ErrorSpec {
    /// The node that found it.
    pub node: Ipv4Addr,
    /// Bits about it: see [`ErrorSpec::IN_PLACE`].
    pub flags: u8,
    /// Its code.
    pub code: u8,
    /// What it means more exactly, by code.
    pub value: u16,
}

impl ErrorSpec {
    /// The flag of a refused change: what was reserved before is still reserved.
    pub const IN_PLACE: u8 = 1;

    /// An error that a node found.
    pub fn new(node: Ipv4Addr, error: ErrorCode) -> ErrorSpec {
        let (code, value) = error.numbers();
        ErrorSpec { node, flags: 0, code, value }
    }
}

/// The errors that a router of this crate reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its numbers")]
pub enum ErrorCode {
    /// The link cannot send it in time.
    Delay,
    /// The link cannot send as much.
    Bandwidth,
    /// A packet may be longer than the link sends.
    Mtu,
    /// Nobody has sent a path message for this session.
    NoPath,
    /// This sender has sent no path message for this session.
    NoSender,
    /// It has a style that is not known here.
    UnknownStyle,
    /// It has an object of an unknown class.
    UnknownClass {
        /// The class.
        class: u8,
        /// The type.
        kind: u8,
    },
    /// It has an object of a known class and an unknown type.
    UnknownType {
        /// The class.
        class: u8,
        /// The type.
        kind: u8,
    },
    /// Guaranteed service alone is served.
    UnsupportedService,
    /// The flowspec makes no sense.
    BadFlowspec,
    /// The traffic makes no sense.
    BadTspec,
    /// The link, or what controls it, does not answer.
    System,
}

impl ErrorCode {
    /// Its code and value.
    pub fn numbers(self) -> (u8, u16) {
        match self {
            ErrorCode::Delay => (1, 1),
            ErrorCode::Bandwidth => (1, 2),
            ErrorCode::Mtu => (1, 3),
            ErrorCode::NoPath => (3, 0),
            ErrorCode::NoSender => (4, 0),
            ErrorCode::UnknownStyle => (6, 0),
            ErrorCode::UnknownClass { class, kind } => (13, u16::from_be_bytes([class, kind])),
            ErrorCode::UnknownType { class, kind } => (14, u16::from_be_bytes([class, kind])),
            ErrorCode::UnsupportedService => (21, 2),
            ErrorCode::BadFlowspec => (21, 3),
            ErrorCode::BadTspec => (21, 4),
            ErrorCode::System => (22, 0),
        }
    }
}
