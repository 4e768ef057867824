//! The one way to standard output and standard error. Text from outside goes out with its control
//! characters made visible, so that no plan, script or file name has a terminal obey it.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anstyle::AnsiColor;
use laxity_report::table::with_alarms;
use laxity_report::visible::{self, visible};

use crate::failure::Failure;

/// Prints a result, with numbers that break a promise in red where standard output is a terminal
/// that shows colours. A reader that has gone away, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let red = AnsiColor::Red.on_default();
    let [before, behind] = [red.render().to_string(), red.render_reset().to_string()];
    // Colours come after the filter, which takes them for instructions from outside.
    let text = with_alarms(&visible(text.trim_end()), &before, &behind);
    checked(writeln!(anstream::stdout().lock(), "{text}"))
}

/// Prints a result as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let shown = serde_json::to_writer_pretty(Visible(&mut out), value).map_err(io::Error::from);
    checked(shown.and_then(|()| writeln!(out)).and_then(|()| out.flush()))
}

/// Prints a result as JSON or as text.
pub(crate) fn show(
    is_json: bool,
    result: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if is_json { print_json(result) } else { print(&text()) }
}

/// Prints results that were written into a folder, if there is one: as JSON, or as text that ends
/// with the place of their report.
pub(crate) fn print_results(
    is_json: bool,
    folder: Option<&Path>,
    results: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let report = folder.map(|folder| folder.join("report.html"));
    let report = report.map(|report| format!("Report: {}\n", report.display()));
    show(is_json, results, || text() + &report.unwrap_or_default())
}

/// Passes JSON on, piece by piece, so that it is never held whole.
struct Visible<W>(W);

impl<W: Write> Write for Visible<W> {
    /// A piece is whole characters, as serde_json writes them.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(piece).map_err(io::Error::other)?;
        self.0.write_all(visible::json(text).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A reader that has gone away, such as `head`, is no failure.
fn checked(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::refused("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Says something beside the result. Like every reader that has gone away, one of this is no
/// failure.
pub(crate) fn remark(text: &str) {
    let _ = io::stderr().lock().write_all(visible(text).as_bytes());
}

/// Says what is to be known of the result.
pub(crate) fn notes(notes: &[String]) {
    notes.iter().for_each(|note| remark(&format!("Note: {note}.\n")));
}

/// A result as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results have string keys")
}
