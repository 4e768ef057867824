//! Commands carried out one after the other (POSIX.1-2017, Shell Command Language, section 2.9).

pub(super) mod assignments;
pub(super) mod control;
pub(super) mod decide;
pub(super) mod limits;
pub(super) mod nested;
pub(super) mod redirections;
pub(super) mod simple;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::notes::Notes;
use crate::shell::Call;
use crate::shell::syntax::parser::{Attachments, Parser};
use crate::shell::syntax::{Kind, List, Node, Pipeline, contents_of};
use crate::shell::values::{Arguments, Files, Input, State, Status, Value, Variable};
use crate::words::command::{Command, Doubt, Word};
use limits::Usage;

/// A script as it is carried out.
#[derive(Default)]
pub(super) struct Shell<'a> {
    pub text: &'a str,
    pub name: &'a str,
    pub call: Call,
    pub state: State,
    pub status: Status,
    /// Texts that are being printed into, the innermost last.
    pub printed: Vec<Value>,
    /// What is read, the innermost last.
    pub inputs: Vec<Input>,
    pub parsed: Attachments,
    pub commands: Vec<Command>,
    /// What the script wrote.
    pub files: Files,
    /// Variables that programs get, and functions, with `()` behind their names.
    pub exported: BTreeSet<String>,
    /// The variable without a value that the last test was of, and where.
    pub unset: Option<(Span, Rc<Doubt>)>,
    /// Where the functions that are carried out are called, the innermost last.
    pub calls: Vec<Span>,
    /// What was last asked of a person.
    pub asked: Option<Rc<Doubt>>,
    /// What is done at the end, by `trap … EXIT`.
    pub at_exit: Option<Word>,
    /// A signal does something else than to end the script.
    pub traps_signals: bool,
    /// What is not done, by its line: the first of each.
    pub skipped: BTreeMap<usize, String>,
    pub readings: BTreeMap<usize, String>,
    /// Variables of the functions that are being carried out, as they were before.
    pub locals: Vec<Vec<(String, Option<Variable>)>>,
    /// How many conditions are being tested, in which `set -e` does not count.
    pub tested: usize,
    pub options: Options,
    /// Variables that cannot be set again, and those that hold numbers.
    pub constants: BTreeSet<String>,
    pub numbers: BTreeSet<String>,
    /// How many times the output of commands was put in.
    pub substituted: usize,
    /// The script wants to know what it is called with, and that is not given.
    pub asks: Cell<bool>,
    lines: Vec<usize>,
    usage: Usage,
}

/// Options of `set`, by their names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub errexit: bool,
    pub nounset: bool,
    pub allexport: bool,
    pub noglob: bool,
    pub pipefail: bool,
}

/// What comes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// This number of loops ends.
    Break(usize),
    /// The last of this number of loops goes on, and those inside it end.
    Continue(usize),
    Return,
    Exit,
}

impl<'a> Shell<'a> {
    pub(super) fn new(text: &'a str, name: &'a str, call: Call) -> Self {
        let mut state = State::default();
        for (name, value) in &call.variables {
            state.set_variable(name, Some(Variable::One(Value::new(value.clone()))));
        }
        let known = call.arguments.as_ref().map(|known| known.iter().map(Value::new));
        state.set_arguments(known.map_or_else(Arguments::default, Arguments::new));
        let mut exported: BTreeSet<String> = call.variables.keys().cloned().collect();
        for (name, value) in ROOT {
            if exported.insert(name.into()) {
                state.set_variable(name, Some(Variable::One(Value::new(value))));
            }
        }
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = ends.map(|(at, _)| at).collect();
        Shell { text, name, call, state, exported, lines, ..Shell::default() }
    }

    /// Carries out a part of the text.
    pub(super) fn script(&mut self, part: Span) -> Result<Flow, Fault> {
        let list = Parser::new(self.text, part, None, &mut self.parsed).all()?;
        self.list(&list)
    }

    /// Carries out the script, which ends there, and what it leaves for its end.
    pub(super) fn whole(&mut self, end: usize) -> Result<Flow, Fault> {
        let flow = self.script(0..end)?;
        self.end()?;
        Ok(flow)
    }

    /// Does what is left for the end of a shell.
    fn end(&mut self) -> Result<(), Fault> {
        if let Some(last) = self.at_exit.take()
            && last.unknown_because().is_none()
        {
            let status = self.status.clone();
            self.evaluate(&last.text, &last.span)?;
            self.status = status;
        }
        Ok(())
    }

    /// Remembers whether a test is of a variable without a value.
    pub(super) fn tests<'v>(
        &mut self,
        doubts: impl IntoIterator<Item = Option<&'v Rc<Doubt>>>,
        span: &Span,
    ) {
        let unset = doubts.into_iter().flatten().find(|doubt| !doubt.is_unknown);
        self.unset = unset.map(|doubt| (span.clone(), Rc::clone(doubt)));
    }

    /// Notes what was not carried out, and what was not given.
    pub(super) fn report(&mut self, notes: &mut Notes) {
        for (line, text) in std::mem::take(&mut self.skipped) {
            notes.not_read(line, text);
        }
        for (line, text) in std::mem::take(&mut self.readings) {
            notes.reading(line, text);
        }
    }

    /// Notes that something is not carried out.
    pub(super) fn leave_out(&mut self, span: &Span, text: String) {
        let line = self.line(span.start);
        self.skipped.entry(line).or_insert(text);
    }

    /// Makes what is being printed unknown.
    pub(super) fn doubt_output(&mut self, doubt: &Rc<Doubt>) {
        if let Some(printed) = self.printed.last_mut() {
            printed.doubts(Some(doubt));
        }
    }

    /// A value that is not known, shown as it is written.
    pub(super) fn undetermined(&self, span: &Span, doubt: Rc<Doubt>) -> Value {
        Value { text: plain(self.written(span)), doubt: Some(doubt) }
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|end| *end < at) + 1
    }

    /// A part of the script as it is written.
    pub(super) fn written(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// All that commands print.
    pub(super) fn output(&mut self, list: &List, span: &Span) -> Result<Value, Fault> {
        self.printed.push(Value::default());
        let done = self.deeper(span, |shell| shell.apart(|shell| shell.list(list)));
        let value = self.printed.pop().unwrap_or_default();
        done?;
        Ok(value)
    }

    /// What commands print, without the last ends of lines.
    pub(super) fn substitute(&mut self, list: &List, span: &Span) -> Result<Value, Fault> {
        self.substituted += 1;
        let mut value = match contents_of(list) {
            Some(file) => self.input(file, span)?.value,
            None => self.output(list, span)?,
        };
        let length = value.text.trim_end_matches('\n').len();
        value.text.truncate(length);
        if value.unknown_because().is_some() {
            value.text = plain(self.written(span));
        }
        Ok(value)
    }

    /// A file that was given beside the script, by its name without folders.
    pub(super) fn file(&self, path: &str) -> Option<Span> {
        let name = path.rsplit('/').next()?;
        let known = |(known, _): &&(String, _)| known.rsplit('/').next() == Some(name);
        self.call.files.iter().find(known).map(|(_, part)| part.clone())
    }

    pub(super) fn kind(&mut self, node: &Node) -> Result<Flow, Fault> {
        match &node.kind {
            Kind::Simple(assignments, words, arrays) => {
                let flow = self.simple(assignments, words, node)?;
                for array in arrays {
                    let value = self.assigned(array)?;
                    self.assign(&array.name, value, &node.span)?;
                }
                Ok(flow)
            }
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => self.apart(|shell| shell.list(list)),
            Kind::Function(name, body) => {
                self.state.set_function(name, Some(Rc::clone(body)));
                self.status = Status::SUCCESS;
                Ok(Flow::Next)
            }
            Kind::If(ways, otherwise) => self.conditions(ways, otherwise),
            Kind::Case(word, ways) => self.case(word, ways),
            Kind::For(name, words, body) => self.for_each(name, words.as_deref(), body, &node.span),
            Kind::Counted(parts, body) => self.counted(parts, body, &node.span),
            Kind::While(until, condition, body) => {
                self.while_holds(*until, condition, body, &node.span)
            }
            Kind::NotFollowed(what) => Err(not_followed(&node.span, what)),
            Kind::Test(words) => {
                self.status = self.double_test(words, &node.span)?;
                Ok(Flow::Next)
            }
            Kind::Arithmetic(text) => {
                self.status = Status::from_number(self.number(text, &node.span)?);
                Ok(Flow::Next)
            }
        }
    }
}

/// Ways to go on. It is not known which one is taken.
pub(super) enum Way<'a> {
    List(&'a List),
    Pipeline(&'a Pipeline),
    Conditions(&'a [(List, List)], &'a List),
    /// Nothing is done.
    Status(Status),
}

/// Who runs the script, as tc needs it.
const ROOT: [(&str, &str); 3] = [("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root")];

/// Something that is right in a script, and that only its own shell can do.
pub(super) fn not_followed(span: &Span, what: &str) -> Fault {
    Fault::at(span, format!("{what} is not followed here"))
        .help("have the script's own shell run it in a sandbox, with --run")
}

/// A set-up depends on what is not known.
pub(super) fn undecided(span: &Span, doubt: &Doubt) -> Fault {
    Fault::at(span, format!("{}, and what is set up depends on it here", doubt.why))
        .help(doubt.advice())
}

/// Refuses a value that is not known, where a set-up depends on it.
pub(super) fn decided(value: &Value, span: &Span) -> Result<(), Fault> {
    value.unknown_because().map_or(Ok(()), |doubt| Err(undecided(span, doubt)))
}
