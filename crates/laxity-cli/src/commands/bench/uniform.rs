//! The load of equal packets.

use std::hint::black_box;
use std::mem;

use laxity::packet::{ClassId, Packet};
use laxity::sched::edf::Deadlines;
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Nanos, Rate};

use super::timing::{Mode, median, shuffled};

/// Packets of one run.
const PACKETS: u64 = 400_000;
/// Every packet is this long and takes so long on the link.
pub(super) const LENGTH: u32 = 1000;
pub(super) const TRANSMISSION: Nanos = Nanos(1_000);
/// That of the link.
pub(super) const LINK: Rate = Rate(8_000_000_000);

/// The median ns for one packet in and one out, sent or dropped.
pub(super) fn schedule<S: Scheduler>(mut scheduler: S, classes: u32, mode: Mode) -> f64 {
    let order = shuffled(classes);
    let mut now = Nanos::ZERO;
    if matches!(mode, Mode::Backlogged | Mode::Overload | Mode::Flood) {
        for &class in order.iter().chain(&order) {
            enqueue(&mut scheduler, now, class);
        }
    }
    let mut wake = order.iter().cycle();
    let (mut left, mut refused) = (Vec::new(), Vec::new());
    median(|| match mode {
        Mode::Backlogged | Mode::Overload | Mode::Flood => {
            let mut packets = 0;
            while packets < PACKETS {
                dequeue_into(&mut scheduler, now, &mut left);
                now += TRANSMISSION;
                packets += left.len() as u64;
                for class in left.drain(..) {
                    enqueue_into(&mut scheduler, now, class, &mut refused);
                }
                mem::swap(&mut left, &mut refused);
            }
            packets
        }
        Mode::OnOff => {
            let awake = 64.min(u64::from(classes));
            for _ in 0..PACKETS / (4 * awake) {
                for &class in wake.by_ref().take(awake as usize) {
                    for _ in 0..4 {
                        enqueue(&mut scheduler, now, class);
                    }
                }
                for _ in 0..4 * awake {
                    dequeue(&mut scheduler, now);
                    now += TRANSMISSION;
                }
            }
            PACKETS
        }
        Mode::Single => {
            for &class in wake.by_ref().take(PACKETS as usize) {
                enqueue(&mut scheduler, now, class);
                dequeue(&mut scheduler, now);
                now += TRANSMISSION;
            }
            PACKETS
        }
        Mode::Together => {
            let rounds = (PACKETS / order.len() as u64).max(1);
            for _ in 0..rounds {
                for &class in &order {
                    enqueue(&mut scheduler, now, class);
                }
                for _ in &order {
                    dequeue(&mut scheduler, now);
                    now += TRANSMISSION;
                }
            }
            rounds * order.len() as u64
        }
    })
}

/// The median ns for one best-effort deadline of the paper's plan: packets that follow each other
/// at the whole link's rate with interruptions for ever, in bursts of 64 with forgotten history
/// between, or each alone.
pub(super) fn assign(deadlines: &Deadlines, mode: Mode) -> f64 {
    let mut deadlines = deadlines.clone();
    let mut now = Nanos::ZERO;
    let pauses: Vec<_> =
        shuffled(1 << 12).into_iter().map(|n| Nanos(u64::from(n) * 1_000)).collect();
    let mut pause = pauses.iter().cycle();
    median(|| {
        for packet in 0..PACKETS {
            let forget = match mode {
                Mode::Backlogged | Mode::Together | Mode::Overload | Mode::Flood => false,
                Mode::OnOff => packet % 64 == 0,
                Mode::Single => true,
            };
            if forget {
                deadlines.reset();
            }
            // Up to 4 ms of real-time traffic between best-effort packets of 1.2 ms.
            now += *pause.next().unwrap_or(&Nanos::ZERO);
            black_box(deadlines.assign(now, 1536));
        }
        PACKETS
    })
}

fn enqueue<S: Scheduler>(scheduler: &mut S, now: Nanos, class: u32) {
    scheduler.enqueue(now, packet(now, class), &mut |_: Packet, _: DropReason| {});
}

/// Hands a packet in and says whose packets were dropped for it.
fn enqueue_into<S: Scheduler>(scheduler: &mut S, now: Nanos, class: u32, dropped: &mut Vec<u32>) {
    let mut drops = |packet: Packet, _: DropReason| dropped.push(packet.class.0);
    scheduler.enqueue(now, packet(now, class), &mut drops);
}

fn packet(now: Nanos, class: u32) -> Packet {
    Packet { class: ClassId(class), length: LENGTH, arrival: now, ..Packet::default() }
}

fn dequeue<S: Scheduler>(scheduler: &mut S, now: Nanos) {
    black_box(scheduler.dequeue(now, &mut |_: Packet, _: DropReason| {}));
}

/// Takes a packet out and says whose packets left with it, dropped or sent.
fn dequeue_into<S: Scheduler>(scheduler: &mut S, now: Nanos, left: &mut Vec<u32>) {
    let mut drops = |packet: Packet, _: DropReason| left.push(packet.class.0);
    let dispatch = black_box(scheduler.dequeue(now, &mut drops));
    left.extend(dispatch.map(|dispatch| dispatch.packet.class.0));
}
