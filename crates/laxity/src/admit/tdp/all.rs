//! Reservation for many flows at once.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Answer, Flow, Ledger};

/// How often flows are placed anew while some do not fit.
const ROUNDS: usize = 12;

impl Ledger {
    /// Reserves for as many of these flows as it finds room for, each as if it had come before those
    /// that are not placed.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
    pub fn reserve_all(&mut self, flows: &[Flow]) -> Vec<Answer> {
        let hardness =
            |flow: &Flow| (flow.packet, flow.path.len() as u64 * u64::from(flow.packets));
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&flow| Reverse(hardness(&flows[flow])));
        let count = |answers: &[Answer]| answers.iter().filter(|answer| answer.is_err()).count();
        let mut best: Option<(Ledger, Vec<Answer>)> = None;
        for _ in 0..ROUNDS {
            let mut ledger = self.clone();
            let mut answers: Vec<_> =
                order.iter().map(|&flow| (flow, ledger.reserve(&flows[flow]))).collect();
            answers.sort_by_key(|(flow, _)| *flow);
            let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
            order.sort_by_key(|&flow| answers[flow].is_ok());
            let blocked = count(&answers);
            if best.as_ref().is_none_or(|(_, fewest)| blocked < count(fewest)) {
                best = Some((ledger, answers));
            }
            if blocked == 0 {
                break;
            }
        }
        let Some((ledger, answers)) = best else { return Vec::new() };
        *self = ledger;
        answers
    }
}
