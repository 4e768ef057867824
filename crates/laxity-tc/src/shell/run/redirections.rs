//! Redirections (POSIX.1-2017, Shell Command Language, section 2.7).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::run::{Flow, Shell};
use crate::shell::syntax::{Node, Redirection};
use crate::shell::values::{Input, Value};

impl Shell<'_> {
    pub(crate) fn node(&mut self, node: &Node) -> Result<Flow, Fault> {
        self.step(&node.span, 0)?;
        let (inputs, printed) = (self.inputs.len(), self.printed.len());
        let mut written = Vec::new();
        for redirect in &node.redirects {
            match &redirect.kind {
                Redirection::Out { adds, word } if redirect.fd.is_none_or(|fd| fd == 1) => {
                    let file = self.text(&word.parts, &word.span)?;
                    self.printed.push(Value::default());
                    written.push(Some((file.text, *adds)));
                }
                Redirection::Like(fd) if *fd != 1 && redirect.fd.is_none_or(|fd| fd == 1) => {
                    self.printed.push(Value::default());
                    written.push(None);
                }
                Redirection::Out { .. } | Redirection::Like(_) => {}
                kind => {
                    let input = self.input(kind, &node.span)?;
                    self.inputs.push(input);
                }
            }
        }
        let flow = self.deeper(&node.span, |shell| shell.kind(node));
        self.inputs.truncate(inputs);
        for (file, value) in written.into_iter().zip(self.printed.drain(printed..)) {
            match file {
                Some((file, true)) => self.files.append(&file, &value),
                Some((file, false)) => self.files.write(&file, value),
                None => {}
            }
        }
        flow
    }

    pub(crate) fn input(&mut self, kind: &Redirection, span: &Span) -> Result<Input, Fault> {
        Ok(match kind {
            Redirection::Here(number) => {
                let here = Rc::clone(&self.parsed.here[*number]);
                let value = self.text(&here.text, &here.span)?;
                Input { value, at: 0, span: Some(here.span.clone()) }
            }
            Redirection::HereWord(word) => {
                let mut value = self.text(&word.parts, &word.span)?;
                value.text.push('\n');
                Input { value, at: 0, span: Some(word.span.clone()) }
            }
            Redirection::In(word) => {
                let file = self.text(&word.parts, &word.span)?;
                let value = match self.contents(&file) {
                    Some(value) => value,
                    None if file.text == "/dev/null" => Value::default(),
                    None => Value::unknown(
                        self.written(span),
                        format!("give the file `{}` with --source", plain(&file.text)),
                    ),
                };
                Input { value, at: 0, span: None }
            }
            Redirection::Out { .. } | Redirection::Like(_) => Input::default(),
        })
    }

    /// What is in a file that the script wrote, or that was given beside it.
    pub(crate) fn contents(&self, path: &Value) -> Option<Value> {
        match self.files.read(&path.text) {
            Some(value) => Some(value.clone()),
            None if path.unknown_because().is_some() => None,
            None => self.file(&path.text).map(|part| Value::new(&self.text[part])),
        }
    }
}
