//! Models of sources: the keys that each takes, and how it is read.
//!
//! To add one, add its word next to `raw::Source`. The matches below do not compile without it.

mod context;
mod hosts;
mod model;
mod paths;
mod recording;
mod routing;
mod tcp;
pub(crate) mod values;

use std::path::Path;

use crate::error::{Fault, Span};
use crate::keys::{Keys, has, misplaced};
use crate::model::{Model, Plan, Source};
pub(crate) use crate::raw::ModelKind as Kind;
use crate::raw::{self, SourceTables};
use context::Context;
pub(crate) use hosts::FlowHosts;

impl Kind {
    /// The keys of `[[source]]` that it takes besides `model`.
    pub(crate) fn keys(self) -> Keys {
        /// The keys of sources whose packets come whatever becomes of those before.
        const STREAM: &[&str] = &["class", "packet", "count", "hosts", "start", "stagger", "stop"];
        /// The keys of the way that packets take through a network.
        const WAY: &[&str] = &["path", "from", "to", "laps"];
        match self {
            Kind::Greedy => &[STREAM, WAY, &["burst", "spacing"]],
            Kind::Constant => &[STREAM, WAY, &["rate", "jitter"]],
            Kind::Poisson | Kind::Correlated => &[STREAM, WAY, &["rate"]],
            Kind::OnOff => &[STREAM, WAY, &["rate", "on", "off"]],
            Kind::ParetoOnOff => &[STREAM, WAY, &["rate", "on", "off", "shape"]],
            Kind::Backlogged => {
                &[&["class", "packet", "count", "hosts", "start", "stop"], WAY, &["window"]]
            }
            Kind::Tcp => {
                &[&["class", "packet", "count", "hosts", "start", "stagger"], WAY, tcp::KEYS]
            }
            Kind::Capture => &[&["file", "match", "sort"], WAY],
            Kind::Csv => &[&["file", "sort"], WAY],
        }
    }
}

/// All `[[source]]` tables of a plan, and between which hosts the flows of each class go.
pub(crate) fn all(
    raw: &SourceTables<'_>,
    plan: &Plan,
    folder: &Path,
    text: &str,
) -> Result<(Vec<Source>, FlowHosts), Fault> {
    let mut context = Context::new(plan, raw, folder, text)?;
    let (mut sources, mut hosts) = (Vec::new(), FlowHosts::default());
    raw.each(|raw, span| {
        check_keys(raw, text)?;
        let source = read(&mut context, raw, span)?;
        hosts.add(&source, raw.hosts.as_ref());
        sources.push(source);
        Ok(())
    })?;
    sources.shrink_to_fit();
    Ok((sources, hosts))
}

/// Refuses the keys of another model.
fn check_keys(raw: &raw::Source, text: &str) -> Result<(), Fault> {
    let keys = raw.model.value.0.keys();
    let Some((key, span)) = misplaced(raw.written(), |key| has(keys, key)) else {
        return Ok(());
    };
    let model = text.get(raw.model.span.clone()).unwrap_or_default();
    let fault = Fault::at(span, format!("`{key}` does not belong to `model = {model}`"));
    Err(fault.help(format!("its keys are model, {}", keys.concat().join(", "))))
}

fn read(context: &mut Context<'_>, raw: &raw::Source, span: &Span) -> Result<Source, Fault> {
    let model = match raw.model.value.0 {
        Kind::Greedy => model::greedy(context, raw, span)?,
        Kind::Constant => model::constant(raw, span)?,
        Kind::Poisson => Model::Poisson { rate: model::rate(raw, span)? },
        Kind::Correlated => Model::Correlated { rate: model::rate(raw, span)? },
        Kind::OnOff => model::on_off(raw, span)?,
        Kind::ParetoOnOff => model::pareto_on_off(raw, span)?,
        Kind::Backlogged => model::backlogged(context, raw, span)?,
        Kind::Tcp => return tcp::read(context, raw, span),
        Kind::Capture | Kind::Csv => return recording::read(context, raw, span),
    };
    context.model(raw, span, model)
}
