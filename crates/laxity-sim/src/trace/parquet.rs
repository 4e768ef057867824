//! Packet files as Parquet, with the columns of the CSV. Absent values are null.

use std::io::{self, Write};
use std::sync::Arc;

use laxity_plan::Plan;
use laxity_plan::network::NetworkPlan;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::columns::{HOP_COLUMNS, outcome};
use crate::record::{Observer, Record};

/// Writes a row for every packet, of a network one at every hop. A write that fails is an error of
/// [`finish`](Self::finish).
pub struct ParquetTrace<'a> {
    writer: SerializedFileWriter<Target<'a>>,
    plan: &'a Plan,
    network: Option<NetworkPlan<'a>>,
    rows: Vec<Record>,
    failed: Option<ParquetError>,
}

/// Where a file is written.
type Target<'a> = Box<dyn Write + Send + 'a>;

/// The columns that follow those that say where a packet was.
const COLUMNS: &str = "
    required binary class (utf8);
    required int64 flow;
    required int64 length;
    required int64 arrival_ns;
    optional int64 deadline_ns;
    optional int64 start_ns;
    optional int64 departure_ns;
    required binary verdict (utf8);";

impl<'a> ParquetTrace<'a> {
    const ROWS_IN_A_GROUP: usize = 1 << 16;

    /// A file for the packets of a plan.
    ///
    /// # Errors
    /// If the beginning of the file cannot be written.
    pub fn new(writer: impl Write + Send + 'a, plan: &'a Plan) -> io::Result<Self> {
        let network = plan.network_plan();
        let place = match network {
            None => "required int64 seq;".to_owned(),
            Some(_) => HOP_COLUMNS.map(|name| format!("required binary {name} (utf8);")).concat(),
        };
        let schema = parse_message_type(&format!("message packets {{ {place} {COLUMNS} }}"))?;
        let schema: Arc<Type> = Arc::new(schema);
        let compressed = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(
            Box::new(writer) as Target<'_>,
            schema,
            Arc::new(compressed),
        )?;
        let rows = Vec::with_capacity(Self::ROWS_IN_A_GROUP);
        Ok(ParquetTrace { writer, plan, network, rows, failed: None })
    }

    /// Writes the rows that are still in memory.
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
        let (rows, plan) = (&self.rows, self.plan);
        let mut group = self.writer.next_row_group()?;
        match self.network {
            None => numbers(&mut group, rows, |row| row.packet.handle)?,
            Some(on) => {
                for column in 0..HOP_COLUMNS.len() {
                    words(&mut group, rows, |row| {
                        row.hop.map_or("", |hop| {
                            let [from, to] = on.network.ends(hop);
                            [&on.network.link(hop).name, from, to][column]
                        })
                    })?;
                }
            }
        }
        words(&mut group, rows, |row| &plan.classes[row.packet.class.index()].name)?;
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

impl Observer for ParquetTrace<'_> {
    fn record(&mut self, record: &Record) {
        self.rows.push(*record);
        if self.rows.len() == Self::ROWS_IN_A_GROUP {
            self.write_group();
        }
    }
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, Target<'_>>,
    rows: &[Record],
    value: impl Fn(&Record) -> u64,
) -> Result<()> {
    let values: Vec<i64> = rows.iter().map(|row| value(row) as i64).collect();
    column::<Int64Type>(group, &values, None)
}

fn optional_numbers(
    group: &mut SerializedRowGroupWriter<'_, Target<'_>>,
    rows: &[Record],
    value: impl Fn(&Record) -> Option<u64>,
) -> Result<()> {
    let values: Vec<i64> = rows.iter().filter_map(&value).map(|number| number as i64).collect();
    let present: Vec<i16> = rows.iter().map(|row| i16::from(value(row).is_some())).collect();
    column::<Int64Type>(group, &values, Some(&present))
}

fn words<'a>(
    group: &mut SerializedRowGroupWriter<'_, Target<'_>>,
    rows: &'a [Record],
    value: impl Fn(&'a Record) -> &'a str,
) -> Result<()> {
    let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(value(row))).collect();
    column::<ByteArrayType>(group, &values, None)
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Target<'_>>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns".into()));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}
