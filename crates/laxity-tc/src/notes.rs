//! What an import did not take as it stands.

use std::fmt;

use crate::error::plain;
use crate::words::command::Word;

/// The most notes of one kind that are kept; more are counted.
const MOST: usize = 200;

/// Something that the reader of an imported plan should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The line of the script, from 1.
    pub line: usize,
    /// One sentence without its full stop.
    pub text: String,
}

/// Kinds of note, in their order in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Something could be read in several ways, or is said in another way in the plan.
    Reading,
    /// The plan does not say this.
    NotMapped,
    /// This is not part of the set-up that is imported.
    NotRead,
}

impl NoteKind {
    /// All of them, in their order.
    pub const ALL: [NoteKind; 3] = [NoteKind::Reading, NoteKind::NotMapped, NoteKind::NotRead];
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoteKind::Reading => "Read as",
            NoteKind::NotMapped => "Not mapped",
            NoteKind::NotRead => "Not read",
        })
    }
}

/// Why something is not in the plan, as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotMapped(pub String);

impl From<&str> for NotMapped {
    fn from(text: &str) -> NotMapped {
        NotMapped(text.into())
    }
}

impl From<String> for NotMapped {
    fn from(text: String) -> NotMapped {
        NotMapped(text)
    }
}

/// Notes as they come up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    kept: Vec<Note>,
    counts: [usize; NoteKind::ALL.len()],
}

impl Notes {
    pub(crate) fn add(&mut self, kind: NoteKind, line: usize, text: impl Into<String>) {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        if *count <= MOST {
            self.kept.push(Note { kind, line, text: text.into() });
        }
    }

    pub(crate) fn reading(&mut self, line: usize, text: impl Into<String>) {
        self.add(NoteKind::Reading, line, text);
    }

    pub(crate) fn not_mapped(&mut self, line: usize, text: impl Into<String>) {
        self.add(NoteKind::NotMapped, line, text);
    }

    pub(crate) fn not_read(&mut self, line: usize, text: impl Into<String>) {
        self.add(NoteKind::NotRead, line, text);
    }

    pub(crate) fn append(&mut self, others: Notes) {
        for note in others.kept {
            self.add(note.kind, note.line, note.text);
        }
    }

    /// By kind, then by line; the last of a kind says how many were left out.
    pub(crate) fn sorted(mut self) -> Vec<Note> {
        self.kept.sort_by_key(|note| (note.kind, note.line));
        for kind in NoteKind::ALL {
            let more = self.counts[kind as usize].saturating_sub(MOST);
            if more > 0 {
                let last = self.kept.iter().rposition(|note| note.kind == kind).unwrap_or(0);
                let line = self.kept[last].line;
                let text = format!("and {more} more");
                self.kept.insert(last + 1, Note { kind, line, text });
            }
        }
        self.kept
    }
}

/// The beginning of a command, for notes about it.
pub(crate) fn quoted(words: &[Word]) -> String {
    let text: Vec<&str> = words.iter().take(8).map(|word| word.text.as_str()).collect();
    format!("`{}`", plain(&text.join(" ")))
}
