//! Assignments (POSIX.1-2017, Shell Command Language, section 2.9.1; bash for arrays).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::run::{Shell, undecided};
use crate::shell::syntax::{AssignedValue, Assignment, Part, RawWord, Text};
use crate::shell::values::{Array, MOST_NAMED, Value, ValueResult, Variable};
use crate::words::command::Doubt;

/// The most elements of an array with numbers.
const MOST_NUMBERED: usize = 10_000;

/// A variable as it was before one command.
pub(crate) struct SavedVariable {
    name: String,
    value: Option<Variable>,
    is_exported: bool,
}

/// An element of an array that is given a value.
struct Element<'a> {
    /// Its name or number, or why that is not known.
    key: ValueResult<String>,
    adds: bool,
    value: Value,
    span: &'a Span,
}

impl Shell<'_> {
    /// Exports a variable for one command, and keeps how it was.
    pub(crate) fn shadow(&mut self, name: &str) -> SavedVariable {
        let value = self.state.itself(name).cloned();
        let is_exported = !self.exported.insert(name.to_string());
        SavedVariable { name: name.to_string(), value, is_exported }
    }

    /// Gives variables back what they were before a command.
    pub(crate) fn restore(&mut self, shadowed: Vec<SavedVariable>) {
        for SavedVariable { name, value, is_exported } in shadowed.into_iter().rev() {
            self.state.set_itself(&name, value);
            if !is_exported {
                self.exported.remove(&name);
            }
        }
    }

    /// Gives a variable a value; the one that was given for it if this one is not known.
    pub(crate) fn assign(&mut self, name: &str, value: Variable, span: &Span) -> Result<(), Fault> {
        self.step(span, value.length())?;
        if self.constants.contains(name) {
            let message = format!("`{name}` is readonly: a shell ends where it is set again");
            return Err(Fault::at(span, message).help("give it another name"));
        }
        if self.options.allexport {
            self.exported.insert(name.to_string());
        }
        let Variable::One(mut one) = value else {
            self.state.set_variable(name, Some(value));
            return Ok(());
        };
        if self.numbers.contains(name) {
            match self.arithmetic(&one, span)? {
                Ok(number) => one.text = number.to_string(),
                Err(doubt) => one.doubt = Some(doubt),
            }
        }
        let one = match self.call.variables.get(name) {
            Some(given) if one.unknown_because().is_some() => Value::new(given.clone()),
            _ => named(name, one),
        };
        self.state.set_variable(name, Some(Variable::One(one)));
        Ok(())
    }

    /// The value that an assignment gives its variable.
    pub(crate) fn assigned(&mut self, assignment: &Assignment) -> Result<Variable, Fault> {
        let Assignment { name, index, adds, value } = assignment;
        let before = self.state.variable(name).cloned();
        let word = match value {
            AssignedValue::Word(word) => word,
            AssignedValue::Array(words) => {
                let mut all = match before {
                    before if *adds => elements(before),
                    Some(Variable::Many(values)) if values.named => Array::named(),
                    _ => Array::default(),
                };
                for word in words {
                    self.array_word(name, word, &mut all)?;
                }
                return Ok(Variable::Many(all));
            }
        };
        let home = self.at_home(&word.parts);
        let value = self.text(home.as_ref().unwrap_or(&word.parts), &word.span)?;
        if let Some(index) = index {
            let at = self.text(index, &word.span)?;
            let key = self.key(name, &at, &word.span)?;
            let mut values = elements(before);
            let element = Element { key, adds: *adds, value, span: &word.span };
            self.set_element(&mut values, element)?;
            return Ok(Variable::Many(values));
        }
        Ok(match before {
            Some(Variable::One(before)) if *adds => Variable::One(self.sum(name, before, value)),
            _ if *adds => Variable::One(self.sum(name, Value::default(), value)),
            Some(Variable::Many(mut values)) => {
                values.set("0", value);
                Variable::Many(values)
            }
            _ => Variable::One(value),
        })
    }

    /// What `NAME+=value` comes to: a sum of numbers, or one text behind the other.
    pub(crate) fn sum(&self, name: &str, mut before: Value, mut value: Value) -> Value {
        if self.numbers.contains(name) {
            value.text = format!("+({})", value.text);
        }
        before.push(&value);
        before
    }

    /// A word of `NAME=(…)`: `[KEY]=value`, or values one after the other.
    fn array_word(&mut self, name: &str, word: &RawWord, all: &mut Array) -> Result<(), Fault> {
        let Some((key, adds, value)) = keyed(word) else {
            for value in self.fields(std::slice::from_ref(word))? {
                self.room(all, &value.span)?;
                all.push(Value::from(&value));
            }
            return Ok(());
        };
        let index = self.text(&key, &word.span)?;
        let key = if all.named {
            index.unknown_because().map_or(Ok(index.text.clone()), |why| Err(why.clone()))
        } else {
            self.key(name, &index, &word.span)?
        };
        let value = self.text(&value, &word.span)?;
        self.set_element(all, Element { key, adds, value, span: &word.span })
    }

    fn set_element(&mut self, all: &mut Array, element: Element) -> Result<(), Fault> {
        let Element { key, adds, value, span } = element;
        let key = key.map_err(|doubt| undecided(span, &doubt))?;
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

    /// Makes sure that an array may have one element more.
    fn room(&mut self, all: &Array, span: &Span) -> Result<(), Fault> {
        self.step(span, 0)?;
        let most = if all.named { MOST_NAMED } else { MOST_NUMBERED };
        if all.len() >= most {
            return Err(Fault::at(span, format!("an array here has more than {most} elements")));
        }
        Ok(())
    }
}

/// A value that is not known, with how to give it: by the name of its variable.
fn named(name: &str, value: Value) -> Value {
    match &value.doubt {
        Some(doubt) if doubt.is_unknown && !doubt.help.contains("--") => {
            let doubt = Doubt::settable(true, doubt.why.clone(), name);
            Value { text: value.text, doubt: Some(Rc::new(doubt)) }
        }
        _ => value,
    }
}

/// The elements of what a variable was before.
fn elements(before: Option<Variable>) -> Array {
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
        let ends = ["]=", "]+="].into_iter().filter_map(|end| Some((rest.find(end)?, end)));
        if let Some((at, end)) = ends.min() {
            key.push(Part::Text(rest[..at].to_string()));
            let mut value = vec![Part::Text(rest[at + end.len()..].to_string())];
            value.extend(parts.cloned());
            return Some((key, end == "]+=", value));
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
