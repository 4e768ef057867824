//! A room for each model of a source: its word and keys, and how it is read.
//!
//! Whoever adds one writes its room and a line of the table below; what is forgotten does not compile.

mod backlogged;
mod capture;
mod constant;
mod context;
mod correlated;
mod csv;
mod greedy;
mod on_off;
mod pareto_on_off;
mod poisson;
mod recording;
mod tcp;
mod values;

use std::ops::Range;
use std::path::Path;

use schemars::Schema;

use crate::error::Fault;
use crate::keys::{Key, Keys, astray, kinds, names};
use crate::model::{Plan, Source};
use crate::raw::{self, At, Table};
use crate::read::Read;
use context::Context;

/// What is the same of a model whatever its settings.
pub struct Room {
    /// The keys of `[[source]]` that it takes besides `model`.
    keys: Keys,
    /// A source of it from `[[source]]`.
    read: fn(&mut Context<'_>, &raw::Source, &Range<usize>) -> Read<Source>,
}

/// The keys of sources whose packets come whatever becomes of those before.
const STREAM: &[Key] = &[
    Key::common("class"),
    Key::common("packet"),
    Key::common("count"),
    Key::common("start"),
    Key::common("stagger"),
    Key::common("stop"),
    Key::common("path"),
    Key::common("laps"),
];

kinds! {
    "ModelKind", "`model = …`.",
    /// Inside a burst as fast as the class's arrival curve allows, between bursts not at all.
    Greedy: "greedy", greedy::ROOM;
    /// One packet after another at a constant rate.
    Constant: "constant", constant::ROOM;
    /// Independent exponential gaps, whatever the packets' lengths.
    Poisson: "poisson", poisson::ROOM;
    /// Exponential gaps in proportion to the lengths of the packets behind them.
    Correlated: "correlated", correlated::ROOM;
    /// Constant rate while on, silent while off.
    OnOff: "on-off", on_off::ROOM;
    /// On-off with Pareto periods.
    ParetoOnOff: "pareto-on-off", pareto_on_off::ROOM;
    /// Always a packet waiting.
    Backlogged: "backlogged", backlogged::ROOM;
    /// Connections over a network, each with an endpoint at both ends of the path.
    Tcp: "tcp", tcp::ROOM;
    /// A pcap or pcapng file.
    Capture: "capture", capture::ROOM;
    /// A CSV file with the columns time_ns, class, length and optionally flow.
    Csv: "csv", csv::ROOM;
}

/// All `[[source]]` tables of a plan.
pub fn all(raw: raw::Sources, plan: &Plan, folder: &Path, text: &str) -> Read<Vec<Source>> {
    let mut context = Context::new(plan, folder, text);
    let read = |At { value: Table(raw), span }: At<Table<raw::Source>>| {
        check_keys(&raw, text)?;
        (raw.model.value.0.room().read)(&mut context, &raw, &span)
    };
    raw.0.into_iter().map(read).collect()
}

/// Refuses the keys of another model.
fn check_keys(raw: &raw::Source, text: &str) -> Read<()> {
    let keys: Vec<_> = names(raw.model.value.0.room().keys).collect();
    let Some((key, span)) = astray(raw.options(), |key| keys.contains(&key)) else { return Ok(()) };
    let model = text.get(raw.model.span.clone()).unwrap_or_default();
    let fault = Fault::at(span, format!("`{key}` does not belong to `model = {model}`"));
    Err(fault.help(format!("its keys are model, {}", keys.join(", "))))
}

/// Describes the keys of `[[source]]` by what they mean to each model.
pub fn describe(schema: &mut Schema) {
    crate::keys::describe(schema, &Kind::keys());
}
