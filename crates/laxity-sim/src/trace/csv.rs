//! Packet files as CSV.

use std::io::{self, Write};

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_plan::network::NetworkPlan;

use super::columns::{COLUMNS, HOP_COLUMNS, outcome};
use crate::record::{Observer, Record};

/// A packet file in CSV: one row for each packet that is sent, dropped or still queued at the end.
/// [`finish`](Self::finish) returns errors of writes.
pub struct CsvTrace<'a, W: Write> {
    writer: csv::Writer<W>,
    plan: &'a Plan,
    network: Option<NetworkPlan<'a>>,
    digits: itoa::Buffer,
    failed: Option<csv::Error>,
}

impl<'a, W: Write> CsvTrace<'a, W> {
    /// A file with its header, for the packets of a plan.
    pub fn new(writer: W, plan: &'a Plan) -> Self {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 18).from_writer(writer);
        let network = plan.network_plan();
        let (_, others) = COLUMNS.split_at(1);
        let failed = match network {
            None => writer.write_record(COLUMNS).err(),
            Some(_) => writer.write_record(HOP_COLUMNS.iter().chain(others)).err(),
        };
        CsvTrace { writer, plan, network, digits: itoa::Buffer::new(), failed }
    }

    /// Writes the rows that are still in memory.
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

    fn optional(&mut self, number: Option<Nanos>) -> csv::Result<()> {
        match number {
            Some(number) => self.number(number.0),
            None => self.writer.write_field(""),
        }
    }

    fn place(&mut self, on: NetworkPlan<'_>, hop: Hop) -> csv::Result<()> {
        let [from, to] = on.network.ends(hop);
        let mut names = [&on.network.link(hop).name, from, to].into_iter();
        names.try_for_each(|name| self.writer.write_field(name))
    }

    fn row(&mut self, record: &Record) -> csv::Result<()> {
        let packet = &record.packet;
        let (start, departure, verdict) = outcome(record);
        match self.network.zip(record.hop) {
            None => self.number(packet.handle)?,
            Some((on, hop)) => self.place(on, hop)?,
        }
        self.writer.write_field(&self.plan.classes[packet.class.index()].name)?;
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

impl<W: Write> Observer for CsvTrace<'_, W> {
    fn record(&mut self, record: &Record) {
        if self.failed.is_none() {
            self.failed = self.row(record).err();
        }
    }
}
