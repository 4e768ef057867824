//! Errors of Laxity as exceptions.

use std::collections::BTreeMap;

use arrow_schema::ArrowError;
use laxity::units::UnitError;
use laxity_answers::reservations::{NoRoom, RequestError};
use laxity_api::{Refusal, UnknownScheduler};
use laxity_plan::edit::EditError;
use laxity_report::words;
use laxity_sim::error::SimError;
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

create_exception!(
    laxity,
    NoRoomError,
    LaxityError,
    "A reservation that does not fit, with what would."
);

/// An error of Laxity as the exception that Python gets.
pub(crate) struct Error(PyErr);

/// What Python asks for, or the exception that it gets.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Error {
        Error(error)
    }
}

impl From<Error> for PyErr {
    fn from(Error(error): Error) -> PyErr {
        error
    }
}

/// A plan that is refused: its message, and the attributes `file`, `line`, `column`, `help`.
impl From<laxity_plan::PlanError> for Error {
    fn from(error: laxity_plan::PlanError) -> Error {
        if error.io_kind().is_some() {
            return Error(FileError::new_err(error.to_string()));
        }
        let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
        let raised = PlanError::new_err(format!("{error}{help}"));
        let attributes = Python::attach(|py| {
            let value = raised.value(py);
            value.setattr(intern!(py, "file"), error.name())?;
            value.setattr(intern!(py, "line"), error.line())?;
            value.setattr(intern!(py, "column"), error.column())?;
            value.setattr(intern!(py, "help"), error.help())
        });
        Error(attributes.err().unwrap_or(raised))
    }
}

/// A reservation that is not granted; one that does not fit has the attributes `at`, `deadline`,
/// `rate` and `bucket`.
impl From<RequestError> for Error {
    fn from(error: RequestError) -> Error {
        let no_room = match error {
            RequestError::Plan(error) => return error.into(),
            RequestError::NoRoom(no_room) => no_room,
            error => return Error(LaxityError::new_err(error.to_string())),
        };
        let NoRoom { at_ns, reasons, offer, .. } = *no_room;
        let raised = NoRoomError::new_err(words::statement(&reasons));
        let attributes = Python::attach(|py| {
            let value = raised.value(py);
            value.setattr(intern!(py, "at"), at_ns)?;
            value.setattr(intern!(py, "deadline"), offer.deadline_ns)?;
            value.setattr(intern!(py, "rate"), offer.rate_bps)?;
            value.setattr(intern!(py, "bucket"), offer.bucket_bytes)?;
            value.setattr(intern!(py, "path"), offer.path)?;
            let frames = offer.frames.into_iter().map(|at| (at.link, at.frame));
            value.setattr(intern!(py, "frames"), frames.collect::<BTreeMap<_, _>>())
        });
        Error(attributes.err().unwrap_or(raised))
    }
}

/// Why a question has no answer, or a study cannot be run.
impl From<laxity_api::Error> for Error {
    fn from(error: laxity_api::Error) -> Error {
        use laxity_api::Error::{Io, Plan, Simulation, Stopped, Store};
        let message = error.to_string();
        Error(match error {
            Plan(error) => return error.into(),
            Simulation(error) if !error.is_bad_input() => FileError::new_err(message),
            Io { .. } | Store { .. } => FileError::new_err(message),
            Stopped => PyKeyboardInterrupt::new_err(message),
            _ => LaxityError::new_err(message),
        })
    }
}

impl From<SimError> for Error {
    fn from(error: SimError) -> Error {
        laxity_api::Error::from(error).into()
    }
}

/// Why Linux has no counterpart, and what to do instead.
impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error(LaxityError::new_err(format!("{refusal} ({})", refusal.instead)))
    }
}

/// Makes an error one of Python with its message alone.
macro_rules! refused {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error(LaxityError::new_err(error.to_string()))
            }
        })*
    };
}

refused!(&str, String, ArrowError, EditError, UnitError, UnknownScheduler, serde_json::Error);
