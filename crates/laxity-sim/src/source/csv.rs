//! Arrivals as CSV: `time_ns,class,length` and optional `flow` and `ecn`, in any order of columns;
//! in place of the sources of a network with the column `source`, too.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use laxity::packet::{ClassId, FlowId};
use laxity::units::{Bytes, Nanos};
use laxity_plan::model::{Plan, SourceId};

use super::arrival::flows_of;
use super::order::{ClassLimit, Record, Records, Sighting};
use crate::error::{CsvProblem, SimError};

/// No line is longer, so that a file without line ends cannot take all memory.
const LONGEST_LINE: usize = 64 << 10;

/// Reads an arrivals CSV line by line.
pub(super) struct CsvArrivals<R: Read> {
    reader: Reader<RecordLimit<R>>,
    path: PathBuf,
    columns: Columns,
    classes: Vec<ClassLimit>,
    by_name: HashMap<Vec<u8>, ClassId>,
    /// The flows of a network's sources, and which source is wanted.
    sources: Option<(SourceId, Vec<Flows>)>,
    record: ByteRecord,
}

/// The class and the number of a source's flows; `None` for a recording.
type Flows = Option<(ClassId, u32)>;

impl<R: Read> CsvArrivals<R> {
    /// Reads the header. Of a network's sources one is wanted.
    pub(super) fn new(
        source: Option<SourceId>,
        input: R,
        path: &Path,
        plan: &Plan,
    ) -> Result<Self, SimError> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(LONGEST_LINE)
            .from_reader(RecordLimit { input, allowance: LONGEST_LINE });
        let classes = ClassLimit::all(plan);
        let by_name = (0..).map(ClassId).zip(&classes);
        let mut arrivals = CsvArrivals {
            reader,
            path: path.to_path_buf(),
            columns: Columns::default(),
            by_name: by_name.map(|(id, class)| (class.name.clone().into_bytes(), id)).collect(),
            classes,
            sources: source.map(|wanted| (wanted, plan.sources.iter().map(flows_of).collect())),
            record: ByteRecord::new(),
        };
        arrivals.read_record()?;
        arrivals.columns = Columns::from_header(&arrivals.record, source.is_some())
            .map_err(|problem| arrivals.refuse(problem))?;
        Ok(arrivals)
    }

    /// Reads the next line into `record`; false at the end.
    fn read_record(&mut self) -> Result<bool, SimError> {
        self.reader.get_mut().allowance = LONGEST_LINE;
        let too_long = CsvProblem::TooLong { limit: Bytes(LONGEST_LINE as u64) };
        match self.reader.read_byte_record(&mut self.record) {
            Ok(_) if self.record.as_slice().len() > LONGEST_LINE => Err(self.refuse(too_long)),
            Ok(read) => Ok(read),
            Err(error) => match error.into_kind() {
                ErrorKind::Io(error) if is_line_too_long(&error) => {
                    let line = self.reader.position().line();
                    Err(SimError::Csv { path: self.path.clone(), line, problem: too_long })
                }
                ErrorKind::Io(source) => Err(SimError::System { path: self.path.clone(), source }),
                // Bytes of any kind in lines of any width give no other.
                kind => Err(SimError::System {
                    path: self.path.clone(),
                    source: io::Error::other(format!("{kind:?}")),
                }),
            },
        }
    }

    /// An error at the line in `record`.
    fn refuse(&self, problem: CsvProblem) -> SimError {
        let line = self.record.position().map_or(1, csv::Position::line);
        SimError::Csv { path: self.path.clone(), line, problem }
    }

    fn parse_record(&self) -> Result<Record, CsvProblem> {
        let (record, columns) = (&self.record, &self.columns);
        if record.len() != columns.count {
            return Err(CsvProblem::FieldCount { found: record.len(), expected: columns.count });
        }
        let time = number(&record[columns.time], TIME)? as i64;
        let name = record[columns.class].trim_ascii();
        let class = *self.by_name.get(name).ok_or_else(|| self.unknown_class(name))?;
        let length = number(&record[columns.length], LENGTH)?;
        let limit = &self.classes[class.index()];
        if !limit.is_leaf {
            return Err(CsvProblem::NotALeaf { class: limit.name.clone() });
        }
        if length == 0 || length > limit.longest {
            let (class, limit) = (limit.name.clone(), limit.longest);
            return Err(CsvProblem::Length { length, class, limit });
        }
        let flow = match columns.flow {
            Some(flow) => number(&record[flow], FLOW)? as u32,
            None => 0,
        };
        let ds = match columns.ecn {
            Some(ecn) => number(&record[ecn], ECN)? as u8,
            None => 0,
        };
        let packet = Sighting { class, flow: FlowId(flow), length: length as u32, ds, ack: 0 };
        Ok(Record { time, packet: Some(packet) })
    }

    /// Whether the record is of the source that is wanted. What it says of another one is checked,
    /// too.
    fn is_wanted(&self, packet: Option<&Sighting>) -> Result<bool, CsvProblem> {
        let (Some((wanted, sources)), Some(packet)) = (&self.sources, packet) else {
            return Ok(true);
        };
        let number = number(&self.record[self.columns.source], SOURCE)?;
        let source = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let limit = source.and_then(|source| sources.get(source));
        let flows = *limit.ok_or(CsvProblem::UnknownSource { number, sources: sources.len() })?;
        let name = |class: ClassId| self.classes[class.index()].name.clone();
        match flows {
            Some((own, _)) if own != packet.class => {
                let (class, own) = (name(packet.class), name(own));
                Err(CsvProblem::OtherClass { number, class, own })
            }
            Some((_, flows)) if packet.flow.0 >= flows => {
                Err(CsvProblem::UnknownFlow { flow: packet.flow.0, number, last: flows - 1 })
            }
            _ => Ok(source == Some(wanted.index())),
        }
    }

    fn unknown_class(&self, name: &[u8]) -> CsvProblem {
        let mut leaves =
            self.classes.iter().filter(|class| class.is_leaf).map(|class| &*class.name);
        let names: Vec<&str> = leaves.by_ref().take(20).collect();
        let more = if leaves.next().is_some() { ", …" } else { "" };
        CsvProblem::UnknownClass { name: shown(name), classes: names.join(", ") + more }
    }
}

impl<R: Read + Send> Records for CsvArrivals<R> {
    const WINDOW: Nanos = Nanos::ZERO;

    fn next_record(&mut self) -> Result<Option<Record>, SimError> {
        while self.read_record()? {
            let record = self.parse_record().map_err(|problem| self.refuse(problem))?;
            let wanted = self.is_wanted(record.packet.as_ref());
            if wanted.map_err(|problem| self.refuse(problem))? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    fn refuse_step(&self, time: i64, newest: i64) -> SimError {
        self.refuse(CsvProblem::Unsorted { time, previous: newest })
    }

    fn origin(&self, _: i64) -> i64 {
        0
    }
}

/// Where the columns are.
#[derive(Default)]
struct Columns {
    time: usize,
    class: usize,
    length: usize,
    flow: Option<usize>,
    ecn: Option<usize>,
    source: usize,
    count: usize,
}

impl Columns {
    fn from_header(header: &ByteRecord, of_sources: bool) -> Result<Columns, CsvProblem> {
        const NAMES: [&str; 6] = ["time_ns", "class", "length", "flow", "ecn", "source"];
        let names = if of_sources { &NAMES[..] } else { &NAMES[..5] };
        let mut found = [None; NAMES.len()];
        for (place, heading) in header.iter().enumerate() {
            let heading = heading.trim_ascii();
            let Some(at) = names.iter().position(|name| name.as_bytes() == heading) else {
                return Err(CsvProblem::UnknownColumn { name: shown(heading), of_sources });
            };
            if found[at].replace(place).is_some() {
                return Err(CsvProblem::RepeatedColumn { name: NAMES[at] });
            }
        }
        let needed =
            |at: usize| found[at].ok_or(CsvProblem::MissingColumn { name: NAMES[at], of_sources });
        Ok(Columns {
            source: if of_sources { needed(5)? } else { 0 },
            time: needed(0)?,
            class: needed(1)?,
            length: needed(2)?,
            flow: found[3],
            ecn: found[4],
            count: header.len(),
        })
    }
}

/// What a column of numbers holds.
struct Numbers {
    column: &'static str,
    limit: u64,
    accepted: &'static str,
}

const fn numbers(column: &'static str, limit: u64, accepted: &'static str) -> Numbers {
    Numbers { column, limit, accepted }
}

const TIME: Numbers =
    numbers("time_ns", Nanos::LIMIT.0, "a whole number of nanoseconds, at most 31 years");

const LENGTH: Numbers = numbers("length", u32::MAX as u64, "a whole number of bytes");

const FLOW: Numbers = numbers("flow", u32::MAX as u64, "a whole number from 0 to 4294967295");

const ECN: Numbers = numbers(
    "value of ecn",
    3,
    "the two bits of the IP header: 0, 1 for ECT(1), 2 for ECT(0), 3 for CE",
);

const SOURCE: Numbers =
    numbers("source", u32::MAX as u64, "the number of one of the plan's [[source]] tables, from 1");

fn number(field: &[u8], numbers: Numbers) -> Result<u64, CsvProblem> {
    let digits = field.trim_ascii();
    let parsed = digits.iter().try_fold(0u64, |sum, &digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    });
    match parsed {
        Some(value) if !digits.is_empty() && value <= numbers.limit => Ok(value),
        _ => Err(CsvProblem::Number {
            column: numbers.column,
            text: shown(digits),
            accepted: numbers.accepted,
        }),
    }
}

/// A field as errors show it: printable and short.
fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(160)]);
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = text.chars().map(visible).take(40).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

/// Refuses to read on when one record has taken more than is allowed.
struct RecordLimit<R> {
    input: R,
    allowance: usize,
}

impl<R: Read> Read for RecordLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if read > 0 && self.allowance == 0 {
            return Err(io::Error::other(LineTooLong));
        }
        self.allowance = self.allowance.saturating_sub(read);
        Ok(read)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("line too long")]
struct LineTooLong;

fn is_line_too_long(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<LineTooLong>())
}
