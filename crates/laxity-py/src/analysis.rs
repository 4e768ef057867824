//! What is asked of plans beside their proof: curves of recordings, limits, and what happens at the
//! worst.

use std::path::PathBuf;

use laxity_api::{Effort, Json, remarks};
use laxity_report::network;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::study::attended;
use crate::text::json;
use crate::traffic::opened;

/// The arrival curves of a recording, or of the one that is the plan's only source: the JSON of
/// `laxity fit`, the same for people, what else the recording held, and the plan with these curves.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    plan: &Plan,
    recording: Option<PathBuf>,
    sort: bool,
    headroom: u32,
) -> Result<(String, String, Vec<String>, Plan)> {
    let opener = recording.map(|file| opened(file, sort));
    let fitted = py.detach(|| laxity_api::fit::fit(&plan.plan, opener.as_deref(), headroom))?;
    let (text, _) = fitted.into_plan(&plan.plan, &plan.text, &plan.name, &plan.folder)?;
    let (name, folder) = (plan.name.clone(), plan.folder.clone());
    let with = Plan::new(text, name, folder, plan.under.as_deref())?;
    Ok((json(&fitted.classes(&plan.plan)), fitted.text(&plan.plan), remarks(&fitted.remarks), with))
}

/// What each part of a network could be: as `laxity check --limits` has it, and the same for
/// people.
#[pyfunction]
pub(crate) fn limits(
    py: Python<'_>,
    plan: &Plan,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String)> {
    let limits = attended(py, heard, |tell| laxity_api::limits(&plan.plan, tell))?;
    Ok((json(&Json(&limits)), network::limits::text(&limits)))
}

/// The longest delays that are found: as `laxity check --worst-case` has them, the same for people
/// and as a page, and of each the packets as an arrivals CSV.
#[pyfunction]
pub(crate) fn worst_case(
    py: Python<'_>,
    plan: &Plan,
    packets: u64,
    seed: u64,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String, String, Vec<String>)> {
    let (plan, effort) = (&plan.plan, Effort { packets, seed });
    let worst = attended(py, heard, |tell| laxity_api::worst_case(plan, effort, tell))?;
    let sent = worst.0.iter().map(|case| case.csv(plan)).collect();
    Ok((json(&worst), worst.text(), worst.page(plan), sent))
}
