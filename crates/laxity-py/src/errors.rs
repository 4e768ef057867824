//! Errors of Laxity as exceptions.

use laxity_api::sweep;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

create_exception!(laxity, LaxityError, PyException, "What Laxity refuses.");
create_exception!(
    laxity,
    PlanError,
    LaxityError,
    "A plan or a study that is none, with its place."
);
create_exception!(
    laxity,
    ContractError,
    LaxityError,
    "A scheduler that loses, repeats, invents or forgets packets, or sends them too early."
);
create_exception!(
    laxity,
    FileError,
    LaxityError,
    "A file or a disk that cannot be read or written."
);

/// A plan that is refused: its message, and the attributes `file`, `line`, `column`, `help`.
pub(crate) fn of_plan(py: Python<'_>, error: &laxity_plan::PlanError) -> PyErr {
    if error.io_kind().is_some() {
        return FileError::new_err(error.to_string());
    }
    let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
    let raised = PlanError::new_err(format!("{error}{help}"));
    let value = raised.value(py);
    let attributes = value
        .setattr(intern!(py, "file"), error.name())
        .and_then(|()| value.setattr(intern!(py, "line"), error.line()))
        .and_then(|()| value.setattr(intern!(py, "column"), error.column()))
        .and_then(|()| value.setattr(intern!(py, "help"), error.help()));
    match attributes {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// Why a question has no answer.
pub(crate) fn of_question(py: Python<'_>, error: &laxity_api::Error) -> PyErr {
    match error {
        laxity_api::Error::Plan(error) => of_plan(py, error),
        laxity_api::Error::Simulation(error) if !error.is_bad_input() => {
            FileError::new_err(error.to_string())
        }
        error => LaxityError::new_err(error.to_string()),
    }
}

/// Why a study cannot be run.
pub(crate) fn of_study(py: Python<'_>, error: &sweep::Error) -> PyErr {
    match error {
        sweep::Error::Plan(error) => of_plan(py, error),
        sweep::Error::Io { .. } | sweep::Error::Store { .. } => {
            FileError::new_err(error.to_string())
        }
        sweep::Error::Stopped => PyKeyboardInterrupt::new_err(error.to_string()),
        error => LaxityError::new_err(error.to_string()),
    }
}
