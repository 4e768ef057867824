//! Commands of the shell itself (POSIX.1-2017, Shell Command Language, section 2.14, and bash).

use std::rc::Rc;

use super::run::{Flow, Shell};
use super::simple::Fields;
use super::state::Arguments;
use super::syntax::Node;
use super::syntax::name_length;
use super::value::{Status, Value, Variable};
use crate::error::Read;

impl Shell<'_> {
    /// Carries a command of the shell out; `None` if it is none.
    pub fn builtin(&mut self, fields: &Fields, node: &Node) -> Read<Option<Flow>> {
        let Some(((name, _), rest)) = fields.split_first() else { return Ok(Some(Flow::Next)) };
        let last = std::mem::replace(&mut self.status, Status::SUCCESS);
        match name.text.as_str() {
            ":" | "true" | "trap" | "ulimit" | "umask" | "wait" | "hash" | "cd" | "pushd"
            | "popd" | "sleep" | "logger" | "shopt" | "alias" | "jobs" | "kill" | "renice" => {}
            "false" => self.status = Status::FAILURE,
            "echo" => self.echo(rest, node)?,
            "printf" => self.printf(rest, node)?,
            "test" | "[" => self.status = self.single_test(fields, &node.span)?,
            "set" => self.set(rest),
            "shift" => self.shift(rest),
            "export" | "readonly" | "declare" | "typeset" | "local" => {
                self.declare(&name.text, rest, node)?;
            }
            "unset" => {
                for (word, _) in rest.iter().filter(|(word, _)| !word.text.starts_with('-')) {
                    let is_function = rest.first().is_some_and(|(word, _)| word.text == "-f");
                    match is_function {
                        true => self.state.set_function(&word.text, None),
                        false => {
                            self.state.set_variable(&word.text, None);
                        }
                    }
                }
            }
            "let" => {
                for (word, span) in rest {
                    self.status = match self.arithmetic(word, span)? {
                        Ok(number) => Status::of(number != 0),
                        Err(doubt) => Status::Unknown(doubt),
                    };
                }
            }
            "eval" => {
                let mut all = Value::default();
                for (at, (word, _)) in rest.iter().enumerate() {
                    all.text.push_str(if at > 0 { " " } else { "" });
                    all.push(word);
                }
                return match all.unknown_because() {
                    Some(doubt) => {
                        self.status = Status::Unknown(Rc::clone(doubt));
                        let line = self.line(node.span.start);
                        let text = format!("`eval`: {}", doubt.why);
                        self.skipped.entry(line).or_insert(text);
                        Ok(Some(Flow::Next))
                    }
                    None => self.evaluate(&all.text, &node.span).map(Some),
                };
            }
            "." | "source" => return self.source(rest, node).map(Some),
            "read" => self.read(rest, node)?,
            "getopts" => self.getopts(rest, node)?,
            "type" | "which" => self.known_programs(rest, node)?,
            "command"
                if rest.first().is_some_and(|(word, _)| matches!(&word.text[..], "-v" | "-V")) =>
            {
                self.known_programs(&rest[1..], node)?;
            }
            "return" | "exit" => {
                let number = rest.first().and_then(|(word, _)| word.text.parse::<i32>().ok());
                match (rest.first(), number) {
                    (_, Some(number)) => self.status = Status::Known(number & 0xff),
                    (Some((word, _)), None) => {
                        let doubt = word.unknown_because().cloned();
                        self.status = doubt.map_or(Status::Known(2), Status::Unknown);
                    }
                    (None, None) => self.status = last,
                }
                let flow = if name.text == "exit" { Flow::Exit } else { Flow::Return };
                return Ok(Some(flow));
            }
            "break" | "continue" => {
                let loops = rest.first().and_then(|(word, _)| word.text.parse().ok()).unwrap_or(1);
                let is_break = name.text == "break";
                return Ok(Some(if is_break { Flow::Break(loops) } else { Flow::Continue(loops) }));
            }
            _ => {
                self.status = last;
                return Ok(None);
            }
        }
        Ok(Some(Flow::Next))
    }

    /// `set`: options, of which only `-e` counts, and arguments.
    fn set(&mut self, rest: &Fields) {
        let mut words = rest.iter();
        let mut named = false;
        while let Some((word, _)) = words.clone().next() {
            let text = word.text.as_str();
            let Some(options) = text.strip_prefix(['-', '+']).filter(|_| text != "-") else {
                break;
            };
            words.next();
            if text == "--" {
                named = true;
                break;
            }
            let takes_name = options.ends_with('o');
            let name =
                if takes_name { words.next().map(|(name, _)| name.text.as_str()) } else { None };
            if options.contains('e') || name == Some("errexit") {
                self.ends_on_failure = text.starts_with('-');
            }
        }
        let known: Vec<Value> = words.map(|(word, _)| word.clone()).collect();
        if named || !known.is_empty() {
            let known = match known.iter().any(|word| word.text == "$@") {
                true => None,
                false => Some(Rc::new(known)),
            };
            self.state.set_arguments(Arguments { known, shifted: 0 });
        }
    }

    fn shift(&mut self, rest: &Fields) {
        let count = rest.first().map_or(Some(1), |(word, _)| word.text.parse::<usize>().ok());
        let Some(count) = count else { return };
        let Arguments { known, shifted } = self.state.arguments().clone();
        let known = match known {
            Some(known) if count > known.len() => {
                self.status = Status::FAILURE;
                return;
            }
            Some(known) => Some(Rc::new(known[count..].to_vec())),
            None => None,
        };
        let shifted = shifted.saturating_add(count).min(1_000);
        self.state.set_arguments(Arguments { known, shifted });
    }

    /// `local`, `export` and the like: their assignments.
    fn declare(&mut self, command: &str, rest: &Fields, node: &Node) -> Read<()> {
        for (word, span) in rest.iter().filter(|(word, _)| !word.text.starts_with('-')) {
            let length = name_length(&word.text);
            let (name, after) = word.text.split_at(length);
            let value = after.strip_prefix("+=").map(|value| (true, value));
            let value = value.or_else(|| after.strip_prefix('=').map(|value| (false, value)));
            let is_local = matches!(command, "local" | "declare" | "typeset");
            if is_local && let Some(locals) = self.locals.last_mut() {
                if !locals.iter().any(|(local, _)| local == name) {
                    let before = self.state.variable(name).cloned();
                    locals.push((name.to_string(), before));
                }
                if value.is_none() && command != "local" {
                    self.state.set_variable(name, None);
                }
            }
            if let Some((adds, value)) = value {
                let mut all = if adds { self.value(name) } else { Value::default() };
                all.push(&Value { text: value.to_string(), doubt: word.doubt.clone() });
                self.assign(name, Variable::One(all), span)?;
            }
        }
        self.step(&node.span, 0)
    }

    /// `read`: the next line, word by word.
    fn read(&mut self, rest: &Fields, node: &Node) -> Read<()> {
        let names = rest.iter().map(|(word, _)| word.text.clone());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('-')).collect();
        if names.is_empty() {
            names.push("REPLY".into());
        }
        let unknown = match self.reading() {
            None => Value::unknown("read", "").doubt,
            Some(input) => input.unknown_because().cloned(),
        };
        if let Some(doubt) = unknown {
            for name in names {
                let text = format!("${name}");
                let value = Value { text, doubt: Some(Rc::clone(&doubt)) };
                self.assign(&name, Variable::One(value), &node.span)?;
            }
            self.status = Status::Unknown(doubt);
            return Ok(());
        }
        let separators = match self.state.variable("IFS") {
            Some(Variable::One(value)) => value.text.clone(),
            _ => " \t\n".into(),
        };
        let line = self.reading().and_then(|input| input.line().map(str::to_string));
        self.status = Status::of(line.is_some());
        let line = line.unwrap_or_default();
        let space = |c: char| separators.contains(c) && " \t\n".contains(c);
        let mut left = line.trim_matches(space);
        let count = names.len();
        for (at, name) in names.into_iter().enumerate() {
            let end = left.find(|c| separators.contains(c)).filter(|_| at + 1 < count);
            let (word, after) = left.split_at(end.unwrap_or(left.len()));
            let mut after = after.trim_start_matches(space);
            if let Some(next) = after.chars().next()
                && separators.contains(next)
            {
                after = after[next.len_utf8()..].trim_start_matches(space);
            }
            left = after;
            self.assign(&name, Variable::One(Value::new(word)), &node.span)?;
        }
        Ok(())
    }

    /// `type`, `which` and `command -v`: functions are known, and programs are taken to be there.
    fn known_programs(&mut self, rest: &Fields, node: &Node) -> Read<()> {
        for (word, _) in rest.iter().filter(|(word, _)| !word.text.starts_with('-')) {
            let is_function = self.state.function(&word.text).is_some();
            let is_type = self.written(&node.span).contains("type");
            let text = match (is_function, is_type) {
                (true, true) => format!("{} is a function\n", word.text),
                (false, true) => format!("{0} is /usr/sbin/{0}\n", word.text),
                (_, false) => format!("{}\n", word.text),
            };
            self.print(&Value { text, doubt: word.doubt.clone() }, &node.span)?;
        }
        Ok(())
    }

    /// Prints into what is read by someone.
    pub fn print(&mut self, value: &Value, span: &std::ops::Range<usize>) -> Read<()> {
        self.step(span, value.text.len())?;
        if let Some(printed) = self.printed.last_mut() {
            printed.push(value);
        }
        Ok(())
    }
}
