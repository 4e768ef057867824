//! PIE against the pseudo-code of RFC 8033 in floating point.

use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::{any_pie, packet};
use crate::aqm::{Limit, ManagedScheduler, Pie, Policy};
use crate::packet::{Ecn, Packet};
use crate::sched::Fifo;
use crate::scheduler::{DropReason, Scheduler};
use crate::testing::gaps;
use crate::units::{Bytes, Nanos};

/// Nearer to each other than this, numbers are not told apart: thousands of updates round by less.
const CLOSE: f64 = 1e-9;

/// Between two packets. Any probability that an empty queue has decays within less.
const MOST_UPDATES: u64 = 5000;

/// The variables of sections 4 and 5, and a timer.
struct Pseudocode {
    pie: Pie,
    queue: VecDeque<Packet>,
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    current_qdelay: f64,
    burst_allowance: f64,
    timer: u64,
    random: Pcg32,
    /// Whether two numbers came too close to say which is more.
    unclear: bool,
}

fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

impl Pseudocode {
    fn new(pie: Pie, seed: u64) -> Self {
        Pseudocode {
            pie,
            queue: VecDeque::new(),
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: 0.0,
            current_qdelay: 0.0,
            burst_allowance: seconds(pie.burst),
            timer: pie.update.0,
            random: Pcg32::new(seed, 0),
            unclear: false,
        }
    }

    fn is_less(&mut self, one: f64, other: f64) -> bool {
        self.unclear |= (one - other).abs() < CLOSE * other.abs().max(1e-3) && one != other;
        one < other
    }

    fn run_timer(&mut self, now: u64) {
        while self.timer <= now {
            self.calculate_drop_prob();
            self.timer += self.pie.update.0;
        }
    }

    fn calculate_drop_prob(&mut self) {
        let (now, old, reference) =
            (self.current_qdelay, self.qdelay_old, seconds(self.pie.target));
        let [alpha, beta] = [self.pie.alpha, self.pie.beta].map(|gain| f64::from(gain) / 1e6);
        let mut p = alpha * (now - reference) + beta * (now - old);
        let tuned =
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
        if let Some((_, less)) = tuned.into_iter().find(|(below, _)| self.drop_prob < *below) {
            p /= less;
        }
        for (below, _) in tuned {
            self.is_less(self.drop_prob, below);
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if now == 0.0 && old == 0.0 {
            self.drop_prob *= 1.0 - 1.0 / 64.0;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        // What is less than a part of 2^-56 is nothing.
        if self.drop_prob < 1e-15 {
            self.drop_prob = 0.0;
        }
        self.burst_allowance = (self.burst_allowance - seconds(self.pie.update)).max(0.0);
        let half = seconds(Nanos(self.pie.target.0 / 2));
        if self.drop_prob == 0.0 && now < half && old < half {
            self.burst_allowance = seconds(self.pie.burst);
        }
        self.qdelay_old = now;
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|packet| u64::from(packet.length)).sum()
    }

    /// Whether it gets in, maybe marked.
    fn enque(&mut self, mut packet: Packet) -> bool {
        let now = packet.arrival.0;
        self.run_timer(now);
        // Below a nanosecond there is nothing left of it.
        if self.burst_allowance < 0.5e-9 && self.drop_early() {
            let marks = self.pie.ecn && self.is_less(self.drop_prob, 0.1);
            if !marks || packet.ecn == Ecn::NotCapable {
                return false;
            }
            packet.ecn = Ecn::Experienced;
        }
        self.queue.push_back(packet);
        true
    }

    fn drop_early(&mut self) -> bool {
        let half = seconds(Nanos(self.pie.target.0 / 2));
        let is_short = self.qdelay_old < half && self.is_less(self.drop_prob, 0.2);
        if is_short || self.bytes() <= 2 * self.pie.packet.0 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.is_less(self.accu_prob, 0.85) {
            return false;
        }
        let drops = !self.is_less(self.accu_prob, 8.5) || {
            let draw = f64::from(self.random.next_u32()) / 4_294_967_296.0;
            self.is_less(draw, self.drop_prob)
        };
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }

    fn deque(&mut self, now: u64) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.run_timer(now);
        let waited = seconds(Nanos(now - packet.arrival.0));
        self.current_qdelay = if self.queue.is_empty() { 0.0 } else { waited };
        Some(packet)
    }
}

/// How many packets were dropped and marked, and how many decisions were compared before it was
/// unclear which is right.
fn side_by_side(
    pie: Pie,
    seed: u64,
    steps: impl IntoIterator<Item = (u64, bool, u32)>,
) -> Result<[usize; 3], TestCaseError> {
    let pie = Pie { limit: Limit::None, ..pie };
    let mut fifo =
        ManagedScheduler::new(Fifo::new(), &[Policy::Pie(pie)], &[Some(0)], seed).unwrap();
    let mut pseudocode = Pseudocode::new(pie, seed);
    let (mut now, mut counts) = (0, [0; 3]);
    for (handle, (gap, arrives, length)) in (0..).zip(steps) {
        now += gap;
        if arrives {
            let packet = packet(Nanos(now), 0, length % 2, length, handle);
            let mut dropped = Vec::new();
            fifo.enqueue(Nanos(now), packet, &mut |packet: Packet, reason| {
                assert_eq!(reason, DropReason::Pie);
                dropped.push(packet.handle);
            });
            let gets_in = pseudocode.enque(packet);
            if pseudocode.unclear {
                return Ok(counts);
            }
            prop_assert_eq!(dropped.is_empty(), gets_in, "packet {}", handle);
            counts[0] += dropped.len();
        } else {
            let sent = fifo.dequeue(Nanos(now), &mut |_, _| panic!("what got in is sent"));
            let sent = sent.map(|sent| sent.packet);
            prop_assert_eq!(sent, pseudocode.deque(now));
            counts[1] += usize::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
        }
        counts[2] += 1;
    }
    Ok(counts)
}

const RFC: Pie = Pie {
    target: Pie::TARGET,
    update: Pie::UPDATE,
    alpha: Pie::GAINS[0],
    beta: Pie::GAINS[1],
    burst: Pie::BURST,
    limit: Limit::None,
    ecn: false,
    packet: Bytes(1500),
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn drops_what_the_pseudocode_drops(
        pie in any_pie(), seed: u64,
        steps in vec((gaps(2_000_000), 0..5u8, 1..=1500u32), 1..800),
    ) {
        // The pseudo-code makes every update.
        let longest = pie.update.0.saturating_mul(MOST_UPDATES);
        let steps = steps.into_iter();
        side_by_side(pie, seed, steps.map(|(gap, choice, length)| (gap.min(longest), choice < 3, length)))?;
    }
}

/// So much for each of some hundred seconds: five arrive where four can be sent.
fn overload(steps: u64) -> impl Iterator<Item = (u64, bool, u32)> {
    (0..steps)
        .map(|step| (200_000, !step.is_multiple_of(9) && step % 9 % 2 == 0 || step % 9 == 7, 1000))
}

/// Under a lasting overload of a fifth the probability comes to rest near what there is too much,
/// whatever the seed.
#[test]
fn an_overload_is_dropped() {
    for seed in 0..4 {
        let arrivals = overload(300_000).filter(|(_, arrives, _)| *arrives).count();
        let [dropped, _, compared] = side_by_side(RFC, seed, overload(300_000)).unwrap();
        assert!(compared > 200_000, "{compared}");
        let too_many = arrivals - (300_000 - arrivals);
        assert!(dropped * 10 > too_many * 7 && dropped < too_many, "{dropped} of {too_many}");
    }
}

/// What is capable of ECN is marked, as long as the probability is small, and then dropped, too.
#[test]
fn marks_come_before_drops() {
    let marks = Pie { ecn: true, ..RFC };
    let capable = overload(60_000).map(|(gap, arrives, _)| (gap, arrives, 1000));
    let [dropped, marked, _] = side_by_side(marks, 3, capable).unwrap();
    assert!(marked > 10 && dropped > marked, "{marked} marked, {dropped} dropped");
    let none = overload(60_000).map(|(gap, arrives, _)| (gap, arrives, 1001));
    let [dropped, marked, _] = side_by_side(marks, 3, none).unwrap();
    assert!(marked == 0 && dropped > 100, "{marked} marked, {dropped} dropped");
}

/// A time of ages without packets takes no ages.
#[test]
fn ages_pass() {
    let pie = Pie { update: Nanos(1), ..RFC };
    let mut fifo = ManagedScheduler::new(Fifo::new(), &[Policy::Pie(pie)], &[Some(0)], 0).unwrap();
    for time in [0, 1, u64::MAX - 1, u64::MAX] {
        let now = Nanos(time);
        fifo.enqueue(now, packet(now, 0, 0, 1000, time), &mut |_, _| {});
    }
    assert!(fifo.dequeue(Nanos(u64::MAX), &mut |_, _| {}).is_some());
}
