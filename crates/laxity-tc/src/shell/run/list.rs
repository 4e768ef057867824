//! Lists and pipelines (POSIX.1-2017, Shell Command Language, sections 2.9.2 and 2.9.3).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::run::{Flow, Shell, Way};
use crate::shell::syntax::{AndOr, List, Node, Pipeline};
use crate::shell::values::{Input, Status, Value};

impl Shell<'_> {
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
