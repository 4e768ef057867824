//! `$NAME` and `${NAME…}` (POSIX.1-2017, Shell Command Language, section 2.6.2).

use std::ops::Range;
use std::rc::Rc;

use laxity_plan::error::Fault;

use super::expand::{Piece, joined};
use super::run::Shell;
use super::syntax::{Operation, Parameter, Text};
use super::value::{Status, Value, Variable};
use crate::error::plain;
use crate::words::command::Doubt;

impl Shell<'_> {
    /// The value of a variable or argument; empty without one.
    pub fn value(&self, name: &str) -> Value {
        self.set_value(name).unwrap_or_else(|| match name.bytes().all(|b| b.is_ascii_digit()) {
            true => Value::default(),
            false => Value::unset(name),
        })
    }

    /// The value of a variable or argument that has one.
    fn set_value(&self, name: &str) -> Option<Value> {
        let arguments = self.state.arguments();
        let is_argument = matches!(name, "#" | "@" | "*")
            || name != "0" && name.bytes().all(|byte| byte.is_ascii_digit());
        if is_argument && arguments.known.is_none() {
            self.asks.set(true);
        }
        let own = |text: &str| Some(Value::new(text));
        match name {
            "?" => Some(match &self.status {
                Status::Known(status) => Value::new(status.to_string()),
                Status::Unknown(doubt) => {
                    Value { text: "$?".into(), doubt: Some(Rc::clone(doubt)) }
                }
            }),
            "$" | "PPID" => Some(Value::unknown("$$", "the script is not run")),
            "!" => None,
            "-" => own(""),
            "#" => Some(match &arguments.known {
                Some(known) => Value::new(known.len().to_string()),
                None => Value::unknown("$#", CALLED),
            }),
            "0" => match self.state.variable("0") {
                Some(Variable::One(value)) => Some(value.clone()),
                _ => own(self.name),
            },
            // tc needs it.
            "UID" | "EUID" => own("0"),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number: usize = name.parse().ok()?;
                match &arguments.known {
                    Some(known) => known.get(number.checked_sub(1)?).cloned(),
                    None => {
                        Some(Value::unknown(&format!("${}", number + arguments.shifted), CALLED))
                    }
                }
            }
            _ => match self.state.variable(name) {
                Some(Variable::One(value)) => Some(value.clone()),
                Some(Variable::Many(values)) => values.get("0").cloned(),
                Some(Variable::Refers(_)) => None,
                None if name == "BASH_SOURCE" => self.set_value("0"),
                None if OF_THE_SHELL.contains(&name) => {
                    Some(Value::unknown(&format!("${name}"), ""))
                }
                None => None,
            },
        }
    }

    pub fn parameter(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        span: &Range<usize>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        let index = match &parameter.index {
            None => None,
            Some(index) => Some(self.text(index, span)?),
        };
        let all = index.as_ref().map_or(parameter.name.as_str(), |index| index.text.as_str());
        if matches!(all, "@" | "*") && matches!(parameter.operation, Operation::Value) {
            let values = self.several(parameter, index.is_some());
            self.all(values, all == "*", quoted, pieces);
            return Ok(());
        }
        if matches!(all, "@" | "*")
            && let Some(values) = self.parts_of(parameter, index.is_some(), span)?
        {
            self.all(values, all == "*", quoted, pieces);
            return Ok(());
        }
        if matches!(parameter.operation, Operation::Keys) {
            let keys = match self.state.variable(&parameter.name) {
                Some(Variable::Many(values)) => values.keys().map(Value::new).collect(),
                Some(Variable::One(_)) => vec![Value::new("0")],
                _ => Vec::new(),
            };
            self.all(Ok(keys), all == "*", quoted, pieces);
            return Ok(());
        }
        let value = match (&parameter.operation, &index) {
            (Operation::Length, _) if matches!(all, "@" | "*") => {
                Some(match self.several(parameter, index.is_some()) {
                    Ok(values) => Value::new(values.len().to_string()),
                    Err(unknown) => unknown,
                })
            }
            (_, Some(index)) if !matches!(all, "@" | "*") => {
                self.element(&parameter.name, index, span)?
            }
            (_, _) if matches!(all, "@" | "*") => {
                let mut joined_values = Vec::new();
                let values = self.several(parameter, index.is_some());
                self.all(values, true, true, &mut joined_values);
                Some(joined(&joined_values)).filter(|value| !value.text.is_empty())
            }
            (..) => self.set_value(&parameter.name),
        };
        let name = &parameter.name;
        let may_be_unset =
            matches!(parameter.operation, Operation::Default { .. } | Operation::Length)
                || matches!(all, "@" | "*");
        if self.ends_without_value && value.is_none() && !may_be_unset {
            let message = format!("the script ends here: `${name}` has no value, after `set -u`");
            return Err(Fault::at(span, message).help(format!("give it as in --set {name}=VALUE")));
        }
        let pushed = match &parameter.operation {
            Operation::Value | Operation::Keys => value.unwrap_or_else(|| self.value(name)),
            Operation::Length if matches!(all, "@" | "*") => value.unwrap_or_default(),
            Operation::Length => {
                let value = value.unwrap_or_else(|| self.value(name));
                self.mapped(value, span, |text| text.chars().count().to_string())
            }
            Operation::Indirect => {
                if let Some(Variable::Refers(other)) = self.state.itself(name) {
                    let value = Value::new(other.clone());
                    pieces.push(Piece::Text { value, splits: !quoted, is_pattern: !quoted });
                    return Ok(());
                }
                let inner = value.unwrap_or_else(|| self.value(name));
                match inner.unknown_because() {
                    Some(_) => inner,
                    None => self.value(&inner.text),
                }
            }
            Operation::Default { sign, or_empty, word } => {
                let word = (*sign, *or_empty, word);
                return self.default(name, value, word, quoted, span, pieces);
            }
            operation => {
                let value = value.unwrap_or_else(|| self.value(name));
                self.changed(value, operation, span)?
            }
        };
        pieces.push(Piece::Text { value: pushed, splits: !quoted, is_pattern: !quoted });
        Ok(())
    }

    /// All arguments or all elements of an array, or why they are not known.
    pub fn several(&self, parameter: &Parameter, is_array: bool) -> Result<Vec<Value>, Value> {
        if is_array {
            return Ok(match self.state.variable(&parameter.name) {
                None => Vec::new(),
                Some(Variable::One(value)) => vec![value.clone()],
                Some(Variable::Many(values)) => values.values().cloned().collect(),
                Some(Variable::Refers(_)) => Vec::new(),
            });
        }
        match &self.state.arguments().known {
            Some(known) => Ok(known.to_vec()),
            None => Err(Value::unknown("$@", CALLED)),
        }
    }

    fn all(
        &self,
        values: Result<Vec<Value>, Value>,
        joins: bool,
        quoted: bool,
        pieces: &mut Vec<Piece>,
    ) {
        let (splits, is_pattern) = (!quoted, !quoted);
        let values = match values {
            Ok(values) if values.is_empty() && !joins => return pieces.push(Piece::Nothing),
            Ok(values) => values,
            Err(value) => return pieces.push(Piece::Text { value, splits, is_pattern }),
        };
        let between = match self.state.variable("IFS") {
            Some(Variable::One(value)) => value.text.chars().next().map(String::from),
            _ => Some(" ".into()),
        };
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                pieces.push(match joins && quoted {
                    true => {
                        let value = Value::new(between.clone().unwrap_or_default());
                        Piece::Text { value, splits, is_pattern }
                    }
                    false => Piece::Break,
                });
            }
            pieces.push(Piece::Text { value, splits, is_pattern });
        }
    }

    fn element(
        &mut self,
        name: &str,
        index: &Value,
        span: &Range<usize>,
    ) -> Result<Option<Value>, Fault> {
        let key = match self.key(name, index, span)? {
            Ok(key) => key,
            Err(doubt) => {
                return Ok(Some(Value { text: plain(self.written(span)), doubt: Some(doubt) }));
            }
        };
        Ok(match self.state.variable(name) {
            Some(Variable::One(value)) if key == "0" => Some(value.clone()),
            Some(Variable::Many(values)) => values.get(&key).cloned(),
            _ => None,
        })
    }

    /// The name or number of an element of an array; why it is not known.
    pub fn key(
        &mut self,
        array: &str,
        index: &Value,
        span: &Range<usize>,
    ) -> Result<Result<String, Rc<Doubt>>, Fault> {
        if let Some(doubt) = index.unknown_because() {
            return Ok(Err(Rc::clone(doubt)));
        }
        let (mut named, mut length) = (false, 0);
        if let Some(Variable::Many(values)) = self.state.variable(array) {
            (named, length) = (values.named, values.next());
        }
        if named {
            return Ok(Ok(index.text.clone()));
        }
        Ok(self.arithmetic(index, span)?.map(|at| match at < 0 {
            true => at.saturating_add(length as i64).to_string(),
            false => at.to_string(),
        }))
    }

    /// A value of which another one is made; not known if that is not.
    pub fn mapped(&self, value: Value, span: &Range<usize>, map: impl Fn(&str) -> String) -> Value {
        match value.unknown_because() {
            Some(_) => Value { text: plain(self.written(span)), doubt: value.doubt },
            None => Value { text: map(&value.text), doubt: value.doubt },
        }
    }

    fn default(
        &mut self,
        name: &str,
        value: Option<Value>,
        (sign, or_empty, word): (char, bool, &Text),
        quoted: bool,
        span: &Range<usize>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        let is_argument = name.bytes().all(|byte| byte.is_ascii_digit());
        // What it is without an argument is what the script itself proposes.
        let value = value.filter(|value| !(is_argument && value.unknown_because().is_some()));
        let unknown = value.as_ref().is_some_and(|value| value.unknown_because().is_some());
        let has_value = value.as_ref().is_some_and(|value| !or_empty || !value.text.is_empty());
        if unknown && sign == '+' {
            let doubt = value.and_then(|value| value.doubt);
            let value = Value { text: plain(self.written(span)), doubt };
            pieces.push(Piece::Text { value, splits: !quoted, is_pattern: !quoted });
            return Ok(());
        }
        if has_value != (sign == '+') {
            if let Some(value) = value.filter(|_| sign != '+') {
                pieces.push(Piece::Text { value, splits: !quoted, is_pattern: !quoted });
            } else {
                let value = Value::default();
                pieces.push(Piece::Text { value, splits: !quoted, is_pattern: !quoted });
            }
            return Ok(());
        }
        let mut word = self.pieces(word, span)?;
        match sign {
            '?' => {
                let said = joined(&word);
                let message = format!("the script needs `${name}`: {}", plain(&said.text));
                return Err(Fault::at(span, message)
                    .help(format!("give it as in --set {name}=VALUE, or --arg VALUE for `$1`")));
            }
            '=' => self.assign(name, Variable::One(joined(&word)), span)?,
            _ => {}
        }
        if !quoted {
            for piece in &mut word {
                if let Piece::Text { splits, is_pattern: true, .. } = piece {
                    *splits = true;
                }
            }
        }
        pieces.extend(word);
        Ok(())
    }
}

/// Variables that a shell sets itself.
const OF_THE_SHELL: [&str; 22] = [
    "BASHPID",
    "BASH_COMMAND",
    "BASH_LINENO",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "HOSTNAME",
    "HOSTTYPE",
    "LINENO",
    "MACHTYPE",
    "OLDPWD",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
];
/// How to say what the script is called with.
const CALLED: &str = "say what the script is called with, one --arg for each argument";
