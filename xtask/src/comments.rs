//! Width and wording of comments, which rustfmt leaves as they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::outcome::{Outcome, Status};
use crate::workspace::Workspace;

/// Where our sources are, from the root of the repository.
pub(crate) const FOLDERS: [&str; 3] = ["crates", "fuzz", "xtask"];
/// Longest line of a comment, in characters. Rows of tables and addresses may be longer.
const WIDTH: usize = 100;

/// Words of stacked clauses. A comment says the same in short main clauses.
const STILTED: [&str; 8] = [
    "so many",
    "of which",
    "at the most",
    "at the least",
    "by what",
    "whoever",
    "anybody",
    "who is told",
];

/// Rule 21 of CONTRIBUTING.
const ADVICE: &str = "write short main clauses in active voice and present tense (CONTRIBUTING, \
    rule 21): `/// Reloads the plan.`, not `/// Follows the plan that is read again.`";

/// Refuses comments that are wider than a line of code may be, or in stacked clauses.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let (mut wide, mut stilted) = (Vec::new(), Vec::new());
    for folder in FOLDERS {
        for file in sources(&workspace.root().join(folder))? {
            let text = fs::read_to_string(&file).map_err(|error| failed(&file, &error))?;
            let place = |line| format!("{}:{line}", file.display());
            wide.extend(wide_lines(&text).map(place));
            let phrase = |(line, phrase)| format!("{}: `{phrase}`", place(line));
            stilted.extend(stilted_phrases(&text).into_iter().map(phrase));
        }
    }
    let mut faults = Vec::new();
    if !wide.is_empty() {
        faults.push(format!("lines of comments above {WIDTH} characters:\n{}", wide.join("\n")));
    }
    if !stilted.is_empty() {
        faults.push(format!("comments in stacked clauses; {ADVICE}:\n{}", stilted.join("\n")));
    }
    if faults.is_empty() { Ok(Status::Passed) } else { Err(faults.join("\n")) }
}

/// The numbers of the lines whose comment is too wide.
fn wide_lines(text: &str) -> impl Iterator<Item = usize> {
    let is_wide = |line: &str| {
        let may_be_wide = |words: &str| words.starts_with('|') || words.contains("://");
        comment(line).is_some_and(|words| !may_be_wide(words)) && line.chars().count() > WIDTH
    };
    text.lines().zip(1..).filter(move |(line, _)| is_wide(line)).map(|(_, number)| number)
}

/// The stilted phrases of comments, each with the line in which it begins.
fn stilted_phrases(text: &str) -> Vec<(usize, &'static str)> {
    let plain = |comment: &str| {
        let words = comment.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
    };
    let mut lines = text.lines().zip(1..).peekable();
    let mut found = Vec::new();
    while let Some((line, number)) = lines.next() {
        let Some(here) = comment(line).map(plain) else { continue };
        // A phrase may go on in the next line of the comment.
        let next = lines.peek().and_then(|(line, _)| comment(line)).map(plain);
        let both = format!(" {here} {} ", next.unwrap_or_default());
        found.extend(STILTED.into_iter().filter_map(|phrase| {
            let begins = both.find(&format!(" {phrase} "))?;
            (begins < here.len()).then_some((number, phrase))
        }));
    }
    found
}

/// The words of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

/// The source files in a folder and in those below it, but for what is built there.
pub(crate) fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
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

    #[test]
    fn stilted_phrases_are_found_also_across_lines() {
        let lines = [
            "/// Of which,",
            "//! one. So",
            "//! many.",
            "let code = \"so many\";",
            "// whoeverelse at the",
            "// mostly.",
            "    // (Whoever)",
            "/// so",
            "many();",
        ];
        let found = [(1, "of which"), (2, "so many"), (7, "whoever")];
        assert_eq!(stilted_phrases(&lines.join("\n")), found);
    }
}
