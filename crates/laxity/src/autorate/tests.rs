//! Controllers before a link with one queue, packet by packet.

mod account;
mod echoes;

use alloc::collections::VecDeque;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::units::Bytes;

const MS: u64 = MILLISECOND;
const PACKET: u32 = 1500;

/// A shaper that always has something to send, before a link with one queue.
struct Bench {
    autorate: Autorate,
    now: Nanos,
    free_at: Nanos,
    round_trip: Nanos,
    answers: Vec<(Nanos, u64)>,
    /// The rate of the shaper whenever it sends, and how long the packet waits at the link.
    log: VecDeque<(Nanos, Rate, Nanos)>,
    random: u64,
}

impl Bench {
    fn new(settings: Settings, round_trip: u64) -> Self {
        Bench {
            autorate: Autorate::new(settings, 2, Nanos::ZERO),
            now: Nanos::ZERO,
            free_at: Nanos::ZERO,
            round_trip: Nanos(round_trip * MS),
            answers: Vec::new(),
            log: VecDeque::new(),
            random: 1,
        }
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random >> 33
    }

    /// Sends until `end` over a link of this rate. Answers take up to `jitter` longer, and of a
    /// thousand probes `lost` do not come back.
    fn run(&mut self, end: u64, rate: u64, jitter: u64, lost: u64) {
        let takes = |bytes: u64| Rate(rate).time_for(Bytes(bytes));
        while self.now < Nanos(end * MS) {
            while let Some(next) = self.next().filter(|next| *next <= self.now) {
                let first = self.answers.iter().position(|(time, _)| *time == next);
                if let Some(first) = first {
                    let (_, number) = self.answers.swap_remove(first);
                    self.autorate.answered(next, number);
                } else if let Some(probe) = self.autorate.poll(next) {
                    self.autorate.carries(98);
                    self.free_at = self.free_at.max(next) + takes(98);
                    let late = Nanos(self.draw() % (jitter * MS + 1));
                    if self.draw() % 1000 >= lost {
                        let back = self.free_at + self.round_trip + late;
                        self.answers.push((back, probe.number));
                    }
                }
            }
            let shaper = self.autorate.rate();
            let Settings { from, to, .. } = *self.autorate.settings();
            assert!((from..=to).contains(&shaper));
            let waits = self.free_at.saturating_sub(self.now);
            self.log.push_back((self.now, shaper, waits));
            self.free_at = self.free_at.max(self.now) + takes(PACKET.into());
            self.autorate.carries(PACKET.into());
            self.now += shaper.time_for(Bytes(PACKET.into()));
        }
    }

    fn next(&self) -> Option<Nanos> {
        let answers = self.answers.iter().map(|(time, _)| *time);
        answers.chain([self.autorate.next_poll()]).min()
    }

    /// What was logged from a time on.
    fn since(&self, time: u64) -> impl Iterator<Item = (Rate, Nanos)> + '_ {
        let late = self.log.iter().filter(move |(at, ..)| *at >= Nanos(time * MS));
        late.map(|(_, rate, waits)| (*rate, *waits))
    }

    fn longest_wait_since(&self, time: u64) -> Nanos {
        self.since(time).map(|(_, waits)| waits).max().unwrap_or_default()
    }
}

fn settings(rule: Rule) -> Settings {
    Settings::new(rule, Rate(2_000_000), Rate(40_000_000))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the link does, the rate is one of those that are allowed (asserted on the way).
    #[test]
    fn the_rate_stays_within_its_limits(
        rates in prop::collection::vec(100_000u64..100_000_000, 1..6),
        round_trip in 1u64..200,
        jitter in 0u64..40,
        lost in 0u64..300,
        is_cake: bool,
    ) {
        let rule = if is_cake { Rule::CakeAutorate } else { Rule::Delay };
        let mut bench = Bench::new(settings(rule), round_trip);
        for (second, rate) in (1..).zip(rates) {
            bench.run(second * 1000, rate, jitter, lost);
        }
    }

    /// On a link that stays as it is the rate comes to its capacity, and stays there.
    #[test]
    fn a_constant_link_is_used_and_the_rate_does_not_swing(
        rate in 3_000_000u64..38_000_000,
        round_trip in 5u64..120,
        jitter in 0u64..3,
    ) {
        let mut bench = Bench::new(settings(Rule::Delay), round_trip);
        bench.run(30_000, rate, jitter, 5);
        let rates: Vec<u64> = bench.since(10_000).map(|(rate, _)| rate.0).collect();
        let mean = rates.iter().sum::<u64>() / rates.len() as u64;
        prop_assert!((rate * 93 / 100..=rate * 104 / 100).contains(&mean), "{mean} of {rate}");
        prop_assert!(bench.longest_wait_since(10_000) < Nanos(60 * MS));
        // The longest run on one side of the mean is no swing: its changes of side are.
        let swing = rates.iter().map(|at| at.abs_diff(mean)).sum::<u64>() / rates.len() as u64;
        prop_assert!(swing < rate / 10, "{swing} around {mean}");
    }

    /// When the link becomes slower, the queue is short again soon.
    #[test]
    fn a_slower_link_is_noticed(
        rate in 10_000_000u64..38_000_000,
        part in 2u64..4,
        round_trip in 5u64..80,
    ) {
        let mut bench = Bench::new(settings(Rule::Delay), round_trip);
        bench.run(10_000, rate, 1, 0);
        bench.run(20_000, rate / part, 1, 0);
        let late = bench.longest_wait_since(11_500);
        prop_assert!(late < Nanos(60 * MS), "{late}");
        let most = bench.longest_wait_since(9_900);
        prop_assert!(most < Nanos((round_trip + 200) * part * MS), "{most}");
    }

    /// When it becomes faster, most of that is used soon.
    #[test]
    fn a_faster_link_is_used(rate in 3_000_000u64..9_000_000, round_trip in 5u64..80) {
        let mut bench = Bench::new(settings(Rule::Delay), round_trip);
        bench.run(10_000, rate, 1, 0);
        bench.run(13_000, rate * 4, 1, 0);
        let at_least = rate * 4 / 10 * 8;
        prop_assert!(bench.since(12_500).all(|(rate, _)| rate.0 > at_least));
    }
}

#[test]
fn without_answers_the_rate_is_the_least() {
    for rule in Rule::ALL {
        let mut bench = Bench::new(settings(rule), 20);
        bench.run(5_000, 20_000_000, 0, 0);
        assert!(bench.autorate.rate() > Rate(4_000_000));
        bench.run(9_000, 20_000_000, 0, 1000);
        assert_eq!(bench.autorate.rate(), Rate(2_000_000));
        bench.run(20_000, 20_000_000, 0, 0);
        assert!(bench.autorate.rate() > Rate(4_000_000));
    }
}

/// An outage shows before any probe comes back.
#[test]
fn an_outage_is_noticed_by_probes_that_do_not_come_back() {
    let mut bench = Bench::new(settings(Rule::Delay), 20);
    bench.run(10_000, 20_000_000, 0, 0);
    bench.run(10_250, 10_000, 0, 0);
    assert!(bench.autorate.rate() < Rate(4_000_000), "{}", bench.autorate.rate());
}

#[test]
fn cake_autorate_falls_and_rises_by_its_steps() {
    let settings = settings(Rule::CakeAutorate);
    let mut bench = Bench::new(settings, 20);
    assert_eq!(settings.start, Rate(8_944_271));
    // No queue, all of it used: 4 % with each answer.
    bench.run(71, 1_000_000_000, 0, 0);
    assert_eq!(bench.autorate.rate(), Rate(8_944_271));
    bench.run(1_000, 1_000_000_000, 0, 0);
    let steps = [4u32, 1].map(|part| 100 + part).map(f64::from);
    let ratio = bench.autorate.rate().0 as f64 / 8_944_271.0;
    let count = ratio.ln() / (steps[0] / 100.0).ln();
    assert!((count - count.round()).abs() < 0.01 && count > 10.0, "{count}");
}

#[test]
fn an_old_answer_says_nothing() {
    let mut autorate = Autorate::new(settings(Rule::Delay), 1, Nanos::ZERO);
    let probe = autorate.poll(Nanos::ZERO).unwrap();
    assert_eq!(autorate.poll(Nanos(1)), None);
    assert_eq!(autorate.answered(Nanos(MS), probe.number + 1), None);
    assert_eq!(autorate.answered(Nanos(MS), probe.number), Some(Nanos::ZERO));
    assert_eq!(autorate.answered(Nanos(MS), probe.number), None);
    let late = autorate.poll(Nanos(50 * MS)).unwrap();
    for at in 1..50 {
        autorate.poll(Nanos((50 + at * 50) * MS));
    }
    assert_eq!(autorate.answered(Nanos(3_000 * MS), late.number), None);
}
