//! What the TOML reader says, in the words of a plan.

use toml::de::Error;

use super::ModelKind;
use crate::error::{Fault, quoted_list, shown};
use crate::model::{queue, scheduler};

/// An error of the text itself.
pub(crate) fn syntax(error: &Error, text: &str) -> Fault {
    let source = error.span().and_then(|span| text.get(span)).unwrap_or_default();
    match error.message() {
        "duplicate key" => {
            let message = format!("`{}` is written twice", shown(source));
            Fault::new(error.span(), message)
                .help("every key, and every name of a class, stands once")
        }
        message => Fault::new(error.span(), format!("this is not TOML: {message}")),
    }
}

/// An error of a key or value.
pub(crate) fn content(error: &Error, text: &str) -> Fault {
    let message = error.message();
    let fault = |message: String| Fault::new(error.span(), message);
    let is_date = |what: &&str| message.starts_with(&format!("unknown {what} `$__toml"));
    if ["variant", "field"].iter().any(is_date) {
        return fault("a date is not accepted here".into());
    }
    if let Some((name, known)) = unknown(message, "field") {
        return fault(format!("unknown key `{}`", shown(name))).accepted(name, known);
    }
    if let Some((name, known)) = unknown(message, "variant") {
        return fault(format!("unknown word `{}`", shown(name))).accepted(name, known);
    }
    if let Some(key) = message.strip_prefix("missing field ").map(|key| key.trim_matches('`')) {
        let whole = error.span().is_none_or(|span| span == (0..text.len()));
        let span = if whole { Some(0..0) } else { error.span() };
        return Fault::new(span, format!("`{key}` is missing")).help(example(key));
    }
    if let Some(rest) = message.strip_prefix("invalid type: ")
        && let Some((found, expected)) = rest.rsplit_once(", expected ")
    {
        let source = error.span().and_then(|span| text.get(span)).unwrap_or_default();
        let found = match found {
            "map" if source.starts_with(|first: char| first.is_ascii_digit()) => "a date".into(),
            "map" => "a table".into(),
            "sequence" => "an array".into(),
            found => shown(found.trim_end_matches(" as i128").trim_end_matches(" as u128")),
        };
        let fault = fault(format!("expected {expected}, found {found}"));
        return if source.starts_with("[[") {
            fault.help("this table is written with one pair of brackets")
        } else {
            fault
        };
    }
    fault(match message {
        "integer number overflowed" | "floating-point number overflowed" => {
            "this number is too large".into()
        }
        message => message.into(),
    })
}

/// Takes ``unknown field `x`, expected one of `a`, `b` `` apart.
fn unknown<'a>(
    message: &'a str,
    what: &str,
) -> Option<(&'a str, impl Iterator<Item = &'a str> + Clone)> {
    let rest = message.strip_prefix("unknown ")?.strip_prefix(what)?.strip_prefix(" `")?;
    let (name, known) = rest.rsplit_once("`, expected ")?;
    Some((name, known.split('`').skip(1).step_by(2)))
}

/// What to write for a key that must be there.
fn example(key: &str) -> String {
    let example = match key {
        "kind" => return kinds(),
        "version" => "a plan begins with `version = 1`",
        "link" => "write a table `[link]` with a `rate`",
        "scheduler" => "write a table `[scheduler]` with a `kind` such as `kind = \"edf\"`",
        "rate" => "write a rate such as `rate = \"10mbit\"`",
        "bucket" => "write a size such as `bucket = \"300b\"`",
        "limit" => "write packets such as `limit = 100` or bytes such as `limit = \"64kB\"`",
        "model" => {
            let models = quoted_list(ModelKind::ALL.iter().map(|kind| kind.word()));
            return format!("write `model = …` with one of {models}");
        }
        _ => "this key must be written",
    };
    example.to_string()
}

/// The words of schedulers and of queues.
fn kinds() -> String {
    let schedulers = quoted_list(scheduler::Kind::ALL.iter().map(|kind| kind.word()));
    let queues = quoted_list(queue::Kind::ALL.iter().map(|kind| kind.word()));
    format!("a scheduler is one of {schedulers}; a queue is one of {queues}")
}
