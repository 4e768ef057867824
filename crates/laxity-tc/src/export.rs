//! A plan in Linux, written down for the programs that set it up.

mod contract;
mod json;
mod networkd;

use std::collections::HashSet;
use std::fmt::Write as _;

use laxity_plan::Plan;

use crate::error::{on_one_line, plain};
use crate::linux::{Carried, Refusal};
use crate::tree::text;

pub use contract::contracts;
pub(crate) use contract::{MARK, OF_CLASS, OF_LINK};

/// What a set-up is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A shell script of `tc` commands, with what each class is promised.
    #[default]
    Script,
    /// Commands for `tc -batch`, with the same comments.
    Batch,
    /// What `tc -j qdisc show`, `tc -j class show` and `tc -j filter show` print, a line each.
    Json,
    /// A file of systemd.network(5).
    Networkd,
    /// A file of netplan(5), which knows no discipline.
    Netplan,
}

/// What is promised, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// The verdict.
    pub verdict: String,
    /// What each class is promised, in the order of the plan.
    pub classes: Vec<Option<String>>,
}

/// The longest name of an interface (IFNAMSIZ, with the byte that ends it).
const LONGEST_NAME: usize = 15;

/// Whether a text is the name of an interface that needs no quotes in any shell.
pub fn is_device(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | ':');
    (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !matches!(name, "." | "..")
}

/// Writes what Linux is given for `plan`, which is `carried` out so, on an interface.
///
/// # Errors
/// If the format cannot say it.
pub fn export(
    plan: &Plan,
    carried: &Carried,
    device: &str,
    format: Format,
    promises: &Promises,
) -> Result<String, Refusal> {
    if !is_device(device) {
        return Err(Refusal::new(
            format!("`{}` as the name of an interface", plain(device)),
            "names of interfaces are letters, digits, `-`, `_`, `.`, `@` and `:`, at most 15 of them",
            "give --dev the name that `ip link` shows",
        ));
    }
    match format {
        Format::Script => Ok(script(plan, carried, device, promises)),
        Format::Batch => Ok(batch(plan, carried, device, promises)),
        Format::Json => Ok(json::shown(&carried.tree, device)),
        Format::Networkd => networkd::file(&carried.tree, device),
        Format::Netplan => Err(Refusal::new(
            "a set-up in netplan",
            "its files have no key for any queueing discipline",
            "--format networkd writes a file for the renderer below it, where that can say the plan; or run \
             --format script from a service",
        )),
    }
}

fn script(plan: &Plan, carried: &Carried, device: &str, promises: &Promises) -> String {
    let mut text = String::from("#!/bin/sh\n");
    head(plan, carried, device, promises, &mut text);
    let _ = write!(
        text,
        "set -e\n\n# What was there before; packets that it holds are lost.\ntc qdisc del dev {device} root 2>/dev/null || true\n\n"
    );
    commands(plan, carried, device, promises, "tc ", &mut text);
    text
}

fn batch(plan: &Plan, carried: &Carried, device: &str, promises: &Promises) -> String {
    let mut text = String::new();
    head(plan, carried, device, promises, &mut text);
    text.push('\n');
    commands(plan, carried, device, promises, "", &mut text);
    text
}

fn head(plan: &Plan, carried: &Carried, device: &str, promises: &Promises, text: &mut String) {
    let title = plan.title.as_deref().unwrap_or("A plan without a title");
    let _ = writeln!(text, "# {}\n#", plain(title));
    let _ = writeln!(
        text,
        "# Written by `laxity export tc` for {device}. Lines that begin with #: are for `laxity import tc`."
    );
    for line in promises.verdict.lines().filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "# {}", on_one_line(line));
    }
    for remark in &carried.remarks {
        let _ = writeln!(text, "# Note: {}", on_one_line(remark));
    }
    contract::of_link(plan, text);
}

fn commands(
    plan: &Plan,
    carried: &Carried,
    device: &str,
    promises: &Promises,
    tc: &str,
    text: &mut String,
) {
    let tree = &carried.tree;
    let (shared, leaves): (Vec<_>, Vec<_>) =
        tree.qdiscs.iter().enumerate().partition(|(at, _)| *at < 2);
    let comments = ["The link.", "What shares it."];
    for ((_, qdisc), comment) in shared.into_iter().zip(comments) {
        let _ = writeln!(text, "# {comment}\n{tc}{}", text::qdisc(qdisc, device));
    }
    let numbered = crate::tree::build::handles(plan, carried);
    let alone: HashSet<usize> = contract::alone(&numbered).map(|(at, _)| at).collect();
    for (at, handle) in &numbered {
        let class = &plan.classes[*at];
        let _ = write!(text, "\n# {}", plain(&class.name));
        match promises.classes.get(*at) {
            Some(Some(promise)) => {
                let _ = writeln!(text, ": {}", on_one_line(promise));
            }
            _ => text.push('\n'),
        }
        if alone.contains(at) {
            contract::of_class(plan, *at, *handle, text);
        }
        for class in tree.classes.iter().filter(|class| class.handle == *handle) {
            let _ = writeln!(text, "{tc}{}", text::class(class, device));
        }
        for (_, qdisc) in leaves.iter().filter(|(_, qdisc)| qdisc.parent == *handle) {
            let _ = writeln!(text, "{tc}{}", text::qdisc(qdisc, device));
        }
    }
    if !tree.filters.is_empty() {
        text.push_str("\n# Who goes where; the first that matches decides.\n");
    }
    let mut policed = HashSet::new();
    for filter in &tree.filters {
        let known = filter.police.first().is_some_and(|police| !policed.insert(police.index));
        let _ = writeln!(text, "{tc}{}", text::filter(filter, device, known));
    }
}
