//! One simple command: what it is, and what is done.

use std::ops::Range;
use std::rc::Rc;

use laxity_plan::error::Fault;

use super::array::{Array, MOST_NAMED};
use super::carried::mentions_tc;
use super::parser::Parser;
use super::run::{Flow, Shell};
use super::state::{Arguments, Input};
use super::syntax::{Assigned, Assignment, Node, Part, RawWord, Text};
use super::value::{Status, Value, Variable};
use crate::error::plain;
use crate::netfilter::restore;
use crate::words::batch::{self, BatchCommand};
use crate::words::command::{Command, Doubt, RUN, Word};

/// The most commands of `tc` that a script comes to.
const MOST_COMMANDS: usize = 100_000;
/// The most elements of an array with numbers.
const MOST_NUMBERED: usize = 10_000;
/// Programs that only tell what they are given.
const TELLING: [&str; 8] =
    ["logger", "mail", "dialog", "whiptail", "notify-send", "wall", "figlet", "man"];

/// The words of a command as it is carried out.
pub type Fields = [(Value, Range<usize>)];

impl Shell<'_> {
    pub fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[RawWord],
        node: &Node,
    ) -> Result<Flow, Fault> {
        let substituted = self.substituted;
        let fields = self.fields(words)?;
        let mut before = Vec::new();
        for assignment in assignments {
            let value = self.assigned(assignment)?;
            if !fields.is_empty() {
                let name = assignment.name.clone();
                let fresh = self.exported.insert(name.clone());
                before.push((name, self.state.itself(&assignment.name).cloned(), fresh));
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
        for (name, value, fresh) in before.into_iter().rev() {
            self.state.set_itself(&name, value);
            if fresh {
                self.exported.remove(&name);
            }
        }
        Ok(flow)
    }

    pub fn assigned(&mut self, assignment: &Assignment) -> Result<Variable, Fault> {
        let Assignment { name, index, adds, value } = assignment;
        let before = self.state.variable(name).cloned();
        let value = match value {
            Assigned::Word(word) => {
                let home = self.at_home(&word.parts);
                let mut value = self.text(home.as_ref().unwrap_or(&word.parts), &word.span)?;
                if let (true, None) = (*adds, index) {
                    if self.numbers.contains(name) {
                        value.text = format!("+({})", value.text);
                    }
                    let mut all = match &before {
                        Some(Variable::One(before)) => before.clone(),
                        _ => Value::default(),
                    };
                    all.push(&value);
                    value = all;
                }
                let Some(index) = index else {
                    return Ok(match before {
                        Some(Variable::Many(mut values)) if !*adds => {
                            values.set("0", value);
                            Variable::Many(values)
                        }
                        _ => Variable::One(value),
                    });
                };
                let at = self.text(index, &word.span)?;
                let key = self.key(name, &at, &word.span)?;
                let mut values = array_of(before);
                self.element_set(&mut values, key, value, *adds, &word.span)?;
                values
            }
            Assigned::Array(words) => {
                let named = matches!(&before, Some(Variable::Many(values)) if values.named);
                let mut all = match before {
                    before if *adds => array_of(before),
                    _ if named => Array::named(),
                    _ => Array::default(),
                };
                for word in words {
                    self.array_word(name, word, &mut all)?;
                }
                all
            }
        };
        Ok(Variable::Many(value))
    }

    /// A word of `NAME=(…)`: `[KEY]=value`, or values one after the other.
    fn array_word(&mut self, name: &str, word: &RawWord, all: &mut Array) -> Result<(), Fault> {
        let Some((key, adds, value)) = keyed(word) else {
            for (value, span) in self.fields(std::slice::from_ref(word))? {
                self.room(all, &span)?;
                all.push(value);
            }
            return Ok(());
        };
        let index = self.text(&key, &word.span)?;
        let key = match all.named {
            true => index.unknown_because().map_or(Ok(index.text.clone()), |why| Err(why.clone())),
            false => self.key(name, &index, &word.span)?,
        };
        let value = self.text(&value, &word.span)?;
        self.element_set(all, key, value, adds, &word.span)
    }

    fn element_set(
        &mut self,
        all: &mut Array,
        key: Result<String, Rc<Doubt>>,
        value: Value,
        adds: bool,
        span: &Range<usize>,
    ) -> Result<(), Fault> {
        let key = key.map_err(|doubt| super::run::undecided(span, &doubt))?;
        if !all.named && key.parse::<u32>().is_err() {
            return Err(Fault::at(span, "this is no index of an array that can be read")
                .help("indices are whole numbers from 0 on, or names after `declare -A`"));
        }
        self.room(all, span)?;
        let mut whole = all.get(&key).filter(|_| adds).cloned().unwrap_or_default();
        whole.push(&value);
        all.set(&key, whole);
        Ok(())
    }

    fn room(&mut self, all: &Array, span: &Range<usize>) -> Result<(), Fault> {
        self.step(span, 0)?;
        let most = if all.named { MOST_NAMED } else { MOST_NUMBERED };
        match all.len() < most {
            true => Ok(()),
            false => Err(Fault::at(span, format!("an array here has more than {most} elements"))),
        }
    }

    /// Carries a command out, whose words are known.
    pub fn command(&mut self, fields: &Fields, node: &Node) -> Result<Flow, Fault> {
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
        self.command_itself(fields, node)
    }

    /// The same, whatever functions there are.
    pub fn command_itself(&mut self, fields: &Fields, node: &Node) -> Result<Flow, Fault> {
        let Some(((first, span), rest)) = fields.split_first() else { return Ok(Flow::Next) };
        let runs = matches!(&first.text[..], "command" | "builtin")
            && rest.first().is_some_and(|(word, _)| !matches!(&word.text[..], "-v" | "-V"));
        if !runs && let Some(flow) = self.builtin(fields, node)? {
            return Ok(flow);
        }
        if first.text.contains('/') && self.files.read(&first.text).is_some() {
            let shell = [(Value::new("sh"), span.clone())];
            return self.shell(&[&shell, fields].concat(), node);
        }
        let name = first.text.rsplit('/').next().unwrap_or_default();
        match name {
            "tc" => self.tc(fields, node),
            "qdisc" | "class" | "filter" => self.tc(fields, node),
            "xargs" => self.xargs(fields, node),
            _ => match self.wrapped(name, fields, node)? {
                Some(flow) => Ok(flow),
                None if self.program(name, fields, node)? => Ok(Flow::Next),
                None => self.other(fields, node),
            },
        }
    }

    /// A program of which nothing is known.
    pub fn other(&mut self, fields: &Fields, node: &Node) -> Result<Flow, Fault> {
        let first =
            fields.first().map_or("", |(word, _)| word.text.rsplit('/').next().unwrap_or(""));
        let words: Vec<&str> = fields.iter().map(|(word, _)| word.text.as_str()).collect();
        if !TELLING.contains(&first) && mentions_tc(&words.join(" ")) {
            let message =
                format!("what `{}` does with this command of tc is not read", plain(first));
            return Err(Fault::at(&node.span, message)
                .help(format!("write the command of tc as itself; {RUN}")));
        }
        let text: Vec<&str> = fields.iter().take(8).map(|(word, _)| word.text.as_str()).collect();
        let text = plain(&text.join(" "));
        let mut command = self.words_of(fields, node);
        let checks = |(word, _): &(Value, Range<usize>)| matches!(&word.text[..], "-C" | "--check");
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
        match command.is_beside() {
            true => self.emit(command, &node.span)?,
            false => self.skip(&command),
        }
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
    fn tc(&mut self, fields: &Fields, node: &Node) -> Result<Flow, Fault> {
        self.status = Status::SUCCESS;
        if let Some(batch) = self.batch(fields, node)? {
            return Ok(batch);
        }
        self.emit(self.words_of(fields, node), &node.span)?;
        if fields.iter().any(|(word, _)| ["show", "list", "ls"].contains(&word.text.as_str())) {
            let unknown = Value::unknown(self.written(&node.span), String::new());
            if let (Some(printed), Some(doubt)) = (self.printed.last_mut(), &unknown.doubt) {
                printed.doubts(Some(doubt));
            }
        }
        Ok(Flow::Next)
    }

    fn words_of(&self, fields: &Fields, node: &Node) -> Command {
        let words = fields.iter().map(|(value, span)| Word {
            text: value.text.clone(),
            span: span.clone(),
            doubt: value.doubt.clone(),
        });
        let line = self.line(node.span.start);
        let called = self.called();
        Command { words: words.collect(), line, called, comment: self.comment(node.span.end) }
    }

    /// The line of the innermost call of a function.
    fn called(&self) -> Option<usize> {
        self.calls.last().map(|span| self.line(span.start))
    }

    /// Notes that a command is not carried out.
    pub fn skip(&mut self, command: &Command) {
        self.skipped.entry(command.line).or_insert_with(|| command.no_command_of_tc());
    }

    pub fn emit(&mut self, command: Command, span: &Range<usize>) -> Result<(), Fault> {
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
    fn batch(&mut self, fields: &Fields, node: &Node) -> Result<Option<Flow>, Fault> {
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
            let written = self.files.read(file).cloned();
            if let Some(value) = written {
                if let Some(doubt) = value.unknown_because() {
                    return Err(super::run::undecided(&node.span, doubt));
                }
                self.batch_lines(&value.text, false, &node.span)?;
                return Ok(Some(Flow::Next));
            }
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
    fn batch_lines(&mut self, text: &str, whole: bool, span: &Range<usize>) -> Result<(), Fault> {
        let written = self.written(span);
        // As long as the lines are those that are written, each is at its own place.
        let apart = whole && written.lines().count() == text.lines().count() + 1;
        let mut at = span.start;
        let places = written.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at - usize::from(line.ends_with('\n'))
        });
        let places: Vec<Range<usize>> = if apart { places.collect() } else { Vec::new() };
        let place = |line: usize| places.get(line).unwrap_or(span);
        for BatchCommand { lines: (first, last), words, comment } in batch::commands(text) {
            self.step(span, words.iter().map(String::len).sum())?;
            let here = place(first).start..place(last).end;
            let word = |text| Word { text, span: here.clone(), doubt: None };
            let words = words.into_iter().map(word).collect();
            let line = self.line(here.start);
            self.emit(Command { words, line, called: self.called(), comment }, span)?;
        }
        Ok(())
    }

    fn call_function(
        &mut self,
        body: &Rc<Node>,
        arguments: &Fields,
        span: &Range<usize>,
    ) -> Result<Flow, Fault> {
        let known: Vec<Value> = arguments.iter().map(|(value, _)| value.clone()).collect();
        let arguments = Arguments { known: Some(Rc::new(known)), shifted: 0 };
        let before = self.state.set_arguments(arguments);
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

    /// A text as commands, which stand where this place is.
    pub fn evaluate(&mut self, text: &str, span: &Range<usize>) -> Result<Flow, Fault> {
        self.step(span, text.len())?;
        let whole = 0..text.len();
        let list = Parser::new(text, whole, Some(span.clone()), &mut self.parsed).all()?;
        self.deeper(span, |shell| shell.list(&list))
    }

    /// `. FILE` and `source FILE`.
    pub fn source(&mut self, rest: &Fields, node: &Node) -> Result<Flow, Fault> {
        let Some((file, span)) = rest.first() else { return Ok(Flow::Next) };
        if file.text == "/dev/stdin"
            && let Some(text) = self.reading().map(Input::rest)
            && text.unknown_because().is_none()
        {
            let flow = self.evaluate(&text.text, &node.span)?;
            return Ok(if flow == Flow::Return { Flow::Next } else { flow });
        }
        let written = self.files.read(&file.text).cloned();
        if let Some(text) = written.filter(|text| text.unknown_because().is_none()) {
            let flow = self.evaluate(&text.text, &node.span)?;
            return Ok(if flow == Flow::Return { Flow::Next } else { flow });
        }
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

/// The elements of what a variable was before.
fn array_of(before: Option<Variable>) -> Array {
    match before {
        Some(Variable::Many(values)) => values,
        Some(Variable::One(value)) => Array::numbered([value]),
        Some(Variable::Refers(_)) | None => Array::default(),
    }
}

/// `[KEY]=value` or `[KEY]+=value`: key, whether it adds, and value.
fn keyed(word: &RawWord) -> Option<(Text, bool, Text)> {
    let mut parts = word.parts.iter();
    let Some(Part::Text(first)) = parts.next() else { return None };
    let (mut key, mut rest) = (Vec::new(), first.strip_prefix('[')?.to_string());
    loop {
        if let Some((end, value)) = rest.split_once("]=") {
            let (end, adds) = (end, false);
            key.push(Part::Text(end.to_string()));
            let mut all = vec![Part::Text(value.to_string())];
            all.extend(parts.cloned());
            return Some((key, adds, all));
        }
        key.push(Part::Text(std::mem::take(&mut rest)));
        for part in parts.by_ref() {
            match part {
                Part::Text(text) => {
                    rest = text.clone();
                    break;
                }
                part => key.push(part.clone()),
            }
        }
        if rest.is_empty() {
            return None;
        }
    }
}
