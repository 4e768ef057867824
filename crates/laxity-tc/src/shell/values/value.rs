//! What variables hold, as far as it is known.

use std::rc::Rc;

use super::array::Array;
use crate::error::plain;
use crate::words::command::{Doubt, Word};

/// A text, and why it may be another one where the script is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub text: String,
    pub doubt: Option<Rc<Doubt>>,
}

impl From<&Word> for Value {
    fn from(word: &Word) -> Value {
        Value { text: word.text.clone(), doubt: word.doubt.clone() }
    }
}

impl Value {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Value { text: text.into(), doubt: None }
    }

    /// A value that only the machine knows. It is shown as it is written.
    pub(crate) fn unknown(written: &str, help: impl Into<String>) -> Self {
        Value { text: plain(written), doubt: Some(Rc::new(Doubt::unknown(written, help))) }
    }

    /// The empty value of a variable that the script does not set.
    pub(crate) fn unset(name: &str) -> Self {
        let why = format!("the script does not set `${name}`");
        Value { text: String::new(), doubt: Some(Rc::new(Doubt::settable(false, why, name))) }
    }

    /// Why the value is not known.
    pub(crate) fn unknown_because(&self) -> Option<&Rc<Doubt>> {
        self.doubt.as_ref().filter(|doubt| doubt.is_unknown)
    }

    pub(crate) fn push(&mut self, other: &Value) {
        self.text.push_str(&other.text);
        self.doubts(other.doubt.as_ref());
    }

    /// Takes over a doubt, unless there is a stronger one.
    pub(crate) fn doubts(&mut self, other: Option<&Rc<Doubt>>) {
        let unknown = |doubt: Option<&Rc<Doubt>>| doubt.is_some_and(|doubt| doubt.is_unknown);
        if self.doubt.is_none() || unknown(other) && !unknown(self.doubt.as_ref()) {
            self.doubt = other.cloned().or(self.doubt.take());
        }
    }
}

/// What is computed of values, or why it is not known.
pub(crate) type ValueResult<T> = Result<T, Rc<Doubt>>;

/// How a command ended: its number, or why it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Known(i32),
    Unknown(Rc<Doubt>),
}

impl Status {
    pub(crate) const SUCCESS: Status = Status::Known(0);
    pub(crate) const FAILURE: Status = Status::Known(1);

    /// Success where something holds, or else failure.
    pub(crate) fn from_truth(holds: bool) -> Status {
        if holds { Status::SUCCESS } else { Status::FAILURE }
    }

    /// The status of arithmetic: failure where it comes to zero.
    pub(crate) fn from_number(number: ValueResult<i64>) -> Status {
        number.map_or_else(Status::Unknown, |number| Status::from_truth(number != 0))
    }

    /// A status that only the machine knows.
    pub(crate) fn unknown(written: &str, help: &str) -> Status {
        Status::Unknown(Rc::new(Doubt::unknown(written, help)))
    }

    /// The other way round.
    pub(crate) fn negated(self) -> Status {
        match self {
            Status::Known(status) => Status::from_truth(status != 0),
            unknown @ Status::Unknown(_) => unknown,
        }
    }
}

impl Default for Status {
    fn default() -> Status {
        Status::SUCCESS
    }
}

/// A variable: one value, those of an array, or the name of another variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    One(Value),
    Many(Array),
    /// As after `declare -n`.
    Refers(String),
}

impl Variable {
    /// How many bytes it comes to.
    pub(crate) fn length(&self) -> usize {
        match self {
            Variable::One(value) => value.text.len(),
            Variable::Many(values) => values.values().map(|value| value.text.len() + 1).sum(),
            Variable::Refers(name) => name.len(),
        }
    }
}
