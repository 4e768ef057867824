//! The most that leaves in any time of one length.

use std::collections::VecDeque;

use laxity::units::Nanos;

use super::class::per_second;

/// The most in any [`WINDOW`].
#[derive(Clone, Debug, Default)]
pub(super) struct Busiest {
    window: VecDeque<(Nanos, u32)>,
    bytes: u64,
    most: u64,
}

/// Long enough that what a shaper lets through at once is little beside it.
const WINDOW: Nanos = Nanos(100_000_000);

impl Busiest {
    /// Adds `bytes` that leave at the time `at`. Call it in order of time.
    pub(super) fn add(&mut self, at: Nanos, bytes: u32) {
        self.window.push_back((at, bytes));
        self.bytes += u64::from(bytes);
        let begin = at.saturating_sub(WINDOW);
        while let Some((_, bytes)) = self.window.pop_front_if(|(at, _)| *at <= begin) {
            self.bytes -= u64::from(bytes);
        }
        self.most = self.most.max(self.bytes);
    }

    /// In bits a second.
    pub(super) fn rate(&self) -> f64 {
        per_second(self.most, WINDOW)
    }
}
