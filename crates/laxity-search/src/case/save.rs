//! Counterexamples as files that `laxity run` replays.

use std::io;
use std::path::Path;

use crate::case::broken::Broken;
use crate::discipline::Discipline;
use crate::replay;
use crate::reservations;
use crate::testbed::judge::Violation;

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
    broken: &Broken,
) -> io::Result<SavedCase> {
    std::fs::create_dir_all(folder)?;
    let (plan, recording) = match broken {
        Broken::Plan(broken) => replay::files(&broken.draft, &broken.arrivals),
        Broken::Calls(broken) => (broken.draft.text(), None),
    };
    let path = folder.join(name).with_extension("toml");
    let Violation { class, at, what } = broken.what();
    let what = format!("class {class} at {at} ns: {what}");
    std::fs::write(&path, format!("# {what}\n{plan}"))?;
    let mut command = format!("laxity run {}", path.display());
    if let Some(recording) = recording {
        let path = path.with_extension("csv");
        std::fs::write(&path, recording)?;
        command += &format!(" --arrivals {}", path.display());
    }
    let replayed = match broken {
        Broken::Plan(broken) => replay::run(&broken.draft, &broken.arrivals)
            .is_ok_and(|replayed| !replayed.kept || !replayed.broken.is_empty()),
        // Without the fault that was planted nothing breaks.
        Broken::Calls(broken) => reservations::breaks(&broken.draft, None).is_some(),
    };
    Ok(SavedCase { discipline, what, command, replayed })
}
