//! Words: quotes, `$…` and backquotes (POSIX.1-2017, Shell Command Language, sections 2.2 and 2.6).

use laxity_plan::error::Fault;

use crate::shell::expansion::escapes::escapes;
use crate::shell::syntax::parser::Parser;
use crate::shell::syntax::{Operation, Parameter, Part, RawWord, Text, name_length};

impl Parser<'_> {
    /// The word that begins here; there is one.
    pub(crate) fn word(&mut self) -> Result<RawWord, Fault> {
        self.word_with("")
    }

    /// A word in which some signs that would end it are plain.
    pub(crate) fn word_with(&mut self, plain: &str) -> Result<RawWord, Fault> {
        let start = self.at;
        let mut parts = Vec::new();
        self.deeper(|parser| {
            while let Some(next) = parser.peek() {
                if parser.begins_process() && !plain.contains('(') {
                    let (reads, begins) = (next == '<', parser.at);
                    parser.at += 2;
                    let list = parser.list()?;
                    parser.expect(")", if reads { "<(" } else { ">(" }, begins)?;
                    let span = parser.span(begins);
                    parts.push(if reads {
                        Part::Process { list, span }
                    } else {
                        Part::Reader { span }
                    });
                    continue;
                }
                let ends = next.is_ascii_whitespace() || ";&|<>()".contains(next);
                if ends && !plain.contains(next) {
                    break;
                }
                parser.part(next, &mut parts)?;
            }
            Ok(())
        })?;
        if self.at == start {
            self.bump();
        }
        let span = self.span(start);
        Ok(RawWord { parts, span })
    }

    /// One part outside of double quotes.
    pub(crate) fn part(&mut self, next: char, parts: &mut Text) -> Result<(), Fault> {
        match next {
            '\\' => {
                self.at += 1;
                if self.eat("\n") || self.eat("\r\n") {
                    return Ok(());
                }
                push(parts, true, self.bump().unwrap_or('\\'));
            }
            '\'' => {
                let text = self.single_quoted()?;
                parts.push(Part::Quoted(text));
            }
            '"' => self.double_quoted(parts)?,
            '$' if self.rest().starts_with("$'") => {
                self.at += 1;
                let text = self.single_quoted()?;
                parts.push(Part::Quoted(escapes(&text).0));
            }
            '$' if self.rest().starts_with("$\"") => {
                self.at += 1;
                self.double_quoted(parts)?;
            }
            '$' | '`' => self.expansion(false, parts)?,
            plain => {
                self.at += plain.len_utf8();
                push(parts, false, plain);
            }
        }
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let inside = &self.rest()[1..];
        let Some(length) = inside.find('\'') else { return Err(self.unclosed('\'', start)) };
        self.at += length + 2;
        Ok(inside[..length].to_string())
    }

    pub(crate) fn double_quoted(&mut self, parts: &mut Text) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        parts.push(Part::Quoted(String::new()));
        self.deeper(|parser| {
            loop {
                match parser.peek() {
                    None => return Err(parser.unclosed('"', start)),
                    Some('"') => {
                        parser.at += 1;
                        return Ok(());
                    }
                    Some(_) => parser.quoted_part("$`\"\\", parts)?,
                }
            }
        })
    }

    /// One part inside double quotes, or of a text in which quotes are plain.
    pub(crate) fn quoted_part(&mut self, escaped: &str, parts: &mut Text) -> Result<(), Fault> {
        let Some(next) = self.peek() else { return Ok(()) };
        match next {
            '\\' => {
                self.at += 1;
                match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(sign) if escaped.contains(sign) => {
                        self.at += sign.len_utf8();
                        push(parts, true, sign);
                    }
                    _ => push(parts, true, '\\'),
                }
                Ok(())
            }
            '$' | '`' => self.expansion(true, parts),
            plain => {
                self.at += plain.len_utf8();
                push(parts, true, plain);
                Ok(())
            }
        }
    }

    /// Text with expansions up to a sign, which is taken, or to the end: the inside of arithmetic,
    /// of an index, of the text after `<<`.
    pub(crate) fn text_until(&mut self, sign: Option<&str>) -> Result<Text, Fault> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut open = 0usize;
        loop {
            if let Some(sign) = sign.filter(|_| open == 0)
                && self.eat(sign)
            {
                return Ok(parts);
            }
            match self.peek() {
                None if sign.is_none() => return Ok(parts),
                None => {
                    let span = self.place(start..start);
                    let message = format!("`{}` is missing after this", sign.unwrap_or_default());
                    return Err(Fault::at(&span, message).help("what is opened is closed again"));
                }
                Some('"') if sign.is_some() => self.at += 1,
                Some(next) => {
                    let (opens, closes) = if sign == Some("]") { ('[', ']') } else { ('(', ')') };
                    if sign.is_some() {
                        open += usize::from(next == opens);
                        open = open.saturating_sub(usize::from(next == closes));
                    }
                    self.deeper(|parser| parser.quoted_part("$`\\", &mut parts))?;
                }
            }
        }
    }

    fn unclosed(&self, quote: char, start: usize) -> Fault {
        let span = self.place(start..start + 1);
        Fault::at(&span, format!("this {quote} is not closed"))
            .help("a quotation ends with the mark that it begins with")
    }

    /// What `$` or a backquote begins.
    fn expansion(&mut self, quoted: bool, parts: &mut Text) -> Result<(), Fault> {
        let start = self.at;
        let part = if self.rest().starts_with("$((")
            && let Some(length) = arithmetic_length(&self.rest()[3..])
        {
            self.at += 3;
            let end = std::mem::replace(&mut self.end, self.at + length);
            let text = self.deeper(|parser| parser.text_until(None));
            self.end = end;
            let text = text?;
            self.at += 2;
            Part::Arithmetic { text, quoted, span: self.span(start) }
        } else if self.eat("$[") {
            let text = self.deeper(|parser| parser.text_until(Some("]")))?;
            Part::Arithmetic { text, quoted, span: self.span(start) }
        } else if self.eat("$(") {
            let list = self.deeper(Parser::list)?;
            if !self.eat(")") {
                return Err(self.unclosed('(', start + 1));
            }
            Part::Command { list, quoted, span: self.span(start) }
        } else if self.rest().starts_with('`') {
            self.backquoted(quoted)?
        } else {
            let parameter = if self.eat("${") {
                self.deeper(|parser| parser.braced(start, quoted))?
            } else {
                self.at += 1;
                let rest = self.rest();
                let special =
                    rest.starts_with(|c: char| c.is_ascii_digit() || "@*#?$!-".contains(c));
                let length = if special { 1 } else { name_length(rest) };
                if length == 0 {
                    push(parts, quoted, '$');
                    return Ok(());
                }
                self.at += length;
                let (name, operation) = (rest[..length].to_string(), Operation::Value);
                Parameter { name, index: None, operation }
            };
            Part::Parameter { parameter: Box::new(parameter), quoted, span: self.span(start) }
        };
        parts.push(part);
        Ok(())
    }

    fn backquoted(&mut self, quoted: bool) -> Result<Part, Fault> {
        let start = self.at;
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.bump() {
                None => return Err(self.unclosed('`', start)),
                Some('`') => break,
                Some('\\') => match self.peek() {
                    Some(sign @ ('`' | '\\' | '$')) => {
                        self.at += 1;
                        inside.push(sign);
                    }
                    Some('"') if quoted => {
                        self.at += 1;
                        inside.push('"');
                    }
                    _ => inside.push('\\'),
                },
                Some(plain) => inside.push(plain),
            }
        }
        let span = self.span(start);
        let list = self.deeper(|parser| parser.apart(&inside, span.clone()))?;
        Ok(Part::Command { list, quoted, span })
    }

    /// The line that ends a text after `<<`, and whether that text is taken as it is written.
    pub(crate) fn here_end(&mut self) -> Result<(String, bool), Fault> {
        let start = self.at;
        let word = self.word()?;
        let written = &self.text[start..self.at];
        let as_written = written.contains(['\'', '"', '\\']);
        let mut last = String::new();
        for part in &word.parts {
            match part {
                Part::Text(text) | Part::Quoted(text) => last.push_str(text),
                _ => return Ok((written.to_string(), as_written)),
            }
        }
        Ok((last, as_written))
    }
}

/// How long the inside of `((…))` is; `None` if it does not end in two brackets together.
pub(super) fn arithmetic_length(text: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return text[at..].starts_with("))").then_some(at),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

fn push(parts: &mut Text, quoted: bool, c: char) {
    match (parts.last_mut(), quoted) {
        (Some(Part::Text(text)), false) | (Some(Part::Quoted(text)), true) => text.push(c),
        (_, true) => parts.push(Part::Quoted(c.into())),
        (_, false) => parts.push(Part::Text(c.into())),
    }
}
