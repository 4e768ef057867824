//! A script and the files beside it as one text, so that a place in any of them is one number.

use laxity_plan::PlanError;
use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::notes::Note;

/// The largest script, in bytes: 16 MiB, as of a plan.
pub const LARGEST_SCRIPT: usize = 16 << 20;

/// A file beside a script.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path; scripts find it by its last part.
    pub name: String,
    /// What is in it.
    pub text: String,
}

pub(crate) struct Texts<'a> {
    pub all: String,
    /// The script itself comes first.
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    name: &'a str,
    text: &'a str,
    start: usize,
    /// How many lines are before it.
    lines: usize,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(
        script: &'a str,
        name: &'a str,
        sources: &'a [Source],
    ) -> Result<Self, PlanError> {
        let more = sources.iter().map(|source| (source.name.as_str(), source.text.as_str()));
        let mut texts = Texts { all: String::new(), parts: Vec::new() };
        let mut lines = 0;
        for (name, text) in std::iter::once((name, script)).chain(more) {
            if text.len() > LARGEST_SCRIPT - texts.all.len().min(LARGEST_SCRIPT) {
                let message = format!(
                    "the script is larger than {} MiB, the most that is read",
                    LARGEST_SCRIPT >> 20
                );
                return Err(PlanError::new(name, "", Fault::new(None, message)));
            }
            texts.parts.push(Part { name, text, start: texts.all.len(), lines });
            texts.all.push_str(text);
            texts.all.push('\n');
            lines += text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        }
        Ok(texts)
    }

    /// Where the script itself ends.
    pub(crate) fn end(&self) -> usize {
        self.parts[0].text.len()
    }

    /// The files beside it.
    pub(crate) fn files(&self) -> Vec<(String, Span)> {
        let range = |part: &Part| part.start..part.start + part.text.len();
        self.parts[1..].iter().map(|part| (part.name.to_string(), range(part))).collect()
    }

    /// The error of a fault in the file that it is in.
    pub(crate) fn error(&self, mut fault: Fault) -> PlanError {
        let at = fault.span.as_ref().map_or(0, |span| span.start);
        let part = &self.parts[self.parts.partition_point(|part| part.start <= at) - 1];
        let end = part.text.len();
        fault.span = fault.span.map(|span| {
            let start = (span.start - part.start).min(end);
            start..span.end.saturating_sub(part.start).clamp(start, end)
        });
        PlanError::new(part.name, part.text, fault)
    }

    /// A note with the line of its file; the name is written before it if that is not the script.
    pub(crate) fn note(&self, note: Note) -> Note {
        let at = self.parts.partition_point(|part| part.lines < note.line.max(1)) - 1;
        let part = &self.parts[at];
        match (at, note.line) {
            (0, _) | (_, 0) => note,
            (_, line) => {
                let text = format!("{}:{}: {}", plain(part.name), line - part.lines, note.text);
                Note { line: 0, text, ..note }
            }
        }
    }
}
