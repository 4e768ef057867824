//! Controlled delay against the pseudocode of RFC 8289, section 5.

use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{any_codel, packet};
use crate::aqm::{CoDel, Limit, ManagedScheduler, Policy};
use crate::packet::{Ecn, Packet};
use crate::sched::Fifo;
use crate::scheduler::{DropReason, Scheduler};
use crate::testing::gaps;
use crate::units::{Bytes, Nanos};

/// `codel_queue_t`.
pub(crate) struct Pseudocode {
    codel: CoDel,
    pub queue: VecDeque<Packet>,
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl Pseudocode {
    pub(crate) fn new(codel: CoDel) -> Self {
        Pseudocode {
            codel,
            queue: VecDeque::new(),
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.queue.iter().map(|packet| u64::from(packet.length)).sum()
    }

    fn dodequeue(&mut self, now: u64) -> (Option<Packet>, bool) {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let bytes = self.bytes();
        if now - packet.arrival.0 < self.codel.target.0 || bytes <= self.codel.max_packet.0 {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.codel.interval.0;
        } else if now >= self.first_above_time {
            return (Some(packet), true);
        }
        (Some(packet), false)
    }

    /// A packet that is marked instead of dropped is sent.
    pub(crate) fn deque(&mut self, now: u64, drops: &mut Vec<u64>) -> Option<Packet> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                if self.marks(&mut packet) {
                    self.drop_next = self.control_law(self.drop_next);
                    return packet;
                }
                drops.extend(packet.map(|packet| packet.handle));
                (packet, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if !self.marks(&mut packet) {
                drops.extend(packet.map(|packet| packet.handle));
                (packet, _) = self.dodequeue(now);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let is_recent = now.saturating_sub(self.drop_next) < 16 * self.codel.interval.0;
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }

    fn marks(&self, packet: &mut Option<Packet>) -> bool {
        let capable = packet.as_mut().filter(|packet| packet.ecn != Ecn::NotCapable);
        let marked = capable.filter(|_| self.codel.ecn);
        marked.map(|packet| packet.ecn = Ecn::Experienced).is_some()
    }

    /// With the root rounded down to 2^-16.
    fn control_law(&self, time: u64) -> u64 {
        let root = (u128::from(self.count) << 32).isqrt();
        time + ((u128::from(self.codel.interval.0) << 16) / root) as u64
    }
}

fn side_by_side(
    codel: CoDel,
    steps: impl IntoIterator<Item = (u64, bool, u32)>,
) -> Result<usize, TestCaseError> {
    let codel = CoDel { limit: Limit::None, ..codel };
    let mut fifo =
        ManagedScheduler::new(Fifo::new(), &[Policy::CoDel(codel)], &[Some(0)], 0).unwrap();
    let mut pseudocode = Pseudocode::new(codel);
    let (mut now, mut count) = (0, 0);
    for (handle, (gap, arrives, length)) in (0..).zip(steps) {
        now += gap;
        if arrives {
            let packet = packet(Nanos(now), 0, length % 2, length, handle);
            fifo.enqueue(Nanos(now), packet, &mut |_, _| panic!("there is no limit"));
            pseudocode.queue.push_back(packet);
            continue;
        }
        let (mut dropped, mut expected) = (Vec::new(), Vec::new());
        let sent = fifo.dequeue(Nanos(now), &mut |packet: Packet, reason| {
            assert_eq!(reason, DropReason::CoDel);
            dropped.push(packet.handle);
        });
        let packet = pseudocode.deque(now, &mut expected);
        count += dropped.len();
        prop_assert_eq!(sent.map(|sent| sent.packet), packet);
        prop_assert_eq!(dropped, expected);
    }
    Ok(count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn drops_what_the_pseudocode_drops(
        codel in any_codel(), steps in vec((gaps(1_000_000), any::<bool>(), 1..=1500u32), 1..400),
    ) {
        side_by_side(codel, steps)?;
    }
}

/// A queue that is long for long: the rate of drops grows with their number.
#[test]
fn drops_come_ever_faster() {
    let codel = CoDel {
        target: Nanos(5_000_000),
        interval: Nanos(100_000_000),
        limit: Limit::None,
        ecn: false,
        max_packet: Bytes(1500),
    };
    let overload = (0..30_000u64).map(|step| (400_000, step % 5 != 4 || step % 2 == 0, 1000));
    let dropped = side_by_side(codel, overload).unwrap();
    assert!(dropped > 100, "{dropped}");
}
