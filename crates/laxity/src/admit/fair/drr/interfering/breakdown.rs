//! What bounds of deficit round robin are made of that count on the arrival curves of others.

use alloc::vec::Vec;

use num_traits::One;

use super::{Look, Turn};
use crate::admit::breakdown::ExactTerm;
use crate::admit::path::ROUNDING;
use crate::admit::{Breakdown, Source, arrival_curve};
use crate::curve::{Curve, Exact, HorizontalDeviation, bytes_per_nano, exact};
use crate::packet::ClassId;
use crate::units::Rate;

/// What the bound of a class is made of that goes behind all others.
pub(super) fn behind_all(
    rate: Rate,
    classes: &[Turn],
    class: usize,
    deviation: &HorizontalDeviation,
) -> Option<Breakdown> {
    let rate = bytes_per_nano(rate);
    let HorizontalDeviation { arrived, served, level, .. } = deviation;
    // The last byte has not begun before that.
    let begun = served - rate.recip();
    let own = ExactTerm::bytes(Source::Own, level.clone(), &rate);
    let mut terms = Vec::from([own]);
    let mut left = served * &rate - level;
    let others = classes.iter().enumerate().filter(|(place, _)| *place != class);
    for (place, other) in others {
        let bytes = arrival_curve(&other.traffic.arrival).value(&begun);
        left -= &bytes;
        terms.push(ExactTerm::bytes(Source::Before(ClassId(place as u32)), bytes, &rate));
    }
    // Few lines of the sum were used.
    terms.push(ExactTerm::bytes(Source::Rounding, left, &rate));
    terms.push(ExactTerm::time(Source::Elapsed, -arrived.clone()));
    let mut breakdown = Breakdown::default();
    breakdown.add_exact(terms)?;
    breakdown.add(Source::Rounding, ROUNDING);
    Some(breakdown)
}

impl Look<'_> {
    /// What the bound of a class is made of that is reached where the service is farthest from the
    /// arrivals: by the number of turns, or the set J, which gives the service there.
    pub(super) fn breakdown(
        &self,
        of: usize,
        taken: &[(Vec<Curve>, Curve)],
        deviation: &HorizontalDeviation,
    ) -> Option<Breakdown> {
        let HorizontalDeviation { arrived, served, level, .. } = deviation;
        let rate = &self.round.rate;
        let sent = served * rate - level - &self.round.largest;
        let others = || (0..self.classes.len()).filter(|other| *other != of);
        let in_turns = |(turns, (each, _)): (u64, &(Vec<Curve>, Curve))| {
            let turns = exact(turns);
            let bytes = |other: usize| each[other].value(served);
            let is_by_turns =
                |other: usize| bytes(other) == self.round.sends(self.classes[other], &turns);
            others().map(|other| (other, is_by_turns(other), bytes(other))).collect::<Vec<_>>()
        };
        let beyond = |by_turns: &Vec<usize>| self.sent_beyond(of, by_turns, level, served);
        let sets = self.sets(of);
        let ways = (1..).zip(taken).map(in_turns).chain(sets.iter().filter_map(beyond));
        let is_it = |way: &Vec<(usize, bool, Exact)>| {
            way.iter().map(|(_, _, bytes)| bytes.clone()).sum::<Exact>() == sent
        };
        let Some(way) = ways.into_iter().find(is_it) else {
            // The service that was known before.
            return Breakdown::from_deviation(deviation, self.round.link);
        };
        let blocking = self.round.blocking(self.classes.iter().copied());
        let own = ExactTerm::bytes(Source::Own, level.clone(), rate);
        let others = way.into_iter().map(|(other, is_by_turns, bytes)| {
            let class = ClassId(other as u32);
            let source = if is_by_turns { Source::Turns(class) } else { Source::Before(class) };
            ExactTerm::bytes(source, bytes, rate)
        });
        let elapsed = ExactTerm::time(Source::Elapsed, -arrived.clone());
        let mut breakdown = Breakdown::default();
        breakdown.add_exact([blocking, own].into_iter().chain(others).chain([elapsed]))?;
        Some(breakdown)
    }

    /// What each other class sends by a time in [`beyond`](Look::beyond) until a class has sent a
    /// number of bytes, and whether its turns say so.
    fn sent_beyond(
        &self,
        of: usize,
        by_turns: &[usize],
        bytes: &Exact,
        time: &Exact,
    ) -> Option<Vec<(usize, bool, Exact)>> {
        let quantum = exact(self.classes[of].quantum.into());
        let first = Exact::one() - quantum.recip();
        let sent = |other: usize| {
            if !by_turns.contains(&other) {
                return Some((other, false, self.leave[other].as_ref()?.value(time)));
            }
            let class = self.classes[other];
            let turns = bytes / &quantum * exact(class.quantum.into());
            Some((other, true, self.round.sends(class, &first) + turns))
        };
        (0..self.classes.len()).filter(|other| *other != of).map(sent).collect()
    }
}
