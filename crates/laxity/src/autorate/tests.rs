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

/// A shaper before a link with one queue.
struct Bench {
    autorate: Autorate,
    now: Nanos,
    free_at: Nanos,
    /// To the first reflector and back. Each of the others is 3 ms further away.
    round_trip: Nanos,
    answers: Vec<(Nanos, Answer)>,
    /// Connections of others that are heard of in turn.
    echoes: u32,
    echoed: Nanos,
    known: u32,
    /// For how long the shaper has something to send, and for how long it then has nothing.
    turns: Option<(Nanos, Nanos)>,
    /// The rate of the shaper whenever it sends, and how long the packet waits at the link.
    log: VecDeque<(Nanos, Rate, Nanos)>,
    random: u64,
}

/// What comes back to the shaper.
#[derive(Clone, Copy)]
enum Answer {
    Probe(u64),
    /// Of the connection with this number: when its packet was sent, after how many bytes.
    Echo(u32, Nanos, u64),
}

impl Bench {
    fn new(settings: Settings, round_trip: u64) -> Self {
        Bench::with_reflectors(settings, 2, round_trip)
    }

    fn with_reflectors(settings: Settings, reflectors: u32, round_trip: u64) -> Self {
        Bench {
            autorate: Autorate::new(settings, reflectors, Nanos::ZERO),
            now: Nanos::ZERO,
            free_at: Nanos::ZERO,
            round_trip: Nanos(round_trip * MS),
            answers: Vec::new(),
            echoes: 0,
            echoed: Nanos::ZERO,
            known: 0,
            turns: None,
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
                if let Some(first) = self.answers.iter().position(|(time, _)| *time == next) {
                    let (_, answer) = self.answers.swap_remove(first);
                    self.hear(next, answer);
                } else if let Some(probe) = self.autorate.poll(next) {
                    self.autorate.carries(98);
                    self.free_at = self.free_at.max(next) + takes(98);
                    let answer = Answer::Probe(probe.number);
                    self.reflect(answer, u64::from(probe.reflector), jitter, lost);
                }
            }
            let shaper = self.autorate.rate();
            let Settings { from, to, .. } = *self.autorate.settings();
            assert!((from..=to).contains(&shaper));
            let takes_here = shaper.time_for(Bytes(PACKET.into()));
            if self.turns.is_some_and(|(on, off)| self.now.0 % (on + off).0 >= on.0) {
                self.now += takes_here;
                continue;
            }
            let waits = self.free_at.saturating_sub(self.now);
            self.log.push_back((self.now, shaper, waits));
            self.free_at = self.free_at.max(self.now) + takes(PACKET.into());
            if self.echoes > 0 && self.now >= self.echoed + Nanos(25 * MS) {
                self.echoed = self.now;
                let path = (self.draw() % u64::from(self.echoes)) as u32;
                let answer = Answer::Echo(path, self.now, self.autorate.carried());
                self.reflect(answer, 20 + u64::from(path), jitter, lost);
            }
            self.autorate.carries(PACKET.into());
            self.now += takes_here;
        }
    }

    /// What has just been sent comes back from somewhere, unless it is lost.
    fn reflect(&mut self, answer: Answer, place: u64, jitter: u64, lost: u64) {
        let late = Nanos(self.draw() % (jitter * MS + 1) + 3 * MS * place);
        if self.draw() % 1000 >= lost {
            self.answers.push((self.free_at + self.round_trip + late, answer));
        }
    }

    fn hear(&mut self, now: Nanos, answer: Answer) {
        match answer {
            Answer::Probe(number) => drop(self.autorate.answered(now, number)),
            Answer::Echo(path, sent, carried) => {
                let is_new = self.known & 1 << path == 0;
                self.known |= 1 << path;
                self.autorate.observe(now, path, is_new, sent, carried);
            }
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

    /// Since a time, the rate is about that of the link, the queue is short, and neither swings.
    fn is_steady_since(&self, time: u64, rate: u64) -> Result<(), TestCaseError> {
        let mean = self.mean_since(time);
        prop_assert!((rate * 93 / 100..=rate * 104 / 100).contains(&mean), "{mean} of {rate}");
        let longest = self.longest_wait_since(time);
        prop_assert!(longest < Nanos(60 * MS), "{longest}");
        let swings: Vec<u64> = self.since(time).map(|(rate, _)| rate.0.abs_diff(mean)).collect();
        let swing = swings.iter().sum::<u64>() / swings.len() as u64;
        prop_assert!(swing < rate / 10, "{swing} around {mean}");
        Ok(())
    }

    fn mean_since(&self, time: u64) -> u64 {
        let rates: Vec<u64> = self.since(time).map(|(rate, _)| rate.0).collect();
        rates.iter().sum::<u64>() / rates.len() as u64
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
        reflectors in 1u32..6,
        lost in 0u64..50,
    ) {
        let settings = settings(Rule::Delay);
        let mut bench = Bench::with_reflectors(settings, reflectors, round_trip);
        bench.run(30_000, rate, jitter, lost);
        bench.is_steady_since(10_000, rate)?;
    }

    /// Connections whose delay is first heard of amid a queue do not mislead it, beside reflectors
    /// or without any.
    #[test]
    fn paths_may_appear_late(
        rate in 3_000_000u64..38_000_000,
        round_trip in 5u64..120,
        jitter in 0u64..3,
        reflectors in 0u32..4,
        lost in 0u64..50,
        connections in 1u32..6,
        late in 0u64..15,
    ) {
        let settings = settings(Rule::Delay);
        let mut bench = Bench::with_reflectors(settings, reflectors, round_trip);
        let late = if reflectors == 0 { 0 } else { late * 1000 };
        bench.run(late, rate, jitter, lost);
        bench.echoes = connections;
        bench.run(late + 30_000, rate, jitter, lost);
        bench.is_steady_since(late.max(12_000), rate)?;
    }

    /// A sender that stops at times.
    #[test]
    fn a_sender_may_stop_at_times(
        rate in 3_000_000u64..38_000_000,
        round_trip in 5u64..120,
        jitter in 0u64..3,
        reflectors in 1u32..6,
        lost in 0u64..50,
        on in 20u64..2000,
        off in 20u64..2000,
    ) {
        let settings = settings(Rule::Delay);
        let mut bench = Bench::with_reflectors(settings, reflectors, round_trip);
        bench.turns = Some((Nanos(on * MS), Nanos(off * MS)));
        bench.run(30_000, rate, jitter, lost);
        let longest = bench.longest_wait_since(10_000);
        // While it searches, the rate is a step too high for a round trip.
        prop_assert!(longest < Nanos((60 + round_trip / 4) * MS), "{longest}");
        // It searches only while something is sent all the time.
        let mean = bench.mean_since(10_000);
        prop_assert!(on < 300 || mean > rate / 2, "{mean} of {rate}");
    }

    /// When the link becomes slower, the queue is short again soon.
    #[test]
    fn a_slower_link_is_noticed(
        rate in 10_000_000u64..38_000_000,
        part in 2u64..4,
        round_trip in 5u64..80,
        reflectors in 1u32..6,
        lost in 0u64..50,
    ) {
        let mut bench = Bench::with_reflectors(settings(Rule::Delay), reflectors, round_trip);
        bench.run(10_000, rate, 1, lost);
        bench.run(20_000, rate / part, 1, lost);
        let late = bench.longest_wait_since(11_500);
        prop_assert!(late < Nanos(60 * MS), "{late}");
        let most = bench.longest_wait_since(9_900);
        prop_assert!(most < Nanos((round_trip + 200) * part * MS), "{most}");
    }

    /// When it becomes faster, most of that is used soon.
    #[test]
    fn a_faster_link_is_used(
        rate in 3_000_000u64..9_000_000,
        round_trip in 5u64..80,
        reflectors in 1u32..6,
    ) {
        let mut bench = Bench::with_reflectors(settings(Rule::Delay), reflectors, round_trip);
        bench.run(10_000, rate, 1, 0);
        bench.run(13_000, rate * 4, 1, 0);
        let at_least = rate * 4 / 10 * 8;
        prop_assert!(bench.since(12_500).all(|(rate, _)| rate.0 > at_least));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Least round trips are measured again and again without a queue, so that it does not grow.
    #[test]
    fn over_minutes_the_queue_does_not_creep_up(
        rate in 3_000_000u64..5_000_000,
        round_trip in 5u64..120,
        jitter in 0u64..3,
        reflectors in 1u32..6,
        lost in 0u64..50,
        connections in 0u32..3,
    ) {
        let mut bench = Bench::with_reflectors(settings(Rule::Delay), reflectors, round_trip);
        bench.echoes = connections;
        bench.run(240_000, rate, jitter, lost);
        let mut waits: Vec<Nanos> = bench.since(120_000).map(|(_, waits)| waits).collect();
        waits.sort_unstable();
        let usual = waits[waits.len() / 2];
        prop_assert!(usual < bench.autorate.settings().allowance(), "{usual}");
        let mean = bench.mean_since(120_000);
        prop_assert!((rate * 93 / 100..=rate * 104 / 100).contains(&mean), "{mean} of {rate}");
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

/// A longer queue takes more of an interval to come and go.
#[test]
fn a_longer_delay_may_be_wanted() {
    let settings = Settings { delay: Nanos(30 * MS), ..settings(Rule::Delay) };
    for reflectors in 1..4 {
        let mut bench = Bench::with_reflectors(settings, reflectors, 1);
        for (second, rate) in [(4, 8_000_000), (8, 3_000_000), (12, 12_000_000)] {
            bench.run(second * 1000, rate, 0, 0);
            let found = bench.autorate.rate().0;
            assert!((rate * 8 / 10..rate * 12 / 10).contains(&found), "{found}, not {rate}");
        }
    }
}

/// A controller goes on with what it measured.
#[test]
fn other_settings_hold_at_once() {
    let mut bench = Bench::new(settings(Rule::Delay), 20);
    bench.run(10_000, 20_000_000, 0, 0);
    let narrow = Settings::new(Rule::Delay, Rate(2_000_000), Rate(8_000_000));
    bench.autorate.set_settings(narrow, bench.now);
    assert_eq!(bench.autorate.rate(), Rate(8_000_000));
    let patient = Settings { delay: Nanos(30 * MS), ..settings(Rule::Delay) };
    bench.autorate.set_settings(patient, bench.now);
    bench.run(20_000, 20_000_000, 0, 0);
    let waits: Vec<u64> = bench.since(15_000).map(|(_, waits)| waits.0 / MS).collect();
    assert!((20..40).contains(&(waits.iter().sum::<u64>() / waits.len() as u64)));
    let other = settings(Rule::CakeAutorate);
    bench.autorate.set_settings(other, bench.now);
    assert_eq!(*bench.autorate.settings(), other);
    bench.run(21_000, 20_000_000, 0, 0);
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
