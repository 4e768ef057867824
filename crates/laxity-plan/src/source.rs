//! A room for each model of a source: its word and keys, and how it is read.
//!
//! To add a model, write its room, and add its word next to `raw::Source`. The match below does not
//! compile without them.

mod backlogged;
mod capture;
mod constant;
mod context;
mod correlated;
mod csv;
mod greedy;
mod on_off;
mod pareto_on_off;
mod paths;
mod poisson;
mod recording;
mod room;
mod routing;
mod tcp;
pub(crate) mod values;

use std::path::Path;

use crate::error::Fault;
use crate::keys::{Keys, misplaced, names};
use crate::model::{Plan, Source};
pub(crate) use crate::raw::ModelKind as Kind;
use crate::raw::{self, SourceTables};
use context::Context;
use room::Room;

impl Kind {
    fn room(self) -> &'static Room {
        match self {
            Kind::Greedy => &greedy::ROOM,
            Kind::Constant => &constant::ROOM,
            Kind::Poisson => &poisson::ROOM,
            Kind::Correlated => &correlated::ROOM,
            Kind::OnOff => &on_off::ROOM,
            Kind::ParetoOnOff => &pareto_on_off::ROOM,
            Kind::Backlogged => &backlogged::ROOM,
            Kind::Tcp => &tcp::ROOM,
            Kind::Capture => &capture::ROOM,
            Kind::Csv => &csv::ROOM,
        }
    }
}

/// Every model's word with its keys, for the schema.
pub(crate) fn keys() -> Vec<(&'static str, Keys)> {
    Kind::ALL.iter().map(|kind| (kind.word(), kind.room().keys)).collect()
}

/// All `[[source]]` tables of a plan.
pub(crate) fn all(
    raw: &SourceTables<'_>,
    plan: &Plan,
    folder: &Path,
    text: &str,
) -> Result<Vec<Source>, Fault> {
    let mut context = Context::new(plan, raw, folder, text)?;
    let mut sources = Vec::new();
    raw.each(|raw, span| {
        check_keys(raw, text)?;
        sources.push((raw.model.value.0.room().read)(&mut context, raw, span)?);
        Ok(())
    })?;
    sources.shrink_to_fit();
    Ok(sources)
}

/// Refuses the keys of another model.
fn check_keys(raw: &raw::Source, text: &str) -> Result<(), Fault> {
    let keys: Vec<_> = names(raw.model.value.0.room().keys).collect();
    let Some((key, span)) = misplaced(raw.options(), |key| keys.contains(&key)) else {
        return Ok(());
    };
    let model = text.get(raw.model.span.clone()).unwrap_or_default();
    let fault = Fault::at(span, format!("`{key}` does not belong to `model = {model}`"));
    Err(fault.help(format!("its keys are model, {}", keys.join(", "))))
}
