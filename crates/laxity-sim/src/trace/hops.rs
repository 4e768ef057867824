//! The packet file of a network: one row for every packet at every hop.

use std::io::{self, Write};

use laxity_plan::model::Hop;
use laxity_plan::network::Networked;

use super::outcome;
use crate::network::Watcher;
use crate::record::Record;

/// Its columns.
pub const HOP_COLUMNS: [&str; 11] = [
    "link",
    "from",
    "to",
    "class",
    "flow",
    "length",
    "arrival_ns",
    "deadline_ns",
    "start_ns",
    "departure_ns",
    "verdict",
];

/// Writes a row for every packet that a link sends, that is dropped before it, or that waits for it at
/// the end; a write that fails is told by [`finish`](Self::finish).
pub struct HopTrace<'a, W: Write> {
    writer: csv::Writer<W>,
    on: Networked<'a>,
    failed: Option<csv::Error>,
}

impl<'a, W: Write> HopTrace<'a, W> {
    /// A file with its header.
    pub fn new(writer: W, on: Networked<'a>) -> Self {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 18).from_writer(writer);
        let failed = writer.write_record(HOP_COLUMNS).err();
        HopTrace { writer, on, failed }
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

    fn row(&mut self, hop: Hop, record: &Record) -> csv::Result<()> {
        let packet = &record.packet;
        let (start, departure, verdict) = outcome(record);
        let [from, to] = self.on.network.ends(hop);
        for name in [&self.on.link(hop).name, from, to] {
            self.writer.write_field(name)?;
        }
        self.writer.write_field(&self.on.plan.classes[packet.class.index()].name)?;
        let mut digits = itoa::Buffer::new();
        let numbers =
            [Some(packet.flow.0.into()), Some(packet.length.into()), Some(packet.arrival.0)];
        let times = [record.deadline, start, departure].map(|time| time.map(|time| time.0));
        for number in numbers.into_iter().chain(times) {
            let field = number.map_or("", |number: u64| digits.format(number));
            self.writer.write_field(field)?;
        }
        self.writer.write_field(verdict)?;
        self.writer.write_record(None::<&[u8]>)
    }
}

impl<W: Write> Watcher for HopTrace<'_, W> {
    fn hop(&mut self, hop: Hop, record: &Record) {
        if self.failed.is_none() {
            self.failed = self.row(hop, record).err();
        }
    }
}
