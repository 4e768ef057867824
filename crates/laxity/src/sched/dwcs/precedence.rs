//! Who is served first, as a number.

use core::cmp::Ordering;

use super::settings::Precedence;
use super::tolerance::Tolerance;

/// No deadline.
pub(super) const NEVER: u64 = u64::MAX;

/// Where a stream's head packet stands among all: the least key is served.
///
/// 46 binary digits of the tolerance's [rank](Tolerance::rank), 64 of the deadline and 18 of x' make
/// two words, whichever of the first two leads. The third word tells who came first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    words: [u64; 3],
}

const NUMERATOR: u32 = 18;
const DEADLINE: u32 = 64;
const RANK: u32 = 46;

impl Key {
    /// After all others: no head packet.
    pub const NONE: Key = Key { words: [u64::MAX; 3] };

    /// The key of a head packet that was the `order`-th to arrive.
    ///
    /// With [`Precedence::LossFirst`] it orders as Table 1 does:
    ///
    /// 1. lowest loss tolerance first,
    /// 2. same non-zero loss tolerance: EDF,
    /// 3. same non-zero loss tolerance and deadlines: lowest loss numerator first,
    /// 4. zero loss tolerance and denominators: EDF, which does not arise, for 0/0 is reset at once,
    /// 5. zero loss tolerance: highest loss denominator first,
    /// 6. all other cases: first come, first served.
    ///
    /// With [`Precedence::DeadlineFirst`] EDF leads and 1, 5, 3 and 6 follow.
    pub fn new(precedence: Precedence, tolerance: &Tolerance, deadline: u64, order: u64) -> Key {
        let (rank, deadline) = (u128::from(tolerance.rank()), u128::from(deadline));
        let numerator = u128::from(tolerance.lost());
        let packed = match precedence {
            Precedence::LossFirst if tolerance.is_zero() => rank << (DEADLINE + NUMERATOR),
            Precedence::LossFirst => {
                rank << (DEADLINE + NUMERATOR) | deadline << NUMERATOR | numerator
            }
            Precedence::DeadlineFirst => {
                deadline << (RANK + NUMERATOR) | rank << NUMERATOR | numerator
            }
        };
        Key { words: [(packed >> 64) as u64, packed as u64, order] }
    }

    fn leading(&self) -> u128 {
        u128::from(self.words[0]) << 64 | u128::from(self.words[1])
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        (self.leading() == other.leading()) & (self.words[2] == other.words[2])
    }
}

impl Eq for Key {}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.words.cmp(&other.words)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    /// Without a branch: which of two keys is less is anybody's guess.
    fn lt(&self, other: &Key) -> bool {
        let (one, two) = (self.leading(), other.leading());
        (one < two) | ((one == two) & (self.words[2] < other.words[2]))
    }
}

/// Numbers are 18, 46 and 64 digits long, and no deadline at all is the last one.
const _: () = assert!(NUMERATOR + RANK + DEADLINE == 128 && NEVER == u64::MAX);
