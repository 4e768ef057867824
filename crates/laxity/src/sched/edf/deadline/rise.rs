//! How much a curve rises within a time at most.

use alloc::vec::Vec;

use num_traits::Zero;

use super::whole;
use crate::curve::{Curve, Exact, Piece, ceil_bytes};

/// How much E rises within a time at most, as a concave curve H: `E(t + d) - E(t) <= H(d)`, with
/// E's left limit at t.
///
/// If E is never above a concave curve and h is the largest gap between them, then H is that curve,
/// less its value at 0, and h.
#[derive(Clone, Debug)]
pub(super) struct Rise {
    /// Tangents of H: each of them is above it everywhere, so that it may be rounded up, and stand
    /// in for others.
    lines: Vec<RiseLine>,
    /// The one that was looked at last.
    current: usize,
}

/// The line `bytes + slope t`, which touches a curve from time `from` on.
#[derive(Clone, Copy, Debug)]
struct RiseLine {
    from: u64,
    bytes: u64,
    /// In bytes over [`SCALE`] ns.
    slope: u64,
}

const SCALE: u64 = 1 << 32;

impl Rise {
    pub(super) fn new(curve: &Curve) -> Option<Rise> {
        let above = curve.negate().greatest_convex_minorant().negate();
        let gap = Curve::vertical_distance(&above, curve)?.max(above.value(&Exact::zero()));
        let gap = gap - above.value(&Exact::zero());
        let scale = Exact::from_integer(SCALE.into());
        let line = |piece: &Piece| {
            let bytes = &piece.value - &piece.slope * &piece.start + &gap;
            Some(RiseLine {
                from: whole(&piece.start),
                bytes: ceil_bytes(&bytes)?.0,
                slope: ceil_bytes(&(&piece.slope * &scale))?.0,
            })
        };
        Some(Rise { lines: above.pieces().iter().filter_map(line).collect(), current: 0 })
    }

    /// Whether it is known that E rises by at most `work` bytes within any `time` ns. Moves to the
    /// next tangent at most, which is nearly always enough.
    pub(super) fn is_at_most(&mut self, time: u64, work: u64) -> bool {
        if self.lines.get(self.current + 1).is_some_and(|next| next.from <= time) {
            self.current += 1;
        } else if self.current > 0 && time < self.lines[self.current].from {
            self.current -= 1;
        }
        let Some(line) = self.lines.get(self.current) else { return false };
        let rises = u128::from(line.slope) * u128::from(time) / u128::from(SCALE);
        work.checked_sub(line.bytes).is_some_and(|work| rises < u128::from(work))
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.lines.capacity() * size_of::<RiseLine>()
    }
}
