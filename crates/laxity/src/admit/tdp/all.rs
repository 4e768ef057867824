//! Reservation for many flows at once.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Answer, Flow, Full, Ledger, Reservation, ReservationError};

/// How often flows are placed anew while some do not fit.
const ROUNDS: usize = 12;
/// How often flows are tried in place of others.
const TRIES: usize = 2000;

impl Ledger {
    /// Reserves for as many of these flows as it finds room for.
    ///
    /// The set is not always a largest one, but none of the refused flows fits beside the others.
    /// The answer of a refused flow names the frames that it lacks.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
    pub fn reserve_all(&mut self, flows: &[Flow]) -> Vec<Answer> {
        let (ledger, mut answers) = self.in_rounds(flows);
        *self = ledger;
        let mut tries = TRIES;
        while self.add_left_out(flows, &mut answers, &mut tries)
            || self.replace_one(flows, &mut answers, &mut tries)
        {}
        answers
    }

    /// The best of several rounds. First those come first that are hardest to place, then those
    /// that did not fit the last time; but if all together have no room, those that take least
    /// leave most of it.
    pub(super) fn in_rounds(&self, flows: &[Flow]) -> (Ledger, Vec<Answer>) {
        let least_first = by_use(flows);
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&at| Reverse((flows[at].packet, packets(&flows[at]))));
        let mut best = self.round(flows, &order);
        let mut last = best.1.clone();
        for left in (0..ROUNDS).rev() {
            if blocked(&best.1) == 0 {
                break;
            }
            order.sort_by_key(|&flow| last[flow].is_ok());
            let next = self.round(flows, if left > 0 { &order } else { &least_first });
            last.clone_from(&next.1);
            if blocked(&next.1) < blocked(&best.1) {
                best = next;
            }
        }
        best
    }

    /// Reserves for the flows in this order.
    fn round(&self, flows: &[Flow], order: &[usize]) -> (Ledger, Vec<Answer>) {
        let mut ledger = self.clone();
        let mut answers: Vec<_> =
            order.iter().map(|&flow| (flow, ledger.reserve(&flows[flow]))).collect();
        answers.sort_by_key(|(flow, _)| *flow);
        (ledger, answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Tries each flow that is left out once more, also with one other placed anew; tells whether
    /// any found room.
    pub(super) fn add_left_out(
        &mut self,
        flows: &[Flow],
        answers: &mut [Answer],
        tries: &mut usize,
    ) -> bool {
        let mut found = false;
        for at in 0..flows.len() {
            if answers[at].is_ok() {
                continue;
            }
            answers[at] = self.reserve(&flows[at]);
            let Err(blocked) = &answers[at] else {
                found = true;
                continue;
            };
            let in_the_way = |(other, answer): (usize, &Answer)| {
                let one = answer.as_ref().ok()?;
                self.is_in_the_way(&flows[other], one, blocked).then(|| (other, one.clone()))
            };
            let others: Vec<_> = answers.iter().enumerate().filter_map(in_the_way).collect();
            for (other, before) in others {
                if *tries == 0 {
                    break;
                }
                *tries -= 1;
                if let Some((one, moved)) = self.exchange(&flows[at], &flows[other], &before) {
                    (answers[at], answers[other]) = (Ok(one), Ok(moved));
                    found = true;
                    break;
                }
            }
        }
        found
    }

    /// Whether a flow has reserved any of the frames that another cannot do without.
    fn is_in_the_way(
        &self,
        flow: &Flow,
        reservation: &Reservation,
        blocked: &ReservationError,
    ) -> bool {
        self.uses(flow, reservation).iter().any(|&(output, frame, _)| {
            let at = |full: &Full| (full.output, full.frame);
            blocked.full.binary_search_by_key(&(output, frame), at).is_ok()
        })
    }

    /// Places a flow, and then anew one that was in its way; or neither.
    fn exchange(
        &mut self,
        flow: &Flow,
        other: &Flow,
        before: &Reservation,
    ) -> Option<(Reservation, Reservation)> {
        self.release(other, before);
        if let Ok(one) = self.reserve(flow) {
            if let Ok(moved) = self.reserve(other) {
                return Some((one, moved));
            }
            self.release(flow, &one);
        }
        let restored = self.reserve_as(other, before);
        debug_assert!(restored.is_ok());
        None
    }

    /// Leaves out one flow for two or more others, if that is found to be possible: first tried are
    /// those that take most.
    pub(super) fn replace_one(
        &mut self,
        flows: &[Flow],
        answers: &mut [Answer],
        tries: &mut usize,
    ) -> bool {
        let order = by_use(flows);
        let left_out: Vec<usize> =
            order.iter().copied().filter(|&at| answers[at].is_err()).collect();
        for &one in order.iter().rev() {
            let Ok(before) = answers[one].clone() else { continue };
            let meets = |&&at: &&usize| meet(&flows[at], &flows[one]);
            self.release(&flows[one], &before);
            let mut placed = Vec::new();
            for &other in left_out.iter().filter(meets).take(*tries) {
                *tries -= 1;
                let answer = self.reserve(&flows[other]);
                placed.extend(answer.ok().map(|reservation| (other, reservation)));
            }
            if placed.len() > 1 {
                placed.into_iter().for_each(|(other, found)| answers[other] = Ok(found));
                answers[one] = self.reserve(&flows[one]);
                return true;
            }
            placed.iter().for_each(|(other, found)| self.release(&flows[*other], found));
            let restored = self.reserve_as(&flows[one], &before);
            debug_assert!(restored.is_ok());
        }
        false
    }
}

/// The flows' numbers, first those of the flows that take least.
fn by_use(flows: &[Flow]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&at| u128::from(flows[at].packet.0) * packets(&flows[at]));
    order
}

/// How many packets all outputs of a flow send in a period.
fn packets(flow: &Flow) -> u128 {
    flow.path.len() as u128 * u128::from(flow.packets)
}

/// Whether flows pass a common output.
fn meet(one: &Flow, other: &Flow) -> bool {
    one.path.iter().any(|hop| other.path.iter().any(|also| also.output == hop.output))
}

fn blocked(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.is_err()).count()
}
