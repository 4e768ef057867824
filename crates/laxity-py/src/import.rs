//! Plans of scripts for tc.

use std::collections::BTreeMap;
use std::path::PathBuf;

use laxity::units::Rate;
use laxity_api::{ImportOptions, import};
use laxity_tc::Source;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::text::text;

/// A remark on a script: what kind it is, its line if it has one, and its words.
type Note = (String, Option<usize>, String);

/// The plan of a script, and what was not taken as it stands.
#[pyfunction]
pub(crate) fn import_tc(
    py: Python<'_>,
    script: PathBuf,
    device: Option<String>,
    link_rate: Option<&str>,
    arguments: Option<Vec<String>>,
    variables: BTreeMap<String, String>,
    sources: Vec<PathBuf>,
) -> Result<(Plan, Vec<Note>)> {
    let link_rate = link_rate.map(str::parse::<Rate>).transpose()?;
    let sources = sources.iter().map(|path| {
        let (name, text) = text(py, path)?;
        Ok(Source { name, text })
    });
    let sources = sources.collect::<Result<_>>()?;
    let options = ImportOptions { link_rate, device, arguments, variables, sources };
    let (name, text) = text(py, &script)?;
    let imported = py.detach(|| import(&text, &name, &options))?;
    let notes = imported
        .notes
        .into_iter()
        .map(|note| (note.kind.to_string(), Some(note.line).filter(|line| *line > 0), note.text));
    let notes = notes.collect();
    Ok((Plan::new(imported.plan, name, PathBuf::new(), None)?, notes))
}
