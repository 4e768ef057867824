//! The load under which Linux's own queue management is measured: a queue is offered more packets
//! than the link sends.

use std::hint::black_box;

use laxity::aqm::{Choke, Fraction, Limit, Policy, Red};
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;

use super::by_pointer::ByPointer;
use super::load::Under;
use super::timing::{Mode, draw, median};
use super::{RED, managed};
use crate::args::Case;

/// Packets that are offered in one run.
const PACKETS: u64 = 400_000;
/// The packets that are sent in a round.
const SENT: u32 = 4;
/// From one packet to the next.
const GAP: Nanos = Nanos(400);
/// The most that is queued.
const LIMIT: u64 = 1024;
/// Lengths go round from 64 bytes on.
const LENGTHS: u32 = 1_400;

/// The median ns for one packet offered, to a queue for all classes: every other packet is of the
/// first class, the rest of any.
pub(super) fn measure(case: Case, under: Under) -> f64 {
    let queue = managed(under.classes, policy(case));
    if under.by_pointer { offer(ByPointer::new(queue), under) } else { offer(queue, under) }
}

fn offer<S: Scheduler>(mut queue: S, Under { classes, mode, .. }: Under) -> f64 {
    let offered = if mode == Mode::Flood { 50 } else { 5 };
    let rounds = PACKETS / offered;
    let (mut now, mut handle, mut drawn) = (Nanos::ZERO, 0, 0);
    let lengths: Vec<_> = (64..64 + LENGTHS).collect();
    let mut lengths = lengths.iter().cycle();
    median(|| {
        for _ in 0..rounds {
            for _ in 0..offered {
                handle += 1;
                let is_first = draw(&mut drawn) >> 32 & 1 == 1;
                let class = if is_first {
                    ClassId(0)
                } else {
                    ClassId((((draw(&mut drawn) >> 32) * u64::from(classes)) >> 32) as u32)
                };
                let length = *lengths.next().unwrap_or(&64);
                let packet = Packet { class, length, arrival: now, handle, ..Packet::default() };
                queue.enqueue(now, packet, &mut |packet: Packet, _: DropReason| {
                    black_box(packet.handle);
                });
                now += GAP;
            }
            for _ in 0..SENT {
                let sent = queue.dequeue(now, &mut |_: Packet, _: DropReason| {});
                // The packet is used field by field, as a sender would use it.
                black_box(sent.map(|sent| sent.packet.handle));
            }
        }
        rounds * offered
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
