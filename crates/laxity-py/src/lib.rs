//! The native half of the Python package `laxity`: the verbs of [`laxity_api`], with plans and runs
//! as objects, answers as the JSON of the command, and packets as Arrow. Everything that has a form
//! of its own in Python is in `python/laxity`.

mod analysis;
mod book;
mod causes;
mod choices;
mod columns;
mod errors;
mod format;
mod import;
mod linux;
mod packets;
mod plan;
mod result;
mod scheduler;
mod simulate;
mod study;
mod table;
mod text;
mod trace_file;
mod traffic;
mod tune;

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _laxity {
    #[pymodule_export]
    use super::analysis::{explain, fit, limits, why, worst_case};
    #[pymodule_export]
    use super::book::Book;
    #[pymodule_export]
    use super::causes::causes;
    #[pymodule_export]
    use super::choices::Choices;
    #[pymodule_export]
    use super::errors::{ContractError, FileError, LaxityError, NoRoomError, PlanError};
    #[pymodule_export]
    use super::format::{cell, label, plain, promises, styles, unit};
    #[pymodule_export]
    use super::import::import_tc;
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::result::compare;
    #[pymodule_export]
    use super::scheduler::{Packet, Ranks, Scheduler};
    #[pymodule_export]
    use super::study::{Study, Summary};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tune::Tuning;

    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Carries a command line out, program first, and ends the process.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| laxity_cli::run(arguments))
    }
}
