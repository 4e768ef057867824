//! Every packet of a run, as columns of Arrow.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringDictionaryBuilder, UInt32Builder, UInt64Builder};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use laxity_plan::Plan;
use laxity_sim::record::{Fate, Observer, Record};

/// Writes down what became of each packet.
#[derive(Default)]
pub(crate) struct Packets {
    classes: Vec<String>,
    seq: UInt64Builder,
    class: StringDictionaryBuilder<UInt32Type>,
    flow: UInt32Builder,
    length: UInt32Builder,
    arrival: UInt64Builder,
    deadline: UInt64Builder,
    start: UInt64Builder,
    departure: UInt64Builder,
    verdict: StringDictionaryBuilder<UInt32Type>,
    demoted: BooleanBuilder,
}

impl Packets {
    /// Of a plan's classes.
    pub(crate) fn new(plan: &Plan) -> Packets {
        Packets {
            classes: plan.classes.iter().map(|class| class.name.clone()).collect(),
            ..Packets::default()
        }
    }

    /// The table, whose columns are those of `packets.csv`, and whether a packet broke its class's
    /// contract and travelled as best effort.
    pub(crate) fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 10] = [
            ("seq", Arc::new(self.seq.finish())),
            ("class", Arc::new(self.class.finish())),
            ("flow", Arc::new(self.flow.finish())),
            ("length", Arc::new(self.length.finish())),
            ("arrival_ns", Arc::new(self.arrival.finish())),
            ("deadline_ns", Arc::new(self.deadline.finish())),
            ("start_ns", Arc::new(self.start.finish())),
            ("departure_ns", Arc::new(self.departure.finish())),
            ("verdict", Arc::new(self.verdict.finish())),
            ("demoted", Arc::new(self.demoted.finish())),
        ];
        RecordBatch::try_from_iter(columns)
    }
}

impl Observer for Packets {
    fn record(&mut self, record: &Record) {
        let packet = &record.packet;
        let (start, departure, verdict) = match record.fate {
            Fate::Sent { start, departure } => (Some(start.0), Some(departure.0), "sent"),
            Fate::Dropped(reason) => (None, None, reason.name()),
            Fate::Queued => (None, None, "queued"),
        };
        self.seq.append_value(packet.handle);
        self.class.append_value(&self.classes[packet.class.index()]);
        self.flow.append_value(packet.flow.0);
        self.length.append_value(packet.length);
        self.arrival.append_value(packet.arrival.0);
        self.deadline.append_option(record.deadline.map(|deadline| deadline.0));
        self.start.append_option(start);
        self.departure.append_option(departure);
        self.verdict.append_value(verdict);
        self.demoted.append_value(packet.demoted);
    }
}
