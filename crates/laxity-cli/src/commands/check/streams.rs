//! `laxity check --streams`: streams that users ask a network for.

use std::path::Path;

use laxity::units::Nanos;
use laxity_api::exchange::{self, cnc};
use laxity_api::{StreamsResult, admit_streams, on_all_cores};
use laxity_report::quantity;
use laxity_report::table::table_led;

use crate::args::Check;
use crate::failure::Failure;
use crate::output::deliver;
use crate::{Promises, input, show};

/// Carries the command out for the streams in a file.
pub(super) fn run(arguments: &Check, file: &Path) -> Result<Promises, Failure> {
    let (plan, text) = input::plan_with_text(&arguments.plan, None, &[])?;
    let requests = input::text(file, exchange::LARGEST as u64)?;
    let requests = cnc::Requests::read(&requests, &plan).map_err(|error| {
        let name = input::shown(file);
        match error.place() {
            Some(_) => Failure::input(format!("{name}:{error}")),
            None => Failure::input(format!("{name}: {error}")),
        }
    })?;
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let result = on_all_cores(|| admit_streams(&plan, &text, folder, requests))?;
    if let Some(out) = &arguments.write {
        deliver(&result.text, Some(out), "Plan", "--write ")?;
    }
    show(arguments.json, &result.document(), || table(&result))?;
    Ok(Promises::kept_if(result.is_ready()))
}

fn table(result: &StreamsResult) -> String {
    let mut rows = Vec::new();
    for (stream, status) in result.requests.streams.iter().zip(&result.statuses) {
        for (listener, status) in stream.listeners.iter().zip(&status.listeners) {
            let ms = |Nanos(ns): Nanos| quantity::time(ns as f64);
            let asked = listener.latency.map_or_else(|| "—".to_string(), ms);
            let (latency, said) = match status {
                Ok(latency) => (ms(*latency), "ready".to_string()),
                Err(failure) => {
                    ("—".to_string(), format!("{}: {}", failure.number(), failure.words()))
                }
            };
            let way = format!("{} → {}", stream.talker, listener.node);
            let rank = stream.rank.to_string();
            rows.push(vec![stream.id.clone(), rank, way, asked, latency, said]);
        }
    }
    table_led(1, &["stream", "rank", "way", "asked", "latency", "status"], &rows)
}
