//! One simple command: what it is, and what is done.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::netfilter::restore;
use crate::shell::run::{Flow, Shell};
use crate::shell::syntax::{Assignment, Node, RawWord};
use crate::shell::values::{Arguments, Input, Status, Value};
use crate::words::command::{Command, Doubt, RUN, Word};

/// The most commands of `tc` that a script comes to.
const MOST_COMMANDS: usize = 100_000;
/// Programs that only tell what they are given.
const TELLING: [&str; 8] =
    ["logger", "mail", "dialog", "whiptail", "notify-send", "wall", "figlet", "man"];

/// The words of a command as one text, with spaces between them.
pub(crate) fn spaced(fields: &[Word]) -> Value {
    let mut all = Value::default();
    for (at, word) in fields.iter().enumerate() {
        all.text.push_str(if at > 0 { " " } else { "" });
        all.push(&word.into());
    }
    all
}

impl Shell<'_> {
    pub(crate) fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[RawWord],
        node: &Node,
    ) -> Result<Flow, Fault> {
        let substituted = self.substituted;
        let fields = self.fields(words)?;
        let mut shadowed = Vec::new();
        for assignment in assignments {
            let value = self.assigned(assignment)?;
            if !fields.is_empty() {
                shadowed.push(self.shadow(&assignment.name));
            }
            self.assign(&assignment.name, value, &node.span)?;
        }
        if fields.is_empty() {
            // Without a command it is the status of the last one that was put in.
            if self.substituted == substituted {
                self.status = Status::SUCCESS;
            }
            return Ok(Flow::Next);
        }
        let flow = self.command(&fields, node)?;
        self.restore(shadowed);
        Ok(flow)
    }

    /// Carries a command out, whose words are known.
    pub(crate) fn command(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        let Some((first, rest)) = fields.split_first() else { return Ok(Flow::Next) };
        if first.unknown_because().is_some() {
            // Most often the place of tc, which only the machine knows.
            let objects = ["qdisc", "class", "filter"];
            return if rest.first().is_some_and(|word| objects.contains(&&word.text[..])) {
                self.tc(fields, node)
            } else {
                self.other(fields, node)
            };
        }
        if let Some(body) = self.state.function(&first.text) {
            return self.call_function(&body, rest, &first.span);
        }
        self.command_itself(fields, node)
    }

    /// Carries a command out that is no function.
    pub(crate) fn command_itself(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        let Some((first, rest)) = fields.split_first() else { return Ok(Flow::Next) };
        let runs = matches!(&first.text[..], "command" | "builtin")
            && rest.first().is_some_and(|word| !matches!(&word.text[..], "-v" | "-V"));
        if !runs && let Some(flow) = self.builtin(fields, node)? {
            return Ok(flow);
        }
        if first.text.contains('/') && self.files.read(&first.text).is_some() {
            return self.shell(&[&[Word::new("sh", &first.span)], fields].concat(), node);
        }
        match first.program() {
            "tc" | "qdisc" | "class" | "filter" => self.tc(fields, node),
            "xargs" => self.xargs(fields, node),
            _ => match self.wrapped(fields, node)? {
                Some(flow) => Ok(flow),
                None if self.program(fields, node)? => Ok(Flow::Next),
                None => self.other(fields, node),
            },
        }
    }

    /// Any other program.
    pub(crate) fn other(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        let first = fields.first().map_or("", Word::program);
        let words: Vec<&str> = fields.iter().map(|word| word.text.as_str()).collect();
        if !TELLING.contains(&first) && mentions_tc(&words.join(" ")) {
            let message =
                format!("what `{}` does with this command of tc is not read", plain(first));
            return Err(Fault::at(&node.span, message)
                .help(format!("write the command of tc as itself; {RUN}")));
        }
        let text = plain(&words[..words.len().min(8)].join(" "));
        let mut command = self.words_of(fields, node);
        let checks = |word: &Word| matches!(&word.text[..], "-C" | "--check");
        if first.ends_with("tables") && fields.iter().any(checks) {
            // A machine that has nothing yet has no such rule.
            self.status = Status::FAILURE;
            return Ok(Flow::Next);
        }
        match command.program() {
            "nft" => self.nft(&mut command),
            program if restore::is_program(program) && self.restored(&command, &node.span)? => {
                self.status = Status::SUCCESS;
                return Ok(Flow::Next);
            }
            _ => {}
        }
        if command.is_beside() {
            self.emit(command, &node.span)?
        } else {
            self.skip(&command)
        }
        let doubt = Rc::new(Doubt::unknown(&text, ""));
        self.doubt_output(&doubt);
        self.status = Status::Unknown(doubt);
        Ok(Flow::Next)
    }

    /// Takes a command of `tc`, or those that it reads.
    fn tc(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        self.status = Status::SUCCESS;
        if self.batch(fields, node)? {
            return Ok(Flow::Next);
        }
        self.emit(self.words_of(fields, node), &node.span)?;
        if fields.iter().any(|word| ["show", "list", "ls"].contains(&word.text.as_str())) {
            let doubt = Doubt::unknown(self.written(&node.span), "");
            self.doubt_output(&Rc::new(doubt));
        }
        Ok(Flow::Next)
    }

    fn words_of(&self, fields: &[Word], node: &Node) -> Command {
        let (line, called) = (self.line(node.span.start), self.called());
        Command { words: fields.to_vec(), line, called, comment: self.comment(node.span.end) }
    }

    /// The line of the innermost call of a function.
    pub(crate) fn called(&self) -> Option<usize> {
        self.calls.last().map(|span| self.line(span.start))
    }

    /// Notes that a command is not carried out.
    pub(crate) fn skip(&mut self, command: &Command) {
        self.skipped.entry(command.line).or_insert_with(|| command.no_command_of_tc());
    }

    pub(crate) fn emit(&mut self, command: Command, span: &Span) -> Result<(), Fault> {
        if self.commands.len() == MOST_COMMANDS {
            let message = format!("the script comes to more than {MOST_COMMANDS} commands of tc");
            return Err(Fault::at(span, message));
        }
        self.commands.push(command);
        Ok(())
    }

    /// The comment on the line of a place.
    fn comment(&self, at: usize) -> Option<String> {
        let rest = &self.text[at.min(self.text.len())..];
        let end = at + rest.find('\n').unwrap_or(rest.len());
        self.parsed.comments.get(&end).cloned()
    }

    fn call_function(&mut self, body: &Node, words: &[Word], span: &Span) -> Result<Flow, Fault> {
        let before = self.state.set_arguments(Arguments::new(words.iter().map(Value::from)));
        self.locals.push(Vec::new());
        self.calls.push(span.clone());
        let flow = self.deeper(span, |shell| shell.node(body));
        self.calls.pop();
        for (name, value) in self.locals.pop().unwrap_or_default().into_iter().rev() {
            self.numbers.remove(&name);
            self.state.set_itself(&name, value);
        }
        self.state.set_arguments(before);
        Ok(match flow? {
            Flow::Return => Flow::Next,
            flow => flow,
        })
    }

    /// What a command reads; the end if nothing is.
    pub(crate) fn reading(&mut self) -> Option<&mut Input> {
        self.inputs.last_mut()
    }
}

/// Whether a text has a command of `tc` that sets something up, as far as that can be seen.
pub(crate) fn mentions_tc(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || ";&|()'\"`".contains(c));
    let is_tc = |word: &str| word == "tc" || word.ends_with("/tc");
    let follows = ["qdisc", "class", "filter", "-b", "-batch", "-force"];
    while let Some(word) = words.next() {
        let next = words.clone().find(|word| !word.is_empty());
        if is_tc(word) && next.is_some_and(|next| follows.contains(&next)) {
            return true;
        }
    }
    false
}
