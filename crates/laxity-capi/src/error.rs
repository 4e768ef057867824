//! Texts of errors.

use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::ptr;

use laxity_answers::reservations::RequestError;
use laxity_engine::{EngineStopped, PaceError, StartError};
use laxity_plan::PlanError;
use laxity_plan::edit::EditError;
use laxity_report::words;

use crate::status::lx_status::{self, *};

/// Why a call failed. It belongs to the caller, who frees it.
pub struct lx_error {
    status: lx_status,
    message: CString,
    line: u32,
    column: u32,
}

/// Why the body of an entry point failed. It is small, so that what has not failed is returned in
/// registers.
#[derive(Debug)]
pub struct Failure(Box<Cause>);

#[derive(Debug)]
struct Cause {
    status: lx_status,
    message: String,
    /// Line and column of a plan, from 1.
    place: Option<(usize, usize)>,
}

/// What the body of an entry point returns.
pub type Outcome = Result<lx_status, Failure>;

impl Failure {
    /// One with a message for people.
    #[cold]
    pub(crate) fn new(status: lx_status, message: impl Display) -> Failure {
        Failure(Box::new(Cause { status, message: message.to_string(), place: None }))
    }

    /// Gives out the text where it is wanted.
    #[cold]
    pub(crate) fn report(self, error: *mut *mut lx_error) -> lx_status {
        let Cause { status, message, place } = *self.0;
        if error.is_null() || !error.is_aligned() {
            return status;
        }
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (line, column) = place.map_or((0, 0), |(line, column)| (number(line), number(column)));
        // A message may quote a text with a NUL, which C cannot hold.
        let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
        let made = Box::new(lx_error { status, message, line, column });
        // SAFETY: the caller gives NULL, which is not here, or a pointer that can be written.
        unsafe { error.write(Box::into_raw(made)) };
        status
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        let status = if error.io_kind().is_some() { LX_ERR_FILE } else { LX_ERR_PLAN };
        let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
        let mut failure = Failure::new(status, format!("{error}{help}"));
        failure.0.place = error.line_column();
        failure
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        Failure::new(LX_ERR_PLAN, error)
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        match error {
            RequestError::Plan(error) => error.into(),
            RequestError::Edit(error) => error.into(),
            RequestError::NoRoom(no_room) => {
                Failure::new(LX_ERR_NO_ROOM, words::statement(&no_room.reasons))
            }
            RequestError::Path(_) | RequestError::Empty => Failure::new(LX_ERR_ARGUMENT, error),
            RequestError::TooMany => Failure::new(LX_ERR_NO_ROOM, error),
            error => Failure::new(LX_ERR_RESERVATION, error),
        }
    }
}

impl From<laxity_api::Error> for Failure {
    fn from(error: laxity_api::Error) -> Failure {
        match error {
            laxity_api::Error::Plan(error) => error.into(),
            error => Failure::new(LX_ERR_UNSUPPORTED, error),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        let status = match error {
            StartError::Packets { .. } | StartError::Zero(_) => LX_ERR_ARGUMENT,
            StartError::Thread(_) => LX_ERR_STOPPED,
        };
        Failure::new(status, error)
    }
}

impl From<EngineStopped> for Failure {
    fn from(error: EngineStopped) -> Failure {
        Failure::new(LX_ERR_STOPPED, error)
    }
}

impl From<PaceError> for Failure {
    fn from(error: PaceError) -> Failure {
        match error {
            PaceError::Setting(error) => error.into(),
            PaceError::Stopped(error) => error.into(),
        }
    }
}

/// What went wrong, in a sentence. For a plan it begins with the place: `file:line:column:`. The
/// text lives as long as the error; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_error_message(error: *const lx_error) -> *const c_char {
    // SAFETY: the caller gives NULL or an error that is not freed.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.message.as_ptr())
}

/// The status that the call returned; `LX_OK` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_error_status(error: *const lx_error) -> lx_status {
    // SAFETY: the caller gives NULL or an error that is not freed.
    unsafe { error.as_ref() }.map_or(LX_OK, |error| error.status)
}

/// The line of the plan, from 1; 0 where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_error_line(error: *const lx_error) -> u32 {
    // SAFETY: the caller gives NULL or an error that is not freed.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// The column of the plan, from 1; 0 where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_error_column(error: *const lx_error) -> u32 {
    // SAFETY: the caller gives NULL or an error that is not freed.
    unsafe { error.as_ref() }.map_or(0, |error| error.column)
}

/// Frees an error; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_error_free(error: *mut lx_error) {
    if !error.is_null() {
        // SAFETY: the caller gives an error of this library that is not freed, once.
        drop(unsafe { Box::from_raw(error) });
    }
}
