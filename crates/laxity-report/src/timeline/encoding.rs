//! The packets of a timeline as compressed columns.
//!
//! A column is a value of every packet, one after another; a value is a number in LEB128, seven
//! bits a byte, the lowest first. Signed numbers are folded into unsigned ones: 0, -1, 1, -2 and so
//! on are 0, 1, 2, 3. `html/timeline-data.js` reads them, in the order in which they are written
//! here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::why::{Cause, Part, Passage, Timeline, UnsentPacket};
use miniz_oxide::deflate::compress_to_vec_zlib;

/// The level of compression, of 10.
const LEVEL: u8 = 6;

/// The columns, and what their numbers stand for.
pub(super) struct Columns {
    /// By number; those that are no waiting come first, as [`OTHERS`].
    pub causes: Vec<Cause>,
    /// By number.
    pub reasons: Vec<DropReason>,
    bytes: Vec<u8>,
}

/// Causes beside waiting, each with a column of its own.
const OTHERS: [Cause; 5] = [
    Cause::Transmission,
    Cause::SlowTransmission,
    Cause::Propagation,
    Cause::Wire,
    Cause::Regulator,
];

impl Columns {
    pub(super) fn new(timeline: &Timeline) -> Columns {
        let mut columns =
            Columns { causes: OTHERS.to_vec(), reasons: Vec::new(), bytes: Vec::new() };
        columns.passages(timeline);
        columns.unsent(&timeline.unsent);
        columns
    }

    /// As text, compressed.
    pub(super) fn compressed(&self) -> String {
        STANDARD.encode(compress_to_vec_zlib(&self.bytes, LEVEL))
    }

    fn passages(&mut self, timeline: &Timeline) {
        let passages = &timeline.passages;
        self.column(passages, |passage| passage.output.into());
        self.differences(passages.iter().map(|passage| passage.packet));
        self.column(passages, |passage| passage.class.0.into());
        self.column(passages, |passage| passage.length.into());
        let mut free = (u32::MAX, Nanos::ZERO);
        for passage in passages {
            let before = if free.0 == passage.output { free.1 } else { Nanos::ZERO };
            self.signed(passage.start.0, before.0);
            free = (passage.output, passage.departure);
        }
        self.column(passages, |passage| (passage.departure - passage.start).0);
        self.column(passages, |passage| (passage.start - passage.arrival).0);
        for passage in passages {
            match passage.due {
                None => self.value(0),
                Some(due) => self.value(1 + folded(due.0, passage.departure.0)),
            }
        }
        self.column(passages, |passage| passage.is_last.into());
        self.waits(timeline);
        for cause in &OTHERS[1..] {
            self.column(passages, |passage| {
                let parts = parts(timeline, passage).iter();
                parts.filter(|part| part.cause == *cause).map(|part| part.time.0).sum()
            });
        }
    }

    /// The causes of waiting: their number, then which they are, then how long each lasts. The last
    /// one of a passage lasts for the rest of its wait.
    fn waits(&mut self, timeline: &Timeline) {
        let waits = |passage| {
            let parts = parts(timeline, passage).iter();
            parts.filter(|part| matches!(part.cause, Cause::Wait(_)))
        };
        for passage in &timeline.passages {
            self.value(waits(passage).count() as u64);
        }
        for part in timeline.passages.iter().flat_map(waits) {
            let number = number(&mut self.causes, part.cause);
            self.value(number);
        }
        for passage in &timeline.passages {
            let all = waits(passage).count();
            for part in waits(passage).take(all.saturating_sub(1)) {
                self.value(part.time.0);
            }
        }
    }

    fn unsent(&mut self, unsent: &[UnsentPacket]) {
        self.column(unsent, |packet| packet.output.into());
        self.differences(unsent.iter().map(|packet| packet.packet));
        self.column(unsent, |packet| packet.class.0.into());
        self.column(unsent, |packet| packet.length.into());
        self.differences(unsent.iter().map(|packet| packet.arrival.0));
        for packet in unsent {
            let reason = packet.dropped.map(|(_, reason)| 1 + number(&mut self.reasons, reason));
            self.value(reason.unwrap_or(0));
        }
        self.column(unsent, |packet| {
            packet.dropped.map_or(0, |(time, _)| (time - packet.arrival).0)
        });
    }

    fn column<T>(&mut self, rows: &[T], value: impl Fn(&T) -> u64) {
        rows.iter().for_each(|row| self.value(value(row)));
    }

    fn differences(&mut self, values: impl Iterator<Item = u64>) {
        let mut before = 0;
        for value in values {
            self.signed(value, before);
            before = value;
        }
    }

    fn signed(&mut self, value: u64, before: u64) {
        self.value(folded(value, before));
    }

    fn value(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// The causes of a passage.
fn parts<'a>(timeline: &'a Timeline, passage: &Passage) -> &'a [Part] {
    &timeline.parts[passage.first_part as usize..][..passage.parts as usize]
}

/// A difference as an unsigned number.
fn folded(value: u64, before: u64) -> u64 {
    match value.checked_sub(before) {
        Some(more) => 2 * more,
        None => 2 * (before - value) - 1,
    }
}

/// The number of an entry, which is added if it is new.
fn number<T: Copy + PartialEq>(entries: &mut Vec<T>, entry: T) -> u64 {
    let known = entries.iter().position(|known| *known == entry);
    known.unwrap_or_else(|| {
        entries.push(entry);
        entries.len() - 1
    }) as u64
}
