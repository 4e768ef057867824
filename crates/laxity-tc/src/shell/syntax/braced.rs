//! What stands between `${` and `}` (POSIX.1-2017, Shell Command Language, 2.6.2, and bash).

use laxity_plan::error::Fault;

use crate::shell::syntax::parser::Parser;
use crate::shell::syntax::{
    Fallback, Operation, Parameter, Part, Replacement, Slice, Strip, Text, name_length,
};
use crate::words::command::RUN;

impl Parser<'_> {
    /// What stands between `${` and `}`.
    pub(crate) fn braced(&mut self, start: usize, quoted: bool) -> Result<Parameter, Fault> {
        let counts = self.rest().starts_with('#') && !self.rest().starts_with("#}");
        let indirect = self.rest().starts_with('!');
        self.at += usize::from(counts || indirect);
        let rest = self.rest();
        let special = rest.starts_with(|c: char| "@*#?$!-".contains(c));
        let length = if special { 1 } else { name_length(rest) };
        let name = rest[..length].to_string();
        self.at += length;
        let mut index = None;
        if !name.is_empty() && self.eat("[") {
            index = Some(self.text_until(Some("]"))?);
        }
        let closed = self.eat("}");
        let operation = match (counts, indirect) {
            (true, _) if closed => Operation::Length,
            (_, true) if closed && names_all(index.as_ref()) => Operation::Keys,
            (_, true) if closed => Operation::Indirect,
            _ if closed && !name.is_empty() => Operation::Value,
            (false, false) if !closed && !name.is_empty() => self.operation(start, quoted)?,
            _ => return Err(self.not_braced(start)),
        };
        Ok(Parameter { name, index, operation })
    }

    fn not_braced(&self, start: usize) -> Fault {
        let span = self.place(start..self.at.max(start + 2));
        Fault::at(&span, "this `${` is not closed or not known").help(format!(
            "read are ${{NAME}}, ${{NAME:-word}}, ${{NAME%pattern}}, ${{NAME#pattern}}, ${{#NAME}}, \
             ${{NAME/pattern/word}}, ${{NAME:offset:length}} and the like; {RUN}",
        ))
    }

    fn operation(&mut self, start: usize, quoted: bool) -> Result<Operation, Fault> {
        let rest = self.rest();
        let or_empty = rest.starts_with([':']) && rest[1..].starts_with(['-', '=', '+', '?']);
        self.at += usize::from(or_empty);
        let Some(sign) = self.bump() else { return Err(self.not_braced(start)) };
        let twice = matches!(sign, '#' | '%' | '/' | '^' | ',') && self.peek() == Some(sign);
        self.at += usize::from(twice);
        Ok(match sign {
            '-' | '=' | '+' | '?' => {
                let word = self.operand(start, quoted, &['}'])?;
                Operation::Default(Fallback { sign, or_empty, word })
            }
            '#' | '%' => {
                let pattern = self.operand(start, false, &['}'])?;
                Operation::Strip(Strip { from_end: sign == '%', longest: twice, pattern })
            }
            '/' => {
                let anchor = self.peek().filter(|sign| !twice && matches!(sign, '#' | '%'));
                self.at += usize::from(anchor.is_some());
                let pattern = self.operand(start, false, &['/', '}'])?;
                let replaces = self.text[..self.at].ends_with('/');
                let with = if replaces { self.operand(start, quoted, &['}'])? } else { Vec::new() };
                Operation::Replace(Replacement { all: twice, anchor, pattern, with })
            }
            ':' => {
                let offset = self.operand(start, true, &[':', '}'])?;
                let more = self.text[..self.at].ends_with(':');
                let length = if more { Some(self.operand(start, true, &['}'])?) } else { None };
                Operation::Slice(Slice { offset, length })
            }
            '^' | ',' => {
                self.operand(start, false, &['}'])?;
                Operation::Case { upper: sign == '^', all: twice }
            }
            _ => return Err(self.not_braced(start)),
        })
    }

    /// A word inside of braces up to one of some signs, which is taken.
    fn operand(&mut self, start: usize, quoted: bool, ends: &[char]) -> Result<Text, Fault> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.not_braced(start)),
                Some(end) if ends.contains(&end) => {
                    self.at += 1;
                    return Ok(parts);
                }
                Some('"') => self.double_quoted(&mut parts)?,
                Some(_) if quoted => self.quoted_part("$`\"\\}", &mut parts)?,
                Some(next) => self.part(next, &mut parts)?,
            }
        }
    }
}

/// Whether an index is `@` or `*`.
fn names_all(index: Option<&Text>) -> bool {
    let Some([Part::Text(sign) | Part::Quoted(sign)]) = index.map(Vec::as_slice) else {
        return false;
    };
    matches!(sign.as_str(), "@" | "*")
}
