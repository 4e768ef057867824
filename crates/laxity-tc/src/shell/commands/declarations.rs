//! `local`, `export`, `declare` and the like (POSIX.1-2017, Shell Command Language, 2.14; bash).

use laxity_plan::error::Fault;

use crate::shell::run::{Shell, not_followed};
use crate::shell::syntax::{Node, name_length};
use crate::shell::values::{Array, Value, Variable};
use crate::words::command::Word;

impl Shell<'_> {
    /// `local`, `export` and the like: their assignments.
    pub(crate) fn declare(
        &mut self,
        command: &str,
        rest: &[Word],
        node: &Node,
    ) -> Result<(), Fault> {
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
            if has('A') && !is_array {
                self.state.set_variable(name, Some(Variable::Many(Array::named())));
            } else if has('a') && !is_array {
                self.state.set_variable(name, Some(Variable::Many(Array::default())));
            }
            let Some((adds, value)) = value else {
                if constant {
                    self.constants.insert(name.to_string());
                }
                continue;
            };
            if has('n') && command != "export" {
                self.state.set_itself(name, Some(Variable::Refers(value.to_string())));
                continue;
            }
            let value = Value { text: value.to_string(), doubt: word.doubt.clone() };
            let value = if adds { self.sum(name, self.value(name), value) } else { value };
            self.assign(name, Variable::One(value), &word.span)?;
            if constant {
                self.constants.insert(name.to_string());
            }
        }
        self.step(&node.span, 0)
    }
}
