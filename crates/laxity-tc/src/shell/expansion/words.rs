//! What words come to (POSIX.1-2017, Shell Command Language, section 2.6). Names of files are not
//! looked up: a pattern stays as it is.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::expansion::{braces, pattern};
use crate::shell::run::{Shell, not_followed};
use crate::shell::syntax::{DECLARATIONS, Part, RawWord, Text};
use crate::shell::values::{Value, Variable};
use crate::words::command::{Doubt, Word};

/// A part of a word after its expansion.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Text; `splits` if spaces in it end the word, `is_pattern` if its signs have a meaning.
    Text { value: Value, splits: bool, is_pattern: bool },
    /// The word ends here, as between the arguments of `$@`.
    Break,
    /// `"$@"` without arguments: quotes around it make no word.
    Nothing,
}

impl Piece {
    /// What was put in for something; nothing in it has a meaning if it is quoted.
    pub(crate) fn expanded(value: Value, quoted: bool) -> Self {
        Piece::Text { value, splits: !quoted, is_pattern: !quoted }
    }
}

impl Shell<'_> {
    /// Words as commands get them, each with where it is written.
    pub(crate) fn fields(&mut self, words: &[RawWord]) -> Result<Vec<Word>, Fault> {
        let mut fields: Vec<(Value, Span)> = Vec::new();
        // A word that comes to nothing may be why the next one is wrong.
        let mut vanished: Option<Value> = None;
        for word in words {
            let declares = fields
                .first()
                .is_some_and(|(first, _): &(Value, _)| DECLARATIONS.contains(&first.text.as_str()));
            let before = fields.len();
            let mut pieces = Vec::new();
            self.work(&word.span, braces::work(&word.parts))?;
            let Some(ways) = braces::expanded(&word.parts) else {
                return Err(not_followed(&word.span, "a word with so many braces"));
            };
            if ways.len() > 1 {
                self.step(&word.span, 16 * ways.len())?;
            }
            for parts in ways {
                let parts = self.at_home(&parts).unwrap_or(parts);
                pieces = self.pieces(&parts, &word.span)?;
                if declares {
                    fields.push((joined(&pieces), word.span.clone()));
                    continue;
                }
                let first = fields.len();
                let words = split(&pieces, &self.separators()).into_iter();
                fields.extend(words.map(|field| (field, word.span.clone())));
                if !self.options.noglob && pieces.iter().any(is_pattern) {
                    for (field, _) in &mut fields[first..] {
                        doubt_files(field);
                    }
                }
            }
            if declares {
                continue;
            }
            if fields.len() == before {
                vanished = vanished.or_else(|| {
                    let value = joined(&pieces);
                    value.doubt.is_some().then_some(value)
                });
            } else if let Some(value) = vanished.take() {
                fields[before].0.doubts(value.doubt.as_ref());
            }
        }
        if let (Some(value), Some((last, _))) = (vanished, fields.last_mut()) {
            last.doubts(value.doubt.as_ref());
        }
        let word = |(Value { text, doubt }, span)| Word { text, span, doubt };
        Ok(fields.into_iter().map(word).collect())
    }

    /// A word that begins with `~`, with the folder that it stands for.
    pub(crate) fn at_home(&self, parts: &Text) -> Option<Text> {
        let (Some(Part::Text(first)), rest) = (parts.first(), parts.get(1..)?) else { return None };
        let after = first.strip_prefix('~')?;
        // Root is who runs the script.
        let after = after.strip_prefix("root").unwrap_or(after);
        let alone = after.is_empty() && rest.is_empty();
        if !alone && !after.starts_with('/') {
            return None;
        }
        let home = self.value("HOME").text;
        let begins = [Part::Quoted(home), Part::Text(after.to_string())];
        Some(begins.into_iter().chain(rest.iter().cloned()).collect())
    }

    /// Text in which nothing is split.
    pub(crate) fn text(&mut self, parts: &Text, span: &Span) -> Result<Value, Fault> {
        Ok(joined(&self.pieces(parts, span)?))
    }

    /// Text as a pattern; what was quoted has no meaning in it.
    pub(crate) fn pattern(&mut self, parts: &Text, span: &Span) -> Result<Value, Fault> {
        let mut all = Value::default();
        for piece in self.pieces(parts, span)? {
            match piece {
                Piece::Text { value, is_pattern: true, .. } => all.push(&value),
                Piece::Text { value, .. } => {
                    let text = pattern::escaped(&value.text);
                    all.push(&Value { text, doubt: value.doubt });
                }
                Piece::Break => all.push(&Value::new(" ")),
                Piece::Nothing => {}
            }
        }
        Ok(all)
    }

    /// What separates the words of an unquoted value.
    pub(crate) fn separators(&self) -> String {
        match self.state.variable("IFS") {
            Some(Variable::One(value)) => value.text.clone(),
            _ => " \t\n".into(),
        }
    }

    pub(crate) fn pieces(&mut self, parts: &Text, span: &Span) -> Result<Vec<Piece>, Fault> {
        self.deeper(span, |shell| {
            let mut pieces = Vec::with_capacity(parts.len());
            for part in parts {
                shell.piece(part, &mut pieces)?;
            }
            Ok(pieces)
        })
    }

    fn piece(&mut self, part: &Part, pieces: &mut Vec<Piece>) -> Result<(), Fault> {
        match part {
            Part::Text(plain) => {
                let value = Value::new(plain.clone());
                pieces.push(Piece::Text { value, splits: false, is_pattern: true });
            }
            Part::Quoted(plain) => pieces.push(Piece::expanded(Value::new(plain.clone()), true)),
            Part::Parameter { parameter, quoted, span } => {
                let before = pieces.len();
                self.parameter(parameter, *quoted, span, pieces)?;
                self.charge(&pieces[before..], span)?;
            }
            Part::Command { list, quoted, span } => {
                let value = self.substitute(list, span)?;
                pieces.push(Piece::expanded(value, *quoted));
                self.charge(&pieces[pieces.len() - 1..], span)?;
            }
            Part::Process { list, span } => {
                let printed = self.output(list, span)?;
                let name = self.files.unnamed("/dev/fd/");
                self.files.write(&name, printed);
                pieces.push(Piece::expanded(Value::new(name), true));
            }
            Part::Reader { span } => return Err(not_followed(span, "`>(…)`")),
            Part::Arithmetic { text, quoted, span } => {
                let value = match self.number(text, span)? {
                    Ok(number) => Value::new(number.to_string()),
                    Err(doubt) => self.undetermined(span, doubt),
                };
                pieces.push(Piece::expanded(value, *quoted));
            }
        }
        Ok(())
    }

    fn charge(&mut self, pieces: &[Piece], span: &Span) -> Result<(), Fault> {
        let length = |piece: &Piece| match piece {
            Piece::Text { value, .. } => value.text.len(),
            _ => 1,
        };
        let bytes = pieces.iter().map(length).sum();
        self.step(span, bytes)
    }
}

/// All pieces as one text.
pub(crate) fn joined(pieces: &[Piece]) -> Value {
    let mut all = Value::default();
    for piece in pieces {
        match piece {
            Piece::Text { value, .. } => all.push(value),
            Piece::Break => all.push(&Value::new(" ")),
            Piece::Nothing => {}
        }
    }
    all
}

/// The words that pieces come to.
pub(crate) fn split(pieces: &[Piece], separators: &str) -> Vec<Value> {
    let is_space = |c: char| separators.contains(c) && " \t\n".contains(c);
    let (mut words, mut word) = (Vec::new(), None::<Value>);
    let nothing = pieces.iter().any(|piece| matches!(piece, Piece::Nothing));
    // A separator that is no space ends a word even if nothing stands before it.
    let mut after_space = false;
    // Why a value is empty that the next word would have begun with.
    let mut empty = None;
    for piece in pieces {
        match piece {
            Piece::Nothing => {}
            Piece::Break => {
                words.extend(word.take());
                after_space = false;
            }
            Piece::Text { value, splits: false, .. } => {
                if !(nothing && value.text.is_empty()) {
                    let word = word.get_or_insert_default();
                    word.push(value);
                    word.doubts(empty.take());
                    after_space = false;
                }
            }
            Piece::Text { value, .. } if value.unknown_because().is_some() => {
                word.get_or_insert_default().push(value);
                after_space = false;
            }
            Piece::Text { value, .. } => {
                for c in value.text.chars() {
                    if !separators.contains(c) {
                        let part = Value { text: c.into(), doubt: value.doubt.clone() };
                        word.get_or_insert_default().push(&part);
                        after_space = false;
                    } else if is_space(c) {
                        after_space |= word.is_some();
                        words.extend(word.take());
                    } else if !std::mem::replace(&mut after_space, false) {
                        words.push(word.take().unwrap_or_default());
                    }
                }
                match &mut word {
                    Some(word) => word.doubts(value.doubt.as_ref()),
                    None => empty = value.doubt.as_ref(),
                }
            }
        }
    }
    words.extend(word);
    words
}

/// Whether signs of a piece may stand for names of files.
fn is_pattern(piece: &Piece) -> bool {
    matches!(piece, Piece::Text { value, is_pattern: true, .. } if value.text.contains(['*', '?']))
}

/// Makes a word unknown that stands for files, which are not looked for.
fn doubt_files(field: &mut Value) {
    let text = field.text.as_str();
    let is_path = text.contains('/') || text.starts_with('*') || text.ends_with('*');
    if text.contains(['*', '?']) && is_path && !text.contains('=') {
        let doubt = Doubt::unknown(text, "files are not looked for");
        field.doubts(Some(&Rc::new(doubt)));
    }
}
