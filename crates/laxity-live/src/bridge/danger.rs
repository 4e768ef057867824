//! When promises are in danger.

use std::collections::VecDeque;

use laxity_plan::Plan;

use crate::status::{DangerCause, Delayer, MomentStatus, SecondStatus, WaitStatus};

/// Moments in which classes of a direction used more than 80 % of their bounds.
pub(super) struct Danger {
    /// The last ones, the oldest first.
    moments: VecDeque<MomentStatus>,
    /// By class number, what its packets had waited for at the end of the last second.
    waits: Vec<Option<WaitStatus>>,
}

/// A second of a class that has a bound.
pub(super) struct ClassSecond {
    pub(super) class: usize,
    pub(super) bound_ns: u64,
    pub(super) second: SecondStatus,
    /// What its packets have waited for until now, as far as that is counted.
    pub(super) waits: Option<WaitStatus>,
}

/// As many moments are told.
const MOST: usize = 20;
/// A class is in danger above this part of its bound.
const SHARE: (u64, u64) = (4, 5);
/// Moments of a class that are so close are one, in seconds.
const GAP: u64 = 10;

impl Danger {
    /// Of this many classes, and no moment yet.
    pub(super) fn new(classes: usize) -> Self {
        Danger { moments: VecDeque::new(), waits: vec![None; classes] }
    }

    /// Takes note of a second that is over at `now`, in seconds of 1970. Returns the moment that it
    /// belongs to if the class was in danger, and whether that is one that had begun before.
    pub(super) fn note(
        &mut self,
        plan: &Plan,
        now: u64,
        it: ClassSecond,
    ) -> Option<(&MomentStatus, bool)> {
        let ClassSecond { class, bound_ns, second, waits } = it;
        let before = std::mem::replace(self.waits.get_mut(class)?, waits);
        let (part, of) = SHARE;
        if u128::from(second.max_ns) * u128::from(of) <= u128::from(bound_ns) * u128::from(part) {
            return None;
        }
        let delayers = match (before, &self.waits[class]) {
            (Some(before), Some(waits)) => waits.since(Some(&before)),
            _ => Vec::new(),
        };
        let name = &plan.classes[class].name;
        let new = MomentStatus {
            class: name.clone(),
            from_s: now.saturating_sub(second.over_ns.div_ceil(1_000_000_000)),
            until_s: now,
            max_ns: second.max_ns,
            bound_ns,
            cause: cause(&second, delayers.first()),
        };
        let last = self.moments.iter().rposition(|it| it.class == *name);
        let last = last.filter(|at| now.saturating_sub(self.moments[*at].until_s) <= GAP);
        let Some(last) = last else {
            if self.moments.len() == MOST {
                self.moments.pop_front();
            }
            self.moments.push_back(new);
            return self.moments.back().map(|moment| (moment, false));
        };
        let moment = &mut self.moments[last];
        if new.max_ns > moment.max_ns {
            let from_s = moment.from_s;
            *moment = MomentStatus { from_s, ..new };
        }
        moment.until_s = now;
        Some((moment, true))
    }

    /// The last moments, the last first.
    pub(super) fn moments(&self) -> Vec<MomentStatus> {
        self.moments.iter().rev().cloned().collect()
    }
}

/// What delayed packets most in a second.
fn cause(second: &SecondStatus, greatest: Option<&Delayer>) -> DangerCause {
    if second.nonconforming > 0 {
        return DangerCause::Contract;
    }
    if second.allowance_ns.saturating_mul(2) >= second.max_ns {
        return DangerCause::Late { late_ns: second.allowance_ns };
    }
    let Some(Delayer { class, share }) = greatest else { return DangerCause::Unknown };
    let percent = (share * 100.0).round() as u64;
    match class {
        Some(class) => DangerCause::Class { class: class.clone(), percent },
        None => DangerCause::Idle { percent },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::samples::plan;

    fn second(max_ns: u64) -> SecondStatus {
        SecondStatus { over_ns: 1_000_000_000, packets: 1, max_ns, ..SecondStatus::default() }
    }

    /// What the call waited for: the rest, itself, nothing.
    fn waits([rest, call, idle_ns]: [u64; 3]) -> Option<WaitStatus> {
        let sent_ns = [("rest".to_string(), rest), ("call".to_string(), call)].into();
        Some(WaitStatus { sent_ns, idle_ns })
    }

    fn call(second: SecondStatus, waits: Option<WaitStatus>) -> ClassSecond {
        ClassSecond { class: 0, bound_ns: 1_000, second, waits }
    }

    #[test]
    fn seconds_above_four_fifths_are_moments_with_their_greatest_cause() {
        let (mut danger, plan) = (Danger::new(2), plan());
        assert_eq!(danger.note(&plan, 10, call(second(800), waits([0, 0, 0]))), None);
        let (moment, is_same) =
            danger.note(&plan, 11, call(second(801), waits([75, 20, 5]))).expect("danger");
        let by_rest = DangerCause::Class { class: "rest".into(), percent: 75 };
        assert_eq!((moment.from_s, moment.until_s, &moment.cause), (10, 11, &by_rest));
        assert!(!is_same && !moment.is_broken());
        // It goes on, with less, then with more.
        let note = danger.note(&plan, 15, call(second(801), waits([75, 90, 5])));
        assert!(note.is_some_and(|(moment, is_same)| is_same && moment.cause == by_rest));
        let note = danger.note(&plan, 16, call(second(1_001), waits([75, 91, 55])));
        let (moment, is_same) = note.expect("danger");
        assert!(is_same && moment.is_broken());
        assert_eq!((moment.from_s, moment.until_s), (10, 16));
        assert_eq!(moment.cause, DangerCause::Idle { percent: 98 });
        assert!(danger.note(&plan, 27, call(second(900), None)).is_some_and(|(_, same)| !same));
        assert_eq!(danger.moments().len(), 2);
        assert_eq!(danger.moments()[0].cause, DangerCause::Unknown, "it was not counted");
    }

    #[test]
    fn a_broken_contract_and_a_late_link_come_before_what_was_sent() {
        let (mut danger, plan) = (Danger::new(2), plan());
        let mut cause = |second| {
            let noted = danger.note(&plan, 100, call(second, waits([1, 1, 1])));
            noted.map(|(moment, _)| moment.cause.clone())
        };
        let late = SecondStatus { allowance_ns: 450, ..second(900) };
        let contract = SecondStatus { nonconforming: 1, max_ns: 901, ..late };
        assert_eq!(cause(late), Some(DangerCause::Late { late_ns: 450 }));
        assert_eq!(cause(contract), Some(DangerCause::Contract));
    }

    #[test]
    fn only_the_last_moments_are_kept() {
        let (mut danger, plan) = (Danger::new(2), plan());
        for at in 0..100 {
            let _ = danger.note(&plan, at * 100, call(second(999), None));
        }
        let moments = danger.moments();
        assert_eq!((moments.len(), moments[0].until_s, moments[19].until_s), (20, 9_900, 8_000));
    }
}
