//! Lists, pipelines, conditions and loops (POSIX.1-2017, Shell Command Language, sections 2.9.2 to
//! 2.9.4).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::expansion::pattern::Pattern;
use crate::shell::run::{Flow, Shell, Way, undecided};
use crate::shell::syntax::{AndOr, Branch, CaseEnd, List, Node, Pipeline, RawWord, Text};
use crate::shell::values::{Input, Status, Value, Variable};
use crate::words::command::Command;

impl Shell<'_> {
    /// The first condition that holds decides; if none does, the last list is carried out.
    pub(crate) fn conditions(&mut self, ways: &[(List, List)], last: &List) -> Result<Flow, Fault> {
        let Some(((condition, body), rest)) = ways.split_first() else {
            self.status = Status::SUCCESS;
            return self.list(last);
        };
        let flow = self.condition(condition)?;
        if flow != Flow::Next {
            return Ok(flow);
        }
        match &self.status {
            Status::Known(0) => self.list(body),
            Status::Known(_) => self.conditions(rest, last),
            Status::Unknown(doubt) => {
                let doubt = Rc::clone(doubt);
                self.either(&doubt, &[Way::List(body), Way::Conditions(rest, last)])
            }
        }
    }

    pub(crate) fn case(&mut self, word: &RawWord, ways: &[Branch]) -> Result<Flow, Fault> {
        let value = self.text(&word.parts, &word.span)?;
        self.tests([value.doubt.as_ref()], &word.span);
        self.status = Status::SUCCESS;
        if let Some(doubt) = value.unknown_because().cloned() {
            if ways.iter().any(|way| way.then != CaseEnd::Ends) {
                return Err(undecided(&word.span, &doubt));
            }
            let is_all =
                |way: &Branch| way.patterns.iter().any(|pattern| pattern.plain() == Some("*"));
            let mut all: Vec<Way> = ways.iter().map(|way| Way::List(&way.body)).collect();
            if !ways.iter().any(is_all) {
                all.push(Way::Status(Status::SUCCESS));
            }
            return self.either(&doubt, &all);
        }
        let chars: Vec<char> = value.text.chars().collect();
        let mut falls = false;
        for way in ways {
            if !falls && !self.matches_any(&way.patterns, &chars)? {
                continue;
            }
            let flow = self.list(&way.body)?;
            if flow != Flow::Next || way.then == CaseEnd::Ends {
                return Ok(flow);
            }
            falls = way.then == CaseEnd::NextBody;
        }
        Ok(Flow::Next)
    }

    fn matches_any(&mut self, patterns: &[RawWord], chars: &[char]) -> Result<bool, Fault> {
        for raw in patterns {
            let pattern = self.pattern(&raw.parts, &raw.span)?;
            let matcher = Pattern::new(&pattern.text);
            self.work(&raw.span, matcher.work(chars.len()))?;
            if matcher.matches(chars) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn for_each(
        &mut self,
        name: &str,
        words: Option<&[RawWord]>,
        body: &List,
        span: &Span,
    ) -> Result<Flow, Fault> {
        let values: Vec<Value> = match words {
            Some(words) => self.fields(words)?.iter().map(Value::from).collect(),
            None => match &self.state.arguments().known {
                Some(known) => known.to_vec(),
                None => vec![Value::unknown("$@", "give its arguments, each with --arg")],
            },
        };
        self.status = Status::SUCCESS;
        for value in values {
            self.step(span, 0)?;
            let doubt = value.unknown_because().cloned();
            let before = self.commands.len();
            self.assign(name, Variable::One(value), span)?;
            let flow = self.list(body)?;
            // How many turns there are is not known.
            if let Some(doubt) = doubt
                && self.value(name).unknown_because().is_some()
                && self.commands[before..].iter().any(Command::sets_up)
            {
                return Err(undecided(span, &doubt));
            }
            if let Some(flow) = after_turn(flow) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    pub(crate) fn counted(
        &mut self,
        [first, condition, next]: &[Text; 3],
        body: &List,
        span: &Span,
    ) -> Result<Flow, Fault> {
        let _ = self.number(first, span)?;
        self.status = Status::SUCCESS;
        loop {
            self.step(span, 0)?;
            let holds = self.text(condition, span)?;
            let always = holds.text.trim().is_empty();
            match self.arithmetic(&holds, span)? {
                Ok(0) if !always => return Ok(Flow::Next),
                Err(doubt) => return Err(undecided(span, &doubt)),
                Ok(_) => {}
            }
            let flow = self.list(body)?;
            if let Some(flow) = after_turn(flow) {
                return Ok(flow);
            }
            let _ = self.number(next, span)?;
        }
    }

    pub(crate) fn while_holds(
        &mut self,
        until: bool,
        condition: &List,
        body: &List,
        span: &Span,
    ) -> Result<Flow, Fault> {
        let mut last = Status::SUCCESS;
        loop {
            self.step(span, 0)?;
            let flow = self.condition(condition)?;
            if flow != Flow::Next {
                return Ok(after_turn(flow).unwrap_or(Flow::Next));
            }
            match &self.status {
                Status::Known(status) if (*status == 0) == until => {
                    self.status = last;
                    return Ok(Flow::Next);
                }
                Status::Known(_) => {}
                Status::Unknown(doubt) => {
                    // Twice, so that what one turn leaves unknown is so for the next one.
                    let doubt = Rc::clone(doubt);
                    for _ in 0..2 {
                        let ways = [Way::List(body), Way::Status(last.clone())];
                        let flow = self.either(&doubt, &ways)?;
                        if flow != Flow::Next {
                            return Ok(after_turn(flow).unwrap_or(Flow::Next));
                        }
                    }
                    return Ok(Flow::Next);
                }
            }
            let flow = self.list(body)?;
            if let Some(flow) = after_turn(flow) {
                return Ok(flow);
            }
            last = self.status.clone();
        }
    }

    /// Carries out commands one after the other, up to one that ends them.
    pub(crate) fn list(&mut self, list: &List) -> Result<Flow, Fault> {
        for and_or in list {
            let flow = self.and_or(and_or)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Carries out a list for its status alone.
    pub(crate) fn condition(&mut self, list: &List) -> Result<Flow, Fault> {
        self.tested += 1;
        let flow = self.list(list);
        self.tested -= 1;
        flow
    }

    fn and_or(&mut self, and_or: &AndOr) -> Result<Flow, Fault> {
        let last = and_or.rest.len();
        let mut flow = self.part_of_and_or(&and_or.first, last == 0)?;
        for (at, (and, pipeline)) in and_or.rest.iter().enumerate() {
            if flow != Flow::Next {
                break;
            }
            flow = match &self.status {
                Status::Known(status) if (*status == 0) == *and => {
                    self.part_of_and_or(pipeline, at + 1 == last)?
                }
                Status::Known(_) => flow,
                Status::Unknown(doubt) => {
                    let (doubt, skipped) = (Rc::clone(doubt), Status::from_truth(!*and));
                    self.either(&doubt, &[Way::Pipeline(pipeline), Way::Status(skipped)])?
                }
            };
        }
        Ok(flow)
    }

    fn part_of_and_or(&mut self, pipeline: &Pipeline, is_last: bool) -> Result<Flow, Fault> {
        if !is_last {
            self.tested += 1;
        }
        let flow = self.pipeline(pipeline);
        if !is_last {
            self.tested -= 1;
        }
        let flow = flow?;
        let failed = matches!(self.status, Status::Known(status) if status != 0);
        let ends = self.options.errexit && self.tested == 0 && failed && is_last;
        Ok(if flow == Flow::Next && ends && !pipeline.negated { Flow::Exit } else { flow })
    }

    pub(crate) fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Flow, Fault> {
        self.tested += usize::from(pipeline.negated);
        let flow = match &pipeline.commands[..] {
            [command] => self.node(command),
            commands => self.connected(commands),
        };
        self.tested -= usize::from(pipeline.negated);
        if pipeline.negated {
            self.status = std::mem::take(&mut self.status).negated();
        }
        flow
    }

    /// Each command reads what the one before it prints, and changes nothing for those after it.
    fn connected(&mut self, commands: &[Node]) -> Result<Flow, Fault> {
        let (mut input, mut failed) = (None, None);
        for (at, command) in commands.iter().enumerate() {
            let is_last = at + 1 == commands.len();
            let reads = input.is_some();
            self.inputs.extend(input.take());
            if !is_last {
                self.printed.push(Value::default());
            }
            let done = self.apart(|shell| shell.node(command));
            if reads {
                self.inputs.pop();
            }
            if !is_last {
                let value = self.printed.pop().unwrap_or_default();
                input = Some(Input { value, at: 0, span: Some(command.span.clone()) });
            }
            done?;
            if self.options.pipefail && self.status != Status::SUCCESS {
                failed = Some(self.status.clone());
            }
        }
        self.status = failed.unwrap_or(std::mem::take(&mut self.status));
        Ok(Flow::Next)
    }

    /// Does something that changes no variables for what comes after it.
    pub(crate) fn apart(
        &mut self,
        done: impl FnOnce(&mut Self) -> Result<Flow, Fault>,
    ) -> Result<Flow, Fault> {
        let mark = self.state.mark();
        let locals = std::mem::take(&mut self.locals);
        // The next step fails if that is too much.
        self.usage.expand(16 * self.exported.len());
        let (exported, at_exit) = (self.exported.clone(), self.at_exit.take());
        let flow = done(self).and_then(|flow| self.end().map(|()| flow));
        (self.exported, self.at_exit) = (exported, at_exit);
        self.locals = locals;
        self.state.take_back(mark);
        flow.map(|_| Flow::Next)
    }
}

/// What a loop does after one of its turns: `None` if the next one follows.
fn after_turn(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Next | Flow::Continue(0 | 1) => None,
        Flow::Break(0 | 1) => Some(Flow::Next),
        Flow::Break(loops) => Some(Flow::Break(loops - 1)),
        Flow::Continue(loops) => Some(Flow::Continue(loops - 1)),
        flow => Some(flow),
    }
}
