//! What delayed the packets of a run, as columns of Arrow.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{UInt8Builder, UInt32Builder, UInt64Builder};
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use laxity::explain::Rule;
use laxity_answers::why::{Cause, PacketDelay};
use laxity_api::Traffic;
use laxity_api::why::each_delay;
use laxity_plan::model::Hop;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::simulate::Listener;
use crate::table::Table;
use crate::traffic::{opened, traffic};

/// A row for every cause of the delay of every packet that is sent.
#[derive(Default)]
struct Causes {
    /// The number of packets so far.
    packets: u64,
    /// The hops so far, by the numbers that `output` has.
    hops: HashMap<Hop, u32>,
    seq: UInt64Builder,
    class: UInt32Builder,
    flow: UInt32Builder,
    arrival: UInt64Builder,
    output: UInt32Builder,
    cause: UInt8Builder,
    of: UInt32Builder,
    rule: UInt8Builder,
    time: UInt64Builder,
}

impl Causes {
    fn add(&mut self, delay: &PacketDelay) {
        let packet = &delay.packet;
        for (hop, part) in delay.hops.iter().flat_map(|hop| hop.parts.iter().map(move |p| (hop, p)))
        {
            let hops = self.hops.len() as u32;
            let output = hop.hop.map(|hop| *self.hops.entry(hop).or_insert(hops));
            // In a network the handle is free again for others.
            self.seq.append_value(if hop.hop.is_some() { self.packets } else { packet.handle });
            self.class.append_value(packet.class.0);
            self.flow.append_value(packet.flow.0);
            self.arrival.append_value(packet.arrival.0);
            self.output.append_option(output);
            self.cause.append_value(part.cause.kind() as u8);
            self.of.append_option(part.cause.class().map(|class| class.0));
            self.rule.append_option(part.cause.rule().map(|rule| rule as u8));
            self.time.append_value(part.time.0);
        }
        self.packets += 1;
    }

    fn finish(mut self, plan: &laxity_plan::Plan) -> std::result::Result<RecordBatch, ArrowError> {
        let classes = plan.classes.iter().map(|class| class.name.as_str());
        let classes: ArrayRef = Arc::new(StringArray::from_iter_values(classes));
        let mut hops: Vec<(Hop, u32)> = self.hops.into_iter().collect();
        hops.sort_unstable_by_key(|(_, number)| *number);
        let outputs =
            hops.into_iter().filter_map(|(hop, _)| Some(plan.network.as_ref()?.output(hop)));
        let outputs: ArrayRef = Arc::new(StringArray::from_iter_values(outputs));
        let codes: ArrayRef = Arc::new(StringArray::from_iter_values(Cause::CODES));
        let rules: ArrayRef = Arc::new(StringArray::from_iter_values(Rule::ALL.map(Rule::name)));
        let columns: [(&str, ArrayRef); 9] = [
            ("seq", Arc::new(self.seq.finish())),
            ("class", words::<UInt32Type>(self.class.finish(), &classes)?),
            ("flow", Arc::new(self.flow.finish())),
            ("arrival_ns", Arc::new(self.arrival.finish())),
            ("output", words::<UInt32Type>(self.output.finish(), &outputs)?),
            ("cause", words::<UInt8Type>(self.cause.finish(), &codes)?),
            ("of", words::<UInt32Type>(self.of.finish(), &classes)?),
            ("rule", words::<UInt8Type>(self.rule.finish(), &rules)?),
            ("time_ns", Arc::new(self.time.finish())),
        ];
        RecordBatch::try_from_iter(columns)
    }
}

/// A column of words, as the numbers of these.
fn words<K: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<K>,
    words: &ArrayRef,
) -> std::result::Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(words))?))
}

/// Simulates a plan. Returns a row for every cause of the delay of every packet that is sent.
#[pyfunction]
pub(crate) fn causes(
    py: Python<'_>,
    plan: &Plan,
    duration: Option<&str>,
    seed: Option<u64>,
    arrivals: Option<PathBuf>,
    heard: Option<Py<PyAny>>,
) -> Result<Table> {
    let opener = arrivals.map(|file| opened(file, false));
    let traffic = Traffic { arrivals: opener.as_deref(), ..traffic(duration, seed)? };
    let mut listener = Listener::begin(py, heard)?;
    let mut causes = Causes::default();
    let simulated = py.detach(|| {
        let progress = &mut |reached| listener.hear(reached);
        each_delay(&plan.plan, &traffic, |delay| causes.add(&delay), progress)
    });
    listener.raised()?;
    simulated?;
    Ok(Table(causes.finish(&plan.plan)?))
}
