//! What a command reads.

use std::rc::Rc;

use super::value::Value;
use crate::error::Span;
use crate::words::command::Doubt;

/// What a command reads: a text that is known, or why it is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub value: Value,
    pub at: usize,
    /// Where the text stands in the script, if it does.
    pub span: Option<Span>,
}

impl Input {
    /// The signs up to an end, each with whether a backslash made it plain, and whether that end
    /// came.
    pub(crate) fn until(&mut self, end: char, raw: bool) -> (Vec<(char, bool)>, bool) {
        let mut line = Vec::new();
        while let Some(c) = self.bump() {
            match c {
                _ if c == end => return (line, true),
                '\\' if !raw => match self.bump() {
                    Some('\n') | None => {}
                    Some(plain) => line.push((plain, true)),
                },
                _ => line.push((c, false)),
            }
        }
        (line, false)
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.value.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(crate) fn rest(&mut self) -> Value {
        let rest = self.value.text[self.at..].to_string();
        self.at = self.value.text.len();
        Value { text: rest, doubt: self.value.doubt.clone() }
    }

    pub(crate) fn unknown_because(&self) -> Option<&Rc<Doubt>> {
        self.value.unknown_because()
    }
}
