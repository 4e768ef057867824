//! Every packet of a run, as columns of Arrow.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringDictionaryBuilder, UInt32Builder, UInt64Builder};
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::Buffer;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{ArrowError, DataType};
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

/// The length of an array, its bytes, and the bits of what is there, if something is missing.
type Bytes = (usize, Vec<Vec<u8>>, Option<Vec<u8>>);

/// A column in bytes: its values, and the words that these are numbers of, if they are.
pub(crate) type Column = (Bytes, Option<Bytes>);

/// The columns of a table in bytes, for another process.
pub(crate) fn columns(table: &RecordBatch) -> Vec<Column> {
    let bytes = |array: &ArrayData| -> Bytes {
        let buffers = array.buffers().iter().map(|buffer| buffer.to_vec()).collect();
        (array.len(), buffers, array.nulls().map(|nulls| nulls.validity().to_vec()))
    };
    let column = |column: &ArrayRef| {
        let array = column.to_data();
        (bytes(&array), array.child_data().first().map(bytes))
    };
    table.columns().iter().map(column).collect()
}

/// The table of such columns.
pub(crate) fn whole(columns: Vec<Column>) -> Result<RecordBatch, ArrowError> {
    let schema = Packets::default().finish()?.schema();
    let array = |kind: &DataType, (length, buffers, there): Bytes| {
        let buffers = buffers.into_iter().map(Buffer::from_vec).collect();
        let array = ArrayDataBuilder::new(kind.clone()).len(length).buffers(buffers);
        array.null_bit_buffer(there.map(Buffer::from_vec)).align_buffers(true)
    };
    let columns = columns.into_iter().zip(schema.fields()).map(|((values, words), field)| {
        let mut values = array(field.data_type(), values);
        if let (DataType::Dictionary(_, kind), Some(words)) = (field.data_type(), words) {
            values = values.add_child_data(array(kind, words).build()?);
        }
        Ok((field.name(), make_array(values.build()?)))
    });
    RecordBatch::try_from_iter(columns.collect::<Result<Vec<_>, ArrowError>>()?)
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
