use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_table_comes_back_with_shifts_that_the_kernel_takes(
        mut stab in (any::<i32>(), any::<u32>(), any::<bool>(), edges(), prop_oneof![0..4u32, 0..=MOST])
            .prop_map(|(overhead, mpu, atm, mtu, tsize)| SizeTable { overhead, mpu, atm, mtu, tsize })
    ) {
        let attributes = attributes(&stab);
        let base = find(&attributes, STAB[0]).unwrap();
        prop_assert!(base[0] <= MOST_LOG && base[1] <= MOST_LOG);
        prop_assert_eq!(read(&attributes), Some(stab));
        stab.tsize = MOST + 1;
        prop_assert_eq!(read(&super::attributes(&stab)).map(|stab| stab.tsize), Some(MOST));
    }
}

fn edges() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0..32u32).prop_map(|log| 1 << log), Just(0), Just(u32::MAX)]
}
