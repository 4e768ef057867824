//! Shells that a script starts: `sh -c TEXT`, `sh FILE`, `… | sh`.

use std::rc::Rc;

use laxity_plan::error::Fault;

use super::run::{Flow, Shell, undecided};
use super::simple::Fields;
use super::state::Arguments;
use super::syntax::Node;
use super::value::{Status, Value, Variable};
use crate::error::plain;

/// Shells by name.
pub const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

impl Shell<'_> {
    /// A shell of its own, which knows what is exported.
    pub fn shell(&mut self, fields: &Fields, node: &Node) -> Result<Flow, Fault> {
        let mut words = &fields[1..];
        let (mut is_text, mut reads, mut ends) = (false, false, false);
        while let [(option, _), rest @ ..] = words
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
        let (text, arguments) = match words {
            [(text, _), rest @ ..] if is_text => (Some(text.clone()), rest.get(1..).unwrap_or(&[])),
            [(file, _), rest @ ..] if !reads => (self.contents(file), rest),
            rest => (self.reading().map(|input| input.rest()), rest),
        };
        let Some(text) = text else { return self.other(fields, node) };
        if let Some(doubt) = text.unknown_because() {
            let doubt = Rc::clone(doubt);
            if mentions_tc(&text.text) {
                return Err(undecided(&node.span, &doubt));
            }
            let line = self.line(node.span.start);
            let said = format!("`{}`: {}", plain(&fields[0].0.text), doubt.why);
            self.skipped.entry(line).or_insert(said);
            self.status = Status::Unknown(doubt);
            return Ok(Flow::Next);
        }
        let own = match (is_text, words) {
            (true, [_, (own, _), ..]) => own.clone(),
            (false, [(file, _), ..]) if !reads => file.clone(),
            _ => fields[0].0.clone(),
        };
        let known: Vec<Value> = arguments.iter().map(|(word, _)| word.clone()).collect();
        let exported = self.exported.clone();
        let before = (self.ends_on_failure, self.tested);
        (self.ends_on_failure, self.tested) = (ends, 0);
        let flow = self.apart(|shell| {
            shell.state.keep(|name| exported.contains(name));
            shell.state.set_variable("0", Some(Variable::One(own)));
            shell.state.set_arguments(Arguments { known: Some(Rc::new(known)), shifted: 0 });
            shell.evaluate(&text.text, &node.span)
        });
        (self.ends_on_failure, self.tested) = before;
        flow
    }
}

/// Whether a text has a command of `tc` that sets something up, as far as that can be seen.
pub fn mentions_tc(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || ";&|()'\"`".contains(c));
    let is_tc = |word: &str| word == "tc" || word.ends_with("/tc");
    let follows = ["qdisc", "class", "filter", "-b", "-batch", "-force"];
    while let Some(word) = words.next() {
        let next = words.clone().find(|word| !word.is_empty());
        if is_tc(word) && next.is_some_and(|next| follows.contains(&next)) {
            return true;
        }
    }
    false
}
