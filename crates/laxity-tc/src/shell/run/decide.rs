//! Ways that depend on what is not known: all are tried, and what they have in common holds.

use std::collections::HashMap;
use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::run::{Flow, Shell, Way, undecided};
use crate::shell::values::{Arguments, Files, Name, Status, Value, Variable};
use crate::words::command::{Command, Doubt};

/// Where a way leads.
struct Outcome {
    flow: Flow,
    status: Status,
    changed: HashMap<Name, Option<Variable>>,
    commands: Vec<Command>,
    printed: Option<Value>,
    read: Vec<usize>,
    files: Files,
}

/// The words of those commands that count.
fn texts(commands: &[Command], counts: fn(&Command) -> bool) -> Vec<Vec<&str>> {
    let counting = commands.iter().filter(|command| counts(command));
    counting.map(|command| command.words.iter().map(|word| &word.text[..]).collect()).collect()
}

impl Shell<'_> {
    /// Goes all ways. One that ends the script or the function without setting anything up is not
    /// taken if another one goes on: it is what a script does if it cannot work. What the others
    /// set up has to be the same; variables that they leave different are not known.
    pub(crate) fn either(&mut self, doubt: &Rc<Doubt>, ways: &[Way]) -> Result<Flow, Fault> {
        let mut outcomes = Vec::with_capacity(ways.len());
        for way in ways {
            outcomes.push(self.attempt(way)?);
        }
        let at = self.place(doubt);
        let goes_on = outcomes.iter().any(|outcome| outcome.flow == Flow::Next);
        let all = outcomes.len();
        outcomes.retain(|outcome| {
            !goes_on || outcome.flow == Flow::Next || outcome.commands.iter().any(Command::sets_up)
        });
        if outcomes.len() < all {
            let text = format!("{}: taken to be such that the script goes on", doubt.why);
            self.readings.entry(at).or_insert(text);
        }
        let Some((first, others)) = outcomes.split_first() else { return Ok(Flow::Next) };
        let same = |counts, one: &Outcome, other: &Outcome| {
            texts(&one.commands, counts) == texts(&other.commands, counts)
        };
        let differs =
            |other: &Outcome| !same(Command::sets_up, other, first) || other.flow != first.flow;
        if let Some(other) = others.iter().find(|other| differs(other)) {
            let mut commands = first.commands.iter().chain(&other.commands);
            let command = commands.find(|command| command.sets_up());
            let span = command.map(Command::span).unwrap_or_default();
            return Err(undecided(&span, doubt));
        }
        let is_sure = outcomes.windows(2).all(|pair| pair[0].status == pair[1].status);
        let status = if is_sure { first.status.clone() } else { Status::Unknown(Rc::clone(doubt)) };
        let flow = first.flow;
        self.merge(&outcomes, doubt);
        let agree = outcomes.windows(2).all(|pair| same(Command::is_beside, &pair[0], &pair[1]));
        for (at, outcome) in outcomes.into_iter().enumerate() {
            for command in outcome.commands {
                if command.is_beside() && !agree {
                    self.skip(&command);
                } else if at == 0 {
                    self.commands.push(command);
                }
            }
        }
        self.status = status;
        Ok(flow)
    }

    /// The line of what a doubt is about, as near as it is known.
    fn place(&self, doubt: &Doubt) -> usize {
        let written = doubt.why.trim_start_matches('`').split('`').next().unwrap_or_default();
        self.text.find(written).map_or(0, |at| self.line(at))
    }

    fn attempt(&mut self, way: &Way) -> Result<Outcome, Fault> {
        let mark = self.state.mark();
        let commands = self.commands.len();
        let status = self.status.clone();
        let files = self.files.clone();
        let printed = self.printed.last().cloned();
        let inputs: Vec<usize> = self.inputs.iter().map(|input| input.at).collect();
        let flow = match way {
            Way::List(list) => self.list(list),
            Way::Pipeline(pipeline) => self.pipeline(pipeline),
            Way::Conditions(ways, otherwise) => self.conditions(ways, otherwise),
            Way::Status(status) => {
                self.status = status.clone();
                Ok(Flow::Next)
            }
        };
        let changed = self.state.take_back(mark);
        let flow = flow?;
        let after = self.printed.last().cloned();
        if let (Some(last), Some(before)) = (self.printed.last_mut(), printed) {
            *last = before;
        }
        let read = self.inputs.iter().map(|input| input.at).collect();
        for (input, at) in self.inputs.iter_mut().zip(inputs) {
            input.at = at;
        }
        Ok(Outcome {
            flow,
            status: std::mem::replace(&mut self.status, status),
            changed,
            commands: self.commands.split_off(commands),
            printed: after,
            read,
            files: std::mem::replace(&mut self.files, files),
        })
    }

    /// What all ways leave the same is so; other variables are not known.
    fn merge(&mut self, outcomes: &[Outcome], doubt: &Rc<Doubt>) {
        let Some(first) = outcomes.first() else { return };
        let names = outcomes.iter().flat_map(|outcome| outcome.changed.keys());
        let mut names: Vec<Name> = names.cloned().collect();
        names.sort_by_cached_key(|name| format!("{name:?}"));
        names.dedup();
        for name in names {
            let name = match name {
                Name::Variable(name) => name,
                Name::Arguments => {
                    let shifted = self.state.arguments().shifted;
                    self.state.set_arguments(Arguments { known: None, shifted });
                    continue;
                }
                Name::Function(_) => continue,
            };
            let before = self.state.itself(&name).cloned();
            let key = Name::Variable(name.clone());
            let after =
                |outcome: &Outcome| outcome.changed.get(&key).cloned().unwrap_or(before.clone());
            let value = after(first);
            let same = outcomes.iter().all(|outcome| after(outcome) == value);
            let value = match self.call.variables.get(&name) {
                _ if same => value,
                Some(given) => Some(Variable::One(Value::new(given.clone()))),
                None => {
                    let mut own = Doubt::settable(true, doubt.why.clone(), &name);
                    if doubt.help.contains("--arg") {
                        own.help.clone_from(&doubt.help);
                    }
                    let text = format!("${name}");
                    Some(Variable::One(Value { text, doubt: Some(Rc::new(own)) }))
                }
            };
            self.state.set_itself(&name, value);
        }
        let same = outcomes.iter().all(|outcome| outcome.printed == first.printed);
        if let (Some(last), Some(after)) = (self.printed.last_mut(), &first.printed) {
            *last = after.clone();
            if !same {
                last.doubts(Some(doubt));
            }
        }
        let different = outcomes.iter().map(|outcome| &outcome.files);
        self.files = Files::merged(different, doubt);
        for (input, at) in self.inputs.iter_mut().zip(&first.read) {
            input.at = *at;
        }
    }
}
