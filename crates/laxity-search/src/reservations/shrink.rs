//! Calls that break a promise made simple: requests, bursts and packets are taken away as long as
//! it still breaks.

use super::draft::CallsDraft;
use super::{BrokenCalls, breaks};
use crate::faults::CallsFault;

/// How many drafts are tried.
const EFFORT: u32 = 400;

/// The simplest that is found of the same sort.
pub fn shrunk(broken: BrokenCalls, fault: Option<&CallsFault>) -> BrokenCalls {
    let mut shrinking = Shrinking { best: broken, fault, effort: EFFORT };
    loop {
        let before = shrinking.best.clone();
        shrinking.fewer();
        if shrinking.best == before || shrinking.effort == 0 {
            return shrinking.best;
        }
    }
}

struct Shrinking<'a> {
    best: BrokenCalls,
    fault: Option<&'a CallsFault>,
    effort: u32,
}

impl Shrinking<'_> {
    /// Takes on another draft if it breaks the same.
    fn try_on(&mut self, change: impl FnOnce(&mut CallsDraft)) {
        let mut draft = self.best.draft.clone();
        change(&mut draft);
        if self.effort == 0 || draft == self.best.draft {
            return;
        }
        self.effort -= 1;
        let is_same =
            |what: &crate::testbed::judge::Violation| what.what.is_like(&self.best.what.what);
        if let Some(what) = breaks(&draft, self.fault).filter(is_same) {
            self.best = BrokenCalls { draft, what };
        }
    }

    fn fewer(&mut self) {
        let end = self.best.what.at + 1;
        self.try_on(|draft| draft.duration = draft.duration.min(end));
        for kind in (0..self.best.draft.kinds.len()).rev() {
            self.try_on(|draft| {
                if draft.kinds.len() > 1 {
                    draft.kinds.remove(kind);
                }
            });
        }
        for burst in (0..self.best.draft.flood.len()).rev() {
            self.try_on(|draft| {
                draft.flood.remove(burst);
            });
            self.try_on(|draft| {
                draft
                    .flood
                    .get_mut(burst)
                    .into_iter()
                    .for_each(|burst| burst.count = burst.count.div_ceil(2));
            });
        }
        for kind in 0..self.best.draft.kinds.len() {
            for burst in (0..self.best.draft.kinds[kind].bursts.len()).rev() {
                self.try_on(|draft| {
                    draft.kinds[kind].bursts.remove(burst);
                });
            }
        }
    }
}
