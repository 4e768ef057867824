//! A plan's text with other arrival curves: every byte of it stays, but for the lines of `arrival`.

use std::ops::Range;

use toml_edit::{Document, Item, Table};

use crate::error::{Fault, PlanError};
use crate::model::Plan;

/// A class's new `arrival`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArrival {
    /// The class.
    pub class: String,
    /// What its key `arrival` is to say, in TOML.
    pub value: String,
}

/// What changed in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The class.
    pub class: String,
    /// What its key `arrival` said; `None` if it had none.
    pub old: Option<String>,
    /// What it says instead.
    pub new: String,
}

/// A replacement of a part of a text.
struct Edit {
    at: Range<usize>,
    text: String,
}

/// The text of a plan in which some classes have another `arrival`, and what that changed. A class
/// without `arrival` gets a line below its other keys. Comments, order and formatting stay.
///
/// # Errors
/// If the text is no TOML, or a class or its `arrival` is written in a way that has no line of its
/// own for it: inside braces, with dotted keys, or as a table. `name` stands before the line in
/// errors.
pub fn arrivals(
    text: &str,
    name: &str,
    new: &[NewArrival],
) -> Result<(String, Vec<Change>), PlanError> {
    let failed = |fault| PlanError::new(name, text, fault);
    let document = Document::parse(text)
        .map_err(|error| failed(Fault::new(error.span(), error.message().to_string())))?;
    let classes = document.get("class");
    let (mut edits, mut changes) = (Vec::new(), Vec::new());
    for NewArrival { class, value } in new {
        let table = classes.and_then(|classes| classes.get(class));
        let edit = edit(text, class, table, value).map_err(failed)?;
        let old = text.get(edit.at.clone()).filter(|old| !old.is_empty()).map(str::to_string);
        changes.push(Change { class: class.clone(), old, new: value.clone() });
        edits.push(edit);
    }
    edits.sort_by_key(|edit| edit.at.start);
    let mut edited = String::with_capacity(text.len() + 100 * edits.len());
    let mut done = 0;
    for Edit { at, text: new } in edits {
        edited += &text[done..at.start];
        edited += &new;
        done = at.end;
    }
    edited += &text[done..];
    Ok((edited, changes))
}

fn edit(text: &str, class: &str, item: Option<&Item>, value: &str) -> Result<Edit, Fault> {
    let help = format!("write the class as `[class.{class}]` with its keys below");
    let Some(table) = item.and_then(Item::as_table).filter(|table| !table.is_dotted()) else {
        let at = item.and_then(Item::span);
        let message = format!("class `{class}` is written in one line, or with dotted keys");
        return Err(Fault::new(at, message).help(help));
    };
    match table.get("arrival") {
        Some(Item::Value(old)) if !is_dotted(old) => {
            let at = old.span().ok_or_else(|| Fault::new(table.span(), help))?;
            let indent = indentation(text, at.start);
            Ok(Edit { text: laid_out(value, indent, newline(text)), at })
        }
        Some(other) => Err(Fault::new(
            other.span().or(table.span()),
            format!("`arrival` of class `{class}` is a table of its own, or has dotted keys"),
        )
        .help("write it as `arrival = { … }`, or as a list of such tables")),
        None => {
            let header = table.span().filter(|span| !span.is_empty());
            let Some(header) = header.filter(|_| !table.is_implicit()) else {
                let message = format!("class `{class}` has no table of its own");
                return Err(Fault::new(table.span(), message).help(help));
            };
            let last = last_value(table).unwrap_or(header.end).max(header.end);
            let indent = indentation(text, last.saturating_sub(1));
            let newline = newline(text);
            let line = format!("{indent}arrival = {}", laid_out(value, indent, newline));
            let end = text[last..].find('\n').map(|at| last + at + 1);
            Ok(match end {
                Some(end) => Edit { at: end..end, text: line + newline },
                None => Edit { at: text.len()..text.len(), text: format!("{newline}{line}") },
            })
        }
    }
}

fn is_dotted(value: &toml_edit::Value) -> bool {
    value.as_inline_table().is_some_and(toml_edit::InlineTable::is_dotted)
}

/// Where the last value that stands under a table's own header ends.
fn last_value(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => Some(value.span()?.end),
        Item::Table(inner) if inner.is_dotted() => last_value(inner),
        _ => None,
    });
    ends.max()
}

/// The blanks at the beginning of the line in which a place is.
fn indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let blanks = text[line..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[line..line + blanks]
}

/// How the text ends its lines.
fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn laid_out(value: &str, indent: &str, newline: &str) -> String {
    value.replace('\n', &format!("{newline}{indent}"))
}

/// Whether two plans are the same but for the arrival curves of their classes.
pub fn differs_in_arrivals_only(a: &Plan, b: &Plan) -> bool {
    let without = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.classes.iter_mut().for_each(|class| class.arrival = None);
        plan
    };
    without(a) == without(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, classes: &[&str]) -> String {
        let new = classes
            .iter()
            .map(|class| NewArrival { class: class.to_string(), value: "[\n  1,\n  2,\n]".into() });
        arrivals(text, "plan", &new.collect::<Vec<_>>()).unwrap().0
    }

    #[test]
    fn only_the_value_of_arrival_changes() {
        let before =
            "# head\n[class.a]\n  arrival = { b = 1 }   # why\n\n  x=1\n[class.\"b c\"] # B\n";
        let after = "# head\n[class.a]\n  arrival = [\n    1,\n    2,\n  ]   # why\n\n  x=1\n[class.\"b c\"] # B\n";
        assert_eq!(rewritten(before, &["a"]), after);
        assert_eq!(rewritten(&before.replace('\n', "\r\n"), &["a"]), after.replace('\n', "\r\n"));
    }

    #[test]
    fn a_line_is_added_below_the_other_keys() {
        let list = "arrival = [\n  1,\n  2,\n]";
        let before =
            "[class.a]\nx = [ # one\n 1 ] # two\n\n# b\n[class.b] # B\n\n[class.c]\ny.z = 2";
        let after = format!(
            "[class.a]\nx = [ # one\n 1 ] # two\n{list}\n\n# b\n[class.b] # B\n{list}\n\n[class.c]\ny.z = 2\n{list}"
        );
        // The indentation is that of the line in which the last value ends.
        assert_eq!(rewritten(before, &["c", "b"]).matches("arrival").count(), 2);
        assert_eq!(
            rewritten(&before.replace("\n 1 ]", "\n1 ]"), &["a", "b", "c"]),
            after.replace("\n 1 ]", "\n1 ]")
        );
        assert_eq!(
            rewritten("[class.a]\nx = 1\n[class.a.scheduler]\nkind = 2\n", &["a"]),
            format!("[class.a]\nx = 1\n{list}\n[class.a.scheduler]\nkind = 2\n")
        );
    }

    #[test]
    fn what_has_no_line_of_its_own_is_refused() {
        for text in [
            "class.a = { x = 1 }\n",
            "class.a.x = 1\n",
            "[class]\na = { x = 1 }\n",
            "[class.a]\narrival.bucket = 1\n",
            "[class.a]\nx = 1\n[class.a.arrival]\nbucket = 1\n",
            "[[class.a.arrival]]\nbucket = 1\n",
            "[class.a.scheduler]\nkind = 1\n",
            "[class.b]\n",
        ] {
            let new = [NewArrival { class: "a".into(), value: "1".into() }];
            assert!(arrivals(text, "plan", &new).is_err(), "{text}");
        }
    }
}
