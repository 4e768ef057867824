//! Events written.

use std::io::{self, Write};

use laxity::packet::{Hosts, Packet};

use super::code::{self, Flags};
use super::{Header, MAGIC};
use crate::event::{ArrivedPacket, DeliveredPacket, DroppedPacket, Event, LostPacket, SentPacket};

/// Writes the ledger of a run. Each record is written at once; give it a buffered writer. Nothing
/// is allocated.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// The time of the last record that has one.
    time: u64,
    /// The number of the last packet.
    number: u64,
}

/// A record in the making, in room for the longest.
struct Record {
    bytes: [u8; 128],
    length: usize,
}

impl Default for Record {
    fn default() -> Record {
        Record { bytes: [0; 128], length: 0 }
    }
}

impl Record {
    fn new(tag: u8) -> Record {
        Record::default().byte(tag)
    }

    fn byte(mut self, byte: u8) -> Record {
        self.bytes[self.length] = byte;
        self.length += 1;
        self
    }

    fn number(mut self, mut number: u64) -> Record {
        while number >= 128 {
            self = self.byte(number as u8 | 128);
            number >>= 7;
        }
        self.byte(number as u8)
    }

    fn numbers(self, numbers: impl IntoIterator<Item = u64>) -> Record {
        numbers.into_iter().fold(self, Record::number)
    }
}

impl<W: Write> Writer<W> {
    /// Begins a ledger.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut out: W, header: Header) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let Header { seed, backlog, catch_up } = header;
        let mut writer = Writer { out, time: 0, number: 0 };
        let limits = [backlog.packets as u64, backlog.bytes, catch_up.0];
        writer.put(Record::new(0).number(seed).numbers(limits))?;
        Ok(writer)
    }

    /// Writes the text of the plan that is followed from the start, or from the next reload on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn plan(&mut self, text: &str) -> io::Result<()> {
        self.put(Record::new(code::PLAN).number(text.len() as u64))?;
        self.out.write_all(text.as_bytes())
    }

    /// Writes the text of a file that the next plan names by a key.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn file(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.put(Record::new(code::FILE).number(key.len() as u64))?;
        self.out.write_all(key.as_bytes())?;
        self.put(Record::default().number(text.len() as u64))?;
        self.out.write_all(text.as_bytes())
    }

    /// Writes that this many events are not in it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn gap(&mut self, lost: u64) -> io::Result<()> {
        self.put(Record::new(code::GAP).number(lost))
    }

    /// Writes an event.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let record = match *event {
            Event::Arrived(arrived) => self.arrived(arrived),
            Event::Nonconforming { number, class } => {
                let number = self.after(number);
                Record::new(code::NONCONFORMING).number(number).number(class.0.into())
            }
            Event::Sent(sent) => self.sent(sent),
            Event::Dropped(dropped) => self.dropped(dropped),
            Event::Delivered(delivered) => self.delivered(delivered),
            Event::Lost(lost) => self.lost(lost),
            Event::Idle { time, lateness } => {
                Record::new(code::IDLE).number(self.since(time.0)).number(lateness.0)
            }
            Event::Rate { time, rate } => {
                Record::new(code::RATE).number(self.since(time.0)).number(rate.0)
            }
            Event::Reloaded { time, kept } => {
                Record::new(code::RELOADED).number(self.since(time.0)).number(kept)
            }
            Event::Introduced { class, flow, hosts: Hosts { source, destination } } => {
                let numbers = [class.0, flow.0, source.0, destination.0];
                Record::new(code::INTRODUCED).numbers(numbers.map(u64::from))
            }
            Event::Resumed { time, arrived, free_at, queued } => {
                let record = Record::new(code::RESUMED).number(self.since(time.0)).number(arrived);
                let free_at = free_at.map(|at| code::zigzag(time.0, at.0));
                record.numbers(free_at).number(queued)
            }
            Event::Queued { number, packet } => {
                let record = Record::new(code::QUEUED).number(self.after(number));
                packet_of(record, &packet, self.time, Flags::new(&packet))
            }
            Event::Kept { number, class, flow } => {
                let number = self.after(number);
                Record::new(code::KEPT).number(number).numbers([class.0, flow.0].map(u64::from))
            }
        };
        self.put(record)
    }

    /// What it is written to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Ends it; the writer gets what was written.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn arrived(&mut self, arrived: ArrivedPacket) -> Record {
        let ArrivedPacket { number, time, class, flow, length, ecn, ack, .. } = arrived;
        let before = code::zigzag(time.0, arrived.arrived.0);
        let (number, time) = (self.after(number), self.since(time.0));
        let record = Record::new(code::ARRIVED).number(number).number(time);
        let record = record.numbers([class.0, flow.0, length].map(u64::from));
        record.number(code::signals(ecn, ack)).number(before)
    }

    fn sent(&mut self, sent: SentPacket) -> Record {
        let SentPacket { number, packet, deadline, start, lateness, departure, .. } = sent;
        let record = Record::new(code::SENT).number(self.after(number));
        let record = record.number(self.since(start.0)).number(lateness.0);
        let record = record.number(code::zigzag(start.0, departure.0)).number(sent.allowance.0);
        let flags = Flags {
            has_deadline: deadline.is_some(),
            is_under_way: sent.is_under_way,
            ..Flags::new(&packet)
        };
        let record = packet_of(record, &packet, start.0, flags);
        let record = match deadline {
            Some(deadline) => record.number(code::zigzag(start.0, deadline.0)),
            None => record,
        };
        record.number(code::zigzag(packet.arrival.0, sent.arrived.0)).number(sent.held.0)
    }

    fn dropped(&mut self, dropped: DroppedPacket) -> Record {
        let DroppedPacket { number, packet, time, reason } = dropped;
        let record = Record::new(code::DROPPED).number(self.after(number));
        let record = record.number(self.since(time.0)).number(code::reason_code(reason));
        packet_of(record, &packet, time.0, Flags::new(&packet))
    }

    fn lost(&mut self, lost: LostPacket) -> Record {
        let LostPacket { number, packet, time, cause } = lost;
        let record = Record::new(code::LOST).number(self.after(number));
        let record = record.number(self.since(time.0)).number(code::cause_code(cause));
        packet_of(record, &packet, time.0, Flags::new(&packet))
    }

    fn delivered(&mut self, delivered: DeliveredPacket) -> Record {
        let DeliveredPacket { number, class, length, due, time, is_copy, is_needed, .. } =
            delivered;
        let record = Record::new(code::DELIVERED).number(self.after(number));
        let record = record.number(self.since(time.0)).number(code::zigzag(time.0, due.0));
        let record = record.number(code::delivery(is_copy, is_needed));
        record.numbers([class.0, length].map(u64::from))
    }

    /// How much later a time is than that of the last record.
    fn since(&mut self, time: u64) -> u64 {
        let last = std::mem::replace(&mut self.time, time);
        code::zigzag(last, time)
    }

    /// How many packets a packet comes after the last one.
    fn after(&mut self, number: u64) -> u64 {
        let last = std::mem::replace(&mut self.number, number);
        code::zigzag(last, number)
    }

    fn put(&mut self, record: Record) -> io::Result<()> {
        self.out.write_all(&record.bytes[..record.length])
    }
}

fn packet_of(record: Record, packet: &Packet, time: u64, flags: Flags) -> Record {
    let Packet { class, flow, length, arrival, .. } = *packet;
    let record = record.number(flags.number());
    let record = record.numbers([class.0, flow.0, length].map(u64::from));
    record.number(code::zigzag(time, arrival.0))
}
