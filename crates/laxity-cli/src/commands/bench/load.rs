//! The loads under which disciplines are measured.

use std::hint::black_box;
use std::mem;
use std::time::Instant;

use laxity::packet::{ClassId, Packet};
use laxity::sched::edf::Deadlines;
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Nanos, Rate};

/// Packets of one run.
const PACKETS: u64 = 400_000;
/// Every packet is this long and takes so long on the link.
pub const LENGTH: u32 = 1000;
pub const TRANSMISSION: Nanos = Nanos(1_000);
/// That of the link.
pub const LINK: Rate = Rate(8_000_000_000);

/// How busy the classes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every class has two packets queued; one that sends or drops one gets a new one.
    Backlogged,
    /// Classes wake in random order, each with four packets, and sleep when they are sent; up to 64
    /// are awake at a time.
    OnOff,
    /// One packet at a time, of one class after another.
    Single,
    /// All classes wake at one instant, each with one packet, and sleep when all are sent.
    Together,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 4] = [Mode::Backlogged, Mode::OnOff, Mode::Single, Mode::Together];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Backlogged => "backlogged",
            Mode::OnOff => "on-off",
            Mode::Single => "single",
            Mode::Together => "together",
        }
    }
}

/// A deadline of its own for every class, from 10 ms to 1 s in random order.
pub fn deadlines(classes: u32) -> Vec<Nanos> {
    let step = 990_000_000 / u64::from(classes);
    shuffled(classes).into_iter().map(|place| Nanos(10_000_000 + u64::from(place) * step)).collect()
}

/// The median ns for one packet in and one out, sent or dropped.
pub fn schedule<S: Scheduler>(mut scheduler: S, classes: u32, mode: Mode, runs: usize) -> f64 {
    let order = shuffled(classes);
    let mut now = Nanos::ZERO;
    if mode == Mode::Backlogged {
        for &class in order.iter().chain(&order) {
            enqueue(&mut scheduler, now, class);
        }
    }
    let mut wake = order.iter().cycle();
    let (mut left, mut refused) = (Vec::new(), Vec::new());
    median(runs, || match mode {
        Mode::Backlogged => {
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
pub fn assign(deadlines: &Deadlines, mode: Mode, runs: usize) -> f64 {
    let mut deadlines = deadlines.clone();
    let mut now = Nanos::ZERO;
    let pauses: Vec<_> =
        shuffled(1 << 12).into_iter().map(|n| Nanos(u64::from(n) * 1_000)).collect();
    let mut pause = pauses.iter().cycle();
    median(runs, || {
        for packet in 0..PACKETS {
            let forget = match mode {
                Mode::Backlogged | Mode::Together => false,
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

/// The median time of a packet over several runs, each of which says how many packets it had, after
/// one that warms up.
fn median(runs: usize, mut run: impl FnMut() -> u64) -> f64 {
    run();
    let mut times: Vec<_> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            let packets = run();
            start.elapsed().as_nanos() as f64 / packets as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

/// The numbers below `count` in an order without pattern, the same every time.
pub fn shuffled(count: u32) -> Vec<u32> {
    let mut numbers: Vec<_> = (0..count).collect();
    // Sorting by a mixing function (Steele, Lea, Flood 2014) shuffles.
    numbers.sort_by_key(|&number| {
        let mut mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    });
    numbers
}
