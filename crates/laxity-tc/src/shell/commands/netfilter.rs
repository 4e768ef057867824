//! What commands of netfilter read beside their words.

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::netfilter::restore;
use crate::shell::run::{Shell, decided};
use crate::shell::values::{Input, Value};
use crate::words::command::{Command, Word};

impl Shell<'_> {
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
        let has = |names: &[&str]| command.words.iter().any(|word| names.contains(&&word.text[..]));
        let words: Vec<&str> = command.words[1..].iter().map(|word| &word.text[..]).collect();
        let file = restore::file(&words).map(|at| &command.words[1 + at]);
        let Some(value) = self.read_from(file) else { return Ok(false) };
        decided(&value, span)?;
        let keeps = has(&["-n", "--noflush"]);
        for words in restore::commands(command.program(), &value.text, keeps, restore::only(&words))
        {
            self.step(span, 8 * words.len())?;
            let word = |text| Word { text, span: span.clone(), doubt: None };
            let words = words.into_iter().map(word).collect();
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
