//! Plans for the disciplines of Linux.

use laxity::units::Nanos;
use laxity_api::{ExportFormat, Filters, Linux, Refusal};
use pyo3::prelude::*;

use crate::errors::LaxityError;

/// What is known of a kernel; what is not said is as the command has it.
pub(crate) fn machine(timer: Option<&str>, offload: bool, filters: &str) -> PyResult<Linux> {
    let usual = Linux::default();
    let filters = match filters {
        "flower" => Filters::Flower,
        "u32" => Filters::U32,
        other => return Err(unknown("filters are", other, "flower or u32")),
    };
    let timer = timer.map(str::parse::<Nanos>).transpose();
    let timer = timer.map_err(|error| LaxityError::new_err(error.to_string()))?;
    Ok(Linux { timer: timer.unwrap_or(usual.timer), offload, filters })
}

/// What is written.
pub(crate) fn format(name: &str) -> PyResult<ExportFormat> {
    Ok(match name {
        "script" => ExportFormat::Script,
        "batch" => ExportFormat::Batch,
        "json" => ExportFormat::Json,
        "networkd" => ExportFormat::Networkd,
        "netplan" => ExportFormat::Netplan,
        other => {
            return Err(unknown("formats are", other, "script, batch, json, networkd or netplan"));
        }
    })
}

fn unknown(what: &str, given: &str, accepted: &str) -> PyErr {
    LaxityError::new_err(format!("{what} {accepted}, not {given:?}"))
}

/// Why Linux has no counterpart, and what to do instead.
pub(crate) fn refused(refusal: &Refusal) -> PyErr {
    LaxityError::new_err(format!("{refusal} ({})", refusal.instead))
}
