//! Events read.

use std::io::{ErrorKind, Read};

use laxity::packet::{ClassId, FlowId, HostId, Hosts, Packet};
use laxity::scheduler::Backlog;
use laxity::units::{Nanos, Rate};
use laxity_plan::matching::Headers;

use super::code::{self, Flags};
use super::{Entry, Header, LONGEST_TEXT, LedgerError, MAGIC, VERSIONS};
use crate::event::{ArrivedPacket, DeliveredPacket, DroppedPacket, Event, LostPacket, SentPacket};

/// Reads a ledger, record by record. It reads byte by byte: give it a buffered reader. Packets have
/// the handle 0.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    version: u8,
    header: Header,
    record: u64,
    time: u64,
    number: u64,
    /// Whether there was an error: then there is nothing more.
    is_over: bool,
}

impl<R: Read> Reader<R> {
    /// Opens a ledger.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(mut input: R) -> Result<Self, LedgerError> {
        let mut magic = [0; MAGIC.len()];
        match input.read_exact(&mut magic) {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error.into()),
            Ok(()) => {}
            Err(_) => return Err(LedgerError::NoLedger),
        }
        let version = version(&magic).ok_or(LedgerError::NoLedger)?;
        if !VERSIONS.contains(&version) {
            return Err(LedgerError::OtherVersion(version));
        }
        let none = Backlog::default();
        let header = Header { seed: 0, backlog: none, catch_up: Nanos::ZERO };
        let mut reader =
            Reader { input, version, header, record: 0, time: 0, number: 0, is_over: false };
        if reader.byte()? != Some(0) {
            return Err(LedgerError::NoLedger);
        }
        let seed = reader.read_number()?;
        let packets = reader.read_number()?;
        let packets = usize::try_from(packets).map_err(|_| LedgerError::NoLedger)?;
        let backlog = Backlog { packets, bytes: reader.read_number()? };
        reader.header = Header { seed, backlog, catch_up: Nanos(reader.read_number()?) };
        Ok(reader)
    }

    /// What the run went by.
    pub fn header(&self) -> Header {
        self.header
    }

    fn entry(&mut self) -> Result<Option<Entry>, LedgerError> {
        let Some(tag) = self.byte()? else { return Ok(None) };
        let entry = match tag {
            code::PLAN => Entry::Plan(self.text()?),
            code::FILE => Entry::File { key: self.text()?, text: self.text()? },
            code::GAP => Entry::Gap { lost: self.read_number()? },
            _ => Entry::Event(self.event(tag)?),
        };
        self.record += 1;
        Ok(Some(entry))
    }

    fn text(&mut self) -> Result<String, LedgerError> {
        let length = self.read_number()?;
        if length > LONGEST_TEXT {
            return Err(self.malformed("a text is too long"));
        }
        // It grows with what is there, whatever length is said.
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(LedgerError::CutShort { record: self.record });
        }
        String::from_utf8(bytes).map_err(|_| self.malformed("a text is not in UTF-8"))
    }

    fn event(&mut self, tag: u8) -> Result<Event, LedgerError> {
        Ok(match tag {
            code::ARRIVED => {
                let (number, time) = (self.after()?, self.since()?);
                let (class, flow, length) = self.class_flow_length()?;
                let signals = code::read_signals(self.read_number()?);
                let signals = signals.ok_or_else(|| self.malformed("no such bits of ECN"))?;
                let ((ecn, ack), headers) = (signals, Headers::default());
                let arrived = self.before(time)?;
                Event::Arrived(ArrivedPacket {
                    number,
                    arrived,
                    time,
                    class,
                    flow,
                    length,
                    ecn,
                    ack,
                    headers,
                })
            }
            code::NONCONFORMING => {
                let number = self.after()?;
                Event::Nonconforming { number, class: ClassId(self.read_small()?) }
            }
            code::SENT => Event::Sent(self.sent()?),
            code::DROPPED => {
                let (number, time) = (self.after()?, self.since()?);
                let reason = code::reason(self.read_number()?);
                let reason = reason.ok_or_else(|| self.malformed("no such reason"))?;
                let (packet, _) = self.packet(time)?;
                Event::Dropped(DroppedPacket { number, packet, time, reason })
            }
            code::LOST => {
                let (number, time) = (self.after()?, self.since()?);
                let cause = code::cause(self.read_number()?);
                let cause = cause.ok_or_else(|| self.malformed("no such cause"))?;
                let (packet, _) = self.packet(time)?;
                Event::Lost(LostPacket { number, packet, time, cause })
            }
            code::DELIVERED => Event::Delivered(self.delivered()?),
            code::IDLE => Event::Idle { time: self.since()?, lateness: Nanos(self.read_number()?) },
            code::RATE => Event::Rate { time: self.since()?, rate: Rate(self.read_number()?) },
            code::RELOADED => Event::Reloaded { time: self.since()?, kept: self.read_number()? },
            code::INTRODUCED => {
                let (class, flow) = (ClassId(self.read_small()?), FlowId(self.read_small()?));
                let [source, destination] = [self.read_small()?, self.read_small()?].map(HostId);
                Event::Introduced { class, flow, hosts: Hosts { source, destination } }
            }
            code::RESUMED => {
                let (time, arrived) = (self.since()?, self.read_number()?);
                let free_at = [self.read_number()?, self.read_number()?];
                let free_at = free_at.map(|at| Nanos(code::unzigzag(time.0, at)));
                Event::Resumed { time, arrived, free_at, queued: self.read_number()? }
            }
            code::QUEUED => {
                let number = self.after()?;
                Event::Queued { number, packet: self.packet(Nanos(self.time))?.0 }
            }
            code::KEPT => {
                let number = self.after()?;
                let (class, flow) = (ClassId(self.read_small()?), FlowId(self.read_small()?));
                Event::Kept { number, class, flow }
            }
            _ => return Err(self.malformed("there is no such record")),
        })
    }

    fn sent(&mut self) -> Result<SentPacket, LedgerError> {
        let (number, start) = (self.after()?, self.since()?);
        let lateness = Nanos(self.read_number()?);
        let departure = Nanos(code::unzigzag(start.0, self.read_number()?));
        let allowance = Nanos(self.read_number()?);
        let (packet, Flags { has_deadline, is_under_way, .. }) = self.packet(start)?;
        let deadline = if has_deadline {
            Some(Nanos(code::unzigzag(start.0, self.read_number()?)))
        } else {
            None
        };
        let arrived = self.before(packet.arrival)?;
        let held = if self.version < 3 { Nanos::ZERO } else { Nanos(self.read_number()?) };
        let sent = SentPacket {
            number,
            arrived,
            packet,
            deadline,
            start,
            lateness,
            departure,
            allowance,
            held,
            is_under_way,
            is_washed: false,
        };
        Ok(sent)
    }

    fn delivered(&mut self) -> Result<DeliveredPacket, LedgerError> {
        let (number, time) = (self.after()?, self.since()?);
        let due = Nanos(code::unzigzag(time.0, self.read_number()?));
        let flags = code::read_delivery(self.read_number()?);
        let (is_copy, is_needed) = flags.ok_or_else(|| self.malformed("no such flags"))?;
        let (class, length) = (ClassId(self.read_small()?), self.read_small()?);
        let handle = 0;
        Ok(DeliveredPacket { number, class, length, handle, due, time, is_copy, is_needed })
    }

    fn packet(&mut self, time: Nanos) -> Result<(Packet, Flags), LedgerError> {
        let flags = Flags::read(self.read_number()?);
        let flags = flags.ok_or_else(|| self.malformed("no such flags"))?;
        let Flags { demoted, ecn, ack, .. } = flags;
        let (class, flow, length) = self.class_flow_length()?;
        let arrival = Nanos(code::unzigzag(time.0, self.read_number()?));
        Ok((Packet { class, flow, length, demoted, ecn, ack, arrival, handle: 0 }, flags))
    }

    fn class_flow_length(&mut self) -> Result<(ClassId, FlowId, u32), LedgerError> {
        Ok((ClassId(self.read_small()?), FlowId(self.read_small()?), self.read_small()?))
    }

    /// When a packet arrived that counts from a time on.
    fn before(&mut self, time: Nanos) -> Result<Nanos, LedgerError> {
        if self.version < 3 {
            return Ok(time);
        }
        Ok(Nanos(code::unzigzag(time.0, self.read_number()?)))
    }

    fn since(&mut self) -> Result<Nanos, LedgerError> {
        self.time = code::unzigzag(self.time, self.read_number()?);
        Ok(Nanos(self.time))
    }

    fn after(&mut self) -> Result<u64, LedgerError> {
        self.number = code::unzigzag(self.number, self.read_number()?);
        Ok(self.number)
    }

    fn read_small(&mut self) -> Result<u32, LedgerError> {
        u32::try_from(self.read_number()?).map_err(|_| self.malformed("a number is too large"))
    }

    fn read_number(&mut self) -> Result<u64, LedgerError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let cut_short = LedgerError::CutShort { record: self.record };
            let byte = self.byte()?.ok_or(cut_short)?;
            let part = u64::from(byte & 127);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(self.malformed("a number is too large"))
    }

    fn byte(&mut self) -> Result<Option<u8>, LedgerError> {
        let mut byte = [0];
        loop {
            match self.input.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => return Ok(Some(byte[0])),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn malformed(&self, what: &'static str) -> LedgerError {
        LedgerError::Malformed { record: self.record, what }
    }
}

/// The version that a first line says.
fn version(line: &[u8]) -> Option<u8> {
    let number = line.strip_prefix(b"laxity ledger ").and_then(|rest| rest.strip_suffix(b"\n"));
    match number {
        Some(&[digit @ b'0'..=b'9']) => Some(digit - b'0'),
        _ => None,
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Entry, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = self.entry().transpose();
        self.is_over = !matches!(entry, Some(Ok(_)));
        entry
    }
}
