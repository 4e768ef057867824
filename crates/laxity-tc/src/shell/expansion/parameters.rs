//! `$NAME` and `${NAME…}` (POSIX.1-2017, Shell Command Language, section 2.6.2).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::expansion::words::{Piece, joined};
use crate::shell::run::Shell;
use crate::shell::syntax::{Fallback, Operation, Parameter};
use crate::shell::values::{Status, Value, ValueResult, Variable};

impl Shell<'_> {
    /// The value of a variable or argument; empty without one.
    pub(crate) fn value(&self, name: &str) -> Value {
        self.set_value(name).unwrap_or_else(|| {
            if name.bytes().all(|b| b.is_ascii_digit()) {
                Value::default()
            } else {
                Value::unset(name)
            }
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
                None if OF_THE_SHELL.split(' ').any(|known| known == name) => {
                    Some(Value::unknown(&format!("${name}"), ""))
                }
                None => None,
            },
        }
    }

    /// Puts what a parameter comes to behind the pieces of a word.
    pub(crate) fn parameter(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        span: &Span,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        let index = parameter.index.as_ref().map(|index| self.text(index, span)).transpose()?;
        let name = &parameter.name;
        let selector = index.as_ref().map_or(name.as_str(), |index| index.text.as_str());
        let is_all = matches!(selector, "@" | "*");
        if is_all && let Some(values) = self.each(parameter, index.is_some(), span)? {
            pieces.extend(self.all(values, selector == "*", quoted));
            return Ok(());
        }
        let value = match &index {
            _ if is_all => {
                let all = self.all(self.several(name, index.is_some()), true, true);
                Some(joined(&all)).filter(|value| !value.text.is_empty())
            }
            Some(index) => self.element(name, index, span)?,
            None => self.set_value(name),
        };
        let may_be_unset =
            is_all || matches!(parameter.operation, Operation::Default(_) | Operation::Length);
        if self.options.nounset && value.is_none() && !may_be_unset {
            let message = format!("the script ends here: `${name}` has no value, after `set -u`");
            return Err(Fault::at(span, message).help(format!("give it as in --set {name}=VALUE")));
        }
        if let Operation::Default(fallback) = &parameter.operation {
            pieces.extend(self.fallen_back(name, value, fallback, quoted, span)?);
            return Ok(());
        }
        let value = value.unwrap_or_else(|| self.value(name));
        let value = match &parameter.operation {
            Operation::Length => self.mapped(value, span, |text| text.chars().count().to_string()),
            Operation::Indirect => match self.state.itself(name) {
                Some(Variable::Refers(other)) => Value::new(other.clone()),
                _ if value.unknown_because().is_some() => value,
                _ => self.value(&value.text),
            },
            operation => self.changed(value, operation, span)?,
        };
        pieces.push(Piece::expanded(value, quoted));
        Ok(())
    }

    /// All arguments or all elements of an array, or why they are not known.
    pub(crate) fn several(&self, name: &str, is_array: bool) -> Result<Vec<Value>, Value> {
        if is_array {
            return Ok(match self.state.variable(name) {
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

    /// The pieces of all values, joined to one word or each a word.
    fn all(&self, values: Result<Vec<Value>, Value>, joins: bool, quoted: bool) -> Vec<Piece> {
        let values = match values {
            Ok(values) if values.is_empty() && !joins => return vec![Piece::Nothing],
            Ok(values) => values,
            Err(value) => vec![value],
        };
        let between = match self.state.variable("IFS") {
            Some(Variable::One(value)) => value.text.chars().next().map(String::from),
            _ => Some(" ".into()),
        };
        let mut pieces = Vec::with_capacity(2 * values.len());
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 && joins && quoted {
                let between = Value::new(between.clone().unwrap_or_default());
                pieces.push(Piece::expanded(between, quoted));
            } else if at > 0 {
                pieces.push(Piece::Break);
            }
            pieces.push(Piece::expanded(value, quoted));
        }
        pieces
    }

    fn element(&mut self, name: &str, index: &Value, span: &Span) -> Result<Option<Value>, Fault> {
        let key = match self.key(name, index, span)? {
            Ok(key) => key,
            Err(doubt) => return Ok(Some(self.undetermined(span, doubt))),
        };
        Ok(match self.state.variable(name) {
            Some(Variable::One(value)) if key == "0" => Some(value.clone()),
            Some(Variable::Many(values)) => values.get(&key).cloned(),
            _ => None,
        })
    }

    /// The name or number of an element of an array; why it is not known.
    pub(crate) fn key(
        &mut self,
        name: &str,
        index: &Value,
        at: &Span,
    ) -> Result<ValueResult<String>, Fault> {
        if let Some(doubt) = index.unknown_because() {
            return Ok(Err(Rc::clone(doubt)));
        }
        let (mut named, mut length) = (false, 0);
        if let Some(Variable::Many(values)) = self.state.variable(name) {
            (named, length) = (values.named, values.next());
        }
        if named {
            return Ok(Ok(index.text.clone()));
        }
        Ok(self.arithmetic(index, at)?.map(|at| {
            if at < 0 { at.saturating_add(length as i64).to_string() } else { at.to_string() }
        }))
    }

    /// A value made of another one. It is not known if that is not.
    pub(crate) fn mapped(&self, value: Value, span: &Span, map: impl Fn(&str) -> String) -> Value {
        match value.unknown_because() {
            Some(doubt) => self.undetermined(span, Rc::clone(doubt)),
            None => Value { text: map(&value.text), doubt: value.doubt },
        }
    }

    /// What `${NAME:-word}` and the like come to.
    fn fallen_back(
        &mut self,
        name: &str,
        value: Option<Value>,
        fallback: &Fallback,
        quoted: bool,
        span: &Span,
    ) -> Result<Vec<Piece>, Fault> {
        let Fallback { sign, or_empty, word } = fallback;
        let is_argument = name.bytes().all(|byte| byte.is_ascii_digit());
        // What it is without an argument is what the script itself proposes.
        let value = value.filter(|value| !(is_argument && value.unknown_because().is_some()));
        let doubt = value.as_ref().and_then(|value| value.unknown_because().cloned());
        if let Some(doubt) = doubt.filter(|_| *sign == '+') {
            return Ok(vec![Piece::expanded(self.undetermined(span, doubt), quoted)]);
        }
        let has_value = value.as_ref().is_some_and(|value| !or_empty || !value.text.is_empty());
        if has_value != (*sign == '+') {
            let value = value.filter(|_| *sign != '+').unwrap_or_default();
            return Ok(vec![Piece::expanded(value, quoted)]);
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
        for piece in word.iter_mut().filter(|_| !quoted) {
            if let Piece::Text { splits, is_pattern: true, .. } = piece {
                *splits = true;
            }
        }
        Ok(word)
    }
}

/// Variables that a shell sets itself.
const OF_THE_SHELL: &str = "BASHPID BASH_COMMAND BASH_LINENO BASH_VERSINFO BASH_VERSION \
    EPOCHREALTIME EPOCHSECONDS FUNCNAME HOSTNAME HOSTTYPE LINENO MACHTYPE OLDPWD OSTYPE PATH \
    PIPESTATUS PWD RANDOM SECONDS SHELLOPTS SHLVL SRANDOM";
/// How to say what the script is called with.
const CALLED: &str = "say what the script is called with, one --arg for each argument";
