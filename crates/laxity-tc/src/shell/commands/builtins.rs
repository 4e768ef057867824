//! Commands of the shell itself (POSIX.1-2017, Shell Command Language, section 2.14; `getopts`,
//! Shell and Utilities; and bash).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::run::simple::spaced;
use crate::shell::run::{Flow, Shell, not_followed};
use crate::shell::syntax::{Node, name_length};
use crate::shell::values::{Arguments, Array, Status, Value, Variable};
use crate::words::command::Word;

impl Shell<'_> {
    /// Carries a command of the shell out; `None` if it is none.
    pub(crate) fn builtin(&mut self, fields: &[Word], node: &Node) -> Result<Option<Flow>, Fault> {
        let Some((name, rest)) = fields.split_first() else { return Ok(Some(Flow::Next)) };
        let last = std::mem::take(&mut self.status);
        match name.text.as_str() {
            ":" | "true" | "ulimit" | "umask" | "wait" | "hash" | "cd" | "pushd" | "popd"
            | "sleep" | "logger" | "alias" | "jobs" | "renice" => {}
            "shopt" => shopt(rest, node)?,
            "kill" => {
                let itself = rest.iter().any(|word| word.text.contains("$$"));
                if itself && self.traps_signals {
                    return Err(not_followed(&node.span, "a signal to the script itself"));
                }
            }
            "false" => self.status = Status::FAILURE,
            "echo" => self.echo(rest, node)?,
            "printf" => self.printf(rest, node)?,
            "test" | "[" => self.status = self.single_test(fields, &node.span)?,
            "set" => self.set(rest),
            "shift" => self.shift(rest),
            "export" | "readonly" | "declare" | "typeset" | "local" => {
                self.declare(fields, node)?
            }
            "unset" => self.unset(rest)?,
            "let" => {
                for word in rest {
                    let number = self.arithmetic(&word.into(), &word.span)?;
                    self.status = Status::from_number(number);
                }
            }
            "eval" => {
                let all = spaced(rest);
                let Some(doubt) = all.unknown_because() else {
                    return self.evaluate(&all.text, &node.span).map(Some);
                };
                self.status = Status::Unknown(Rc::clone(doubt));
                self.leave_out(&node.span, format!("`eval`: {}", doubt.why));
            }
            "." | "source" => return self.source(rest, node).map(Some),
            "trap" => self.trap(rest, node)?,
            "read" => self.read(rest, node)?,
            "mapfile" | "readarray" => self.mapfile(rest, node)?,
            "getopts" => self.getopts(rest, node)?,
            "type" | "which" => self.known_programs(rest, node)?,
            "command" if rest.first().is_some_and(|word| matches!(&word.text[..], "-v" | "-V")) => {
                self.known_programs(&rest[1..], node)?;
            }
            "return" | "exit" => {
                self.status = match rest.first().map(|word| (word, word.text.parse::<i32>())) {
                    None => last,
                    Some((_, Ok(number))) => Status::Known(number & 0xff),
                    Some((word, Err(_))) => {
                        word.unknown_because().cloned().map_or(Status::Known(2), Status::Unknown)
                    }
                };
                return Ok(Some(if name.text == "exit" { Flow::Exit } else { Flow::Return }));
            }
            "break" | "continue" => {
                let loops = rest.first().and_then(|word| word.text.parse().ok()).unwrap_or(1);
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

    /// `set`: arguments, and options. `-e`, `-u`, `-a`, `-f` and `-o pipefail` count.
    fn set(&mut self, rest: &[Word]) {
        let mut words = rest.iter();
        let mut named = false;
        while let Some(word) = words.clone().next() {
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
            let name = if takes_name { words.next().map(|name| name.text.as_str()) } else { None };
            let on = text.starts_with('-');
            let is = |letter, long| options.contains(letter) || name == Some(long);
            for (is_said, option) in [
                (is('e', "errexit"), &mut self.options.errexit),
                (is('u', "nounset"), &mut self.options.nounset),
                (is('a', "allexport"), &mut self.options.allexport),
                (is('f', "noglob"), &mut self.options.noglob),
                (name == Some("pipefail"), &mut self.options.pipefail),
            ] {
                *option = if is_said { on } else { *option };
            }
        }
        let known: Vec<Value> = words.map(Value::from).collect();
        if named || !known.is_empty() {
            let is_open = known.iter().any(|word| word.text == "$@");
            let arguments = if is_open { Arguments::default() } else { Arguments::new(known) };
            self.state.set_arguments(arguments);
        }
    }

    fn shift(&mut self, rest: &[Word]) {
        let count = rest.first().map_or(Some(1), |word| word.text.parse::<usize>().ok());
        let Some(count) = count else { return };
        let Arguments { known, shifted } = self.state.arguments().clone();
        if known.as_ref().is_some_and(|known| count > known.len()) {
            self.status = Status::FAILURE;
            return;
        }
        let known = known.map(|known| Rc::new(known[count..].to_vec()));
        let shifted = shifted.saturating_add(count).min(1_000);
        self.state.set_arguments(Arguments { known, shifted });
    }

    /// `unset`: variables and elements of arrays; with `-f` functions; with `-n` references.
    fn unset(&mut self, rest: &[Word]) -> Result<(), Fault> {
        let option = rest.first().map_or("", |word| word.text.as_str());
        for word in rest.iter().filter(|word| !word.text.starts_with('-')) {
            let element = word.text.strip_suffix(']').and_then(|name| name.split_once('['));
            match (option, element) {
                ("-f", _) => self.state.set_function(&word.text, None),
                (_, Some((name, index))) => self.unset_element(name, index, &word.span)?,
                ("-n", None) => {
                    self.state.set_itself(&word.text, None);
                }
                (_, None) => {
                    self.state.set_variable(&word.text, None);
                }
            }
        }
        Ok(())
    }

    fn unset_element(&mut self, name: &str, index: &str, span: &Span) -> Result<(), Fault> {
        let key = self.key(name, &Value::new(index), span)?;
        if let (Ok(key), Some(Variable::Many(mut values))) =
            (key, self.state.variable(name).cloned())
        {
            values.remove(&key);
            self.state.set_variable(name, Some(Variable::Many(values)));
        }
        Ok(())
    }

    /// `trap`: what is done at the end of the shell; signals do not come.
    fn trap(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let rest = match rest {
            [word, rest @ ..] if word.text == "--" => rest,
            rest => rest,
        };
        let [text, signals @ ..] = rest else { return Ok(()) };
        let does_something = !matches!(&text.text[..], "" | "-");
        for signal in signals {
            match &signal.text[..] {
                "EXIT" | "0" => {
                    let text = Word { span: node.span.clone(), ..text.clone() };
                    self.at_exit = Some(text).filter(|_| does_something);
                }
                "ERR" | "DEBUG" | "RETURN" if does_something => {
                    return Err(not_followed(&node.span, "a trap that is not for the end"));
                }
                _ => self.traps_signals |= does_something,
            }
        }
        Ok(())
    }

    /// `type`, `which` and `command -v`: functions are known, and programs are taken to be there.
    fn known_programs(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        for word in rest.iter().filter(|word| !word.text.starts_with('-')) {
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
    pub(crate) fn print(&mut self, value: &Value, span: &Span) -> Result<(), Fault> {
        self.step(span, value.text.len())?;
        if let Some(printed) = self.printed.last_mut() {
            printed.push(value);
        }
        Ok(())
    }

    /// `local`, `export` and the like: their assignments.
    fn declare(&mut self, fields: &[Word], node: &Node) -> Result<(), Fault> {
        let (command, rest) = (fields[0].text.as_str(), &fields[1..]);
        let options = rest.iter().filter_map(|word| word.text.strip_prefix('-'));
        let options: String = options.collect();
        let has = |letter| options.contains(letter);
        let is_local = matches!(command, "local" | "declare" | "typeset") && !has('g');
        if command != "export" && has('u') || has('l') {
            return Err(not_followed(&node.span, "a variable in letters of one kind"));
        }
        for word in rest.iter().filter(|word| !word.text.starts_with(['-', '+'])) {
            let length = name_length(&word.text);
            let (name, after) = word.text.split_at(length);
            if has('f') {
                self.exported.insert(format!("{name}()"));
                continue;
            }
            let value = after.strip_prefix("+=").map(|value| (true, value));
            let value = value.or_else(|| after.strip_prefix('=').map(|value| (false, value)));
            if is_local && let Some(locals) = self.locals.last_mut() {
                if !locals.iter().any(|(local, _)| local == name) {
                    let before = self.state.itself(name).cloned();
                    locals.push((name.to_string(), before));
                }
                if value.is_none() {
                    self.state.set_itself(name, None);
                }
            }
            if command == "export" && has('n') {
                self.exported.remove(name);
            } else if command == "export" || has('x') {
                self.exported.insert(name.to_string());
            }
            if has('i') {
                self.numbers.insert(name.to_string());
            }
            // Those of a function end with it.
            let constant =
                (command == "readonly" || has('r')) && (!is_local || self.locals.is_empty());
            let is_array = matches!(self.state.variable(name), Some(Variable::Many(_)));
            if !is_array && (has('A') || has('a')) {
                let array = if has('A') { Array::named() } else { Array::default() };
                self.state.set_variable(name, Some(Variable::Many(array)));
            }
            if let Some((adds, value)) = value {
                if has('n') && command != "export" {
                    self.state.set_itself(name, Some(Variable::Refers(value.to_string())));
                    continue;
                }
                let value = Value { text: value.to_string(), doubt: word.doubt.clone() };
                let value = if adds { self.sum(name, self.value(name), value) } else { value };
                self.assign(name, Variable::One(value), &word.span)?;
            }
            if constant {
                self.constants.insert(name.to_string());
            }
        }
        self.step(&node.span, 0)
    }

    /// Takes the next option of the arguments. Arguments that are not given have no options: the
    /// script's own values hold.
    fn getopts(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let [known, name, rest @ ..] = rest else {
            self.status = Status::Known(2);
            return Ok(());
        };
        let words: Rc<Vec<Value>> = match (rest, &self.state.arguments().known) {
            ([], Some(known)) => Rc::clone(known),
            ([], None) => {
                self.asks.set(true);
                Rc::default()
            }
            (words, _) => Rc::new(words.iter().map(Value::from).collect()),
        };
        let number = |value: Value| value.text.parse::<usize>().ok();
        let index = number(self.value("OPTIND")).unwrap_or(1).max(1);
        let within = number(self.value("OPTPOS")).unwrap_or(1).max(1);
        let word = words.get(index - 1).map_or("", |word| word.text.as_str());
        let set = |shell: &mut Self, name: &str, text: String| {
            shell.assign(name, Variable::One(Value::new(text)), &node.span)
        };
        let ends = !word.starts_with('-') || word == "-" || word == "--";
        if ends {
            let after = index + usize::from(word == "--");
            set(self, "OPTIND", after.to_string())?;
            set(self, &name.text, "?".into())?;
            self.status = Status::FAILURE;
            return Ok(());
        }
        let option = word.chars().nth(within).unwrap_or('?');
        let more = word.chars().count() > within + 1;
        let place = known.text.find(option).filter(|_| option != ':');
        let takes = place.is_some_and(|at| known.text[at + option.len_utf8()..].starts_with(':'));
        let (mut next, mut position) =
            (index + usize::from(!more), if more { within + 1 } else { 1 });
        if takes {
            let argument = if more {
                Some(word.chars().skip(within + 1).collect())
            } else {
                words.get(index).map(|word| word.text.clone())
            };
            (next, position) = (index + 1 + usize::from(!more), 1);
            match argument {
                Some(argument) => set(self, "OPTARG", argument)?,
                None => {
                    set(self, &name.text, "?".into())?;
                    return set(self, "OPTIND", next.to_string());
                }
            }
        } else {
            self.state.set_variable("OPTARG", None);
        }
        let found = place.map_or('?', |_| option);
        set(self, &name.text, found.to_string())?;
        set(self, "OPTIND", next.to_string())?;
        set(self, "OPTPOS", position.to_string())
    }
}

/// `shopt`: what makes the same words something else is not followed.
fn shopt(rest: &[Word], node: &Node) -> Result<(), Fault> {
    let known = ["nocasematch", "lastpipe", "expand_aliases"];
    let sets = rest.first().is_some_and(|word| word.text.starts_with("-s"));
    if sets && rest.iter().any(|word| known.contains(&&word.text[..])) {
        return Err(not_followed(&node.span, "this option of bash"));
    }
    Ok(())
}
