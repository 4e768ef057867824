//! Files of calls: when each asks, and how long it lasts.

use std::sync::Arc;

use csv::{ReaderBuilder, StringRecord, Trim};
use laxity::units::Nanos;
use thiserror::Error;

use crate::error::shown;
use crate::model::RecordedCall;

/// Why a file is none of calls.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum RecordedCallsError {
    /// There is no such column.
    #[error("there is no column `{0}`: a file of calls has the columns at_ns and holding_ns")]
    NoColumn(&'static str),
    /// A line is none of a call.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        message: String,
    },
    /// It has no calls.
    #[error("it has no calls of class `{0}`")]
    Empty(String),
}

/// Where the columns are.
struct Columns {
    at: usize,
    holding: usize,
    class: Option<usize>,
}

/// Reads the calls of a class from CSV with the columns `at_ns` and `holding_ns`, whole
/// nanoseconds. Where there is a column `class`, rows of other classes are skipped. Other columns
/// are not read.
///
/// # Errors
/// At the first line that is none of a call or comes before the one above, and if there are no
/// calls of the class.
pub(crate) fn parse(text: &str, class: &str) -> Result<Arc<[RecordedCall]>, RecordedCallsError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut row = StringRecord::new();
    let mut read = |row: &mut StringRecord| {
        // The text is UTF-8, and rows may have any number of fields.
        reader.read_record(row).unwrap_or(false)
    };
    read(&mut row);
    let columns = Columns::from_header(&row)?;
    let mut calls: Vec<RecordedCall> = Vec::new();
    while read(&mut row) {
        let line = row.position().map_or(0, csv::Position::line);
        let wrong = |message| RecordedCallsError::Line { line, message };
        if columns.class.is_some_and(|column| row.get(column) != Some(class)) {
            continue;
        }
        let [at, holding] = [("at_ns", columns.at), ("holding_ns", columns.holding)]
            .map(|(name, column)| time(name, row.get(column).unwrap_or_default()));
        let (at, holding) = (at.map_err(wrong)?, holding.map_err(wrong)?);
        if calls.last().is_some_and(|last| at < last.at) {
            return Err(wrong("it asks before the one above".to_owned()));
        }
        calls.push(RecordedCall { at, holding });
    }
    if calls.is_empty() {
        return Err(RecordedCallsError::Empty(class.to_owned()));
    }
    Ok(calls.into())
}

impl Columns {
    fn from_header(header: &StringRecord) -> Result<Columns, RecordedCallsError> {
        let find = |name: &str| header.iter().position(|column| column == name);
        let need = |name| find(name).ok_or(RecordedCallsError::NoColumn(name));
        Ok(Columns { at: need("at_ns")?, holding: need("holding_ns")?, class: find("class") })
    }
}

fn time(name: &str, text: &str) -> Result<Nanos, String> {
    let time = text.parse().ok().map(Nanos).filter(|time| *time <= Nanos::LIMIT);
    time.ok_or_else(|| {
        format!(
            "`{}` is no {name}, which is a whole number up to {}",
            shown(text).escape_debug(),
            Nanos::LIMIT.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_class_are_read() {
        let text = "answer,holding_ns,class,at_ns\nrefused,5,call,1\n,6,film,0\n,7,call,1\n";
        let calls = [(1, 5), (1, 7)]
            .map(|(at, holding)| RecordedCall { at: Nanos(at), holding: Nanos(holding) });
        assert_eq!(parse(text, "call").unwrap()[..], calls);
        let text = "\u{feff}at_ns, holding_ns\n1, 5\n\n1,7";
        assert_eq!(parse(text, "anything").unwrap()[..], calls);
    }

    #[test]
    fn what_is_no_call_is_refused_at_its_line() {
        let wrong = |text: &str| parse(text, "call").unwrap_err().to_string();
        let columns = "a file of calls has the columns at_ns and holding_ns";
        assert_eq!(wrong(""), format!("there is no column `at_ns`: {columns}"));
        assert_eq!(wrong("at_ns,hold\n"), format!("there is no column `holding_ns`: {columns}"));
        assert_eq!(wrong("at_ns,holding_ns\n"), "it has no calls of class `call`");
        assert_eq!(wrong("at_ns,holding_ns,class\n1,2,film\n"), "it has no calls of class `call`");
        let line = |text: &str| wrong(&format!("at_ns,holding_ns\n{text}"));
        assert_eq!(line("5,1\n4,1"), "line 3: it asks before the one above");
        let range = format!("which is a whole number up to {}", Nanos::LIMIT.0);
        assert_eq!(line("1"), format!("line 2: `` is no holding_ns, {range}"));
        assert_eq!(line("1,2\n-1,2"), format!("line 3: `-1` is no at_ns, {range}"));
        assert_eq!(
            line("1,99999999999999999999"),
            format!("line 2: `99999999999999999999` is no holding_ns, {range}")
        );
    }
}
