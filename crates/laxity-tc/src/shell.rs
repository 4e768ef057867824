//! A shell script or a `tc -batch` file as the commands of `tc` that it comes to.
//!
//! The script is interpreted, and nothing is run on the machine. Variables, arithmetic, loops,
//! functions and what can be computed from them are followed. What other programs print, and which
//! files there are, is not known. A value that is not known is a fault only where a set-up depends
//! on it.

mod commands;
mod expansion;
mod run;
mod syntax;
mod values;

use std::collections::BTreeMap;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::notes::Notes;
use crate::words::command::Command;

/// The commands of `tc` that a script comes to, and what is to be said about the others. The script
/// is the part of the text up to `end`.
pub(crate) fn commands(
    text: &str,
    end: usize,
    name: &str,
    call: Call,
    notes: &mut Notes,
) -> Result<Vec<Command>, Fault> {
    let mut shell = run::Shell::new(text, name, call);
    let done = shell.whole(end);
    shell.report(notes);
    let flow = done?;
    if shell.asks.get() && !shell.commands.iter().any(Command::sets_up) {
        let message = "without arguments the script sets nothing up";
        return Err(Fault::new(None, message)
            .help("say what it is called with, one --arg for each argument, such as --arg start"));
    }
    if let (run::Flow::Exit, Some((span, doubt))) = (flow, &shell.unset)
        && !shell.commands.iter().any(Command::sets_up)
    {
        let message = format!("the script ends after this test and sets nothing up: {}", doubt.why);
        return Err(Fault::at(span, message).help(doubt.help.clone()));
    }
    Ok(shell.commands)
}

/// What a script without arguments prints.
#[cfg(test)]
pub(crate) fn printed(script: &str) -> Result<String, Fault> {
    let call = Call { arguments: Some(Vec::new()), ..Call::default() };
    let mut shell = run::Shell::new(script, "sh", call);
    shell.printed.push(values::Value::default());
    shell.whole(script.len())?;
    Ok(shell.printed.pop().unwrap_or_default().text)
}

/// What a script is called with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// Its arguments; `None` if they are not given.
    pub arguments: Option<Vec<String>>,
    /// The environment. Its values also stand in for those that the script gives and that are not
    /// known.
    pub variables: BTreeMap<String, String>,
    /// Files that the script may read with `.` or `source`: name, and place in the text.
    pub files: Vec<(String, Span)>,
}
