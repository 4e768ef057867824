//! A plan's text for another folder: the recordings that it names are found from there.

use std::io;
use std::path::{Component, Path, PathBuf};

use laxity_plan::Plan;
use laxity_plan::edit::Draft;
use laxity_plan::model::{Recording, Source};
use toml_edit::Value;

/// The text with the paths of its recordings as they are seen from a folder that is there.
pub(super) fn moved(plan: &Plan, text: &str, folder: &Path) -> io::Result<String> {
    let wrong = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let folder = folder.canonicalize()?;
    let mut draft = Draft::parse(text, "plan").map_err(|error| wrong(&error))?;
    for (number, source) in plan.sources.iter().enumerate() {
        let Source::Recording(Recording { file, .. }) = source else { continue };
        let seen = seen(&file.canonicalize()?, &folder);
        let seen = seen.to_str().ok_or_else(|| wrong(&"a recording's path is no text"))?;
        let key = format!("source.{number}.file").parse().map_err(|error| wrong(&error))?;
        draft.set(&key, &Value::from(seen).to_string()).map_err(|error| wrong(&error))?;
    }
    Ok(draft.text())
}

/// A path as it is seen from a folder; both are whole.
fn seen(path: &Path, folder: &Path) -> PathBuf {
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
            assert_eq!(seen(Path::new(path), Path::new(folder)), Path::new(expected));
        }
    }
}
