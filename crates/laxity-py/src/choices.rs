//! A link whose packets are chosen one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_api::Traffic;
use laxity_sim::record::Fate;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::traffic::lasting;

/// A link under way.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Choices {
    /// The deadline of each class, in ns.
    deadlines: Vec<Option<Nanos>>,
    choices: Mutex<laxity_sim::link::Choices>,
}

#[pymethods]
impl Choices {
    #[new]
    fn new(plan: &Plan, duration: Option<&str>, seed: Option<u64>) -> Result<Choices> {
        let traffic = Traffic { duration: lasting(duration)?, seed, ..Traffic::default() };
        let deadlines =
            plan.plan.classes.iter().map(laxity_plan::model::Class::relative_deadline).collect();
        let choices = laxity_api::choices(Arc::new(plan.plan.clone()), &traffic)?;
        Ok(Choices { deadlines, choices: Mutex::new(choices) })
    }

    /// Goes on until there is a choice, and says whether there is one.
    fn advance(&self) -> Result<bool> {
        Ok(self.lock().advance()?)
    }

    /// Sends the first packet of a class.
    fn send(&self, class: u32) -> Result<()> {
        Ok(self.lock().send(ClassId(class))?)
    }

    /// The simulated time in ns.
    #[getter]
    fn now(&self) -> u64 {
        self.lock().now().0
    }

    /// Of each class: packets, bytes, how long the first has waited in ms, and how long it has to
    /// its deadline, if it has one and any waits.
    fn waiting(&self) -> Vec<(usize, u64, f64, Option<f64>)> {
        let choices = self.lock();
        let now = choices.now();
        let waiting = choices.waiting().into_iter().zip(&self.deadlines);
        let told = waiting.map(|(waiting, deadline)| {
            let waited = waiting.since.map_or(0.0, |since| milliseconds(now.0 - since.0));
            let left = waiting.since.and(*deadline).map(|left| milliseconds(left.0) - waited);
            (waiting.backlog.packets, waiting.backlog.bytes, waited, left)
        });
        told.collect()
    }

    /// Of each class since this was last asked: packets sent, of these late ones, the sum of their
    /// delays in ms, and packets dropped.
    fn outcomes(&self) -> Vec<(u64, u64, f64, u64)> {
        let mut outcomes = vec![(0, 0, 0.0, 0); self.deadlines.len()];
        for record in self.lock().take_fates() {
            let class = record.packet.class.index();
            let Some((sent, late, delay, dropped)) = outcomes.get_mut(class) else { continue };
            match record.fate {
                Fate::Sent { departure, .. } => {
                    let took = Nanos(departure.0 - record.packet.arrival.0);
                    *sent += 1;
                    *late +=
                        u64::from(self.deadlines[class].is_some_and(|deadline| took > deadline));
                    *delay += milliseconds(took.0);
                }
                Fate::Dropped(_) => *dropped += 1,
                Fate::Queued => {}
            }
        }
        outcomes
    }
}

impl Choices {
    fn lock(&self) -> MutexGuard<'_, laxity_sim::link::Choices> {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}
