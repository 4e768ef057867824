//! Commands of `tc`: words, each with its place and why it may be another one.

use std::ops::Range;
use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::plain;

/// One command: at least one word.
#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<Word>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// The comment at the end of its line.
    pub comment: Option<String>,
}

/// Programs beside `tc` of which something counts.
const BESIDE: [&str; 8] = [
    "ip",
    "ifconfig",
    "iptables",
    "ip6tables",
    "iptables-nft",
    "ip6tables-nft",
    "iptables-legacy",
    "ip6tables-legacy",
];

impl Command {
    /// The program, without its folder.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default())
    }

    /// Whether it is of another program than `tc`, of which something counts.
    pub fn is_beside(&self) -> bool {
        match self.program() {
            "ip" | "ifconfig" => {
                self.words.iter().any(|word| ["txqueuelen", "qlen"].contains(&word.text.as_str()))
            }
            program => BESIDE.contains(&program),
        }
    }

    /// Whether it adds or changes something.
    pub fn sets_up(&self) -> bool {
        !self.is_beside()
            && self
                .words
                .iter()
                .any(|word| ["add", "change", "replace"].contains(&word.text.as_str()))
    }

    /// That it is not carried out, for notes.
    pub fn no_command_of_tc(&self) -> String {
        let text: Vec<&str> = self.words.iter().take(8).map(|word| word.text.as_str()).collect();
        format!("`{}` is no command of tc", plain(&text.join(" ")))
    }

    /// From its first word to its last.
    pub fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        let end = self.words.last().map_or(0, |word| word.span.end);
        start..end.max(start)
    }
}

/// One word of a command, without its quotes.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub span: Range<usize>,
    /// Why it may be another one where the script is run.
    pub doubt: Option<Rc<Doubt>>,
}

/// Why a value is not what it would be where the script is run, and how to say what it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Doubt {
    /// `false` for a variable that has no value, which counts as empty.
    pub is_unknown: bool,
    pub why: String,
    pub help: String,
}

impl Doubt {
    /// Why a value is not known, and how to give it.
    pub fn advice(&self) -> String {
        let Doubt { why, help, .. } = self;
        match help.as_str() {
            "" => format!(
                "{why}: write it into a variable in the script, and give that as in --set NAME=VALUE"
            ),
            help => format!("{why}: {help}"),
        }
    }
}

impl Word {
    /// Whether this is a keyword or the beginning of one, which `tc` takes for it.
    pub fn means(&self, keyword: &str) -> bool {
        !self.text.is_empty() && keyword.starts_with(&self.text)
    }

    /// A fault of this word, with what is accepted in its place. A variable without a value is
    /// most often the cause.
    pub fn fault(&self, what: &str, accepted: &str) -> Fault {
        let fault = Fault::at(&self.span, format!("`{}` is not {what}", plain(&self.text)));
        self.helped(fault, accepted)
    }

    /// The fault with why the word may be another one, or else with what is accepted.
    fn helped(&self, fault: Fault, accepted: &str) -> Fault {
        match &self.doubt {
            Some(doubt) => fault.help(doubt.advice()),
            None => fault.help(accepted),
        }
    }

    /// A fault of this word where a keyword should be.
    pub fn no_keyword(&self, of: &str, accepted: &str) -> Fault {
        let message = format!("`{}` does not belong to {of}", plain(&self.text));
        self.helped(Fault::at(&self.span, message), &format!("accepted here: {accepted}"))
    }
}
