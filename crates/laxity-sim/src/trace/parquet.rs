//! Packet files as Parquet, with the columns of the CSV; absent values are null.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::outcome;
use crate::record::{Observer, Record};

/// Writes a row for every packet; a write that fails is told by [`finish`](Self::finish).
pub struct ParquetTrace<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    classes: Vec<String>,
    rows: Vec<Record>,
    failed: Option<ParquetError>,
}

const SCHEMA: &str = "
message packets {
    required int64 seq;
    required binary class (utf8);
    required int64 flow;
    required int64 length;
    required int64 arrival_ns;
    optional int64 deadline_ns;
    optional int64 start_ns;
    optional int64 departure_ns;
    required binary verdict (utf8);
}";

impl<W: Write + Send> ParquetTrace<W> {
    const ROWS_IN_A_GROUP: usize = 1 << 16;

    /// A file for classes of these names.
    ///
    /// # Errors
    /// If the beginning of the file cannot be written.
    pub fn new(writer: W, classes: Vec<String>) -> io::Result<Self> {
        let schema: Arc<Type> = Arc::new(parse_message_type(SCHEMA)?);
        let compressed = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(writer, schema, Arc::new(compressed))?;
        let rows = Vec::with_capacity(Self::ROWS_IN_A_GROUP);
        Ok(ParquetTrace { writer, classes, rows, failed: None })
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// The first that any write met.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_group();
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(self.writer.close().map(drop)?),
        }
    }

    fn write_group(&mut self) {
        if self.failed.is_none() && !self.rows.is_empty() {
            self.failed = self.try_write_group().err();
        }
        self.rows.clear();
    }

    fn try_write_group(&mut self) -> Result<()> {
        let rows = &self.rows;
        let mut group = self.writer.next_row_group()?;
        numbers(&mut group, rows, |row| row.packet.handle)?;
        words(&mut group, rows, |row| &self.classes[row.packet.class.index()])?;
        numbers(&mut group, rows, |row| row.packet.flow.0.into())?;
        numbers(&mut group, rows, |row| row.packet.length.into())?;
        numbers(&mut group, rows, |row| row.packet.arrival.0)?;
        optional_numbers(&mut group, rows, |row| row.deadline.map(|time| time.0))?;
        optional_numbers(&mut group, rows, |row| outcome(row).0.map(|time| time.0))?;
        optional_numbers(&mut group, rows, |row| outcome(row).1.map(|time| time.0))?;
        words(&mut group, rows, |row| outcome(row).2)?;
        group.close().map(drop)
    }
}

impl<W: Write + Send> Observer for ParquetTrace<W> {
    fn record(&mut self, record: &Record) {
        self.rows.push(*record);
        if self.rows.len() == Self::ROWS_IN_A_GROUP {
            self.write_group();
        }
    }
}

fn numbers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Record],
    value: impl Fn(&Record) -> u64,
) -> Result<()> {
    let values: Vec<i64> = rows.iter().map(|row| value(row) as i64).collect();
    column::<Int64Type, W>(group, &values, None)
}

fn optional_numbers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Record],
    value: impl Fn(&Record) -> Option<u64>,
) -> Result<()> {
    let values: Vec<i64> = rows.iter().filter_map(&value).map(|number| number as i64).collect();
    let present: Vec<i16> = rows.iter().map(|row| i16::from(value(row).is_some())).collect();
    column::<Int64Type, W>(group, &values, Some(&present))
}

fn words<'a, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &'a [Record],
    value: impl Fn(&'a Record) -> &'a str,
) -> Result<()> {
    let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(value(row))).collect();
    column::<ByteArrayType, W>(group, &values, None)
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns".into()));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}
