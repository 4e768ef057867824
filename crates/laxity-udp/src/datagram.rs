//! What is sent.

use std::net::SocketAddr;

use laxity_engine::{HasTerms, Terms};

/// A datagram, the payload of a packet.
///
/// Its packet's `length` is what it counts for at the link: with the headers below, if they count.
/// Its packet's `ecn` is what the IP header says about congestion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Datagram<B> {
    /// What it carries, at most 65 507 bytes over IPv4 without options.
    pub bytes: B,
    /// Where it goes.
    pub to: SocketAddr,
    /// The number of the socket that sends it, in the order in which the sink got them.
    pub socket: usize,
    /// The differentiated services code point, 0 to 63 (RFC 2474). With 0, and no ECN, the socket's
    /// own setting counts.
    pub dscp: u8,
    /// When it is due and when it expires, if the engine's queue asks for that.
    pub terms: Terms,
}

impl<B> Datagram<B> {
    /// A datagram by the first socket, without a code point, that is due at no time.
    pub fn new(bytes: B, to: SocketAddr) -> Self {
        Datagram { bytes, to, socket: 0, dscp: 0, terms: Terms::default() }
    }
}

impl<B> HasTerms for Datagram<B> {
    fn terms(&self) -> Terms {
        self.terms
    }
}
