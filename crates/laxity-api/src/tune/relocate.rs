//! A plan's text for another folder: the files that it names are found from there.

use std::io;
use std::path::{Component, Path, PathBuf};

use laxity_plan::Plan;
use laxity_plan::edit::{self, Draft};
use laxity_plan::model::{PlanFile, Recording, Source};
use toml_edit::Value;

/// The text with the paths of its files as they are seen from a folder that is there.
pub(super) fn relocated(plan: &Plan, text: &str, folder: &Path) -> io::Result<String> {
    let wrong = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let folder = folder.canonicalize()?;
    let mut draft = Draft::parse(text, "plan").map_err(|error| wrong(&error))?;
    let recordings = plan.sources.iter().enumerate().filter_map(|(number, source)| match source {
        Source::Recording(Recording { file, .. }) => {
            Some((edit::Path::new(["source", &number.to_string(), "file"]), file))
        }
        _ => None,
    });
    let files = plan.files.iter().map(|PlanFile { key, file, .. }| (key.clone(), file));
    for (key, file) in recordings.chain(files) {
        let path = relative(&file.canonicalize()?, &folder);
        let path = path.to_str().ok_or_else(|| wrong(&"a file's path is no text"))?;
        draft.set(&key, &Value::from(path).to_string()).map_err(|error| wrong(&error))?;
    }
    Ok(draft.text())
}

/// A path as it is seen from a folder; both are whole.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let same = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(same).map(|_| Component::ParentDir);
    up.chain(path.components().skip(same)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_elsewhere() {
        for (path, folder, expected) in [
            ("/a/b/c.pcap", "/a/b", "c.pcap"),
            ("/a/b/c.pcap", "/a/b/out/x", "../../c.pcap"),
            ("/a/c.pcap", "/b", "../a/c.pcap"),
            ("/c.pcap", "/", "c.pcap"),
        ] {
            assert_eq!(relative(Path::new(path), Path::new(folder)), Path::new(expected));
        }
    }
}
