//! The loss tolerance of a stream as it changes: x'/y'.

use super::settings::{Precedence, Violation};
use crate::window::Loss;

/// The current loss tolerance x'/y' of a stream, beside its original x/y. x' is never above y', and
/// the two are never both zero: x >= 0, y >= 1, and a tolerance that is used up starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tolerance {
    /// x'
    lost: u32,
    /// y'
    of: u32,
    /// x/y
    own: Loss,
}

/// Upper limit of y', which grows without end under method 1: 64 times the largest y. Up to here
/// [`Tolerance::rank`] tells all tolerances apart exactly.
const LARGEST: u32 = (1 << 22) - 1;
/// Binary digits of the fraction in a rank: two different fractions with denominators below 2^22
/// differ by more than 2^-44.
const FRACTION: u32 = 44;

impl Tolerance {
    /// The tolerance that a stream starts with.
    pub(super) fn new(own: Loss) -> Self {
        Tolerance { lost: own.lost(), of: own.window(), own }
    }

    /// x'.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Where it stands in Table 1, as far as tolerances decide: the lowest rank first. It has at
    /// most 45 binary digits.
    ///
    /// A zero tolerance comes before all others, the one with the highest y' first; the others are
    /// ranked by x'/y', and different ones differ in rank: the fraction of the lowest, 1/2^22, is
    /// at 2^22.
    pub(super) fn rank(&self) -> u64 {
        match self.lost {
            0 => u64::from(LARGEST - self.of),
            lost => (u64::from(lost) << FRACTION) / u64::from(self.of),
        }
    }

    /// Rule (A): the head packet was served. Returns whether the tolerance has changed.
    ///
    /// If all the rest of a window may be lost, x' = y' > 0, the rule of 1999 leaves the tolerance
    /// as it is, and the window lasts until y' packets are lost. The rule of 2004 counts the packet
    /// as one of the rest, so that windows are y packets long.
    pub(super) fn serve(&mut self, precedence: Precedence) -> bool {
        if self.of > self.lost {
            self.of -= 1;
        } else if precedence == Precedence::DeadlineFirst {
            self.lost -= 1;
            self.of -= 1;
        } else {
            return false;
        }
        self.restart_if_used_up();
        true
    }

    /// Rule (B): the head packet has missed its deadline, `times` times over.
    pub(super) fn miss(&mut self, times: u64, violation: Violation) {
        let mut left = times;
        loop {
            let lost = left.min(self.lost.into()) as u32;
            self.lost -= lost;
            self.of -= lost;
            left -= u64::from(lost);
            self.restart_if_used_up();
            if left == 0 {
                return;
            }
            if self.lost == 0 {
                self.violate(violation);
                left -= 1;
            }
            left = self.skip_cycles(left, violation);
        }
    }

    /// Rule (C): a deadline was missed at 0/y', so the stream has lost more than it tolerates.
    fn violate(&mut self, violation: Violation) {
        match violation {
            Violation::Favour => {
                self.lost = self.favoured();
                self.of = (2 * self.own.window() + self.of - 1).min(LARGEST);
            }
            Violation::Reset => *self = Tolerance::new(self.own),
        }
    }

    /// x' after a violation under method 1: 2x - 1, or 0 for a stream that tolerates no loss.
    fn favoured(&self) -> u32 {
        (2 * self.own.lost()).saturating_sub(1)
    }

    fn restart_if_used_up(&mut self) {
        if self.of == 0 {
            *self = Tolerance::new(self.own);
        }
    }

    /// Misses repeat in cycles once a violation or a used-up tolerance has started one. Skips whole
    /// cycles among `misses` and returns the number of misses left.
    fn skip_cycles(&mut self, misses: u64, violation: Violation) -> u64 {
        let (lost, of) = (self.own.lost(), self.own.window());
        if violation == Violation::Reset || lost == of {
            // x misses use it up if x = y; otherwise the one after them is a violation.
            return misses % u64::from(if lost == of { lost } else { lost + 1 });
        }
        if self.lost != self.favoured() {
            // Used up and started again; the cycles begin with the next violation.
            return misses;
        }
        // 2x - 1 misses, which lower y' as well, and a violation, which raises it by 2y - 1.
        let cycle = u64::from(self.lost) + 1;
        let raised = u64::from(2 * of - 1 - self.lost).saturating_mul(misses / cycle);
        self.of = raised.saturating_add(self.of.into()).min(LARGEST.into()) as u32;
        misses % cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tolerance(lost: u32, of: u32, own: (u32, u32)) -> Tolerance {
        Tolerance { lost, of, own: Loss::new(own.0, own.1).unwrap() }
    }

    fn values(tolerance: &Tolerance) -> (u32, u32) {
        (tolerance.lost, tolerance.of)
    }

    /// Rules (B) and (C) as they are printed, for one miss.
    fn one_miss(tolerance: &mut Tolerance, violation: Violation) {
        let (x, y) = (tolerance.own.lost(), tolerance.own.window());
        if tolerance.lost > 0 {
            tolerance.lost -= 1;
            tolerance.of -= 1;
            if tolerance.lost == 0 && tolerance.of == 0 {
                (tolerance.lost, tolerance.of) = (x, y);
            }
        } else if violation == Violation::Favour {
            tolerance.lost = (2 * x).saturating_sub(1);
            tolerance.of = (2 * y + (tolerance.of - 1)).min(LARGEST);
        } else {
            (tolerance.lost, tolerance.of) = (x, y);
        }
    }

    fn any_tolerance() -> impl Strategy<Value = Tolerance> {
        let own = prop_oneof![1..9u32, 1..=Loss::LONGEST].prop_flat_map(|of| (0..=of, Just(of)));
        let spread = prop_oneof![0..30u32, 0..=LARGEST];
        (own, any::<prop::sample::Index>(), spread).prop_map(|(own, lost, spread)| {
            let lost = lost.index((2 * own.0).max(own.0 + 1) as usize) as u32;
            let of = (lost + spread).clamp(lost.max(1), LARGEST);
            // A stream that may lose everything is never short of losses.
            let of = if own.0 == own.1 { lost.max(1) } else { of };
            tolerance(lost.max(u32::from(own.0 == own.1)), of, own)
        })
    }

    proptest! {
        #[test]
        fn many_misses_at_once_are_as_many_one_by_one(
            start in any_tolerance(), times in prop_oneof![0..40u64, 0..20_000u64], favour: bool,
        ) {
            let violation = if favour { Violation::Favour } else { Violation::Reset };
            let mut at_once = start;
            at_once.miss(times, violation);
            let mut one_by_one = start;
            for _ in 0..times {
                one_miss(&mut one_by_one, violation);
            }
            prop_assert_eq!(at_once, one_by_one);
            at_once.miss(u64::MAX, violation);
            prop_assert!(at_once.lost <= at_once.of && (1..=LARGEST).contains(&at_once.of));
        }

        #[test]
        fn ranks_are_as_exact_as_fractions(one in any_tolerance(), other in any_tolerance()) {
            let product = |x: u32, y: u32| u64::from(x) * u64::from(y);
            let expected = match (one.lost, other.lost) {
                (0, 0) => other.of.cmp(&one.of),
                _ => product(one.lost, other.of).cmp(&product(other.lost, one.of)),
            };
            prop_assert_eq!(one.rank().cmp(&other.rank()), expected);
            prop_assert!(one.rank() < 1 << 45);
        }
    }

    #[test]
    fn the_closest_fractions_differ() {
        let below = tolerance(1, LARGEST, (1, 1));
        let above = tolerance(1, LARGEST - 1, (1, 1));
        assert!(tolerance(0, 1, (1, 1)).rank() < below.rank() && below.rank() < above.rank());
        let below = tolerance(131_067, LARGEST - 1, (1, 1));
        let above = tolerance(131_067, LARGEST - 2, (1, 1));
        assert!(below.rank() < above.rank());
    }

    /// Rule (A): x = 1, y = 3 served again and again, and x = 0, y = 2.
    #[test]
    fn service_narrows_the_window() {
        let served = |mut stream: Tolerance, precedence| {
            core::array::from_fn(|_| {
                stream.serve(precedence);
                values(&stream)
            })
        };
        let stream = tolerance(1, 3, (1, 3));
        assert_eq!(served(stream, Precedence::LossFirst), [(1, 2), (1, 1), (1, 1), (1, 1)]);
        assert_eq!(served(stream, Precedence::DeadlineFirst), [(1, 2), (1, 1), (1, 3), (1, 2)]);
        for precedence in [Precedence::LossFirst, Precedence::DeadlineFirst] {
            assert_eq!(
                served(tolerance(0, 2, (0, 2)), precedence),
                [(0, 1), (0, 2), (0, 1), (0, 2)]
            );
        }
    }

    /// Rule (B): 2/4 after one service is 2/3; two losses leave 0/1, one more service ends the
    /// window.
    #[test]
    fn a_loss_counts_within_the_window() {
        let mut stream = tolerance(2, 4, (2, 4));
        stream.serve(Precedence::LossFirst);
        assert_eq!(values(&stream), (2, 3));
        stream.miss(1, Violation::Reset);
        assert_eq!(values(&stream), (1, 2));
        stream.miss(1, Violation::Reset);
        assert_eq!(values(&stream), (0, 1));
        stream.serve(Precedence::LossFirst);
        assert_eq!(values(&stream), (2, 4));
        // 1/1 is used up by a loss that it allows.
        let mut all = tolerance(1, 1, (2, 4));
        all.miss(1, Violation::Favour);
        assert_eq!(values(&all), (2, 4));
    }

    /// Rule (C) for x = 2, y = 5 at 0/3: method 1 allows 3 of 12 from then on, method 2 2 of 5.
    #[test]
    fn a_violation_is_made_up_for_or_forgotten() {
        let mut favoured = tolerance(0, 3, (2, 5));
        favoured.miss(1, Violation::Favour);
        assert_eq!(values(&favoured), (3, 12));
        let mut forgotten = tolerance(0, 3, (2, 5));
        forgotten.miss(1, Violation::Reset);
        assert_eq!(values(&forgotten), (2, 5));
        let mut without_loss = tolerance(0, 2, (0, 4));
        without_loss.miss(1, Violation::Favour);
        assert_eq!(values(&without_loss), (0, 9));
        without_loss.miss(u64::MAX, Violation::Favour);
        assert_eq!(values(&without_loss), (0, LARGEST));
    }
}
