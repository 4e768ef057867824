//! Whatever the policies and the discipline, nothing is lost or invented.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{any_codel, any_pie, any_red, packet};
use crate::aqm::{Choke, Limit, ManagedScheduler, Policy};
use crate::packet::{Ecn, Packet};
use crate::port::{Books, Port, Promise};
use crate::sched::tests::disciplines;
use crate::scheduler::Scheduler;
use crate::testing::gaps;
use crate::units::Nanos;

fn any_policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        (0..20u64, 0..20u64).prop_map(|(limit, mark)| Policy::DropTail {
            limit: Limit::Packets(limit),
            mark: Limit::Packets(mark),
        }),
        any_red().prop_map(Policy::Red),
        (any_red(), 1..3u32).prop_map(|(red, candidates)| Policy::Choke(Choke { red, candidates })),
        any_codel().prop_map(Policy::CoDel),
        any_pie().prop_map(Policy::Pie),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_is_lost_or_invented(
        policies in vec(any_policy(), 1..4), queue_of in vec(option::of(0..4usize), 4), seed: u64,
        steps in vec((gaps(1_000_000), 0..7u8, 1..=1500u32, 0..4u32, 0..3u32), 1..200),
    ) {
        let queue_of: Vec<_> = queue_of.into_iter().map(|of| of.map(|of| of % policies.len())).collect();
        for scheduler in disciplines() {
            let managed: Box<dyn Scheduler> =
                Box::new(ManagedScheduler::new(scheduler, &policies, &queue_of, seed).unwrap());
            let mut port = Port::new(managed, Books::new([Promise::default(); 4], Nanos::ZERO));
            let mut inside = BTreeMap::new();
            let mut marked = [0; 4];
            let mut now = Nanos::ZERO;
            let then = core::iter::repeat_n((1_000, 6, 1, 0, 0), steps.len());
            for (handle, (gap, choice, length, class, flow)) in (0..).zip(steps.iter().copied().chain(then)) {
                now += Nanos(gap);
                let mut left = Vec::new();
                let mut drops = |packet: Packet, _| left.push(packet);
                if choice < 4 {
                    let packet = packet(now, class, flow, length, handle);
                    inside.insert(handle, packet);
                    port.enqueue(now, packet, &mut drops);
                } else if let Some(sent) = port.dequeue(now, &mut drops) {
                    port.sent(&sent.packet, now);
                    left.push(sent.packet);
                }
                for packet in left {
                    marked[packet.class.index()] += u64::from(packet.ecn == Ecn::Experienced);
                    let entered = inside.remove(&packet.handle);
                    let unmarked = match packet.ecn {
                        Ecn::Experienced => Packet { ecn: Ecn::Capable, ..packet },
                        _ => packet,
                    };
                    prop_assert_eq!(entered, Some(unmarked));
                }
                let bytes = inside.values().map(|packet| u64::from(packet.length)).sum::<u64>();
                let backlog = port.scheduler().backlog();
                prop_assert_eq!((backlog.packets, backlog.bytes), (inside.len(), bytes));
            }
            prop_assert!(inside.is_empty());
            for (account, marked) in port.accounts().iter().zip(marked) {
                let dropped = account.dropped().iter().sum::<u64>();
                prop_assert_eq!(account.arrived, account.sent + dropped);
                prop_assert_eq!(account.marked(), marked);
            }
        }
    }
}
