//! Files of text, and answers as text.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use laxity_plan::file;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::Result;

/// The name of a file in messages, and its text. Ctrl-C ends the reading: a pipe may have no
/// writer.
pub(crate) fn text(py: Python<'_>, path: &Path) -> Result<(String, String)> {
    let name = path.display().to_string();
    let (tell, mut told) = mpsc::channel();
    let (file, called) = (path.to_path_buf(), name.clone());
    thread::spawn(move || tell.send(file::text(&file, &called)));
    loop {
        let read;
        (told, read) = py.detach(move || {
            let read = told.recv_timeout(Duration::from_millis(50));
            (told, read)
        });
        match read {
            Ok(text) => return Ok((name, text?)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(format!("{name}: reading came to grief").into());
            }
        }
    }
}

/// An answer as the command prints it.
pub(crate) fn json(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).expect("answers are strings, numbers and lists")
}
