//! Redirections, and the texts after `<<` (POSIX.1-2017, Shell Command Language, section 2.7).

use std::rc::Rc;

use laxity_plan::error::{Fault, shown};

use crate::shell::syntax::parser::Parser;
use crate::shell::syntax::{HereText, Part, Redirect, Redirection};

impl Parser<'_> {
    /// The redirection that begins here, if one does.
    pub(crate) fn redirect(&mut self) -> Result<Option<Redirect>, Fault> {
        self.blanks();
        let start = self.at;
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let fd = rest[..digits].parse().ok();
        let sign = &rest[digits..];
        let known = ["<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">"];
        let Some(sign) = known.into_iter().find(|known| sign.starts_with(known)) else {
            return Ok(None);
        };
        if digits > 0 && sign.starts_with('&') || self.begins_process() {
            return Ok(None);
        }
        self.at += digits + sign.len();
        self.blanks();
        if !self.begins_word() {
            let message = format!("`{}` names no file", shown(&self.text[start..self.at]));
            return Err(Fault::at(&self.span(start), message)
                .help("a redirection goes on with the name of a file"));
        }
        if matches!(sign, "<<" | "<<-") {
            let (last, as_written) = self.here_end()?;
            let number = self.script.here.len();
            let nothing = HereText { text: Vec::new(), span: self.span(start) };
            self.script.here.push(Rc::new(nothing));
            self.pending.push((number, last, sign == "<<-", as_written));
            return Ok(Some(Redirect { fd, kind: Redirection::Here(number) }));
        }
        let word = self.word()?;
        let kind = match sign {
            "<<<" => Redirection::HereWord(word),
            "<" | "<>" | "<&" => Redirection::In(word),
            ">&" | "&>" if word.plain() == Some("-") => Redirection::Like(2),
            ">&" => match word.plain().and_then(|word| word.parse().ok()) {
                Some(fd) => Redirection::Like(fd),
                None => Redirection::Out { adds: false, word },
            },
            _ => Redirection::Out { adds: sign.ends_with(">>"), word },
        };
        Ok(Some(Redirect { fd, kind }))
    }

    /// Reads the texts after `<<` whose line is over.
    pub(crate) fn here_texts(&mut self) -> Result<(), Fault> {
        for (number, last, cuts, as_written) in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut end = start;
            let mut text = String::new();
            loop {
                let rest = &self.text[end..self.end];
                let Some(line) = rest.split_inclusive('\n').next() else { break };
                end += line.len();
                let cut = if cuts { line.trim_start_matches('\t') } else { line };
                // Scripts that were indented later close it so, too.
                if cut.trim_end_matches(['\n', '\r']) == last || line.trim() == last {
                    break;
                }
                text.push_str(cut);
            }
            self.at = end;
            let span = self.span(start);
            let parts = if as_written {
                vec![Part::Quoted(text)]
            } else {
                let within = Some(span.clone());
                let length = text.len();
                let mut parser = Parser::new(&text, 0..length, within, self.script);
                parser.depth = self.depth;
                parser.deeper(|parser| parser.text_until(None))?
            };
            self.script.here[number] = Rc::new(HereText { text: parts, span });
        }
        Ok(())
    }
}
