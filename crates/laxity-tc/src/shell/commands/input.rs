//! What `tc -batch`, `nft -f` and `iptables-restore` read beside their words.

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::netfilter::restore;
use crate::shell::run::{Shell, decided};
use crate::shell::syntax::Node;
use crate::shell::values::{Input, Value};
use crate::words::batch::{self, BatchCommand};
use crate::words::command::{Command, Word};

impl Shell<'_> {
    /// Takes the commands that `tc -batch` reads; `false` if it is another command of `tc`.
    pub(crate) fn batch(&mut self, fields: &[Word], node: &Node) -> Result<bool, Fault> {
        let options = fields[1..].iter().take_while(|word| word.text.starts_with('-'));
        let is_batch = |text: &str| text.len() > 1 && "-batch".starts_with(text);
        let Some(at) = options.into_iter().position(|word| is_batch(&word.text)) else {
            return Ok(false);
        };
        let file = fields.get(at + 2).map_or("-", |word| word.text.as_str());
        if file == "-" || file == "/dev/stdin" {
            let Some(input) = self.inputs.last_mut() else { return Ok(true) };
            let is_whole = input.at == 0;
            let span = input.span.clone().unwrap_or(node.span.clone());
            let read = input.rest();
            decided(&read, &node.span)?;
            self.batch_lines(&read.text, is_whole, &span)?;
        } else if let Some(written) = self.files.read(file).cloned() {
            decided(&written, &node.span)?;
            self.batch_lines(&written.text, false, &node.span)?;
        } else if let Some(part) = self.file(file) {
            self.script(part)?;
        } else {
            let text = format!("another file of commands: give `{}` with --source", plain(file));
            self.leave_out(&node.span, text);
        }
        Ok(true)
    }

    /// The lines of a batch that stands in the script at this place.
    fn batch_lines(&mut self, text: &str, whole: bool, span: &Span) -> Result<(), Fault> {
        let written = self.written(span);
        // As long as the lines are those that are written, each is at its own place.
        let apart = whole && written.lines().count() == text.lines().count() + 1;
        let mut at = span.start;
        let places = written.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at - usize::from(line.ends_with('\n'))
        });
        let places: Vec<Span> = if apart { places.collect() } else { Vec::new() };
        let place = |line: usize| places.get(line).unwrap_or(span);
        for BatchCommand { lines: (first, last), words, comment } in batch::commands(text) {
            self.step(span, words.iter().map(String::len).sum())?;
            let here = place(first).start..place(last).end;
            let words = words.into_iter().map(|text| Word::new(text, &here)).collect();
            let line = self.line(here.start);
            self.emit(Command { words, line, called: self.called(), comment }, span)?;
        }
        Ok(())
    }

    /// Puts what nft reads, with `-f`, in the place of its words.
    pub(crate) fn nft(&mut self, command: &mut Command) {
        let Some(at) =
            command.words.iter().position(|word| ["-f", "--file"].contains(&&word.text[..]))
        else {
            return;
        };
        let Some(file) = command.words.get(at + 1) else { return };
        let (text, word) = (self.read_from(Some(file)), file.clone());
        command.words.truncate(1);
        command.words.push(match text {
            Some(Value { text, doubt }) => Word { text, doubt, ..word },
            None => Word { doubt: Value::unknown(&word.text, String::new()).doubt, ..word },
        });
    }

    /// Takes the rules that `iptables-restore` reads; `false` if it is not known what it reads.
    pub(crate) fn restored(&mut self, command: &Command, span: &Span) -> Result<bool, Fault> {
        let words: Vec<&str> = command.words[1..].iter().map(|word| &word.text[..]).collect();
        let file = restore::file(&words).map(|at| &command.words[1 + at]);
        let Some(value) = self.read_from(file) else { return Ok(false) };
        decided(&value, span)?;
        for words in restore::commands(command.program(), &words, &value.text) {
            self.step(span, 8 * words.len())?;
            let words = words.into_iter().map(|text| Word::new(text, span)).collect();
            self.emit(Command { words, ..command.clone() }, span)?;
        }
        Ok(true)
    }

    /// What is in a file, or else what is read.
    fn read_from(&mut self, file: Option<&Word>) -> Option<Value> {
        match file.filter(|file| !["-", "/dev/stdin"].contains(&&file.text[..])) {
            Some(file) => self.contents(&file.into()),
            None => self.reading().map(Input::rest),
        }
    }
}
