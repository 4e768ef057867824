//! The words of a `tc` command, taken one by one as `tc` takes them.

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::words::command::{Doubt, Word};

/// The words that are still to be read.
#[derive(Clone, Debug)]
pub(crate) struct Args<'a> {
    words: &'a [Word],
    /// Where the command ends, for what is missing there.
    end: usize,
    /// Why something may be missing there.
    doubt: Option<&'a Doubt>,
}

impl<'a> Args<'a> {
    pub(crate) fn new(words: &'a [Word]) -> Self {
        let last = words.last();
        let doubt = last.and_then(|word| word.doubt.as_deref());
        Args { words, end: last.map_or(0, |word| word.span.end), doubt }
    }

    pub(crate) fn peek(&self) -> Option<&'a Word> {
        self.words.first()
    }

    pub(crate) fn next(&mut self) -> Option<&'a Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Takes the next word if it is this one, or the beginning of it.
    pub(crate) fn take(&mut self, keyword: &str) -> bool {
        let taken = self.peek().is_some_and(|word| word.means(keyword));
        if taken {
            self.next();
        }
        taken
    }

    /// The value of a keyword that was just read.
    pub(crate) fn value(&mut self, keyword: &str) -> Result<&'a Word, Fault> {
        let (end, doubt) = (self.end, self.doubt);
        self.next().ok_or_else(|| {
            let message = format!("`{keyword}` has no value: the command ends here");
            let fault = Fault::at(&(end..end), message);
            match doubt {
                Some(doubt) => fault.help(doubt.advice()),
                None => fault,
            }
        })
    }

    /// From the next word to the end of the command.
    pub(crate) fn span(&self) -> Span {
        self.peek().map_or(self.end, |word| word.span.start)..self.end
    }
}
