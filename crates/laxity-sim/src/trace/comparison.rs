//! Packets of a run beside the packet file of an earlier one.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::rc::Rc;

use laxity_plan::Plan;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Field;
use parquet::record::reader::RowIter;

use super::CsvTrace;
use super::columns::{COLUMNS, HOP_COLUMNS};
use crate::record::{Observer, Record};

/// Compares the rows of a run, as it goes on, with those of a packet file.
pub struct RowComparison<'a> {
    trace: CsvTrace<'a, Comparer>,
    state: Rc<RefCell<State>>,
}

/// The first row of a packet file that a run does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowDifference {
    /// Its number, from 1; 0 is the header.
    pub row: u64,
    /// The row of the file as CSV; empty if it has fewer.
    pub stored: String,
    /// The row of the run as CSV; empty if it has fewer.
    pub repeated: String,
}

struct State {
    stored: Box<dyn BufRead>,
    /// The number of rows that are alike, the header included.
    rows: u64,
    /// What is compared of the row that is not whole yet.
    begun: Vec<u8>,
    difference: Option<RowDifference>,
}

/// Takes the rows of the run.
struct Comparer(Rc<RefCell<State>>);

impl<'a> RowComparison<'a> {
    /// Compares with a CSV file, or with a Parquet file if that is its extension.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path, plan: &'a Plan) -> io::Result<Self> {
        let file = File::open(path)?;
        let stored: Box<dyn BufRead> = if path.extension().is_some_and(|end| end == "parquet") {
            let reader = SerializedFileReader::new(file)?;
            Box::new(BufReader::new(ParquetRows::new(reader, plan.network.is_some())?))
        } else {
            Box::new(BufReader::new(file))
        };
        let state = State { stored, rows: 0, begun: Vec::new(), difference: None };
        let state = Rc::new(RefCell::new(state));
        let trace = CsvTrace::new(Comparer(state.clone()), plan);
        Ok(RowComparison { trace, state })
    }

    /// The first difference, once the run is over.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn finish(self) -> io::Result<Option<RowDifference>> {
        self.trace.finish()?;
        let mut state = self.state.borrow_mut();
        if state.difference.is_none() && !state.stored.fill_buf()?.is_empty() {
            state.differ(&[])?;
        }
        Ok(state.difference.take())
    }
}

impl Observer for RowComparison<'_> {
    fn record(&mut self, record: &Record) {
        self.trace.record(record);
    }
}

impl State {
    fn compare(&mut self, mut repeated: &[u8]) -> io::Result<()> {
        while !repeated.is_empty() && self.difference.is_none() {
            let stored = self.stored.fill_buf()?;
            let most = stored.len().min(repeated.len());
            let alike = stored.iter().zip(repeated).take_while(|(one, other)| one == other).count();
            let is_different = alike < most || most == 0;
            let (same, rest) = repeated.split_at(alike);
            self.rows += same.iter().filter(|byte| **byte == b'\n').count() as u64;
            match same.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => self.begun = same[end + 1..].to_vec(),
                None => self.begun.extend(same),
            }
            self.stored.consume(alike);
            repeated = rest;
            if is_different {
                self.differ(repeated)?;
            }
        }
        Ok(())
    }

    /// Takes down the row in which the rest of the file is not as `repeated`.
    fn differ(&mut self, repeated: &[u8]) -> io::Result<()> {
        /// No row is longer.
        const LONGEST: u64 = 1 << 16;
        let mut stored = self.begun.clone();
        self.stored.by_ref().take(LONGEST).read_until(b'\n', &mut stored)?;
        let mut own = self.begun.clone();
        own.extend(repeated.split(|byte| *byte == b'\n').next().unwrap_or_default());
        let text = |row: &[u8]| String::from_utf8_lossy(row).trim_end().to_string();
        let (stored, repeated) = (text(&stored), text(&own));
        self.difference = Some(RowDifference { row: self.rows, stored, repeated });
        Ok(())
    }
}

impl Write for Comparer {
    fn write(&mut self, rows: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().compare(rows)?;
        Ok(rows.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The rows of a Parquet file as CSV.
struct ParquetRows {
    rows: RowIter<'static>,
    /// The row that is read.
    row: io::Cursor<Vec<u8>>,
}

impl ParquetRows {
    fn new(reader: SerializedFileReader<File>, is_network: bool) -> io::Result<Self> {
        let (number, others) = COLUMNS.split_at(1);
        let place: &[&str] = if is_network { &HOP_COLUMNS } else { number };
        let header = [place, others].concat().join(",") + "\n";
        let rows = RowIter::from_file_into(Box::new(reader));
        Ok(ParquetRows { rows, row: io::Cursor::new(header.into_bytes()) })
    }

    fn next_row(&mut self) -> io::Result<()> {
        let Some(row) = self.rows.next().transpose()? else { return Ok(()) };
        let mut writer = csv::Writer::from_writer(Vec::new());
        for (_, field) in row.get_column_iter() {
            match field {
                Field::Null => writer.write_field("")?,
                Field::Str(text) => writer.write_field(text)?,
                other => writer.write_field(other.to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
        let row = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        self.row = io::Cursor::new(row);
        Ok(())
    }
}

impl Read for ParquetRows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.row.fill_buf()?.is_empty() {
            self.next_row()?;
        }
        self.row.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(stored: &str, pieces: &[&str]) -> Option<RowDifference> {
        let stored = Box::new(io::Cursor::new(stored.as_bytes().to_vec()));
        let mut state = State { stored, rows: 0, begun: Vec::new(), difference: None };
        for piece in pieces {
            state.compare(piece.as_bytes()).unwrap();
        }
        if state.difference.is_none() && !state.stored.fill_buf().unwrap().is_empty() {
            state.differ(&[]).unwrap();
        }
        state.difference
    }

    fn difference(row: u64, stored: &str, repeated: &str) -> Option<RowDifference> {
        let (stored, repeated) = (stored.to_string(), repeated.to_string());
        Some(RowDifference { row, stored, repeated })
    }

    #[test]
    fn the_first_row_that_differs_is_found() {
        let stored = "a,b\n1,2\n3,44\n";
        assert_eq!(compared(stored, &["a,b\n1,", "2\n3,44\n"]), None);
        assert_eq!(compared(stored, &["a,b\n1,2\n3,", "45\n5,6\n"]), difference(2, "3,44", "3,45"));
        assert_eq!(compared(stored, &["a,b\n1,3\n"]), difference(1, "1,2", "1,3"));
        assert_eq!(compared(stored, &["a,b\n1,2\n"]), difference(2, "3,44", ""));
        assert_eq!(compared(stored, &[stored, "5,6\n"]), difference(3, "", "5,6"));
    }
}
