//! Packet files as Parquet, with the columns of the CSV. Absent values are null.

use std::io::{self, Write};
use std::sync::Arc;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::network::NetworkPlan;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::columns::{HOP_COLUMNS, outcome};
use crate::record::{Observer, Record};

/// Writes a row for every packet, of a network one at every hop. A write that fails is an error of
/// [`finish`](Self::finish).
pub struct ParquetTrace<'a> {
    writer: SerializedFileWriter<Target<'a>>,
    rows: Rows,
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

/// Columns whose values are hardly ever the same and little apart: their differences are written,
/// where others have a dictionary.
const RISING: [&str; 5] = ["seq", "arrival_ns", "deadline_ns", "start_ns", "departure_ns"];

/// The rows of the next group, column by column.
struct Rows {
    place: Place,
    class: Words,
    flow: Vec<i64>,
    length: Vec<i64>,
    arrival: Vec<i64>,
    deadline: Times,
    start: Times,
    departure: Times,
    verdict: Words,
}

/// The columns that say where a packet was.
enum Place {
    Link { seq: Vec<i64> },
    Network([Words; HOP_COLUMNS.len()]),
}

/// A column of few different words.
#[derive(Default)]
struct Words {
    known: Vec<ByteArray>,
    /// By row: the number of the word.
    rows: Vec<u32>,
}

/// Times that may be absent.
#[derive(Default)]
struct Times {
    values: Vec<i64>,
    present: Vec<i16>,
}

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
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk);
        let properties =
            RISING.map(ColumnPath::from).into_iter().fold(properties, |all, column| {
                all.set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            });
        let writer = SerializedFileWriter::new(
            Box::new(writer) as Target<'_>,
            Arc::new(schema),
            Arc::new(properties.build()),
        )?;
        Ok(ParquetTrace { writer, rows: Rows::new(plan), failed: None })
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
        if self.failed.is_none() && self.rows.count() > 0 {
            self.failed = self.try_write_group().err();
        }
        self.rows.clear();
    }

    fn try_write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        self.rows.write(&mut group)?;
        group.close().map(drop)
    }
}

impl Observer for ParquetTrace<'_> {
    fn record(&mut self, record: &Record) {
        self.rows.push(record);
        if self.rows.count() == Self::ROWS_IN_A_GROUP {
            self.write_group();
        }
    }
}

impl Rows {
    fn new(plan: &Plan) -> Self {
        let place = match plan.network_plan() {
            None => Place::Link { seq: Vec::new() },
            Some(NetworkPlan { network, .. }) => {
                let name = |hop, column: usize| {
                    let [from, to] = network.ends(hop);
                    [&network.link(hop).name, from, to][column]
                };
                let columns = std::array::from_fn(|column| {
                    Words::known(network.hops().map(|hop| name(hop, column)))
                });
                Place::Network(columns)
            }
        };
        Rows {
            place,
            class: Words::known(plan.classes.iter().map(|class| &class.name[..])),
            flow: Vec::new(),
            length: Vec::new(),
            arrival: Vec::new(),
            deadline: Times::default(),
            start: Times::default(),
            departure: Times::default(),
            verdict: Words::default(),
        }
    }

    fn count(&self) -> usize {
        self.flow.len()
    }

    fn push(&mut self, record: &Record) {
        let packet = &record.packet;
        let (start, departure, verdict) = outcome(record);
        match &mut self.place {
            Place::Link { seq } => seq.push(packet.handle as i64),
            Place::Network(columns) => columns.iter_mut().for_each(|column| match record.hop {
                // The order of `hops`.
                Some(hop) => column.rows.push(2 * hop.link.0 + u32::from(hop.backward)),
                None => column.push(""),
            }),
        }
        self.class.rows.push(packet.class.0);
        self.flow.push(packet.flow.0.into());
        self.length.push(packet.length.into());
        self.arrival.push(packet.arrival.0 as i64);
        self.deadline.push(record.deadline);
        self.start.push(start);
        self.departure.push(departure);
        self.verdict.push(verdict);
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, Target<'_>>) -> Result<()> {
        match &self.place {
            Place::Link { seq } => column::<Int64Type>(group, seq, None)?,
            Place::Network(columns) => {
                columns.iter().try_for_each(|column| column.write(group))?;
            }
        }
        self.class.write(group)?;
        column::<Int64Type>(group, &self.flow, None)?;
        column::<Int64Type>(group, &self.length, None)?;
        column::<Int64Type>(group, &self.arrival, None)?;
        for Times { values, present } in [&self.deadline, &self.start, &self.departure] {
            column::<Int64Type>(group, values, Some(present))?;
        }
        self.verdict.write(group)
    }

    fn clear(&mut self) {
        match &mut self.place {
            Place::Link { seq } => seq.clear(),
            Place::Network(columns) => columns.iter_mut().for_each(|column| column.rows.clear()),
        }
        self.class.rows.clear();
        let numbers = [&mut self.flow, &mut self.length, &mut self.arrival];
        numbers.into_iter().for_each(Vec::clear);
        for Times { values, present } in [&mut self.deadline, &mut self.start, &mut self.departure]
        {
            values.clear();
            present.clear();
        }
        self.verdict.rows.clear();
    }
}

impl Words {
    /// Words whose numbers are known.
    fn known<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        Words { known: words.map(ByteArray::from).collect(), rows: Vec::new() }
    }

    fn push(&mut self, word: &str) {
        let known = self.known.iter().position(|known| known.data() == word.as_bytes());
        let number = known.unwrap_or_else(|| {
            self.known.push(word.into());
            self.known.len() - 1
        });
        self.rows.push(number as u32);
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, Target<'_>>) -> Result<()> {
        let word = |number: &u32| self.known[*number as usize].clone();
        column::<ByteArrayType>(group, &self.rows.iter().map(word).collect::<Vec<_>>(), None)
    }
}

impl Times {
    fn push(&mut self, time: Option<Nanos>) {
        self.values.extend(time.map(|time| time.0 as i64));
        self.present.push(i16::from(time.is_some()));
    }
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity::packet::{ClassId, FlowId, Packet};
    use laxity::scheduler::DropReason;
    use laxity_plan::model::{Hop, LinkId};
    use rand::RngExt;
    use rand::seq::IndexedRandom;

    use super::*;
    use crate::record::Fate;
    use crate::source::random::{Generator, generator};
    use crate::trace::RowComparison;

    const LINK: &str = r#"
        version = 1
        link = { rate = "8mbit" }
        scheduler.kind = "edf"
        class.one = {}
        class.two = {}
    "#;
    const NETWORK: &str = r#"
        network = { x.between = ["a", "b"], y.between = ["b", "c"] }
        source = [{ class = "one", model = "poisson", packet = "90b", rate = "1kB/s", path = ["a", "b", "c"] }]
    "#;

    /// Any row: times go up and down, and are as small and as large as they may be.
    fn row(draw: &mut Generator, hop: Option<Hop>) -> Record {
        let times = [0, 1, 1_000_000, i64::MAX as u64, draw.random_range(0..1 << 40)];
        let time = |draw: &mut Generator| Nanos(*times.choose(draw).unwrap());
        let fate = match draw.random_range(0..3) {
            0 => Fate::Queued,
            1 => Fate::Dropped(DropReason::QueueFull),
            _ => Fate::Sent { start: time(draw), departure: time(draw) },
        };
        let packet = Packet {
            class: ClassId(draw.random_range(0..2)),
            flow: FlowId(*[0, 7, u32::MAX].choose(draw).unwrap()),
            length: draw.random(),
            arrival: time(draw),
            handle: draw.random::<u64>() >> 1,
            ..Packet::default()
        };
        let deadline = draw.random::<bool>().then(|| time(draw));
        Record { packet, set_out: Nanos::ZERO, hop, deadline, fate }
    }

    /// With groups that are full and one that is not.
    #[test]
    fn any_rows_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.parquet");
        for (text, is_network) in [(LINK.to_owned(), false), ([LINK, NETWORK].concat(), true)] {
            let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
            for seed in 0..3 {
                let mut draw = generator(seed, 0, 0);
                let rows: Vec<Record> = (0..ParquetTrace::ROWS_IN_A_GROUP * 2 + 5)
                    .map(|_| {
                        let link = LinkId(draw.random_range(0..2));
                        let hop = Hop { link, backward: draw.random() };
                        row(&mut draw, is_network.then_some(hop))
                    })
                    .collect();
                let mut trace =
                    ParquetTrace::new(std::fs::File::create(&path).unwrap(), &plan).unwrap();
                rows.iter().for_each(|row| trace.record(row));
                trace.finish().unwrap();
                let mut comparison = RowComparison::open(&path, &plan).unwrap();
                rows.iter().for_each(|row| comparison.record(row));
                assert_eq!(comparison.finish().unwrap(), None);
            }
        }
    }
}
