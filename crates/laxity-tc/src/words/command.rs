//! Commands of `tc`: words, each with its place and why it may be another one.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};

/// One command: at least one word.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub words: Vec<Word>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// The line in which the function is called that it stands in.
    pub called: Option<usize>,
    /// The comment at the end of its line.
    pub comment: Option<String>,
}

/// Programs beside `tc` whose commands may count.
const BESIDE: &str = "nft ip ifconfig iptables ip6tables iptables-nft ip6tables-nft \
    iptables-legacy ip6tables-legacy";

impl Command {
    /// The program, without its folder.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", Word::program)
    }

    /// Whether it is a command of another program than `tc`, and counts.
    pub(crate) fn is_beside(&self) -> bool {
        match self.program() {
            "ip" | "ifconfig" => {
                self.words.iter().any(|word| ["txqueuelen", "qlen"].contains(&word.text.as_str()))
            }
            program => BESIDE.split(' ').any(|known| known == program),
        }
    }

    /// Whether the command adds or changes something.
    pub(crate) fn sets_up(&self) -> bool {
        !self.is_beside()
            && self
                .words
                .iter()
                .any(|word| ["add", "change", "replace"].contains(&word.text.as_str()))
    }

    /// The fault with where the function is called that it stands in.
    pub(crate) fn named(&self, fault: Fault) -> Fault {
        match self.called {
            Some(called) => fault.more(&format!(", in a function that line {called} calls")),
            None => fault,
        }
    }

    /// The note that the command is not carried out.
    pub(crate) fn no_command_of_tc(&self) -> String {
        let text: Vec<&str> = self.words.iter().take(8).map(|word| word.text.as_str()).collect();
        format!("`{}` is no command of tc", plain(&text.join(" ")))
    }

    /// The first of its words that only the machine knows.
    pub(crate) fn unknown_word(&self) -> Option<&Word> {
        self.words.iter().find(|word| word.unknown_because().is_some())
    }

    /// The words of the command.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.words.iter().map(|word| word.text.clone()).collect()
    }

    /// From its first word to its last.
    pub(crate) fn span(&self) -> Span {
        let start = self.words.first().map_or(0, |word| word.span.start);
        let end = self.words.last().map_or(0, |word| word.span.end);
        start..end.max(start)
    }
}

/// Commands of a function that several lines call count as of the line that calls it, since notes
/// tell them apart by that.
pub(crate) fn at_their_calls(mut commands: Vec<Command>) -> Vec<Command> {
    let mut calls: HashMap<usize, Option<usize>> = HashMap::new();
    let mut several: HashSet<usize> = HashSet::new();
    for command in &commands {
        if *calls.entry(command.line).or_insert(command.called) != command.called {
            several.insert(command.line);
        }
    }
    for command in &mut commands {
        if let (Some(called), true) = (command.called, several.contains(&command.line)) {
            command.line = called;
        }
    }
    commands
}

/// One word of a command, without its quotes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub text: String,
    pub span: Span,
    /// Why it may be another one where the script is run.
    pub doubt: Option<Rc<Doubt>>,
}

/// What also helps where a script is right and is not followed.
pub(crate) const RUN: &str = "or have its own shell run it in a sandbox, with --run";

/// Why a value is not what it would be where the script is run, and how to say what it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// `false` for a variable that has no value, which counts as empty.
    pub is_unknown: bool,
    pub why: String,
    pub help: String,
}

impl Doubt {
    /// A doubt of what only the machine knows.
    pub(crate) fn unknown(written: &str, help: impl Into<String>) -> Doubt {
        let why = format!("`{}` is not known here", plain(written));
        Doubt { is_unknown: true, why, help: help.into() }
    }

    /// A doubt of a variable, which can be given.
    pub(crate) fn settable(is_unknown: bool, why: String, name: &str) -> Doubt {
        Doubt { is_unknown, why, help: format!("give it as in --set {name}=VALUE") }
    }

    /// Why a value is not known, and how to give it.
    pub(crate) fn advice(&self) -> String {
        let Doubt { why, help, .. } = self;
        let advice = match help.as_str() {
            "" => format!(
                "{why}: write it into a variable in the script, and give that as in --set NAME=VALUE"
            ),
            help => format!("{why}: {help}"),
        };
        if self.is_unknown { format!("{advice}; {RUN}") } else { advice }
    }
}

/// A fault with why something may be another one where the script is run, if there is a doubt.
pub(crate) fn doubted(fault: Fault, doubt: Option<&Doubt>) -> Fault {
    match doubt {
        Some(doubt) => fault.help(doubt.advice()),
        None => fault,
    }
}

impl Word {
    /// A word of the program's own, at a place.
    pub(crate) fn new(text: impl Into<String>, span: &Span) -> Word {
        Word { text: text.into(), span: span.clone(), doubt: None }
    }

    /// The program that it names, without its folder.
    pub(crate) fn program(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// Why it is not known.
    pub(crate) fn unknown_because(&self) -> Option<&Rc<Doubt>> {
        self.doubt.as_ref().filter(|doubt| doubt.is_unknown)
    }

    /// Whether this is a keyword or the beginning of one, which `tc` takes for it.
    pub(crate) fn means(&self, keyword: &str) -> bool {
        !self.text.is_empty() && keyword.starts_with(&self.text)
    }

    /// A fault of this word, with what is accepted in its place. Often it is a variable without a
    /// value.
    pub(crate) fn fault(&self, what: &str, accepted: &str) -> Fault {
        let fault = Fault::at(&self.span, format!("`{}` is not {what}", plain(&self.text)));
        self.helped(fault, accepted)
    }

    /// The fault with why the word may be another one, or else with what is accepted.
    fn helped(&self, fault: Fault, accepted: &str) -> Fault {
        doubted(fault.help(accepted), self.doubt.as_deref())
    }

    /// A fault of this word where a keyword should be.
    pub(crate) fn no_keyword(&self, of: &str, accepted: &str) -> Fault {
        let message = format!("`{}` does not belong to {of}", plain(&self.text));
        self.helped(Fault::at(&self.span, message), &format!("accepted here: {accepted}"))
    }
}

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
            doubted(fault, doubt)
        })
    }

    /// From the next word to the end of the command.
    pub(crate) fn span(&self) -> Span {
        self.peek().map_or(self.end, |word| word.span.start)..self.end
    }
}
