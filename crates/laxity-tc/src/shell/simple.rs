//! One simple command: what it is, and what is done.

use std::ops::Range;
use std::rc::Rc;

use laxity_plan::error::Fault;

use super::parser::Parser;
use super::run::{Flow, Shell};
use super::state::{Arguments, Input};
use super::syntax::{Assigned, Assignment, Node, RawWord};
use super::value::{Status, Value, Variable};
use crate::command::{Command, Word};
use crate::error::{Read, plain};

/// The most commands of `tc` that a script comes to.
const MOST_COMMANDS: usize = 100_000;
/// Words that stand before a command, some of them with options.
const BEFORE: [&str; 9] =
    ["sudo", "doas", "exec", "command", "nohup", "nice", "env", "builtin", "busybox"];

/// The words of a command as it is carried out.
pub type Fields = [(Value, Range<usize>)];

impl Shell<'_> {
    pub fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[RawWord],
        node: &Node,
    ) -> Read<Flow> {
        let substituted = self.substituted;
        let fields = self.fields(words)?;
        let mut before = Vec::new();
        for assignment in assignments {
            let value = self.assigned(assignment)?;
            if !fields.is_empty() {
                let name = assignment.name.clone();
                before.push((name, self.state.variable(&assignment.name).cloned()));
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
        for (name, value) in before.into_iter().rev() {
            self.state.set_variable(&name, value);
        }
        Ok(flow)
    }

    fn assigned(&mut self, assignment: &Assignment) -> Read<Variable> {
        let Assignment { name, index, adds, value } = assignment;
        let before = self.state.variable(name).cloned();
        let value = match value {
            Assigned::Word(word) => {
                let mut value = self.text(&word.parts, &word.span)?;
                if let (true, None) = (*adds, index) {
                    let mut all = match &before {
                        Some(Variable::One(before)) => before.clone(),
                        Some(Variable::Many(_)) | None => Value::default(),
                    };
                    all.push(&value);
                    value = all;
                }
                let Some(index) = index else { return Ok(Variable::One(value)) };
                let at = self.text(index, &word.span)?;
                let at = self.arithmetic(&at, &word.span)?.unwrap_or(i64::MAX);
                let mut values = match before {
                    Some(Variable::Many(values)) => values,
                    Some(Variable::One(value)) => vec![value],
                    None => Vec::new(),
                };
                let at = usize::try_from(at).ok().filter(|at| *at < 10_000).ok_or_else(|| {
                    Fault::at(&word.span, "this is no index of an array that can be read")
                        .help("indices are whole numbers below 10000")
                })?;
                self.step(&word.span, at)?;
                if values.len() <= at {
                    values.resize(at + 1, Value::default());
                }
                values[at] = value;
                values
            }
            Assigned::Array(words) => {
                let values = self.fields(words)?.into_iter().map(|(value, _)| value);
                match before {
                    Some(Variable::Many(mut all)) if *adds => {
                        all.extend(values);
                        all
                    }
                    _ => values.collect(),
                }
            }
        };
        Ok(Variable::Many(value))
    }

    fn command(&mut self, fields: &Fields, node: &Node) -> Read<Flow> {
        let Some(((first, span), rest)) = fields.split_first() else { return Ok(Flow::Next) };
        if first.unknown_because().is_some() {
            // Most often the place of tc, which only the machine knows.
            let objects = ["qdisc", "class", "filter"];
            return match rest.first().is_some_and(|(word, _)| objects.contains(&&word.text[..])) {
                true => self.tc(fields, node),
                false => self.other(fields, node),
            };
        }
        if let Some(body) = self.state.function(&first.text) {
            return self.call_function(&body, rest, span);
        }
        if let Some(flow) = self.builtin(fields, node)? {
            return Ok(flow);
        }
        let name = first.text.rsplit('/').next().unwrap_or_default();
        match name {
            "tc" => self.tc(fields, node),
            "qdisc" | "class" | "filter" => self.tc(fields, node),
            "ip" if rest.first().is_some_and(|(word, _)| word.text == "netns")
                && rest.get(1).is_some_and(|(word, _)| word.text == "exec")
                && rest.len() > 3 =>
            {
                self.command(&rest[3..], node)
            }
            _ if BEFORE.contains(&name) => {
                let assigns = |word: &str| name == "env" && word.contains('=');
                let skipped = rest
                    .iter()
                    .take_while(|(word, _)| word.text.starts_with('-') || assigns(&word.text));
                let skipped = skipped.count();
                self.command(&rest[skipped..], node)
            }
            _ => match self.program(name, fields, node)? {
                true => Ok(Flow::Next),
                false => self.other(fields, node),
            },
        }
    }

    /// A program of which nothing is known.
    fn other(&mut self, fields: &Fields, node: &Node) -> Read<Flow> {
        let text: Vec<&str> = fields.iter().take(8).map(|(word, _)| word.text.as_str()).collect();
        let text = plain(&text.join(" "));
        let line = self.line(node.span.start);
        let note = format!("`{text}` is no command of tc");
        self.skipped.entry(line).or_insert(note);
        let unknown = Value::unknown(&text, String::new());
        if let Some(doubt) = unknown.doubt {
            if let Some(printed) = self.printed.last_mut() {
                printed.doubts(Some(&doubt));
            }
            self.status = Status::Unknown(doubt);
        }
        Ok(Flow::Next)
    }

    /// Takes a command of `tc`, or those that it reads.
    fn tc(&mut self, fields: &Fields, node: &Node) -> Read<Flow> {
        self.status = Status::SUCCESS;
        if let Some(batch) = self.batch(fields, node)? {
            return Ok(batch);
        }
        let words = fields.iter().map(|(value, span)| Word {
            text: value.text.clone(),
            span: span.clone(),
            doubt: value.doubt.clone(),
        });
        let line = self.line(node.span.start);
        let words = words.collect();
        self.emit(Command { words, line, comment: self.comment(node.span.end) }, &node.span)?;
        if fields.iter().any(|(word, _)| ["show", "list", "ls"].contains(&word.text.as_str())) {
            let unknown = Value::unknown(self.written(&node.span), String::new());
            if let (Some(printed), Some(doubt)) = (self.printed.last_mut(), &unknown.doubt) {
                printed.doubts(Some(doubt));
            }
        }
        Ok(Flow::Next)
    }

    fn emit(&mut self, command: Command, span: &Range<usize>) -> Read<()> {
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

    /// `tc -batch`: the commands in what it reads.
    fn batch(&mut self, fields: &Fields, node: &Node) -> Read<Option<Flow>> {
        let options = fields[1..]
            .iter()
            .position(|(word, _)| word.text.len() > 1 && "-batch".starts_with(&word.text));
        let Some(at) = options.map(|at| at + 1) else { return Ok(None) };
        let before = |(word, _): &(Value, Range<usize>)| word.text.starts_with('-');
        if !fields[1..at].iter().all(before) {
            return Ok(None);
        }
        let file = fields.get(at + 1).map_or("-", |(word, _)| word.text.as_str());
        if file != "-" && file != "/dev/stdin" {
            match self.file(file) {
                Some(part) => {
                    self.script(part)?;
                }
                None => {
                    let line = self.line(node.span.start);
                    let text =
                        format!("another file of commands: give `{}` with --source", plain(file));
                    self.skipped.entry(line).or_insert(text);
                }
            }
            return Ok(Some(Flow::Next));
        }
        let Some(input) = self.inputs.last_mut() else { return Ok(Some(Flow::Next)) };
        let (from, span) = (input.at, input.span.clone());
        let value = input.rest();
        if let Some(doubt) = value.unknown_because() {
            return Err(super::run::undecided(&node.span, doubt));
        }
        let span = span.unwrap_or(node.span.clone());
        self.batch_lines(&value.text, from == 0, &span)?;
        Ok(Some(Flow::Next))
    }

    /// The lines of a batch that stands in the script at this place.
    fn batch_lines(&mut self, text: &str, whole: bool, span: &Range<usize>) -> Read<()> {
        let written = self.written(span);
        // As long as the lines are those that are written, each is at its own place.
        let apart = whole && written.lines().count() == text.lines().count() + 1;
        let mut at = span.start;
        let mut places = written.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at - usize::from(line.ends_with('\n'))
        });
        let mut line_of_text = String::new();
        let mut place: Option<Range<usize>> = None;
        for line in text.lines() {
            self.step(span, line.len())?;
            let own = places.next().filter(|_| apart).unwrap_or(span.clone());
            place = Some(place.map_or(own.start, |place| place.start)..own.end);
            if let Some(begun) = line.trim_end_matches('\r').strip_suffix('\\') {
                line_of_text.push_str(begun);
                continue;
            }
            line_of_text.push_str(line);
            let here = place.take().unwrap_or(own);
            let mut words = Vec::new();
            let (command, comment) = match line_of_text.split_once(" #") {
                Some((command, comment)) => (command, Some(comment)),
                None => (line_of_text.as_str(), None),
            };
            for word in command.split_whitespace() {
                let text = word.trim_matches(['"', '\'']).to_string();
                words.push(Word { text, span: here.clone(), doubt: None });
            }
            let comments = words.first().is_none_or(|word| word.text.starts_with('#'));
            if !comments {
                let comment = comment.map(|text| text.trim_matches([' ', '#']).to_string());
                let line = self.line(here.start);
                self.emit(Command { words, line, comment }, span)?;
            }
            line_of_text.clear();
        }
        Ok(())
    }

    fn call_function(
        &mut self,
        body: &Rc<Node>,
        arguments: &Fields,
        span: &Range<usize>,
    ) -> Read<Flow> {
        let known: Vec<Value> = arguments.iter().map(|(value, _)| value.clone()).collect();
        let arguments = Arguments { known: Some(Rc::new(known)), shifted: 0 };
        let before = self.state.set_arguments(arguments);
        self.locals.push(Vec::new());
        let flow = self.deeper(span, |shell| shell.node(body));
        for (name, value) in self.locals.pop().unwrap_or_default().into_iter().rev() {
            self.state.set_variable(&name, value);
        }
        self.state.set_arguments(before);
        Ok(match flow? {
            Flow::Return => Flow::Next,
            flow => flow,
        })
    }

    /// A text as commands, which stand where this place is.
    pub fn evaluate(&mut self, text: &str, span: &Range<usize>) -> Read<Flow> {
        self.step(span, text.len())?;
        let whole = 0..text.len();
        let list = Parser::new(text, whole, Some(span.clone()), &mut self.parsed).all()?;
        self.deeper(span, |shell| shell.list(&list))
    }

    /// `. FILE` and `source FILE`.
    pub fn source(&mut self, rest: &Fields, node: &Node) -> Read<Flow> {
        let Some((file, span)) = rest.first() else { return Ok(Flow::Next) };
        let part = self.file(&file.text).filter(|_| file.unknown_because().is_none());
        match part {
            Some(part) => {
                let flow = self.deeper(span, |shell| shell.script(part))?;
                Ok(if flow == Flow::Return { Flow::Next } else { flow })
            }
            None => {
                let line = self.line(node.span.start);
                let text = format!(
                    "the file `{}`, which is not looked for: give it with --source",
                    plain(&file.text)
                );
                self.skipped.entry(line).or_insert(text);
                Ok(Flow::Next)
            }
        }
    }

    /// What a command reads; the end if nothing is.
    pub fn reading(&mut self) -> Option<&mut Input> {
        self.inputs.last_mut()
    }
}
