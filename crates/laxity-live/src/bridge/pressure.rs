//! Time in which an interface takes no more.

use laxity::units::Nanos;

/// For how long an interface has kept frames waiting that could have been sent.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    /// Since when it has not taken all that was handed to it.
    since: Option<Nanos>,
    /// For how long it took no more, since nothing waited last.
    total: Nanos,
    longest: Option<Nanos>,
}

impl Pressure {
    /// Whether it has not taken all that was handed to it.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// As many frames were handed to it and not taken; nothing else waits if that `is_idle`.
    pub(super) fn note(&mut self, waiting: usize, now: Nanos, is_idle: bool) {
        if waiting > 0 {
            self.since.get_or_insert(now);
            return;
        }
        self.longest = self.longest(now);
        if let Some(since) = self.since.take() {
            self.total = self.total.saturating_add(now.saturating_sub(since));
        }
        if is_idle {
            self.total = Nanos::ZERO;
        }
    }

    /// The most that it delayed a frame by now; `None` if it has always taken all.
    pub(super) fn longest(&self, now: Nanos) -> Option<Nanos> {
        let present = self.since.map(|since| self.total.saturating_add(now.saturating_sub(since)));
        self.longest.max(present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_adds_up_until_nothing_waits() {
        let mut pressure = Pressure::default();
        pressure.note(0, Nanos(5), false);
        assert_eq!((pressure.is_on(), pressure.longest(Nanos(9))), (false, None));
        pressure.note(3, Nanos(10), false);
        pressure.note(1, Nanos(20), false);
        assert_eq!((pressure.is_on(), pressure.longest(Nanos(25))), (true, Some(Nanos(15))));
        pressure.note(0, Nanos(30), false);
        pressure.note(2, Nanos(100), false);
        pressure.note(0, Nanos(107), true);
        assert_eq!(pressure.longest(Nanos(500)), Some(Nanos(27)));
        pressure.note(2, Nanos(600), false);
        pressure.note(0, Nanos(620), true);
        assert_eq!(pressure.longest(Nanos(700)), Some(Nanos(27)), "the longest so far");
    }
}
