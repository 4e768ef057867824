//! Held against a look at every other class.

use std::vec::Vec;

use num_traits::Zero;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Blocker, Blocking};
use crate::curve::{Exact, exact};
use crate::units::{Bytes, Rate};

/// Few numbers, so that lines meet and coincide, or any.
fn lines() -> impl Strategy<Value = Vec<Blocker>> {
    let packet = prop_oneof![1..6u64, 1..9_000u64, Just(u64::from(u32::MAX))];
    let kept = prop_oneof![1..6u64, 1..1_000_000_000u64, Just(Rate::LIMIT.0)];
    let line = (packet, kept)
        .prop_map(|(packet, kept)| Blocker { packet: Bytes(packet), kept: Rate(kept) });
    vec(line, 1..12)
}

fn naive(lines: &[Blocker], class: usize, head: u64, rate: u64) -> Exact {
    let others = lines.iter().enumerate().filter(|(other, _)| *other != class);
    let value =
        |line: &Blocker| exact(line.packet.0) - exact(line.kept.0) * exact(head) / exact(rate);
    others.map(|(_, line)| value(line)).max().unwrap_or_else(Exact::zero).max(Exact::zero())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_envelope_is_the_highest_of_all_others(
        lines in lines(), head in 0..2_000u64, rate in prop_oneof![1..8u64, 1..1_000_000_000u64],
    ) {
        let blocking = Blocking::new(&lines);
        for class in 0..lines.len() {
            let found = blocking.by_others(lines[class], Bytes(head), Rate(rate));
            prop_assert_eq!(found, naive(&lines, class, head, rate), "{}", class);
        }
    }
}
