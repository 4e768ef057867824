use super::*;
use crate::packets::{masked, one};
use proptest::prelude::*;

proptest! {
    /// Blocks are the range, each number once.
    #[test]
    fn blocks_cover_their_range(from in 0u16..600, length in 0u16..600) {
        let to = from + length;
        let blocks = blocks((from, to), 16);
        let ranges: Vec<_> = blocks
            .iter()
            .flat_map(|(value, mask)| masked(*value, *mask, 16).unwrap().ranges().to_vec())
            .collect();
        let numbers: Vec<u16> = ranges.iter().flat_map(|(from, to)| *from..=*to).collect();
        prop_assert_eq!(numbers, (from..=to).collect::<Vec<_>>());
    }
}

#[test]
fn one_number_is_one_block() {
    assert_eq!(blocks((5_004, 5_004), 16), [(5_004, 0xffff)]);
    assert_eq!(blocks((0, 63), 6), [(0, 0)]);
    assert_eq!(one(4).ranges(), [(4, 4)]);
}
