//! The entrance for files of text from outside: plans, studies and what is tuned. Whatever the file
//! is, no more of it is read than [`LIMIT`], and every front end says the same of one that cannot
//! be read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Fault, PlanError};

/// The largest file that is read, in bytes: 16 MiB.
pub const LIMIT: usize = 16 << 20;

pub(crate) fn too_large() -> String {
    format!("the file is larger than {} MiB, the most that is read", LIMIT >> 20)
}

/// The text of the file at `path`, which errors call `name`.
///
/// # Errors
/// If it cannot be read, is larger than [`LIMIT`] or is not UTF-8, with the place of the first byte
/// that is not.
pub fn text(path: &Path, name: &str) -> Result<String, PlanError> {
    let file = File::open(path).map_err(|error| failed(&error, name))?;
    text_of(file, name)
}

/// The same from any reader.
pub(crate) fn text_of(input: impl Read, name: &str) -> Result<String, PlanError> {
    let mut bytes = Vec::new();
    let read = input.take(LIMIT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(&error, name))?;
    if bytes.len() > LIMIT {
        return Err(PlanError::new(name, "", Fault::new(None, too_large())));
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(&error, name))
}

fn failed(error: &io::Error, name: &str) -> PlanError {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "this is a folder, not a file".into(),
        io::ErrorKind::PermissionDenied => "this file may not be read (permission denied)".into(),
        _ => format!("the file cannot be read: {error}"),
    };
    PlanError::io(name, error, message)
}

/// Points at the first bad byte in what is left of the text when such bytes are replaced.
fn not_utf8(error: &std::string::FromUtf8Error, name: &str) -> PlanError {
    let start = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes());
    let fault = Fault::at(
        &(start..start + 1),
        format!("the byte 0x{:02x} is not UTF-8 text", error.as_bytes()[start]),
    );
    PlanError::new(name, &text, fault.help("files of text are read in UTF-8"))
}
