//! What is wrong with a plan, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a text that something is about.
pub type Span = Range<usize>;

/// Why a plan was refused: one message, the place in the file that it is about, and what would
/// have been accepted.
#[derive(Clone, PartialEq, Eq)]
pub struct PlanError {
    name: Arc<str>,
    text: Arc<str>,
    fault: Box<Fault>,
    io: Option<io::ErrorKind>,
}

impl PlanError {
    /// The error of a fault in a text that is called `name`. A span that is not within the text, or
    /// ends inside a character, is made to fit.
    pub fn new(name: &str, text: &str, mut fault: Fault) -> Self {
        fault.span = fault.span.map(|span| within(text, span));
        PlanError { name: name.into(), text: text.into(), fault: Box::new(fault), io: None }
    }

    pub(crate) fn io(name: &str, error: &io::Error, message: impl Into<String>) -> Self {
        let fault = Box::new(Fault::new(None, message));
        PlanError { name: name.into(), text: "".into(), fault, io: Some(error.kind()) }
    }

    /// The plan's name as the caller gave it: usually its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The plan's text; empty if it could not be read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of [`text`](Self::text) that the message is about, on character boundaries.
    pub fn span(&self) -> Option<Span> {
        self.fault.span.clone()
    }

    /// Line and column where the span begins, both from 1, the column in characters.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let before = &self.text[..self.fault.span.as_ref()?.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Some((line, before[line_start..].chars().count() + 1))
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line_column().map(|(line, _)| line)
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        self.line_column().map(|(_, column)| column)
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.fault.message
    }

    /// What is accepted instead, where the message does not say so already.
    pub fn help(&self) -> Option<&str> {
        self.fault.help.as_deref()
    }

    /// What the system said, if the file could not be read.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.io
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        if let Some((line, column)) = self.line_column() {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.fault.message)
    }
}

/// As [`Display`](fmt::Display), with the help: the whole text of the plan would drown it.
impl fmt::Debug for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.help().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for PlanError {}

/// A fault in a text whose name and whole the finder need not know. [`PlanError::new`] makes an
/// error of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the text that it is about.
    pub span: Option<Span>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    /// A fault of these bytes, or of the text as a whole. The message has no full stop.
    pub fn new(span: Option<Span>, message: impl Into<String>) -> Self {
        Fault { span, message: message.into(), help: None }
    }

    /// A fault of these bytes.
    pub fn at(span: &Span, message: impl Into<String>) -> Self {
        Fault::new(Some(span.clone()), message)
    }

    /// The zero of a key that takes none.
    pub(crate) fn zero(key: &str, span: &Span) -> Self {
        Fault::at(span, format!("`{key}` is zero: it must be more"))
    }

    /// Says what is accepted instead.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Fault { help: Some(help.into()), ..self }
    }

    /// Says more behind the message.
    #[must_use]
    pub fn more(self, more: &str) -> Self {
        Fault { message: self.message + more, ..self }
    }

    /// Says more behind the help.
    #[must_use]
    pub fn more_help(self, more: &str) -> Self {
        let help = self.help.map(|help| help + more).or(Some(more.trim_start().to_string()));
        Fault { help: help.filter(|help| !help.is_empty()), ..self }
    }

    /// Adds the words that are accepted, and asks for the nearest if one is near the given word.
    pub(crate) fn accepted<'a>(
        self,
        given: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let list = quoted_list(known.clone());
        match nearest(given, known) {
            Some(near) => self.help(format!("did you mean `{near}`? Accepted: {list}")),
            None => self.help(format!("accepted: {list}")),
        }
    }

    /// A name that no class has; asks for the nearest if one is near, else lists the names.
    pub(crate) fn no_class<'a>(
        given: &str,
        span: &Span,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let fault = Fault::at(span, format!("there is no class `{}`", shown(given)));
        match nearest(given, known.clone()) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.accepted(given, known),
        }
    }
}

/// How many names a list shows before it ends in `…`.
const LISTED: usize = 24;
/// The longest text that is compared with known words or shown whole.
const SHOWN: usize = 64;

pub(crate) fn quoted_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words = words.fuse();
    let mut list: Vec<String> =
        words.by_ref().take(LISTED).map(|word| format!("`{word}`")).collect();
    if words.next().is_some() {
        list.push("…".into());
    }
    list.join(", ")
}

/// The known word that a misspelt one was probably meant to be.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > SHOWN {
        return None;
    }
    let distance = |word: &str| strsim::damerau_levenshtein(given, word);
    let (far, word) = known.map(|word| (distance(word), word)).min_by_key(|(far, _)| *far)?;
    (far <= 1 + word.chars().count() / 4 && far < given.chars().count()).then_some(word)
}

/// A text from outside as messages show it: in one piece if it is short, else its beginning.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// The span cut to the text and widened to whole characters.
fn within(text: &str, span: Span) -> Span {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.max(start));
    start..end
}
