//! What a script knows while it is carried out: variables, functions, arguments, what is read and
//! what is printed; and how to take all of it back.

use std::collections::HashMap;
use std::rc::Rc;

use super::value::{Value, Variable};
use crate::shell::syntax::Node;

/// All that commands change, and what it was before as long as someone may want it back.
#[derive(Debug, Default)]
pub(crate) struct State {
    variables: HashMap<String, Variable>,
    functions: HashMap<String, Rc<Node>>,
    arguments: Arguments,
    changes: Vec<Change>,
    marks: usize,
}

/// `$1` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// `None` if it is not said what the script is called with.
    pub known: Option<Rc<Vec<Value>>>,
    /// How many were shifted away before those that are known or asked for.
    pub shifted: usize,
}

impl Arguments {
    /// Arguments that are known.
    pub(crate) fn new(values: impl IntoIterator<Item = Value>) -> Self {
        Arguments { known: Some(Rc::new(values.into_iter().collect())), shifted: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Variable(String),
    Function(String),
    Arguments,
}

#[derive(Debug)]
enum Change {
    Variable(String, Option<Variable>),
    Function(String, Option<Rc<Node>>),
    Arguments(Arguments),
}

/// A point in time to which things can be taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

impl State {
    /// A variable, or the one that it refers to.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(&self.meant(name))
    }

    /// Gives a variable, or the one that it refers to, a value.
    pub(crate) fn set_variable(&mut self, name: &str, value: Option<Variable>) -> Option<Variable> {
        let name = self.meant(name);
        self.set_itself(&name, value)
    }

    /// The name of the variable that is meant by one that may refer to it.
    pub(crate) fn meant(&self, name: &str) -> String {
        let mut name = name;
        for _ in 0..8 {
            let Some(Variable::Refers(other)) = self.variables.get(name) else { break };
            name = other;
        }
        name.to_string()
    }

    /// The variable of this name, whether it refers to another one or not.
    pub(crate) fn itself(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    pub(crate) fn set_itself(&mut self, name: &str, value: Option<Variable>) -> Option<Variable> {
        let before = put(&mut self.variables, name, value);
        if self.marks > 0 {
            self.changes.push(Change::Variable(name.to_string(), before.clone()));
        }
        before
    }

    /// Forgets all variables and functions but some, as a shell that is started does.
    pub(crate) fn keep(&mut self, kept: impl Fn(&str) -> bool) {
        let variables: Vec<String> = self.variables.keys().cloned().collect();
        for name in variables.iter().filter(|name| !kept(name)) {
            self.set_itself(name, None);
        }
        let functions: Vec<String> = self.functions.keys().cloned().collect();
        for name in functions.iter().filter(|name| !kept(&format!("{name}()"))) {
            self.set_function(name, None);
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Node>> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn set_function(&mut self, name: &str, body: Option<Rc<Node>>) {
        let before = put(&mut self.functions, name, body);
        if self.marks > 0 {
            self.changes.push(Change::Function(name.to_string(), before));
        }
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub(crate) fn set_arguments(&mut self, arguments: Arguments) -> Arguments {
        let before = std::mem::replace(&mut self.arguments, arguments);
        if self.marks > 0 {
            self.changes.push(Change::Arguments(before.clone()));
        }
        before
    }

    /// From here on all can be taken back.
    pub(crate) fn mark(&mut self) -> Mark {
        self.marks += 1;
        Mark(self.changes.len())
    }

    /// Takes all back to the mark, and tells what was changed to what.
    pub(crate) fn take_back(&mut self, mark: Mark) -> HashMap<Name, Option<Variable>> {
        let mut changed = HashMap::new();
        while self.changes.len() > mark.0
            && let Some(change) = self.changes.pop()
        {
            let (name, now) = match change {
                Change::Variable(name, before) => {
                    let now = put(&mut self.variables, &name, before);
                    (Name::Variable(name), now)
                }
                Change::Function(name, before) => {
                    put(&mut self.functions, &name, before);
                    (Name::Function(name), None)
                }
                Change::Arguments(before) => {
                    self.arguments = before;
                    (Name::Arguments, None)
                }
            };
            changed.entry(name).or_insert(now);
        }
        self.marks -= 1;
        if self.marks == 0 {
            self.changes.clear();
        }
        changed
    }
}

/// Puts a value under a name, or takes it away; the value before.
fn put<T>(all: &mut HashMap<String, T>, name: &str, value: Option<T>) -> Option<T> {
    match value {
        Some(value) => all.insert(name.to_string(), value),
        None => all.remove(name),
    }
}
