//! The words of a `tc` command, taken one by one as `tc` takes them.

use std::ops::Range;

use super::shell::{Word, plain};
use crate::error::Fault;

/// What reading a command gives.
pub type Read<T> = Result<T, Fault>;

/// The words that are still to be read.
#[derive(Clone, Debug)]
pub struct Args<'a> {
    words: &'a [Word],
    /// Where the command ends, for what is missing there.
    end: usize,
}

impl<'a> Args<'a> {
    pub fn new(words: &'a [Word]) -> Self {
        Args { words, end: words.last().map_or(0, |word| word.span.end) }
    }

    pub fn peek(&self) -> Option<&'a Word> {
        self.words.first()
    }

    pub fn next(&mut self) -> Option<&'a Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Takes the next word if it is this one, or the beginning of it.
    pub fn take(&mut self, keyword: &str) -> bool {
        let taken = self.peek().is_some_and(|word| word.means(keyword));
        if taken {
            self.next();
        }
        taken
    }

    /// The value of a keyword that was just read.
    pub fn value(&mut self, keyword: &str) -> Read<&'a Word> {
        let end = self.end;
        self.next().ok_or_else(|| {
            Fault::at(&(end..end), format!("`{keyword}` has no value: the command ends here"))
        })
    }

    /// From the next word to the end of the command.
    pub fn span(&self) -> Range<usize> {
        self.peek().map_or(self.end, |word| word.span.start)..self.end
    }
}

impl Word {
    /// Whether this is a keyword or the beginning of one, which `tc` takes for it.
    pub fn means(&self, keyword: &str) -> bool {
        !self.text.is_empty() && keyword.starts_with(&self.text)
    }

    /// A fault of this word, with what is accepted in its place. A variable without a value is
    /// most often the cause.
    pub fn fault(&self, what: &str, accepted: &str) -> Fault {
        let text = plain(&self.text);
        let fault = Fault::at(&self.span, format!("`{text}` is not {what}"));
        match self.text.contains(['$', '`']) {
            true => fault.help(format!(
                "`{text}` has no value in the script: set it in a line above, as in NAME=value"
            )),
            false => fault.help(accepted),
        }
    }

    /// A fault of this word where a keyword should be.
    pub fn no_keyword(&self, of: &str, accepted: &str) -> Fault {
        let message = format!("`{}` does not belong to {of}", plain(&self.text));
        Fault::at(&self.span, message).help(format!("accepted here: {accepted}"))
    }
}
