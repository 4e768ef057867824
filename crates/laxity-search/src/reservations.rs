//! Flows that come and go: plans with `[[request]]`, calls at the edge of what fits, and traffic
//! that meets at their begins and ends.
//!
//! A case draws requests so that some numbers of calls just fit together, lets calls ask, and
//! climbs: bursts and floods move to where a call begins or ends. Now and then the times of the
//! calls themselves change.

pub mod draft;
mod exchange;
mod judge;
pub mod shrink;
mod traffic;

use rand::RngExt;
use rand::seq::IndexedRandom;

use self::draft::CallsDraft;
use self::exchange::Exchange;
use self::judge::{Judged, judged};
use crate::Generator;
use crate::case::Outcome;
use crate::faults::CallsFault;
use crate::hill_climb::Budget;
use crate::testbed::judge::Violation;

/// Calls whose packets break what they were promised.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenCalls {
    /// The plan, with its sources.
    pub draft: CallsDraft,
    /// What breaks.
    pub what: Violation,
}

/// Draws and searches one plan with requests.
pub fn run(draw: &mut Generator, budget: Budget, fault: Option<&CallsFault>) -> Outcome {
    let drawn = Outcome { plans: 1, ..Outcome::default() };
    let Some(draft) = draft::draw(draw, fault.and_then(|fault| fault.scheduler)) else {
        return drawn;
    };
    let Some(exchange) = Exchange::new(&draft, fault) else { return drawn };
    let mut outcome = Outcome { plans: 1, admitted: 1, ..Outcome::default() };
    let mut climb = Climb { best: draft, exchange, height: 0.0, fault };
    let mut in_vain = 0;
    let mut by_class = vec![0.0f64; climb.best.kinds.len()];
    while outcome.packets < budget.packets && in_vain < budget.patience {
        match climb.step(draw, &mut outcome) {
            Ok(judged) => {
                for (nearest, near) in by_class.iter_mut().zip(judged.closest) {
                    *nearest = nearest.max(near);
                }
                in_vain = if judged.rises { 0 } else { in_vain + 1 };
            }
            Err(broken) => {
                outcome.broken = Some((*broken).into());
                break;
            }
        }
    }
    outcome.closest = by_class.iter().copied().fold(0.0, f64::max);
    outcome.by_class = by_class;
    outcome
}

/// What a draft breaks, if anything.
pub fn breaks(draft: &CallsDraft, fault: Option<&CallsFault>) -> Option<Violation> {
    let exchange = Exchange::new(draft, fault)?;
    judged(draft, &exchange).err()
}

struct Climb<'a> {
    best: CallsDraft,
    exchange: Exchange,
    height: f64,
    fault: Option<&'a CallsFault>,
}

struct Step {
    closest: Vec<f64>,
    rises: bool,
}

impl Climb<'_> {
    /// Changes something, and keeps it if no class comes farther from its promise.
    fn step(
        &mut self,
        draw: &mut Generator,
        outcome: &mut Outcome,
    ) -> Result<Step, Box<BrokenCalls>> {
        let mut other = self.best.clone();
        let asks_anew = draw.random_range(0..12u32) == 0;
        let moments = self.exchange.moments();
        if asks_anew {
            traffic::change_calls(&mut other, &moments, draw);
        } else {
            for _ in 0..draw.random_range(1..=3u32) {
                traffic::change(&mut other, &moments, draw);
            }
        }
        let anew = if asks_anew { Exchange::new(&other, self.fault) } else { None };
        if asks_anew && anew.is_none() {
            return Ok(Step { closest: Vec::new(), rises: false });
        }
        let exchange = anew.as_ref().unwrap_or(&self.exchange);
        outcome.runs += 1;
        let Judged { packets, closest } = judged(&other, exchange)
            .map_err(|what| Box::new(BrokenCalls { draft: other.clone(), what }))?;
        outcome.packets += packets;
        // The sum of all lets each of them rise.
        let height = closest.iter().sum();
        let rises = height > self.height;
        if height >= self.height {
            (self.best, self.height) = (other, height);
            self.exchange = anew.unwrap_or_else(|| self.exchange.clone());
        }
        Ok(Step { closest, rises })
    }
}

/// One of these, or none of them.
fn pick<T: Copy>(values: &[T], draw: &mut Generator) -> Option<T> {
    values.choose(draw).copied()
}
