//! The largest value of a number of rounds.

/// A windowed maximum from three estimates, after K. Nichols: the largest value, and the largest
/// ones since then and since that. It is never less than the maximum over the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    /// (time, value), the largest first.
    best: [(u64, u64); 3],
}

impl WindowedMax {
    /// Takes in a value of this time and forgets those that are older than the window.
    pub(super) fn update(&mut self, window: u64, time: u64, value: u64) -> u64 {
        let new = (time, value);
        if value >= self.best[0].1 || time.saturating_sub(self.best[2].0) > window {
            self.best = [new; 3];
            return value;
        }
        if value >= self.best[1].1 {
            self.best[1..].fill(new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        self.age(window, new);
        self.best[0].1
    }

    /// The largest value.
    pub(super) fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Lets the next ones move up when the largest is too old, and sees to it that they are not all
    /// of the same time.
    fn age(&mut self, window: u64, new: (u64, u64)) {
        let old = |best: (u64, u64), window: u64| new.0.saturating_sub(best.0) > window;
        if old(self.best[0], window) {
            self.best = [self.best[1], self.best[2], new];
            if old(self.best[0], window) {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && old(self.best[1], window / 4) {
            self.best[1..].fill(new);
        } else if self.best[2].0 == self.best[1].0 && old(self.best[1], window / 2) {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never above the largest of the last window and a value, never below the present one, and
        /// equal to the largest ever while that is in the window.
        #[test]
        fn near_the_maximum(steps in prop::collection::vec((0_u64..3, 0_u64..100), 1..200)) {
            let mut filter = WindowedMax::default();
            let (mut time, mut all) = (0, Vec::new());
            for (later, value) in steps {
                time += later;
                all.push((time, value));
                let found = filter.update(10, time, value);
                prop_assert_eq!(filter.get(), found);
                let recent = all.iter().filter(|(at, _)| time - at <= 10).map(|(_, value)| *value);
                let largest = recent.max().unwrap();
                prop_assert!(found >= value && found <= largest, "{found} of {largest}");
                let half = all.iter().filter(|(at, _)| time - at <= 2).map(|(_, value)| *value);
                prop_assert!(found >= half.max().unwrap());
            }
        }
    }
}
