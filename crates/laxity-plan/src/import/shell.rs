//! A shell script or a `tc -batch` file as the commands in it.
//!
//! Read are words, quotes, comments, lines continued by a backslash, simple assignments and uses of
//! variables. Nothing is run: the branches of an `if` and the bodies of functions come out as if
//! each line stood alone, and what would have to be computed stays as it is written.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Fault, shown};

/// What all variables of a script may expand to, in bytes.
const MOST_EXPANDED: usize = 64 << 20;
/// The most words of one line, which is held as a whole.
const MOST_WORDS: usize = 100_000;

/// One word of a command, without its quotes.
#[derive(Debug)]
pub struct Word {
    pub text: String,
    pub span: Range<usize>,
}

/// One command: at least one word.
#[derive(Debug)]
pub struct Command {
    pub words: Vec<Word>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// The comment at the end of its line.
    pub comment: Option<String>,
}

impl Command {
    /// From its first word to its last.
    pub fn span(&self) -> Range<usize> {
        let end = self.words.last().map_or(0, |word| word.span.end);
        self.words.first().map_or(0, |word| word.span.start)..end
    }
}

pub struct Script<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    variables: HashMap<String, String>,
    expanded: usize,
    /// The word that ends a text which is given to a command in place of a file.
    here: Option<String>,
    /// That text has begun.
    in_here: bool,
}

/// The words of one line, continued lines included.
#[derive(Default)]
struct Line {
    commands: Vec<Command>,
    words: Vec<Word>,
    word: Option<Word>,
    word_count: usize,
    first_line: usize,
    comment: Option<String>,
    /// What the next word is, if it is no part of the command.
    redirection: Option<Redirection>,
}

enum Redirection {
    /// The file that a redirection goes to.
    File,
    /// The word that ends the text which follows.
    Here,
}

impl<'a> Script<'a> {
    pub fn new(text: &'a str) -> Self {
        Script {
            text,
            at: 0,
            line: 1,
            variables: HashMap::new(),
            expanded: 0,
            here: None,
            in_here: false,
        }
    }

    /// The commands of the next line, assignments taken out; `None` at the end of the script.
    pub fn next_line(&mut self) -> Result<Option<Vec<Command>>, Fault> {
        if self.at == self.text.len() {
            return Ok(None);
        }
        let mut commands = self.line()?;
        self.end_here(&mut commands);
        for command in &mut commands {
            self.assign(command);
        }
        commands.retain(|command| !command.words.is_empty());
        Ok(Some(commands))
    }

    /// Takes out the word that ends a text in place of a file, and such a text itself unless it is
    /// given to `tc`.
    fn end_here(&mut self, commands: &mut Vec<Command>) {
        let Some(end) = &self.here else { return };
        let is_end = |command: &Command| matches!(&command.words[..], [word] if word.text == *end);
        if commands.len() == 1 && is_end(&commands[0]) {
            (self.here, self.in_here) = (None, false);
            commands.clear();
            return;
        }
        let is_tc = |word: &Word| word.text == "tc" || word.text.ends_with("/tc");
        let begins = !std::mem::replace(&mut self.in_here, true);
        if begins && !commands.iter().any(|command| command.words.iter().any(is_tc)) {
            let rest = &self.text[self.at..];
            let lines = rest.split_inclusive('\n');
            let text = lines.take_while(|line| line.trim() != end).map(str::len).sum();
            self.skip(text);
        }
    }

    fn line(&mut self) -> Result<Vec<Command>, Fault> {
        let mut line = Line { first_line: self.line, ..Line::default() };
        while let Some(next) = self.peek() {
            match next {
                '\n' => {
                    self.skip(1);
                    break;
                }
                ' ' | '\t' | '\r' => {
                    self.skip(1);
                    self.end_word(&mut line);
                }
                '#' if line.word.is_none() => {
                    let rest = &self.text[self.at..];
                    let comment = &rest[..rest.find('\n').unwrap_or(rest.len())];
                    line.comment = Some(comment.trim_start_matches('#').trim().to_string());
                    self.skip(comment.len());
                }
                ';' | '&' | '|' | '(' | ')' => {
                    self.skip(1);
                    self.end_command(&mut line);
                }
                '<' | '>' => self.redirection(&mut line),
                _ => self.part_of_word(next, &mut line)?,
            }
            if line.word_count > MOST_WORDS {
                let message = format!("this line has more than {MOST_WORDS} words");
                return Err(Fault::at(&(self.at..self.at), message));
            }
        }
        self.end_command(&mut line);
        for command in &mut line.commands {
            command.comment.clone_from(&line.comment);
        }
        Ok(line.commands)
    }

    fn part_of_word(&mut self, next: char, line: &mut Line) -> Result<(), Fault> {
        let start = self.at;
        match next {
            '\\' => {
                self.skip(1);
                let rest = &self.text[self.at..];
                if let Some(end) = ["\n", "\r\n"].iter().find(|end| rest.starts_with(**end)) {
                    self.skip(end.len());
                } else if let Some(plain) = self.peek() {
                    self.skip(plain.len_utf8());
                    self.word(line, start).text.push(plain);
                }
            }
            '\'' => {
                let quoted = self.quoted('\'')?;
                self.word(line, start).text.push_str(quoted);
            }
            '"' => self.double_quoted(line)?,
            '$' | '`' => {
                let (value, splits) = self.expansion()?;
                let keeps = !splits || line.is_assignment();
                self.insert(line, start, &value, keeps);
            }
            plain => {
                self.skip(plain.len_utf8());
                self.word(line, start).text.push(plain);
            }
        }
        Ok(())
    }

    /// The word that is being read, begun at `start` if there was none.
    fn word<'l>(&self, line: &'l mut Line, start: usize) -> &'l mut Word {
        if line.word.is_none() && line.words.is_empty() {
            line.first_line = self.line;
        }
        let word =
            line.word.get_or_insert_with(|| Word { text: String::new(), span: start..start });
        word.span.end = self.at;
        word
    }

    /// Puts the value of a variable into the word, or as several words.
    fn insert(&mut self, line: &mut Line, start: usize, value: &str, keeps: bool) {
        if keeps {
            return self.word(line, start).text.push_str(value);
        }
        for (at, part) in value.split([' ', '\t', '\n']).enumerate() {
            if at > 0 {
                self.end_word(line);
            }
            if !part.is_empty() {
                self.word(line, start).text.push_str(part);
            }
        }
    }

    fn end_word(&mut self, line: &mut Line) {
        let Some(word) = line.word.take() else { return };
        match line.redirection.take() {
            None => {
                line.words.push(word);
                line.word_count += 1;
            }
            Some(Redirection::File) => {}
            Some(Redirection::Here) => self.here = Some(word.text),
        }
    }

    fn end_command(&mut self, line: &mut Line) {
        self.end_word(line);
        line.redirection = None;
        let words = std::mem::take(&mut line.words);
        if !words.is_empty() {
            line.commands.push(Command { words, line: line.first_line, comment: None });
        }
    }

    /// `>`, `2>`, `>>`, `>&`, `<` and `<<`: what they go to is no part of the command.
    fn redirection(&mut self, line: &mut Line) {
        if line.word.as_ref().is_some_and(|word| word.text.bytes().all(|b| b.is_ascii_digit())) {
            line.word = None;
        }
        self.end_word(line);
        let rest = &self.text[self.at..];
        let here = rest.starts_with("<<") && !rest.starts_with("<<<");
        line.redirection = Some(if here { Redirection::Here } else { Redirection::File });
        self.skip(rest.len() - rest.trim_start_matches(['<', '>', '&', '-']).len());
    }

    /// What stands up to the closing quote, both quotes skipped.
    fn quoted(&mut self, quote: char) -> Result<&'a str, Fault> {
        let inside = &self.text[self.at + 1..];
        let Some(length) = inside.find(quote) else { return Err(self.unclosed(quote)) };
        self.skip(length + 2);
        Ok(&inside[..length])
    }

    fn double_quoted(&mut self, line: &mut Line) -> Result<(), Fault> {
        let start = self.at;
        let unclosed = self.unclosed('"');
        self.skip(1);
        self.word(line, start);
        loop {
            match self.peek() {
                None => return Err(unclosed),
                Some('"') => {
                    self.skip(1);
                    self.word(line, start);
                    return Ok(());
                }
                Some('\\') => {
                    self.skip(1);
                    match self.peek() {
                        Some('\n') => self.skip(1),
                        Some(escaped @ ('$' | '"' | '\\' | '`')) => {
                            self.skip(1);
                            self.word(line, start).text.push(escaped);
                        }
                        _ => self.word(line, start).text.push('\\'),
                    }
                }
                Some('$' | '`') => {
                    let (value, _) = self.expansion()?;
                    self.word(line, start).text.push_str(&value);
                }
                Some(plain) => {
                    self.skip(plain.len_utf8());
                    self.word(line, start).text.push(plain);
                }
            }
        }
    }

    fn unclosed(&self, quote: char) -> Fault {
        Fault::at(&(self.at..self.at + 1), format!("this {quote} is not closed"))
            .help("a quotation ends with the mark that it begins with")
    }

    /// The value of what begins with `$` or a backquote, and whether it may be several words. What
    /// has no value here stays as it is written.
    fn expansion(&mut self) -> Result<(String, bool), Fault> {
        let rest = &self.text[self.at..];
        let (length, value) = match rest.as_bytes().get(1) {
            _ if rest.starts_with('`') => (up_to(rest, '`'), None),
            Some(b'(') => (balanced(rest), None),
            Some(b'{') => {
                let length = up_to(rest, '}');
                let inside = rest[2..length].trim_end_matches('}');
                let split = inside.split_once(":-").or_else(|| inside.split_once(":="));
                let (name, default) =
                    split.map_or((inside, None), |(name, default)| (name, Some(default)));
                let value = self.variables.get(name).map(String::as_str);
                (length, value.filter(|value| !value.is_empty()).or(default))
            }
            _ => {
                let length = 1 + name_length(&rest[1..]);
                (length, self.variables.get(&rest[1..length]).map(String::as_str))
            }
        };
        let (value, splits) = match value {
            Some(value) => (value.to_string(), true),
            None => (rest[..length].to_string(), false),
        };
        self.expanded += value.len();
        if self.expanded > MOST_EXPANDED {
            let message = format!(
                "the variables up to here expand to more than {} MiB, the most that is read",
                MOST_EXPANDED >> 20
            );
            return Err(Fault::at(&(self.at..self.at + length), message));
        }
        self.skip(length);
        Ok((value, splits))
    }

    /// Takes leading assignments out of a command. They hold from there on if nothing follows them.
    fn assign(&mut self, command: &mut Command) {
        let declared = ["export", "readonly", "local", "declare", "typeset"];
        let skipped = usize::from(declared.contains(&command.words[0].text.as_str()));
        let words = &command.words[skipped..];
        let count = words.iter().take_while(|word| assignment(&word.text).is_some()).count();
        if count == words.len() {
            let pairs = words.iter().filter_map(|word| assignment(&word.text));
            self.variables.extend(pairs.map(|(name, value)| (name.to_string(), value.to_string())));
            command.words.clear();
        } else if skipped == 0 {
            command.words.drain(..count);
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        let skipped = &self.text[self.at..self.at + bytes];
        self.line += skipped.bytes().filter(|byte| *byte == b'\n').count();
        self.at += bytes;
    }
}

impl Line {
    /// Whether the word that is being read is an assignment, whose value is one word.
    fn is_assignment(&self) -> bool {
        let assigns = |word: &Word| assignment(&word.text).is_some();
        self.word.as_ref().is_some_and(assigns) && self.words.iter().all(assigns)
    }
}

/// The name and the value of `NAME=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name =
        name_length(name) == name.len() && !name.starts_with(|c: char| c.is_ascii_digit());
    (is_name && !name.is_empty()).then_some((name, value))
}

/// How long the name of a variable is that a text begins with: `$1` and the like have one digit.
fn name_length(text: &str) -> usize {
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => 1,
        false => text.find(|c| !part(c)).unwrap_or(text.len()),
    }
}

/// How much of a text ends with a sign after its first character; its line if none does.
fn up_to(text: &str, sign: char) -> usize {
    text[1..].find(sign).map_or(line_length(text), |end| end + 2)
}

/// How long `$(…)` is, parentheses inside counted; a line if it does not end.
fn balanced(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    line_length(text)
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// A text from outside on one line, for messages and comments.
pub fn plain(text: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    shown(text).chars().map(printable).collect()
}
