//! What commands read, and files that a script writes and reads again. Nothing is on the machine.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::value::Value;
use crate::error::{Span, plain};
use crate::words::command::Doubt;

/// Written files by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    written: Rc<BTreeMap<String, Rc<Value>>>,
    made: usize,
}

impl Files {
    pub(crate) fn read(&self, path: &str) -> Option<&Value> {
        self.written.get(path).map(|value| &**value)
    }

    pub(crate) fn write(&mut self, path: &str, value: Value) {
        if is_kept(path) {
            Rc::make_mut(&mut self.written).insert(path.to_string(), Rc::new(value));
        }
    }

    /// Writes behind what is there.
    pub(crate) fn append(&mut self, path: &str, value: &Value) {
        if is_kept(path) {
            let files = Rc::make_mut(&mut self.written);
            Rc::make_mut(files.entry(path.to_string()).or_default()).push(value);
        }
    }

    /// Whether there was such a file.
    pub(crate) fn remove(&mut self, path: &str) -> bool {
        self.written.contains_key(path) && Rc::make_mut(&mut self.written).remove(path).is_some()
    }

    /// A name that no other file has.
    pub(crate) fn unnamed(&mut self, before: &str) -> String {
        self.made += 1;
        format!("{before}{}", 62 + self.made)
    }

    /// Files after one of several ways: those that differ are not known.
    pub(crate) fn merged<'a>(mut ways: impl Iterator<Item = &'a Files>, doubt: &Rc<Doubt>) -> Self {
        let mut all = ways.next().cloned().unwrap_or_default();
        for way in ways {
            all.made = all.made.max(way.made);
            let paths = all.written.keys().chain(way.written.keys()).cloned();
            for path in paths.collect::<Vec<_>>() {
                if all.read(&path) != way.read(&path) {
                    let value = Value { text: plain(&path), doubt: Some(Rc::clone(doubt)) };
                    Rc::make_mut(&mut all.written).insert(path, Rc::new(value));
                }
            }
        }
        all
    }
}

/// Whether what is written there can be read again.
fn is_kept(path: &str) -> bool {
    let is_device = path.starts_with("/dev/");
    !is_device || path.starts_with("/dev/fd/") || path.starts_with("/dev/shm/")
}

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
