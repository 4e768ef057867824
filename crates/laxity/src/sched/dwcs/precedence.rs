//! The precedence of a stream as a number.

use core::hint::select_unpredictable;

use crate::queue::Rank;

use super::StreamId;
use super::settings::Precedence;
#[cfg(doc)]
use super::tolerance::Tolerance;

/// No deadline.
pub(super) const NEVER: u64 = u64::MAX;

const NO_STREAM: StreamId = StreamId(u32::MAX);

/// The position of a stream's head packet among all; the least key is served.
///
/// 45 binary digits of the tolerance's [rank](Tolerance::rank), 64 of the deadline and 18 of x'
/// make two words, in either order of the first two. The third word is the order of arrival, so
/// that the keys of two head packets always differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) high: u64,
    pub(super) low: u64,
    order: u64,
    /// Takes no part in the order.
    stream: StreamId,
}

pub(super) const NUMERATOR: u32 = 18;
const DEADLINE: u32 = 64;
const RANK: u32 = 45;

impl Key {
    /// After all others: no head packet.
    pub(super) const NONE: Key =
        Key { high: i64::MAX as u64, low: u64::MAX, order: u64::MAX, stream: NO_STREAM };

    /// The key of a head packet that was the `order`-th to arrive, of a stream whose tolerance has
    /// this `rank` and numerator.
    ///
    /// With [`Precedence::LossFirst`] it orders as Table 1 does:
    ///
    /// 1. lowest loss tolerance first,
    /// 2. same non-zero loss tolerance: EDF,
    /// 3. same non-zero loss tolerance and deadlines: lowest loss numerator first,
    /// 4. zero loss tolerance and denominators: EDF, which does not arise, for 0/0 is reset at
    ///    once,
    /// 5. zero loss tolerance: highest loss denominator first,
    /// 6. all other cases: first come, first served.
    ///
    /// With [`Precedence::DeadlineFirst`] EDF leads and 1, 5, 3 and 6 follow.
    #[inline]
    pub(super) fn new(
        precedence: Precedence,
        rank: u64,
        numerator: u32,
        deadline: u64,
        order: u64,
    ) -> Key {
        let (rank, numerator) = (rank << NUMERATOR, u64::from(numerator));
        let (high, low) = match precedence {
            Precedence::LossFirst if numerator == 0 => (rank, 0),
            Precedence::LossFirst => {
                (rank | deadline >> (u64::BITS - NUMERATOR), deadline << NUMERATOR | numerator)
            }
            Precedence::DeadlineFirst => (deadline >> 1, deadline << 63 | rank | numerator),
        };
        Key { high, low, order, stream: NO_STREAM }
    }

    /// The same key, of this stream.
    #[inline]
    pub(super) fn with_stream(self, stream: StreamId) -> Key {
        Key { stream, ..self }
    }

    /// The stream.
    #[inline(always)]
    pub(super) fn stream(self) -> StreamId {
        self.stream
    }
}

impl Rank for Key {
    #[inline(always)]
    fn owner(&self) -> u32 {
        self.stream.0
    }

    /// The sign of their difference.
    #[inline(always)]
    fn is_before(&self, other: &Key) -> bool {
        let tail = |key: &Key| u128::from(key.low) << 64 | u128::from(key.order);
        let borrow = u64::from(tail(self) < tail(other));
        (self.high.wrapping_sub(other.high).wrapping_sub(borrow) as i64) < 0
    }

    #[inline(always)]
    fn or(&self, wins: bool, other: &Key) -> Key {
        Key {
            high: select_unpredictable(wins, self.high, other.high),
            low: select_unpredictable(wins, self.low, other.low),
            order: select_unpredictable(wins, self.order, other.order),
            stream: StreamId(select_unpredictable(wins, self.stream.0, other.stream.0)),
        }
    }
}

/// Numbers are 18, 45 and 64 digits long and leave one for a sign, and no deadline at all is the
/// last one.
const _: () = assert!(NUMERATOR + RANK + DEADLINE == 127 && NEVER == u64::MAX);
