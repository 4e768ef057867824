//! Fractions that are in machine words as long as they fit there, which they nearly always do, and
//! of any length where they do not.

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, Sub, SubAssign};

use num_bigint::{BigInt, Sign};
use num_rational::{BigRational, ParseRatioError};
use num_traits::{Num, One, Signed, ToPrimitive, Zero};

/// An exact number: a time in nanoseconds, an amount in bytes, or a slope in bytes per nanosecond.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Exact(Form);

/// Each number has one form: the words if both parts fit.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    Words(Words),
    Long(Box<BigRational>),
}

/// A fraction in lowest terms: the numerator, which is not [`i128::MIN`], over a denominator above
/// zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Words {
    numer: i128,
    denom: i128,
}

impl Words {
    const fn whole(numer: i128) -> Words {
        Words { numer, denom: 1 }
    }

    /// A fraction in lowest terms, if it fits; the denominator is above zero.
    fn lowest(numer: i128, denom: i128) -> Option<Words> {
        if numer == i128::MIN {
            return None;
        }
        let common = common_divisor(numer.unsigned_abs(), denom.unsigned_abs());
        Some(Words { numer: quotient(numer, common), denom: quotient(denom, common) })
    }

    // Knuth, The Art of Computer Programming, volume 2, section 4.5.1.
    fn add(self, other: Words) -> Option<Words> {
        if self.denom == other.denom {
            return Words::lowest(self.numer.checked_add(other.numer)?, self.denom);
        }
        let common = common_divisor(self.denom.unsigned_abs(), other.denom.unsigned_abs());
        let mine = quotient(self.denom, common);
        let theirs = quotient(other.denom, common);
        let numer = self.numer.checked_mul(theirs)?.checked_add(other.numer.checked_mul(mine)?)?;
        if numer == i128::MIN {
            return None;
        }
        let rest = common_divisor(numer.unsigned_abs(), common);
        let denom = mine.checked_mul(quotient(other.denom, rest))?;
        Some(Words { numer: quotient(numer, rest), denom })
    }

    fn mul(self, other: Words) -> Option<Words> {
        let one = common_divisor(self.numer.unsigned_abs(), other.denom.unsigned_abs());
        let two = common_divisor(other.numer.unsigned_abs(), self.denom.unsigned_abs());
        let numer = quotient(self.numer, one).checked_mul(quotient(other.numer, two))?;
        let denom = quotient(self.denom, two).checked_mul(quotient(other.denom, one))?;
        (numer != i128::MIN).then_some(Words { numer, denom })
    }

    fn neg(self) -> Words {
        Words { numer: -self.numer, denom: self.denom }
    }

    fn recip(self) -> Words {
        assert!(self.numer != 0, "division by zero");
        Words { numer: self.denom * self.numer.signum(), denom: self.numer.abs() }
    }

    fn cmp(self, other: Words) -> Option<Ordering> {
        if self.denom == other.denom {
            return Some(self.numer.cmp(&other.numer));
        }
        let mine = self.numer.checked_mul(other.denom)?;
        Some(mine.cmp(&other.numer.checked_mul(self.denom)?))
    }
}

/// A number over a divisor of it.
fn quotient(number: i128, divisor: u128) -> i128 {
    if divisor == 1 { number } else { number / divisor as i128 }
}

/// The greatest common divisor of two numbers; the second is above zero (Stein 1967).
fn common_divisor(a: u128, b: u128) -> u128 {
    match (a, b) {
        (0, _) => return b,
        (1, _) | (_, 1) => return 1,
        _ => {}
    }
    let twos = (a | b).trailing_zeros();
    let (mut a, mut b) = (a >> a.trailing_zeros(), b >> b.trailing_zeros());
    while a != b {
        if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a), u64::try_from(b)) {
            while a != b {
                (a, b) = (a.min(b), a.abs_diff(b));
                b >>= b.trailing_zeros();
            }
            return u128::from(a) << twos;
        }
        (a, b) = (a.min(b), a.abs_diff(b));
        b >>= b.trailing_zeros();
    }
    a << twos
}

impl Exact {
    /// The fraction of two whole numbers.
    ///
    /// # Panics
    /// If the denominator is zero.
    pub fn new(numer: BigInt, denom: BigInt) -> Exact {
        Exact::from_big(BigRational::new(numer, denom))
    }

    /// A whole number.
    pub fn from_integer(n: BigInt) -> Exact {
        Exact::from_big(BigRational::from_integer(n))
    }

    /// The number that a float is; `None` if it is none.
    pub fn from_float(x: f64) -> Option<Exact> {
        BigRational::from_float(x).map(Exact::from_big)
    }

    pub(super) const fn from_words(n: i128) -> Exact {
        Exact(Form::Words(Words::whole(n)))
    }

    fn from_big(long: BigRational) -> Exact {
        let words = || {
            let (numer, denom) = (long.numer().to_i128()?, long.denom().to_i128()?);
            (numer != i128::MIN).then_some(Words { numer, denom })
        };
        match words() {
            Some(words) => Exact(Form::Words(words)),
            None => Exact(Form::Long(Box::new(long))),
        }
    }

    fn long(&self) -> BigRational {
        match &self.0 {
            Form::Words(words) => BigRational::new_raw(words.numer.into(), words.denom.into()),
            Form::Long(long) => (**long).clone(),
        }
    }

    /// How it compares with zero.
    fn sign(&self) -> Ordering {
        match &self.0 {
            Form::Words(words) => words.numer.cmp(&0),
            Form::Long(long) => long.numer().sign().cmp(&Sign::NoSign),
        }
    }

    /// The numerator, in lowest terms.
    pub fn numer(&self) -> BigInt {
        self.long().numer().clone()
    }

    /// The denominator, in lowest terms, above zero.
    pub fn denom(&self) -> BigInt {
        self.long().denom().clone()
    }

    /// The whole number next to it towards zero.
    pub fn to_integer(&self) -> BigInt {
        match &self.0 {
            Form::Words(words) => (words.numer / words.denom).into(),
            Form::Long(long) => long.to_integer(),
        }
    }

    /// One over it.
    ///
    /// # Panics
    /// If it is zero.
    #[must_use]
    pub fn recip(&self) -> Exact {
        match &self.0 {
            Form::Words(words) => Exact(Form::Words(words.recip())),
            Form::Long(long) => Exact::from_big(long.recip()),
        }
    }

    /// The greatest whole number that is no more.
    #[must_use]
    pub fn floor(&self) -> Exact {
        match &self.0 {
            Form::Words(words) => Exact::from_words(words.numer.div_euclid(words.denom)),
            Form::Long(long) => Exact::from_big(long.floor()),
        }
    }

    /// The least whole number that is no less.
    #[must_use]
    pub fn ceil(&self) -> Exact {
        -(-self).floor()
    }

    /// The nearest whole number; of two, the one away from zero.
    #[must_use]
    pub fn round(&self) -> Exact {
        Exact::from_big(self.long().round())
    }
}

fn words(a: &Exact, b: &Exact) -> Option<(Words, Words)> {
    match (&a.0, &b.0) {
        (Form::Words(a), Form::Words(b)) => Some((*a, *b)),
        _ => None,
    }
}

/// An operation of arithmetic: in words where that fits.
macro_rules! operation {
    ($trait:ident, $method:ident, $assign:ident, $assigning:ident, $in_words:expr) => {
        impl<T: Borrow<Exact>> $trait<T> for &Exact {
            type Output = Exact;

            fn $method(self, other: T) -> Exact {
                let in_words: fn(Words, Words) -> Option<Words> = $in_words;
                match words(self, other.borrow()).and_then(|(a, b)| in_words(a, b)) {
                    Some(words) => Exact(Form::Words(words)),
                    None => Exact::from_big(self.long().$method(other.borrow().long())),
                }
            }
        }

        impl<T: Borrow<Exact>> $trait<T> for Exact {
            type Output = Exact;

            fn $method(self, other: T) -> Exact {
                (&self).$method(other)
            }
        }

        impl<T: Borrow<Exact>> $assign<T> for Exact {
            fn $assigning(&mut self, other: T) {
                *self = (&*self).$method(other);
            }
        }
    };
}

operation!(Add, add, AddAssign, add_assign, Words::add);
operation!(Sub, sub, SubAssign, sub_assign, |a, b| a.add(b.neg()));
operation!(Mul, mul, MulAssign, mul_assign, Words::mul);
operation!(Div, div, DivAssign, div_assign, |a, b| a.mul(b.recip()));

impl Rem for Exact {
    type Output = Exact;

    fn rem(self, other: Exact) -> Exact {
        Exact::from_big(self.long() % other.long())
    }
}

impl Neg for &Exact {
    type Output = Exact;

    fn neg(self) -> Exact {
        match &self.0 {
            Form::Words(words) => Exact(Form::Words(words.neg())),
            Form::Long(long) => Exact::from_big(-(**long).clone()),
        }
    }
}

impl Neg for Exact {
    type Output = Exact;

    fn neg(self) -> Exact {
        -&self
    }
}

impl<T: Borrow<Exact>> Sum<T> for Exact {
    fn sum<I: Iterator<Item = T>>(all: I) -> Exact {
        all.fold(Exact::zero(), |sum, one| sum + one)
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Exact) -> Ordering {
        let in_words = words(self, other).and_then(|(a, b)| a.cmp(b));
        in_words.unwrap_or_else(|| self.long().cmp(&other.long()))
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Exact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Exact {
    fn default() -> Exact {
        Exact::zero()
    }
}

impl Zero for Exact {
    fn zero() -> Exact {
        Exact::from_words(0)
    }

    fn is_zero(&self) -> bool {
        matches!(self.0, Form::Words(Words { numer: 0, .. }))
    }
}

impl One for Exact {
    fn one() -> Exact {
        Exact::from_words(1)
    }
}

impl Num for Exact {
    type FromStrRadixErr = ParseRatioError;

    fn from_str_radix(text: &str, radix: u32) -> Result<Exact, ParseRatioError> {
        BigRational::from_str_radix(text, radix).map(Exact::from_big)
    }
}

impl Signed for Exact {
    fn abs(&self) -> Exact {
        if self.is_negative() { -self } else { self.clone() }
    }

    fn abs_sub(&self, other: &Exact) -> Exact {
        if self <= other { Exact::zero() } else { self - other }
    }

    fn signum(&self) -> Exact {
        Exact::from_words(self.sign() as i128)
    }

    fn is_positive(&self) -> bool {
        self.sign().is_gt()
    }

    fn is_negative(&self) -> bool {
        self.sign().is_lt()
    }
}

impl ToPrimitive for Exact {
    fn to_i64(&self) -> Option<i64> {
        self.to_integer().to_i64()
    }

    fn to_u64(&self) -> Option<u64> {
        self.to_integer().to_u64()
    }

    fn to_f64(&self) -> Option<f64> {
        // Both are floats themselves, so that one division rounds once.
        const WHOLE: i128 = 1 << 53;
        match &self.0 {
            Form::Words(Words { numer, denom }) if numer.abs() <= WHOLE && *denom <= WHOLE => {
                Some(*numer as f64 / *denom as f64)
            }
            _ => self.long().to_f64(),
        }
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.long().fmt(f)
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
