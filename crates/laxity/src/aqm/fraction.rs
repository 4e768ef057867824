//! Weights and probabilities.

/// A number from 0 to 1, in parts of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction(u64);

impl Fraction {
    /// One.
    pub const ONE: Fraction = Fraction(1 << 32);

    /// A fraction in millionths, rounded down to parts; at most [`ONE`](Self::ONE).
    pub const fn millionths(millionths: u32) -> Self {
        let parts = ((millionths as u64) << 32) / 1_000_000;
        Fraction(if parts < Self::ONE.0 { parts } else { Self::ONE.0 })
    }

    /// The parts of 2^-32.
    pub const fn parts(self) -> u64 {
        self.0
    }

    /// One minus this fraction.
    pub const fn rest(self) -> Self {
        Fraction(Self::ONE.0 - self.0)
    }

    /// A whole power, rounded down at every multiplication.
    pub fn power(self, mut exponent: u64) -> Self {
        let (mut power, mut square) = (Self::ONE, self);
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = power.times(square);
            }
            square = square.times(square);
            exponent /= 2;
        }
        power
    }

    fn times(self, other: Self) -> Self {
        Fraction(((u128::from(self.0) * u128::from(other.0)) >> 32) as u64)
    }
}
