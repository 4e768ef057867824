//! Against the pseudo-code of RFC 9332, appendix A, in floating point.

use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{DualPi2, DualPi2Settings};
use crate::aqm::Limit;
use crate::packet::{Ecn, Packet};
use crate::scheduler::{DropReason, Scheduler, Withdraw};
use crate::testing::gaps;
use crate::units::Nanos;

/// Nearer to each other than this, numbers are not told apart: thousands of updates round by less.
const CLOSE: f64 = 1e-11;

/// One of both queues.
#[derive(Default)]
struct Queue {
    packets: VecDeque<Packet>,
    count: f64,
}

impl Queue {
    fn byt(&self) -> u64 {
        self.packets.iter().map(|packet| u64::from(packet.length)).sum()
    }

    /// How long the first packet has waited, in seconds.
    fn time(&self, now: u64) -> f64 {
        self.packets.front().map_or(0.0, |first| (now - first.arrival.0) as f64 / 1e9)
    }
}

/// The variables of appendix A, and a timer.
struct Pseudocode {
    settings: DualPi2Settings,
    lq: Queue,
    cq: Queue,
    p: f64,
    prevq: f64,
    timer: u64,
    /// In millionths of bytes.
    credit: i64,
    /// Whether two numbers came too close to say which is more.
    unclear: bool,
}

impl Pseudocode {
    fn new(settings: DualPi2Settings) -> Self {
        let [lq, cq] = [(); 2].map(|()| Queue::default());
        let timer = settings.update.0;
        Pseudocode { settings, lq, cq, p: 0.0, prevq: 0.0, timer, credit: 0, unclear: false }
    }

    fn run_timer(&mut self, now: u64) {
        while self.timer <= now {
            self.update(self.timer);
            self.timer += self.settings.update.0;
        }
    }

    fn update(&mut self, now: u64) {
        let [alpha, beta] =
            [self.settings.alpha, self.settings.beta].map(|gain| f64::from(gain) / 1e6);
        let target = self.settings.target.0 as f64 / 1e9;
        let curq = self.cq.time(now).max(self.lq.time(now));
        self.p += alpha * (curq - target) + beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    /// Whether it gets in.
    fn enqueue(&mut self, packet: Packet) -> bool {
        self.run_timer(packet.arrival.0);
        let queued = (self.lq.packets.len() + self.cq.packets.len()) as u64;
        let bytes = self.lq.byt() + self.cq.byt() + u64::from(packet.length);
        let is_full = match self.settings.limit {
            Limit::None => false,
            Limit::Packets(limit) => queued >= limit,
            Limit::Bytes(limit) => bytes > limit,
        };
        if is_full {
            return false;
        }
        if queued == 0 {
            let wc = i64::from(self.settings.classic_share);
            self.credit = i64::from(self.settings.packet) * (wc - (1_000_000 - wc));
        }
        match packet.ecn {
            Ecn::L4s | Ecn::Experienced => self.lq.packets.push_back(packet),
            Ecn::NotCapable | Ecn::Capable => self.cq.packets.push_back(packet),
        }
        true
    }

    /// The packet that is sent, after the handles of those that are dropped.
    fn dequeue(&mut self, now: u64, drops: &mut Vec<u64>) -> Option<Packet> {
        self.run_timer(now);
        let k = f64::from(self.settings.coupling);
        let (p_c, p_cl) = (self.p * self.p, k * self.p);
        // Where the coupled probability is one, for all that can be told.
        self.unclear |= p_cl != 1.0 && (p_cl - 1.0).abs() < CLOSE;
        let wc = i64::from(self.settings.classic_share);
        while self.lq.byt() + self.cq.byt() > 0 {
            let both = !self.lq.packets.is_empty() && !self.cq.packets.is_empty();
            let turn_of_lq = if both { self.credit <= 0 } else { self.cq.packets.is_empty() };
            let mut packet;
            if turn_of_lq {
                packet = self.lq.packets.pop_front()?;
                let qdelay = now - packet.arrival.0;
                if p_cl < 1.0 {
                    let above = qdelay > self.settings.threshold.0 && !self.lq.packets.is_empty();
                    let native = if above { 1.0 } else { 0.0 };
                    if self.recur(true, f64::max(native, p_cl)) {
                        packet.ecn = Ecn::Experienced;
                    }
                } else {
                    if self.recur(true, p_c) {
                        drops.push(packet.handle);
                        continue;
                    }
                    if self.recur(true, 1.0) {
                        packet.ecn = Ecn::Experienced;
                    }
                }
                if !self.cq.packets.is_empty() {
                    self.credit += wc * i64::from(packet.length);
                }
            } else {
                packet = self.cq.packets.pop_front()?;
                if self.recur(false, p_c) {
                    if packet.ecn == Ecn::NotCapable || p_cl >= 1.0 {
                        drops.push(packet.handle);
                        continue;
                    }
                    packet.ecn = Ecn::Experienced;
                }
                if !self.lq.packets.is_empty() {
                    self.credit -= (1_000_000 - wc) * i64::from(packet.length);
                }
            }
            return Some(packet);
        }
        None
    }

    fn recur(&mut self, of_lq: bool, likelihood: f64) -> bool {
        let queue = if of_lq { &mut self.lq } else { &mut self.cq };
        queue.count += likelihood;
        self.unclear |= queue.count != 1.0 && (queue.count - 1.0).abs() < CLOSE;
        let is_due = queue.count > 1.0;
        if is_due {
            queue.count -= 1.0;
        }
        is_due
    }
}

/// What happens, and after what time.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrives(Ecn, u32),
    Leaves,
    Position(usize),
}

/// How many decisions were compared before it was unclear which is right, and of those how many
/// packets were dropped, marked in the L4S queue and marked in the other.
fn side_by_side(
    settings: DualPi2Settings,
    steps: impl IntoIterator<Item = (u64, Step)>,
) -> Result<[usize; 4], TestCaseError> {
    let mut dualpi2 = DualPi2::new(1, settings).unwrap();
    let mut pseudocode = Pseudocode::new(settings);
    let (mut now, mut counts) = (0, [0; 4]);
    let mut queued = Vec::new();
    for (handle, (gap, step)) in (0..).zip(steps) {
        now += gap;
        let mut dropped = Vec::new();
        let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
        match step {
            Step::Arrives(ecn, length) => {
                let arrival = Nanos(now);
                let packet = Packet { length, ecn, arrival, handle, ..Packet::default() };
                let place = dualpi2.place(arrival, packet, &mut drops);
                prop_assert_eq!(place.is_some(), pseudocode.enqueue(packet), "packet {}", handle);
                let turned_away = place.is_none().then_some((handle, DropReason::QueueFull));
                prop_assert_eq!(dropped, turned_away.into_iter().collect::<Vec<_>>());
                queued.extend(place.map(|place| (handle, ecn, place)));
            }
            Step::Leaves => {
                let sent = dualpi2.dequeue(Nanos(now), &mut drops).map(|sent| sent.packet);
                let mut expected = Vec::new();
                let next = pseudocode.dequeue(now, &mut expected);
                if pseudocode.unclear {
                    return Ok(counts);
                }
                prop_assert_eq!(sent, next);
                counts[1] += dropped.len();
                for (handle, reason) in &dropped {
                    prop_assert_eq!(*reason, DropReason::DualPi2);
                    queued.retain(|(queued, ..)| queued != handle);
                }
                let dropped: Vec<u64> = dropped.into_iter().map(|(handle, _)| handle).collect();
                prop_assert_eq!(dropped, expected);
                if let Some(sent) = sent {
                    let at = queued.iter().position(|(handle, ..)| *handle == sent.handle);
                    let (_, came, _) = queued.remove(at.unwrap());
                    if sent.ecn != came {
                        counts[if came == Ecn::L4s { 2 } else { 3 }] += 1;
                    }
                }
            }
            Step::Position(which) => {
                if queued.is_empty() {
                    continue;
                }
                let (handle, _, place) = queued.remove(which % queued.len());
                let taken = dualpi2.withdraw(Nanos(now), place, handle, &mut drops);
                prop_assert_eq!(taken.map(|packet| packet.handle), Some(handle));
                for queue in [&mut pseudocode.lq, &mut pseudocode.cq] {
                    queue.packets.retain(|packet| packet.handle != handle);
                }
            }
        }
        let bytes = pseudocode.lq.byt() + pseudocode.cq.byt();
        prop_assert_eq!(
            (dualpi2.backlog().packets, dualpi2.backlog().bytes),
            (queued.len(), bytes)
        );
        counts[0] += 1;
    }
    Ok(counts)
}

fn any_settings() -> impl Strategy<Value = DualPi2Settings> {
    let times = (0..3_000_000u64, 100_000..3_000_000u64, 0..2_000_000u64);
    let gains = (0..200_000_000u32, 0..200_000_000u32);
    let limit = prop_oneof![
        3 => Just(Limit::None),
        1 => (1..40u64).prop_map(Limit::Packets),
        1 => (1..40_000u64).prop_map(Limit::Bytes),
    ];
    (times, gains, 1..5u32, 0..=1_000_000u32, limit).prop_map(
        |((target, update, threshold), (alpha, beta), coupling, classic_share, limit)| {
            let [target, update, threshold] = [target, update, threshold].map(Nanos);
            let packet = 1500;
            DualPi2Settings {
                target,
                update,
                alpha,
                beta,
                coupling,
                threshold,
                classic_share,
                limit,
                packet,
            }
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![
        2 => Just(Ecn::NotCapable),
        2 => Just(Ecn::Capable),
        4 => Just(Ecn::L4s),
        1 => Just(Ecn::Experienced),
    ];
    prop_oneof![
        12 => (ecn, 1..=1500u32).prop_map(|(ecn, length)| Step::Arrives(ecn, length)),
        9 => Just(Step::Leaves),
        1 => any::<usize>().prop_map(Step::Position),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn does_what_the_pseudocode_does(
        settings in any_settings(),
        steps in vec((gaps(300_000), any_step()), 1..800),
    ) {
        side_by_side(settings, steps)?;
    }
}

/// A load of `l4s` and `classic` packets, evenly spread, for every ten packets that leave.
///
/// One packet leaves every 1,000,007 ns. With whole milliseconds the probability would be exactly
/// one half at some time, which floating point does not tell from nearly one half.
fn load(l4s: usize, classic: usize, seconds: usize) -> Vec<(u64, Step)> {
    let round = (0..10).flat_map(move |place| {
        let comes = move |of: usize| (place + 1) * of / 10 - place * of / 10;
        let arrives = |ecn, times| std::vec![(0, Step::Arrives(ecn, 1000)); times];
        let mut steps = arrives(Ecn::L4s, comes(l4s));
        steps.extend(arrives(Ecn::NotCapable, comes(classic)));
        steps.push((1_000_007, Step::Leaves));
        steps
    });
    let round: Vec<_> = round.collect();
    round.iter().copied().cycle().take(round.len() * 100 * seconds).collect()
}

/// Usual settings on what comes to both queues: below the capacity nothing is done, above it L4S
/// packets are marked first, and what no mark helps against is dropped, from both.
#[test]
fn loads_are_marked_and_dropped() {
    let [_, dropped, marked, _] = side_by_side(DualPi2Settings::USUAL, load(4, 5, 20)).unwrap();
    assert_eq!((dropped, marked), (0, 0));
    let [compared, dropped, marked, _] =
        side_by_side(DualPi2Settings::USUAL, load(6, 6, 60)).unwrap();
    assert!(compared > 80_000, "{compared}");
    assert!(marked > 20_000 && dropped > 9_000, "{marked} marked, {dropped} dropped");
}

/// A flood of L4S packets leaves the classic queue its share.
#[test]
fn a_flood_leaves_a_share() {
    let settings = DualPi2Settings { alpha: 0, beta: 0, ..DualPi2Settings::USUAL };
    let mut dualpi2 = DualPi2::new(1, settings).unwrap();
    let none = &mut |_, _| panic!("nothing is dropped");
    for handle in 0..4000 {
        let ecn = if handle % 2 == 0 { Ecn::L4s } else { Ecn::NotCapable };
        let packet = Packet { length: 1000, ecn, handle, ..Packet::default() };
        dualpi2.enqueue(Nanos::ZERO, packet, none);
    }
    let sent = (0..2000).map(|_| dualpi2.dequeue(Nanos::ZERO, none).unwrap().packet.ecn);
    let classic = sent.filter(|ecn| *ecn == Ecn::NotCapable).count();
    assert!((195..=200).contains(&classic), "{classic}");
}

/// A time of ages without packets takes no ages.
#[test]
fn ages_pass() {
    let settings = DualPi2Settings { update: Nanos(1), ..DualPi2Settings::USUAL };
    let mut dualpi2 = DualPi2::new(1, settings).unwrap();
    for (handle, time) in (0..).zip([0, 1, u64::MAX - 1, u64::MAX]) {
        let now = Nanos(time);
        let packet = Packet { length: 1000, arrival: now, handle, ..Packet::default() };
        dualpi2.enqueue(now, packet, &mut |_, _| {});
    }
    assert_eq!(dualpi2.backlog().packets, 4);
    dualpi2.dequeue(Nanos(u64::MAX), &mut |_, _| {});
    assert!(dualpi2.backlog().packets < 4);
}

#[test]
fn settings_are_checked() {
    let usual = DualPi2Settings::USUAL;
    let refused = |settings| {
        std::string::ToString::to_string(&DualPi2::new(1, settings).expect_err("it is refused"))
    };
    for (settings, message) in [
        (
            DualPi2Settings { update: Nanos::ZERO, ..usual },
            "DualPI2's update in ns is 0: accepted is at least 1",
        ),
        (
            DualPi2Settings { beta: 2_000_000_000, ..usual },
            "DualPI2's beta in millionths is 2000000000: accepted is 0 to 1000000000",
        ),
        (
            DualPi2Settings { coupling: 0, ..usual },
            "DualPI2's coupling factor is 0: accepted is 1 to 255",
        ),
        (
            DualPi2Settings { classic_share: 1_000_001, ..usual },
            "the classic queue's share in millionths is 1000001: accepted is 0 to 1000000",
        ),
    ] {
        assert_eq!(refused(settings), message);
    }
}
