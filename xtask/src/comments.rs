//! Width of comments, which rustfmt leaves as they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::outcome::{Done, Outcome};
use crate::workspace::Workspace;

/// Longest line of a comment, in characters. Rows of tables and addresses may be longer.
const WIDTH: usize = 100;

/// Refuses comments that are wider than a line of code may be.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let mut wide = Vec::new();
    for folder in ["crates", "fuzz", "xtask"] {
        for file in sources(&workspace.root().join(folder))? {
            let text = fs::read_to_string(&file).map_err(|error| failed(&file, &error))?;
            let place = |line| format!("{}:{line}", file.display());
            wide.extend(wide_lines(&text).map(place));
        }
    }
    if wide.is_empty() {
        return Ok(Done::Passed);
    }
    Err(format!("lines of comments above {WIDTH} characters:\n{}", wide.join("\n")))
}

/// The numbers of the lines whose comment is too wide.
fn wide_lines(text: &str) -> impl Iterator<Item = usize> {
    let is_wide = |line: &str| {
        let comment = line.trim_start().strip_prefix("//");
        let words = comment.map(|comment| comment.trim_start_matches(['/', '!']).trim_start());
        let may_be_wide = |words: &str| words.starts_with('|') || words.contains("://");
        words.is_some_and(|words| !may_be_wide(words)) && line.chars().count() > WIDTH
    };
    text.lines().zip(1..).filter(move |(line, _)| is_wide(line)).map(|(_, number)| number)
}

/// The source files in a folder and in those below it, but for what is built there.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let path = entry.map_err(|error| failed(&folder, &error))?.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_comments_are_found() {
        let words = "word ".repeat(20);
        let text = format!(
            "/// Short.\n    /// {words}\nlet code = \"{words}{words}\";\n/// | {words} |\n// https://{words}"
        );
        assert_eq!(wide_lines(&text).collect::<Vec<_>>(), [2]);
    }
}
