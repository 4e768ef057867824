//! What is promised on a link.

use std::sync::{Mutex, MutexGuard, PoisonError};

use laxity::reserve::bookings::Period;
use laxity::units::Nanos;
use laxity_answers::reservations::{self, Request, RequestError};
use laxity_plan::edit::ClassKeys;
use laxity_report::words;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::text;

/// The reservations of a plan's link.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Book {
    book: Mutex<reservations::Book>,
    plan: Plan,
}

impl Book {
    fn book(&self) -> MutexGuard<'_, reservations::Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Book {
    /// The empty book of a plan.
    #[new]
    fn new(py: Python<'_>, plan: &Plan) -> Result<Book> {
        let Plan { text, name, folder, .. } = plan;
        let book = match py.detach(|| reservations::Book::new(text, name, folder)) {
            Err(RequestError::NoRoom(refused)) => {
                return Err(words::statement(&refused.reasons).into());
            }
            made => made?,
        };
        Ok(Book { book: Mutex::new(book), plan: plan.clone() })
    }

    /// Another one with the same reservations.
    fn copy(&self) -> Book {
        Book { book: Mutex::new(self.book().clone()), plan: self.plan.clone() }
    }

    /// Asks for a reservation, whose keys are a table of TOML. It has a path in a network, a start,
    /// an end and a time by which it is to be committed, or not. Returns what is granted, in JSON.
    fn admit(
        &self,
        py: Python<'_>,
        now: u64,
        name: String,
        keys: &str,
        path: Vec<String>,
        times: [Option<u64>; 3],
    ) -> Result<String> {
        let keys: ClassKeys = keys.parse()?;
        let [start, end, commit_by] = times;
        let from = Nanos(start.unwrap_or(now));
        let period = Period { from, until: end.map(Nanos) };
        let request = Request { name, keys, path, period, commit_by: commit_by.map(Nanos) };
        let granted = py.detach(|| self.book().request(Nanos(now), request))?;
        Ok(text::json(&granted))
    }

    /// Gives a reservation other keys: what is granted, in JSON.
    fn change(&self, py: Python<'_>, now: u64, name: &str, keys: &str) -> Result<String> {
        let keys: ClassKeys = keys.parse()?;
        let granted = py.detach(|| self.book().change(Nanos(now), name, keys))?;
        Ok(text::json(&granted))
    }

    /// Grants one that was only held.
    fn commit(&self, now: u64, name: &str) -> Result<()> {
        Ok(self.book().commit(Nanos(now), name)?)
    }

    /// Gives one another end.
    fn renew(&self, py: Python<'_>, now: u64, name: &str, end: Option<u64>) -> Result<()> {
        Ok(py.detach(|| self.book().renew(Nanos(now), name, end.map(Nanos)))?)
    }

    /// Ends one.
    fn release(&self, now: u64, name: &str) -> Result<()> {
        Ok(self.book().release(Nanos(now), name)?)
    }

    /// Takes out what is no longer felt. Returns the names.
    fn expire(&self, now: u64) -> Vec<String> {
        self.book().expire(Nanos(now))
    }

    /// When something begins, ends or is no longer felt next.
    fn next_change(&self, now: u64) -> Option<u64> {
        self.book().next_change(Nanos(now)).map(|Nanos(next)| next)
    }

    /// All of them, in JSON.
    fn reservations(&self, now: u64) -> String {
        text::json(&self.book().list(Nanos(now)))
    }

    /// The plan with all that is promised at a time.
    fn plan(&self, now: u64) -> Result<Plan> {
        let (plan, text) = self.book().plan(Nanos(now))?;
        Ok(Plan { plan, text, ..self.plan.clone() })
    }
}
