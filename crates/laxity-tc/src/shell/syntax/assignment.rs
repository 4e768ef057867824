//! Assignments (POSIX.1-2017, Shell Command Language, section 2.9.1, and the arrays of bash).

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::syntax::parser::Parser;
use crate::shell::syntax::{AssignedValue, Assignment, Part, RawWord, name_length};

impl Parser<'_> {
    /// `NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(…)`.
    pub(crate) fn assignment(&mut self) -> Result<Option<Assignment>, Fault> {
        let start = self.at;
        let length = name_length(self.rest());
        if length == 0 || self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let name = self.rest()[..length].to_string();
        self.at += length;
        let mut index = None;
        if self.rest().starts_with('[') {
            let closes = self
                .rest()
                .split(['\n', ' '])
                .next()
                .is_some_and(|word| word.contains("]=") || word.contains("]+="));
            if !closes {
                self.at = start;
                return Ok(None);
            }
            self.at += 1;
            index = Some(self.text_until(Some("]"))?);
        }
        let adds = self.eat("+=");
        if !adds && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let value = if self.eat("(") {
            let words = self.words(true)?;
            self.expect(")", "(", start)?;
            AssignedValue::Array(words)
        } else {
            AssignedValue::Word(match self.peek() {
                None | Some(' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' | '<' | '>') => {
                    RawWord { parts: Vec::new(), span: self.span(self.at) }
                }
                Some('(') => return Err(self.unexpected()),
                Some(_) => self.word()?,
            })
        };
        Ok(Some(Assignment { name, index, adds, value }))
    }
}

impl Assignment {
    /// The word that it is to `local` and the like: of an array the name.
    pub(crate) fn as_word(&self, span: Span) -> RawWord {
        let AssignedValue::Word(word) = &self.value else {
            return RawWord { parts: vec![Part::Text(self.name.clone())], span };
        };
        let sign = if self.adds { "+=" } else { "=" };
        let mut parts = vec![Part::Text(format!("{}{sign}", self.name))];
        parts.extend(word.parts.iter().cloned());
        RawWord { parts, span }
    }
}
