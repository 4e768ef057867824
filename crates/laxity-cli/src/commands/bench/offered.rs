//! The load under which Linux's own queue management is measured: a queue is offered many more
//! packets than the link sends.

use std::hint::black_box;

use laxity::aqm::{Choke, Fraction, Limit, Policy, Red};
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;

use super::timing::{median, mixed};
use super::{RED, managed};
use crate::args::Case;

/// Rounds of one run.
const ROUNDS: u64 = 8_000;
/// The packets that come in a round, and those that are sent in it.
const OFFERED: u64 = 50;
const SENT: u32 = 4;
/// From one packet to the next.
const GAP: Nanos = Nanos(400);
/// The most that is queued.
const LIMIT: u64 = 1024;
/// Lengths go round from 64 bytes on.
const LENGTHS: u64 = 1_400;

/// The median ns for one packet offered, to a queue for all classes: every other packet is of the
/// first class, the rest of any.
pub(super) fn measure(case: Case, classes: u32) -> f64 {
    let mut queue = managed(classes, policy(case));
    let (mut now, mut handle) = (Nanos::ZERO, 0);
    median(|| {
        for _ in 0..ROUNDS {
            for _ in 0..OFFERED {
                handle += 1;
                let drawn = mixed(handle);
                let of_any = ((drawn >> 32) * u64::from(classes)) >> 32;
                let class = ClassId(if drawn.is_multiple_of(2) { of_any as u32 } else { 0 });
                let length = 64 + (handle % LENGTHS) as u32;
                let packet = Packet { class, length, arrival: now, handle, ..Packet::default() };
                queue.enqueue(now, packet, &mut |packet: Packet, _: DropReason| {
                    black_box(packet.handle);
                });
                now += GAP;
            }
            for _ in 0..SENT {
                black_box(queue.dequeue(now, &mut |_: Packet, _: DropReason| {}));
            }
        }
        ROUNDS * OFFERED
    })
}

/// Thresholds at an eighth and at half of the limit.
fn policy(case: Case) -> Policy {
    let limit = Limit::Packets(LIMIT);
    let weight = Fraction::millionths(1_000_000 / 64);
    let (min, max) = (LIMIT / 8, LIMIT / 2);
    let red = Red { min, max, limit, weight, gentle: false, transmission: GAP, ..RED };
    match case {
        Case::Choke => Policy::Choke(Choke { red, candidates: 1 }),
        Case::Red => Policy::Red(red),
        _ => Policy::DropTail { limit, mark: Limit::None },
    }
}
