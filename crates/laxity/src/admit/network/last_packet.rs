//! The last packet of all, at the last server.
//!
//! A service curve says when a packet has left, its own bytes included, and these count at the rate
//! that others leave, over all servers together. But at the last server a packet of l bytes is not
//! interrupted: as soon as its first byte has left, at f, the others follow at the rate C of the
//! link. Up to f only the bytes before the packet and its first one have to be served. With the
//! arrival curve A and the service curve S of all servers there is a time s with
//!
//! ```text
//! S(f - s) <= bytes that came from s on, up to the first of the packet <= A(a - s) - (l - 1)
//! ```
//!
//! where a is when the packet came, so that its delay is at most
//!
//! ```text
//! f - a + (l - 1) / C <= h(A - (l - 1), S) + (l - 1) / C
//! ```
//!
//! with the horizontal distance h (Mohammadpour, Stai, Le Boudec 2019, "Improved delay bound for a
//! service curve element with known transmission rate"). Let l be the length of the shortest
//! packet: of a longer one, byte l before its end counts as its first. The curve then has to hold
//! for every byte. In comparison with `h(A, S)`, these bytes count at C, not at what others leave
//! of the slowest server.
//!
//! Jiang (2026, "Beyond virtual delay", arXiv 2606.13631) counts `A - l` under the service curve of
//! whole packets, which is S less the longest packet L. Where L bytes take `L / C`, his bound is
//! `h(A - l, S) + L / C`: the same for packets of one length, and longer for others.

use super::Tandem;
use crate::curve::{Curve, Exact, bytes_per_nano, exact_bytes};
use crate::units::Bytes;

/// The shortest packet of the flow of interest, at the last server.
pub(super) struct LastPacket {
    /// All its bytes but the first.
    pub rest: Bytes,
    /// How long the link sends these, in ns.
    pub duration: Exact,
}

impl Tandem {
    /// The last packet, if it is known when its first byte leaves the last server.
    pub(super) fn last_packet(&self) -> Option<LastPacket> {
        let rate = self.servers.last()?.link_rate.filter(|rate| rate.0 > 0)?;
        let rest = Bytes(self.shortest.0.saturating_sub(1));
        Some(LastPacket { rest, duration: exact_bytes(rest) / bytes_per_nano(rate) })
    }

    /// The delay in ns of the flow of interest in traffic under `arrival`, which all servers serve:
    /// the lesser of the distance from this curve to their service, and of that for the first byte
    /// of the last packet with the rest of it. `None` if it has no bound.
    pub(super) fn longest(
        &self,
        arrival: &Curve,
        distance: impl Fn(&Curve) -> Option<Exact>,
    ) -> Option<Exact> {
        let whole = distance(arrival)?;
        let Some(LastPacket { rest, duration }) = self.last_packet() else { return Some(whole) };
        let before = arrival.sub(&Curve::constant(rest)).clamp_at_zero();
        Some(whole.min(distance(&before)? + duration))
    }
}
