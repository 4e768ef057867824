//! The lower convex hull of points, for the least of them beside any line.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// A time in nanoseconds and a value in nanobits.
pub(super) type Corner = (u64, i128);

/// The corners of the lower hull of points, by time. A line that is added to all points changes
/// none of them, so that the least value beside any line is at one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hull(Vec<Corner>);

impl Hull {
    /// Makes it the hull of these points, which come in the order of time (Andrew 1979).
    pub(super) fn rebuild(&mut self, points: impl Iterator<Item = Corner>) {
        self.0.clear();
        for point in points {
            if self.0.last().is_some_and(|last| last.0 == point.0 && last.1 <= point.1) {
                continue;
            }
            while let [.., before, last] = self.0[..]
                && !is_below(last, before, point)
            {
                self.0.pop();
            }
            if self.0.last().is_some_and(|last| last.0 == point.0) {
                self.0.pop();
            }
            self.0.push(point);
        }
    }

    /// The least of the points' values, each with this rise for each nanosecond of its time added.
    pub(super) fn least(&self, rise: i128) -> Option<i128> {
        let value = |corner: &Corner| corner.1 + rise * i128::from(corner.0);
        let falls = |pair: &[Corner]| value(&pair[1]) < value(&pair[0]);
        let (mut low, mut high) = (0, self.0.len().checked_sub(1)?);
        while low < high {
            let middle = low.midpoint(high);
            if falls(&self.0[middle..=middle + 1]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(value(&self.0[low]))
    }
}

/// Whether a point is below the straight line from an earlier to a later one.
fn is_below(point: Corner, before: Corner, after: Corner) -> bool {
    let steps = |from: Corner, to: Corner| (to.1 - from.1, to.0 - from.0);
    let ((first_rise, first_run), (whole_rise, whole_run)) =
        (steps(before, point), steps(before, after));
    let first = product(first_rise, whole_run);
    first.cmp(&product(whole_rise, first_run)) == Ordering::Less
}

/// A product, exactly: its upper bits and its lower 64.
fn product(a: i128, b: u64) -> (i128, u64) {
    let b = i128::from(b);
    let low = (a & i128::from(u64::MAX)) as u128 * b as u128;
    ((a >> 64) * b + (low >> 64) as i128, low as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec::Vec;

    use super::*;

    proptest! {
        #[test]
        fn the_least_is_that_of_all_points(
            mut points in prop::collection::vec((0..50u64, -100..100i128), 1..40),
            rises in prop::collection::vec(-20..20i128, 1..8),
            huge: bool,
        ) {
            let scale = if huge { 1 << 100 } else { 1 };
            points.iter_mut().for_each(|point| point.1 *= scale);
            points.sort_by_key(|point| point.0);
            let mut hull = Hull::default();
            hull.rebuild(points.iter().copied());
            for rise in rises.into_iter().map(|rise| rise * scale) {
                let least = points.iter().map(|(time, value)| value + rise * i128::from(*time));
                prop_assert_eq!(hull.least(rise), least.min());
            }
        }

        #[test]
        fn products_are_ordered_as_large_numbers_are(a: i64, b: u64, c: i64, d: u64, scaled: bool) {
            let shift = if scaled { 63 } else { 0 };
            let exact = (i128::from(a) * i128::from(b)).cmp(&(i128::from(c) * i128::from(d)));
            let [a, c] = [a, c].map(|factor| i128::from(factor) << shift);
            prop_assert_eq!(product(a, b).cmp(&product(c, d)), exact);
        }
    }

    #[test]
    fn no_point_has_no_least() {
        assert_eq!(Hull::default().least(1), None);
        let mut hull = Hull::default();
        hull.rebuild(Vec::new().into_iter());
        assert_eq!(hull.least(-1), None);
    }
}
