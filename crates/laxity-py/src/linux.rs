//! Plans for the disciplines of Linux.

use laxity::units::Nanos;
use laxity_api::{ExportFormat, Filters, Linux};

use crate::errors::{Error, Result};

/// What is known of a kernel; what is not said is as the command has it.
pub(crate) fn machine(timer: Option<&str>, offload: bool, filters: &str) -> Result<Linux> {
    let usual = Linux::default();
    let filters = match filters {
        "flower" => Filters::Flower,
        "u32" => Filters::U32,
        other => return Err(unknown("filters are", other, "flower or u32")),
    };
    let timer = timer.map(str::parse::<Nanos>).transpose()?;
    Ok(Linux { timer: timer.unwrap_or(usual.timer), offload, filters })
}

/// What is written.
pub(crate) fn format(name: &str) -> Result<ExportFormat> {
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

fn unknown(what: &str, given: &str, accepted: &str) -> Error {
    format!("{what} {accepted}, not {given:?}").into()
}
