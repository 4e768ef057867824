//! Why a question has no answer, with the place in the plan.

use laxity_api::{Error, PlanError};
use serde::Serialize;

/// What is wrong, where, and what to do about it.
#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

/// A piece of the plan's text.
#[derive(Debug, Serialize)]
struct Place {
    /// Where it begins, in UTF-16 units as browsers count them.
    from: usize,
    /// Where it ends.
    to: usize,
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), help: None, place: None }
    }
}

impl From<PlanError> for Fault {
    fn from(error: PlanError) -> Fault {
        let units = |until: usize| error.text()[..until].encode_utf16().count();
        let place = error.span().zip(error.line_column());
        let place = place.map(|(span, (line, column))| Place {
            from: units(span.start),
            to: units(span.end),
            line,
            column,
        });
        Fault { message: error.message().into(), help: error.help().map(Into::into), place }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        match error {
            Error::Plan(error) => error.into(),
            other => Fault::new(other.to_string()),
        }
    }
}
