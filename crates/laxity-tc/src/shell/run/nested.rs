//! Texts that a script has carried out: `sh -c TEXT`, `sh FILE`, `… | sh`, `eval` and `source`.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::run::simple::mentions_tc;
use crate::shell::run::{Flow, Shell, undecided};
use crate::shell::syntax::Node;
use crate::shell::syntax::parser::Parser;
use crate::shell::values::{Arguments, Input, Status, Value, Variable};
use crate::words::command::Word;

/// Shells by name.
pub(crate) const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

impl Shell<'_> {
    /// A shell of its own, which knows what is exported.
    pub(crate) fn shell(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        let mut words = &fields[1..];
        let (mut is_text, mut reads, mut ends) = (false, false, false);
        while let [option, rest @ ..] = words
            && let Some(letters) = option.text.strip_prefix(['-', '+'])
            && option.unknown_because().is_none()
        {
            words = rest;
            if letters.is_empty() || letters == "-" {
                break;
            }
            if letters.starts_with('-') {
                continue;
            }
            is_text |= letters.contains('c');
            reads |= letters.contains('s');
            ends |= letters.contains('e');
            words =
                if letters.ends_with(['o', 'O']) { words.get(1..).unwrap_or(&[]) } else { words };
        }
        let (text, own, arguments) = match words {
            [text, own, rest @ ..] if is_text => (Some(text.into()), own, rest),
            [text] if is_text => (Some(text.into()), &fields[0], &[][..]),
            [file, rest @ ..] if !reads => (self.contents(&file.into()), file, rest),
            rest => (self.reading().map(Input::rest), &fields[0], rest),
        };
        let Some(text) = text else { return self.other(fields, node) };
        if let Some(doubt) = text.unknown_because() {
            let doubt = Rc::clone(doubt);
            if mentions_tc(&text.text) {
                return Err(undecided(&node.span, &doubt));
            }
            let text = format!("`{}`: {}", plain(&fields[0].text), doubt.why);
            self.leave_out(&node.span, text);
            self.status = Status::Unknown(doubt);
            return Ok(Flow::Next);
        }
        let arguments = Arguments::new(arguments.iter().map(Value::from));
        let exported = self.exported.clone();
        let before = (self.options.errexit, self.tested);
        (self.options.errexit, self.tested) = (ends, 0);
        let flow = self.apart(|shell| {
            shell.state.keep(|name| exported.contains(name));
            shell.state.set_variable("0", Some(Variable::One(own.into())));
            shell.state.set_arguments(arguments);
            shell.evaluate(&text.text, &node.span)
        });
        (self.options.errexit, self.tested) = before;
        flow
    }

    /// A text as commands, which stand where this place is.
    pub(crate) fn evaluate(&mut self, text: &str, span: &Span) -> Result<Flow, Fault> {
        self.step(span, text.len())?;
        let whole = 0..text.len();
        let list = Parser::new(text, whole, Some(span.clone()), &mut self.parsed).all()?;
        self.deeper(span, |shell| shell.list(&list))
    }

    /// `. FILE` and `source FILE`.
    pub(crate) fn source(&mut self, rest: &[Word], node: &Node) -> Result<Flow, Fault> {
        let Some(file) = rest.first() else { return Ok(Flow::Next) };
        let is_stdin = file.text == "/dev/stdin";
        let read = if is_stdin { self.reading().map(Input::rest) } else { None };
        let is_known = |text: &Value| text.unknown_because().is_none();
        let text = read.filter(is_known).or_else(|| self.files.read(&file.text).cloned());
        let flow = if let Some(text) = text.filter(is_known) {
            self.evaluate(&text.text, &node.span)?
        } else if let Some(part) =
            self.file(&file.text).filter(|_| file.unknown_because().is_none())
        {
            self.deeper(&file.span, |shell| shell.script(part))?
        } else {
            let file = plain(&file.text);
            let text = format!("the file `{file}`, which is not looked for: give it with --source");
            self.leave_out(&node.span, text);
            Flow::Next
        };
        Ok(if flow == Flow::Return { Flow::Next } else { flow })
    }
}
