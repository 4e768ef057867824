//! Whether promises were kept while packets were forwarded or watched live.

use laxity::units::Nanos;

/// What stands against a live link, a watched one, or routers, under one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveVerdict {
    /// Whether the admission test admits the plan; absent without a test.
    pub admitted: Option<bool>,
    /// Packets that took longer than their bound and all that is known to have delayed it allow.
    pub broken: u64,
    /// Whether frames waited behind the link for longer than a bound that was missed
    /// ([`is_held_up`]).
    pub held_up: bool,
    /// Whether packets kept the promises of time frames ([`keeps_frames`]).
    pub in_frames: bool,
}

impl LiveVerdict {
    /// Whether nothing stands against it. A command ends with exit code 0 if all its verdicts say
    /// so, and with 1 otherwise.
    pub fn is_kept(&self) -> bool {
        self.admitted != Some(false) && self.broken == 0 && !self.held_up && self.in_frames
    }
}

/// Whether the interface behind the link held frames for longer than the bound of a class, and
/// packets of that class missed it. Each class has its bound and how many packets missed that.
pub fn is_held_up(held: Option<Nanos>, classes: impl IntoIterator<Item = (Nanos, u64)>) -> bool {
    let missed = classes.into_iter().filter(|(_, misses)| *misses > 0).map(|(bound, _)| bound);
    held.zip(missed.min()).is_some_and(|(held, shortest)| held > shortest)
}

/// What was measured of the packets of a class that were in their time frames at every router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramedClass {
    /// The proved delay.
    pub bound: Nanos,
    /// The longest delay.
    pub longest: Nanos,
    /// By how much delays varied between the first transmission and the last.
    pub jitter: Nanos,
    /// Whether the class broke its arrival curve and was not policed, so that nothing is promised.
    pub is_forfeit: bool,
}

/// Whether every class kept its bound, and its jitter below two frames of this length; `None` if
/// time is not divided.
pub fn keeps_frames(classes: impl IntoIterator<Item = FramedClass>, frame: Option<Nanos>) -> bool {
    let jitter = frame.map_or(Nanos::MAX, |frame| Nanos(frame.0.saturating_mul(2)));
    let mut classes = classes.into_iter();
    classes.all(|class| class.is_forfeit || class.longest <= class.bound && class.jitter < jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_alone_breaks_the_promises() {
        let none = LiveVerdict { admitted: Some(true), broken: 0, held_up: false, in_frames: true };
        assert!(none.is_kept() && LiveVerdict { admitted: None, ..none }.is_kept());
        for found in [
            LiveVerdict { admitted: Some(false), ..none },
            LiveVerdict { broken: 1, ..none },
            LiveVerdict { held_up: true, ..none },
            LiveVerdict { in_frames: false, ..none },
        ] {
            assert!(!found.is_kept(), "{found:?}");
        }
    }

    #[test]
    fn a_wait_counts_beyond_a_bound_that_was_missed() {
        let classes = [(Nanos(7), 1), (Nanos(5), 2), (Nanos(1), 0)];
        assert!(is_held_up(Some(Nanos(6)), classes));
        assert!(!is_held_up(Some(Nanos(5)), classes) && !is_held_up(None, classes));
        assert!(!is_held_up(Some(Nanos(6)), [(Nanos(5), 0)]) && !is_held_up(Some(Nanos(6)), []));
    }

    #[test]
    fn frames_are_kept_with_a_jitter_below_two_of_them() {
        let class =
            FramedClass { bound: Nanos(9), longest: Nanos(9), jitter: Nanos(7), is_forfeit: false };
        assert!(keeps_frames([class], Some(Nanos(4))) && keeps_frames([class], None));
        for broken in
            [FramedClass { longest: Nanos(10), ..class }, FramedClass { jitter: Nanos(8), ..class }]
        {
            assert!(!keeps_frames([class, broken], Some(Nanos(4))), "{broken:?}");
            let forfeit = FramedClass { is_forfeit: true, ..broken };
            assert!(keeps_frames([class, forfeit], Some(Nanos(4))));
        }
    }
}
