//! Why the system refused.

use std::fmt;
use std::io;

/// What was asked of the system, why it refused, and what would help where that is known.
#[derive(Debug)]
pub struct Error {
    doing: String,
    cause: io::Error,
    hint: Option<String>,
}

impl Error {
    /// What was refused.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }

    /// Whether a privilege is missing.
    pub fn is_permission(&self) -> bool {
        self.cause.kind() == io::ErrorKind::PermissionDenied
    }

    /// Whether something of that name is not there.
    pub fn is_missing(&self) -> bool {
        self.cause.kind() == io::ErrorKind::NotFound
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.cause)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Says what was being done when the system refused it.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error>;

    /// The same, with a hint for the case that a privilege is missing.
    fn privileged(self, what: impl Into<String>, needs: &str) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|cause| Error { doing: what.into(), cause, hint: None })
    }

    fn privileged(self, what: impl Into<String>, needs: &str) -> Result<T, Error> {
        self.doing(what).map_err(|error| {
            let lacks = error.is_permission();
            if lacks { error.with_hint(format!("it needs {needs}")) } else { error }
        })
    }
}

/// Something of that name is not there.
pub(crate) fn missing(doing: impl Into<String>, why: impl Into<String>) -> Error {
    let cause = io::Error::new(io::ErrorKind::NotFound, why.into());
    Error { doing: doing.into(), cause, hint: None }
}

/// An error of our own making, in the same form.
pub(crate) fn refused(doing: impl Into<String>, why: impl Into<String>) -> Error {
    Error { doing: doing.into(), cause: io::Error::other(why.into()), hint: None }
}
