//! Counterexamples as files that `laxity run` replays.

use std::io;
use std::path::Path;

use crate::case::broken_plan::BrokenPlan;
use crate::discipline::Discipline;
use crate::replay;

/// A counterexample that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedCase {
    /// The kind of its plan.
    pub discipline: Discipline,
    /// What it breaks.
    pub what: String,
    /// The command that replays it.
    pub command: String,
    /// Whether it breaks there, too.
    pub replayed: bool,
}

/// Writes a counterexample: NAME.toml and, for a single link, NAME.csv.
///
/// # Errors
/// If they cannot be written.
pub fn save(
    folder: &Path,
    name: &str,
    discipline: Discipline,
    broken: &BrokenPlan,
) -> io::Result<SavedCase> {
    std::fs::create_dir_all(folder)?;
    let (plan, recording) = replay::files(&broken.draft, &broken.arrivals);
    let path = folder.join(name).with_extension("toml");
    let class = broken.what.class;
    let what = format!("class {class} at {} ns: {}", broken.what.at, broken.what.what);
    std::fs::write(&path, format!("# {what}\n{plan}"))?;
    let mut command = format!("laxity run {}", path.display());
    if let Some(recording) = recording {
        let path = path.with_extension("csv");
        std::fs::write(&path, recording)?;
        command += &format!(" --arrivals {}", path.display());
    }
    let replayed = replay::run(&broken.draft, &broken.arrivals);
    let replayed = replayed.is_ok_and(|replayed| !replayed.kept || !replayed.broken.is_empty());
    Ok(SavedCase { discipline, what, command, replayed })
}
