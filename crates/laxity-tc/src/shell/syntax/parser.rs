//! From the text of a script to its commands (POSIX.1-2017, Shell Command Language, section 2.10,
//! and what bash adds to it).

use std::collections::BTreeMap;
use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::syntax::{
    AndOr, AssignedValue, DECLARATIONS, HereText, Kind, List, Node, Pipeline, RawWord,
};
use crate::words::command::RUN;

/// How deep commands, quotes and expansions may stand inside each other.
pub(crate) const DEEPEST: usize = 64;
/// The most words of one command, which is held as a whole.
const MOST_WORDS: usize = 100_000;

/// Reads commands from a part of a text.
pub(crate) struct Parser<'a> {
    pub text: &'a str,
    pub at: usize,
    pub end: usize,
    /// Where all of this stands in the script, if it is not itself a part of it.
    within: Option<Span>,
    pub depth: usize,
    /// Texts after `<<` whose line is not over yet: number, last line, whether tabs are cut off
    /// and whether it is taken as it is written.
    pub pending: Vec<(usize, String, bool, bool)>,
    pub script: &'a mut Attachments,
}

/// What commands refer to, by number or by place.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    pub here: Vec<Rc<HereText>>,
    /// Comments by the place of the line's end.
    pub comments: BTreeMap<usize, String>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        text: &'a str,
        part: Span,
        within: Option<Span>,
        script: &'a mut Attachments,
    ) -> Self {
        let (at, end) = (part.start, part.end);
        Parser { text, at, end, within, depth: 0, pending: Vec::new(), script }
    }

    /// All commands up to the end.
    pub(crate) fn all(&mut self) -> Result<List, Fault> {
        let list = self.list()?;
        self.here_texts()?;
        if self.at < self.end { Err(self.unexpected()) } else { Ok(list) }
    }

    /// Goes one level deeper for as long as a part is read.
    pub(crate) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == DEEPEST {
            let message = format!("more than {DEEPEST} commands and quotations inside each other");
            return Err(Fault::at(&self.span(self.at), message)
                .help("write what stands inside on lines of its own"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Where in the script a part stands that began here.
    pub(crate) fn span(&self, start: usize) -> Span {
        self.place(start..self.at.max(start))
    }

    /// Where in the script a part of this text stands.
    pub(crate) fn place(&self, part: Span) -> Span {
        self.within.clone().unwrap_or(part)
    }

    /// Whether `<(` or `>(` stands here.
    pub(crate) fn begins_process(&self) -> bool {
        self.rest().starts_with("<(") || self.rest().starts_with(">(")
    }

    /// Whether a word stands here rather than what ends a command.
    pub(crate) fn begins_word(&self) -> bool {
        let ends = ['\n', ';', '&', '|', '<', '>', '(', ')'];
        self.begins_process() || self.peek().is_some_and(|next| !ends.contains(&next))
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    pub(crate) fn unexpected(&self) -> Fault {
        let word = self.rest().split_whitespace().next().unwrap_or_default();
        let span = self.place(self.at..self.at + word.len());
        Fault::at(&span, format!("`{}` does not belong here", plain(word))).help(format!(
            "read are scripts of sh and bash, batch files of tc, and what `tc … show` prints; {RUN}"
        ))
    }

    /// Spaces, continued lines and comments.
    pub(crate) fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            self.at += spaces;
            if self.eat("\\\n") || self.eat("\\\r\n") {
                continue;
            }
            if !self.rest().starts_with('#') {
                return;
            }
            let rest = self.rest();
            let comment = &rest[..rest.find('\n').unwrap_or(rest.len())];
            self.at += comment.len();
            if self.within.is_none() {
                let text = comment.trim_start_matches('#').trim().to_string();
                self.script.comments.insert(self.at, text);
            }
        }
    }

    /// Blanks and the ends of lines.
    pub(crate) fn newlines(&mut self) -> Result<(), Fault> {
        loop {
            self.blanks();
            if !self.rest().starts_with('\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_texts()?;
        }
    }

    /// Commands of another text that stands in the script where this one does.
    pub(crate) fn apart(&mut self, text: &str, span: Span) -> Result<List, Fault> {
        let mut parser = Parser::new(text, 0..text.len(), Some(span), self.script);
        parser.depth = self.depth;
        parser.all()
    }

    /// Commands up to what closes them.
    pub(crate) fn list(&mut self) -> Result<List, Fault> {
        self.deeper(|parser| {
            let mut list = Vec::new();
            loop {
                parser.newlines()?;
                let rest = parser.rest();
                if rest.is_empty() || [")", ";;", ";&"].iter().any(|end| rest.starts_with(end)) {
                    return Ok(list);
                }
                let closing = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
                if closing.contains(&parser.keyword()) {
                    return Ok(list);
                }
                list.push(parser.and_or()?);
                parser.blanks();
                let ends = [";;", ";&"].iter().any(|end| parser.rest().starts_with(end));
                if !ends && !parser.eat(";") && !parser.eat("&") {
                    match parser.peek() {
                        None | Some('\n' | ')' | ';') => {}
                        _ if closing.contains(&parser.keyword()) => {}
                        _ => return Err(parser.unexpected()),
                    }
                }
            }
        })
    }

    /// The word that stands here, if it is plain.
    pub(crate) fn keyword(&self) -> &'a str {
        let rest = self.rest();
        let end = |c: char| c.is_whitespace() || ";&|<>()\"'`$\\".contains(c);
        let word = &rest[..rest.find(end).unwrap_or(rest.len())];
        if rest[word.len()..].starts_with(['"', '\'', '`', '$', '\\']) { "" } else { word }
    }

    /// Takes a word that has to stand here.
    pub(crate) fn expect(&mut self, word: &str, opening: &str, start: usize) -> Result<(), Fault> {
        self.newlines()?;
        if self.keyword() == word || word == ")" && self.rest().starts_with(')') {
            self.at += word.len();
            return Ok(());
        }
        if self.at < self.end {
            let help = format!("`{opening}` goes on with `{word}`; {RUN}");
            return Err(self.unexpected().help(help));
        }
        let span = self.place(start..start + opening.len());
        Err(Fault::at(&span, format!("this `{opening}` has no `{word}`"))
            .help(format!("`{opening}` goes on with `{word}`")))
    }

    fn and_or(&mut self) -> Result<AndOr, Fault> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let and = self.eat("&&");
            if !and && !self.eat("||") {
                return Ok(AndOr { first, rest });
            }
            self.newlines()?;
            rest.push((and, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Fault> {
        let mut negated = false;
        while self.keyword() == "!" || self.keyword() == "time" {
            negated ^= self.rest().starts_with('!');
            self.at += self.keyword().len();
            self.blanks();
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Ok(Pipeline { negated, commands });
            }
            self.eat("&");
            self.newlines()?;
            commands.push(self.command()?);
        }
    }

    pub(crate) fn command(&mut self) -> Result<Node, Fault> {
        self.blanks();
        let start = self.at;
        let kind = self.deeper(Parser::compound)?;
        let Some(kind) = kind else { return self.simple() };
        let mut redirects = Vec::new();
        if !matches!(kind, Kind::Function(..)) {
            while let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            }
        }
        Ok(Node { kind, redirects, span: self.span(start) })
    }

    /// Words up to the end of the command, or of all lines up to a closing sign that is left.
    pub(crate) fn words(&mut self, of_all_lines: bool) -> Result<Vec<RawWord>, Fault> {
        let mut words = Vec::new();
        loop {
            if of_all_lines {
                self.newlines()?;
            }
            self.blanks();
            if !self.begins_word() {
                return Ok(words);
            }
            words.push(self.word()?);
            self.limit(&words)?;
        }
    }

    fn limit(&self, words: &[RawWord]) -> Result<(), Fault> {
        if words.len() <= MOST_WORDS {
            return Ok(());
        }
        let message = format!("this command has more than {MOST_WORDS} words");
        Err(Fault::at(&self.span(self.at), message))
    }

    /// Assignments, words and redirections, or a function by its name and `()`.
    fn simple(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let (mut assignments, mut arrays, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut words: Vec<RawWord> = Vec::new();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                Some('(') => {
                    let name = match &words[..] {
                        [word] if assignments.is_empty() && redirects.is_empty() => word.plain(),
                        _ => None,
                    };
                    let Some(name) = name.map(str::to_string) else {
                        return Err(self.unexpected());
                    };
                    self.at += 1;
                    self.blanks();
                    if !self.eat(")") {
                        return Err(self.unexpected());
                    }
                    let kind = self.deeper(|parser| parser.function(name))?;
                    return Ok(Node { kind, redirects, span: self.span(start) });
                }
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some(_) => {}
            }
            let begins = self.at;
            let first = words.first().map(RawWord::plain);
            let may_assign =
                first.is_none_or(|first| first.is_some_and(|word| DECLARATIONS.contains(&word)));
            let assignment = if may_assign { self.assignment()? } else { None };
            match assignment {
                Some(assignment) if words.is_empty() => assignments.push(assignment),
                Some(assignment) => {
                    words.push(assignment.as_word(self.span(begins)));
                    if let AssignedValue::Array(_) = assignment.value {
                        arrays.push(assignment);
                    }
                }
                None => words.push(self.word()?),
            }
            self.limit(&words)?;
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        let end = self.text[..self.at].trim_end_matches([' ', '\t', '\r']).len().max(start);
        let span = self.place(start..end);
        Ok(Node { kind: Kind::Simple(assignments, words, arrays), redirects, span })
    }
}
