//! Whether help pays.
//!
//! Helpers share cores with whatever else runs on the machine. A leader that waits for them, or
//! that they keep from its core, may be slower than alone. So it compares what rounds take with
//! help and without it, by the clock. What help gains is credit. When it has cost more than that,
//! the leader works alone for many times as long as was lost: no more than a small share of the
//! time can be lost.

use laxity::units::Nanos;

/// What rounds took, and whether the next one has help.
#[derive(Debug)]
pub(in crate::network) struct Pace {
    /// What rounds without help took, and their events: the latest of them weigh most.
    alone: (u64, u64),
    /// What help has gained, in ns, beside the loan, and the most of it that is kept.
    credit: u64,
    most: u64,
    /// For how many ns the leader still works alone.
    rest: u64,
    /// For how many ns it has had help since.
    helped: u64,
}

/// How long the leader works alone at first: long enough to be interrupted if the machine is busy.
const FIRST: u64 = 3_000_000;
/// How long it works alone again after it had help for [`HELPED`], because what an event takes
/// changes with the traffic.
const PROBE: u64 = 1_000_000;
const HELPED: u64 = 64_000_000;
/// How many times as long as was lost the leader works alone.
const REST: u64 = 16;
/// The credit to begin with: help costs at first, as each core has to read what the other had.
const LOAN: u64 = 1_000_000;
/// The most credit. So much may be lost before the leader notices that the machine is busy.
const CREDIT: u64 = 5_000_000;
/// What this much work alone took is remembered.
const MEMORY: u64 = 4_000_000;
/// A round that takes longer than this and four times what is expected was interrupted by the
/// system. Then the leader has no core to itself, and a helper would take what is left of it.
const INTERRUPTED: u64 = 1_000_000;

impl Default for Pace {
    fn default() -> Self {
        Pace { alone: (0, 0), credit: LOAN, most: CREDIT, rest: FIRST, helped: 0 }
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

    /// Notes how long a round took, and its number of events.
    pub(super) fn note(&mut self, Nanos(took): Nanos, events: u64) {
        let expected = self.expected(events);
        if self.has_help() {
            return self.settle(took, expected);
        }
        self.rest = self.rest.saturating_sub(took);
        let (alone, all) = &mut self.alone;
        if *all > 0 && took > expected.saturating_mul(4) + INTERRUPTED {
            self.rest = self.rest.max((took - expected).saturating_mul(REST));
            return;
        }
        (*alone, *all) = (alone.saturating_add(took), *all + events);
        if *alone > MEMORY {
            (*alone, *all) = (*alone / 2, *all / 2);
        }
    }

    /// Settles what a round took with help, and what it was expected to take without.
    fn settle(&mut self, took: u64, expected: u64) {
        let credit = self.credit.saturating_add(expected);
        if took > credit {
            let lost = LOAN + took - credit;
            (self.rest, self.credit, self.helped) = (lost.saturating_mul(REST), LOAN, 0);
            return;
        }
        self.credit = (credit - took).min(self.most);
        self.helped += took;
        if self.helped > HELPED {
            (self.helped, self.rest) = (0, PROBE);
        }
    }

    /// How many ns this number of events takes without help.
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
            if round % every == 0 {
                helped += stall;
            }
            if round % interrupted == 0 {
                (alone, helped) = (alone + 3_000_000, helped + 3_000_000);
            }
            let time = if pace.has_help() { helped } else { alone };
            pace.note(Nanos(time), events);
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

    /// It has no core to itself, so help is not worth a try, and costs little.
    #[test]
    fn a_leader_that_is_interrupted_works_alone() {
        for interrupted in [37, 150] {
            let gained = total(200_000, |_| Machine { interrupted, ..QUIET });
            assert!((0.9..=1.0).contains(&gained), "{interrupted} {gained}");
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
            pace.note(Nanos(took as u64), 100);
            (total, alone) = (total + took, alone + price);
        }
        assert!(total / alone < 0.65, "{}", total / alone);
    }
}
