//! Packet files as CSV.

use std::io::{self, Write};

use super::{COLUMNS, outcome};
use crate::record::{Observer, Record};

/// Writes a row for every packet; a write that fails is told by [`finish`](Self::finish).
pub struct CsvTrace<W: Write> {
    writer: csv::Writer<W>,
    classes: Vec<String>,
    digits: itoa::Buffer,
    failed: Option<csv::Error>,
}

impl<W: Write> CsvTrace<W> {
    /// A file with its header, for classes of these names.
    pub fn new(writer: W, classes: Vec<String>) -> Self {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 18).from_writer(writer);
        let failed = writer.write_record(COLUMNS).err();
        CsvTrace { writer, classes, digits: itoa::Buffer::new(), failed }
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// The first that any write met.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error.into()),
            None => self.writer.flush(),
        }
    }

    fn number(&mut self, number: u64) -> csv::Result<()> {
        self.writer.write_field(self.digits.format(number))
    }

    fn optional(&mut self, number: Option<laxity::units::Nanos>) -> csv::Result<()> {
        match number {
            Some(number) => self.number(number.0),
            None => self.writer.write_field(""),
        }
    }

    fn row(&mut self, record: &Record) -> csv::Result<()> {
        let packet = &record.packet;
        let (start, departure, verdict) = outcome(record);
        self.number(packet.handle)?;
        self.writer.write_field(&self.classes[packet.class.index()])?;
        self.number(packet.flow.0.into())?;
        self.number(packet.length.into())?;
        self.number(packet.arrival.0)?;
        self.optional(record.deadline)?;
        self.optional(start)?;
        self.optional(departure)?;
        self.writer.write_field(verdict)?;
        self.writer.write_record(None::<&[u8]>)
    }
}

impl<W: Write> Observer for CsvTrace<W> {
    fn record(&mut self, record: &Record) {
        if self.failed.is_none() {
            self.failed = self.row(record).err();
        }
    }
}
