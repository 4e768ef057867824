//! Whether help pays.
//!
//! Helpers share cores with whatever else runs on the machine. A leader that waits for them may be
//! slower than alone, however little it waits for each. So it compares what rounds take with help
//! and without it, by the clock. What help gains is credit. When it has cost more than that, the
//! leader works alone for many times as long as was lost: no more than a small share of the time
//! can be lost.

use laxity::units::Nanos;

/// What rounds took, and who does the next one.
#[derive(Debug)]
pub(in crate::network) struct Pace {
    /// What rounds without help took, and their events: the latest of them weigh most.
    alone: (u64, u64),
    /// What help has gained, in ns, and the most of it that is kept.
    credit: u64,
    most: u64,
    /// For how many ns the leader still works alone.
    rest: u64,
    /// For how many ns it has had help since.
    helped: u64,
}

/// What a round took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Took {
    /// From its begin to its end.
    pub time: Nanos,
    /// How much of this the leader slept, while a helper was not done.
    pub slept: Nanos,
    pub events: u64,
}

/// How long the leader works alone at first, and again after it had help for [`HELPED`]: what an
/// event takes changes with the traffic.
const PROBE: u64 = 500_000;
const HELPED: u64 = 32_000_000;
/// How many times as long as was lost the leader works alone.
const REST: u64 = 16;
/// The most credit. So much may be lost before the leader notices that the machine is busy.
const CREDIT: u64 = 5_000_000;
/// What this much work alone took is remembered.
const MEMORY: u64 = 4_000_000;
/// Work that takes longer than this and four times what is expected was interrupted by the system,
/// which would have done so without help, too.
const INTERRUPTED: u64 = 1_000_000;

impl Default for Pace {
    fn default() -> Self {
        Pace { alone: (0, 0), credit: 0, most: CREDIT, rest: PROBE, helped: 0 }
    }
}

impl Pace {
    /// Helpers are called to nearly all rounds, whatever they cost.
    #[cfg(test)]
    pub(in crate::network) fn with_help() -> Self {
        Pace { credit: u64::MAX, most: u64::MAX, rest: 0, ..Pace::default() }
    }

    /// Whether helpers are called to the next round.
    pub(super) fn has_help(&self) -> bool {
        self.rest == 0
    }

    /// Notes a round.
    pub(super) fn note(&mut self, Took { time, slept, events }: Took) {
        let (Nanos(slept), expected) = (slept, self.expected(events));
        let work = time.0.saturating_sub(slept);
        let is_expected = |work: &u64| *work <= expected.saturating_mul(4) + INTERRUPTED;
        if self.has_help() {
            let work = Some(work).filter(is_expected).unwrap_or(expected);
            self.settle(work.saturating_add(slept), expected);
        } else {
            let (alone, all) = &mut self.alone;
            if *all == 0 || is_expected(&work) {
                (*alone, *all) = (alone.saturating_add(work), *all + events);
            }
            if *alone > MEMORY {
                (*alone, *all) = (*alone / 2, *all / 2);
            }
            self.rest = self.rest.saturating_sub(time.0);
        }
    }

    /// Settles what a round with help cost, which was expected to take this long without.
    fn settle(&mut self, cost: u64, expected: u64) {
        let credit = self.credit.saturating_add(expected);
        if cost > credit {
            self.rest = (cost - credit).saturating_mul(REST).max(PROBE);
            (self.credit, self.helped) = (0, 0);
            return;
        }
        self.credit = (credit - cost).min(self.most);
        self.helped += cost;
        if self.helped > HELPED {
            (self.helped, self.rest) = (0, PROBE);
        }
    }

    /// How many ns so many events take without help.
    fn expected(&self, events: u64) -> u64 {
        let (took, all) = self.alone;
        let each = u128::from(took) * u128::from(events) / u128::from(all.max(1));
        u64::try_from(each).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which rounds take some 20 us alone.
    #[derive(Clone, Copy)]
    struct Machine {
        /// What rounds with help take of it.
        share: f64,
        /// Every how many rounds a helper is interrupted, and for how long.
        stall: (u64, u64),
        /// Every how many rounds the leader is, with help or without.
        interrupted: u64,
    }

    const QUIET: Machine = Machine { share: 0.6, stall: (u64::MAX, 0), interrupted: u64::MAX };

    /// What rounds take in all, in times of what they take alone.
    fn total(rounds: u64, machine: impl Fn(u64) -> Machine) -> f64 {
        let (mut pace, mut total, mut all) = (Pace::default(), 0, 0);
        for round in 1..=rounds {
            let Machine { share, stall: (every, stall), interrupted } = machine(round);
            let mut alone = 20_000 + round * 7919 % 5000;
            let events = alone / 100;
            let mut helped = (alone as f64 * share) as u64;
            let slept = if round % every == 0 { stall } else { 0 };
            if round % interrupted == 0 {
                (alone, helped) = (alone + 3_000_000, helped + 3_000_000);
            }
            let (time, slept) = if pace.has_help() { (helped + slept, slept) } else { (alone, 0) };
            pace.note(Took { time: Nanos(time), slept: Nanos(slept), events });
            (total, all) = (total + time, all + alone);
        }
        total as f64 / all as f64
    }

    #[test]
    fn nearly_all_of_a_gain_is_gained() {
        for share in [0.5, 0.6, 0.9] {
            let total = total(100_000, |_| Machine { share, ..QUIET });
            assert!(share < total && total < share + 0.02, "{share} {total}");
        }
    }

    #[test]
    fn little_is_lost_where_help_costs() {
        for share in [1.05, 1.5, 4.0, 11.0, 49.0] {
            let total = total(100_000, |_| Machine { share, ..QUIET });
            assert!(total < 1.07, "{share} {total}");
        }
    }

    #[test]
    fn stalls_cost_little_and_seldom_ones_no_gain() {
        for (every, least, most) in [(3, 1.0, 1.07), (50, 1.0, 1.07), (1000, 0.6, 0.9)] {
            let total = total(200_000, |_| Machine { stall: (every, 4_000_000), ..QUIET });
            assert!(least < total && total < most, "{every} {total}");
        }
    }

    /// The leader shares its core, too: that is no reason to do without help, nor to have it.
    #[test]
    fn what_interrupts_the_leader_is_not_blamed_on_help() {
        for interrupted in [37, 150] {
            let gained = total(200_000, |_| Machine { interrupted, ..QUIET });
            let only = total(200_000, |_| Machine { interrupted, share: 1.0, ..QUIET });
            assert!(gained < only - 0.01, "{interrupted} {gained}");
            let stall = (50, 4_000_000);
            let lost = total(200_000, |_| Machine { interrupted, stall, ..QUIET });
            assert!(lost < 1.07, "{interrupted} {lost}");
        }
    }

    /// The machine is busy in the second half.
    #[test]
    fn what_was_gained_is_not_lost_later() {
        let busy = Machine { share: 5.0, ..QUIET };
        let total = total(100_000, |round| if round < 50_000 { QUIET } else { busy });
        assert!(total < 0.85, "{total}");
    }

    /// What an event takes is not what it took.
    #[test]
    fn the_price_of_an_event_changes() {
        let (mut pace, mut total, mut alone) = (Pace::default(), 0.0, 0.0);
        for round in 0..100_000 {
            let price = if round < 30_000 { 20_000.0 } else { 60_000.0 };
            let took = if pace.has_help() { price * 0.6 } else { price };
            pace.note(Took { time: Nanos(took as u64), slept: Nanos::ZERO, events: 100 });
            (total, alone) = (total + took, alone + price);
        }
        assert!(total / alone < 0.65, "{}", total / alone);
    }
}
