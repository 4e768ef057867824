//! How far an aggregate may be behind its share.

use std::vec;

use proptest::prelude::*;

use super::{Step, no_drops, packet};
use crate::sched::qfq::share::{BYTE, Share};
use crate::sched::qfq::{Qfq, QfqClass};
use crate::scheduler::Scheduler;
use crate::units::Nanos;

/// An aggregate's queued packets and its lag behind the link's work since it had nothing.
///
/// The lag is in virtual time.
#[derive(Clone, Debug, Default)]
struct Behind {
    packets: usize,
    /// Lag now, counted from when it had nothing. `least` is the smallest lag since then.
    now: i128,
    least: i128,
}

pub(super) fn check(classes: &[Option<QfqClass>], steps: &[Step]) -> Result<(), TestCaseError> {
    let shares = Share::all(classes).unwrap();
    let of = |class: usize| {
        let has = |share: &Share| share.classes.iter().any(|one| one.index() == class);
        shares.iter().position(has).unwrap()
    };
    let index = |at: usize| {
        let others = shares.iter().enumerate().filter(|(other, _)| *other != at);
        let largest = others.map(|(_, share)| share.budget()).max().unwrap_or(0);
        (4i128 << shares[at].slot_shift) + i128::from(largest) * BYTE as i128
    };
    let mut qfq = Qfq::new(classes).unwrap();
    let mut behind = vec![Behind::default(); shares.len()];
    for (handle, step) in (0..).zip(steps) {
        match *step {
            Step::Enqueue(class, share) => {
                let class = class % classes.len();
                let Some(QfqClass { max_packet, .. }) = classes[class] else { continue };
                let length = (max_packet * (u32::from(share) + 1)).div_ceil(256);
                qfq.enqueue(Nanos::ZERO, packet(class as u32, length, handle), &mut no_drops);
                let one = &mut behind[of(class)];
                if one.packets == 0 {
                    (one.now, one.least) = (0, 0);
                }
                one.packets += 1;
            }
            _ => {
                let Some(sent) = qfq.dequeue(Nanos::ZERO, &mut no_drops) else { continue };
                let served = of(sent.packet.class.index());
                let length = i128::from(sent.packet.length);
                for (at, one) in behind.iter_mut().enumerate().filter(|(_, one)| one.packets > 0) {
                    one.now += length * BYTE as i128;
                    if at == served {
                        one.now -= length * i128::from(shares[at].per_byte);
                        one.packets -= 1;
                    }
                    one.least = one.least.min(one.now);
                    prop_assert!(one.now - one.least <= index(at));
                }
            }
        }
    }
    Ok(())
}
