//! Fractions in words beside those of any length.

use std::format;

use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::prelude::*;

use super::*;

/// Parts from tiny to those that fit no more.
fn part() -> impl Strategy<Value = i128> {
    let size = 0..127u32;
    (size, any::<i128>()).prop_map(|(size, part)| (part >> size).max(-i128::MAX))
}

fn number() -> impl Strategy<Value = (Exact, BigRational)> {
    let long = prop_oneof![9 => Just(0u32), 1 => 1..200u32];
    (part(), part(), long).prop_map(|(numer, denom, long)| {
        let (numer, denom) = (BigInt::from(numer) << long, BigInt::from(denom.abs().max(1)));
        (Exact::new(numer.clone(), denom.clone()), BigRational::new(numer, denom))
    })
}

fn same(exact: &Exact, expected: &BigRational) -> bool {
    // One form for each number, so that `==` and hashes may go by it.
    *exact == Exact::from_big(expected.clone()) && exact.long() == *expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn arithmetic_is_that_of_long_fractions((a, x) in number(), (b, y) in number()) {
        prop_assert!(same(&(&a + &b), &(&x + &y)));
        prop_assert!(same(&(&a - &b), &(&x - &y)));
        prop_assert!(same(&(&a * &b), &(&x * &y)));
        if !b.is_zero() {
            prop_assert!(same(&(&a / &b), &(&x / &y)));
            prop_assert!(same(&(a.clone() % b.clone()), &(&x % &y)));
            prop_assert!(same(&b.recip(), &y.recip()));
        }
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!(a == b, x == y);
    }

    #[test]
    fn numbers_are_those_of_long_fractions((a, x) in number()) {
        prop_assert!(same(&-&a, &-&x));
        prop_assert!(same(&a.abs(), &x.abs()));
        prop_assert!(same(&a.signum(), &x.signum()));
        prop_assert!(same(&a.floor(), &x.floor()));
        prop_assert!(same(&a.ceil(), &x.ceil()));
        prop_assert!(same(&a.round(), &x.round()));
        prop_assert_eq!(a.to_integer(), x.to_integer());
        prop_assert_eq!((&a.numer(), &a.denom()), (x.numer(), x.denom()));
        prop_assert_eq!(a.to_f64(), x.to_f64());
        prop_assert_eq!(a.to_u64(), x.to_integer().to_u64());
        prop_assert_eq!(a.to_i64(), x.to_integer().to_i64());
        prop_assert_eq!(a.is_zero(), x.is_zero());
        prop_assert_eq!((a.is_positive(), a.is_negative()), (x.is_positive(), x.is_negative()));
        prop_assert_eq!(format!("{a}"), format!("{x}"));
    }

    #[test]
    fn divisors_are_common_and_the_greatest(a in part(), b in part()) {
        let (a, b) = (a.unsigned_abs(), b.unsigned_abs().max(1));
        prop_assert_eq!(common_divisor(a, b), num_integer::gcd(a, b));
    }
}

#[test]
fn what_does_not_fit_is_long() {
    let large = Exact::from_words(i128::MAX);
    let more = &large + Exact::one();
    assert!(matches!(more.0, Form::Long(_)));
    assert!(matches!((&more - Exact::one()).0, Form::Words(_)));
    assert!(matches!((-&more).0, Form::Long(_)), "the least word has no opposite");
    assert_eq!((&more - &more), Exact::zero());
}
