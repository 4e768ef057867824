//! Schedulers by a rank that is computed in Python, or is a deadline.

use laxity::packet::Packet as Plain;
use laxity::sched::Pifo;
use laxity::sched::pifo::Ranking;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::packet::NO_RUN;
use super::{Classes, FirstError, Packet, broken, time};

/// A rank function, and when packets are eligible.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Ranks {
    pub(super) name: String,
    /// Without one, the deadlines of the plan.
    rank: Option<Py<PyAny>>,
    eligible: Option<Py<PyAny>>,
}

#[pymethods]
impl Ranks {
    #[new]
    fn new(name: String, rank: Option<Py<PyAny>>, eligible: Option<Py<PyAny>>) -> Ranks {
        Ranks { name, rank, eligible }
    }
}

/// A rank. The bits of positive floating-point numbers are in the order of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Below all whole numbers of 64 bits: the bits of its negative, inverted.
    Below(u64),
    /// A whole number, and the bits of what is above it.
    Within(i64, u64),
    /// Above them: its bits.
    Above(u64),
}

impl Rank {
    /// Behind all others.
    const LAST: Rank = Rank::Above(u64::MAX);

    fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Rank> {
        if let Ok(whole) = value.extract::<i64>() {
            return Ok(Rank::Within(whole, 0));
        }
        let number = value.extract::<f64>().ok().filter(|number| !number.is_nan());
        let number = number.ok_or_else(|| {
            PyTypeError::new_err(format!("a rank is a number, and {value} is none"))
        })?;
        const END: f64 = (1u64 << 63) as f64;
        Ok(if number >= END {
            Rank::Above(number.to_bits())
        } else if number < -END {
            Rank::Below(!(-number).to_bits())
        } else {
            let floor = number.floor();
            Rank::Within(floor as i64, (number - floor).to_bits())
        })
    }
}

impl Ranks {
    /// The scheduler.
    pub(super) fn build(
        &self,
        py: Python<'_>,
        classes: Classes,
        raised: FirstError,
    ) -> Box<dyn Withdraw + Send> {
        let (count, name) = (classes.len(), self.name.clone());
        if self.rank.is_none() && self.eligible.is_none() {
            return Box::new(Pifo::new(count, move |packet: &Plain| {
                let due = classes.due(packet);
                let rank = due.map_or(u64::MAX, |due| due.0);
                Ranking { rank, eligible: packet.arrival, deadline: due }
            }));
        }
        let rank = self.rank.as_ref().map(|rank| rank.clone_ref(py));
        let eligible = self.eligible.as_ref().map(|eligible| eligible.clone_ref(py));
        Box::new(Pifo::new(count, move |packet: &Plain| {
            let last = Ranking { rank: Rank::LAST, eligible: packet.arrival, deadline: None };
            if raised.is_there() {
                return last;
            }
            let ranking = Python::attach(|py| {
                let seen = Py::new(py, Packet::new(py, packet, &classes, NO_RUN))?;
                let due = classes.due(packet);
                let rank = match &rank {
                    Some(rank) => Rank::from_python(rank.call1(py, (&seen,))?.bind(py))?,
                    None => due.map_or(Rank::LAST, |due| Rank::Within(due.0 as i64, 0)),
                };
                let eligible = match &eligible {
                    Some(eligible) => {
                        time(eligible.call1(py, (&seen,))?.bind(py), "`eligible` gives")?
                    }
                    None => packet.arrival,
                };
                if eligible > Nanos::LIMIT {
                    return Err(broken(format!(
                        "{name}: packet {} would never be eligible",
                        packet.handle
                    )));
                }
                Ok(Ranking { rank, eligible, deadline: due })
            });
            ranking.unwrap_or_else(|error| {
                raised.keep(error);
                last
            })
        }))
    }
}
