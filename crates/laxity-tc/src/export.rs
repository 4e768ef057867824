//! A plan in Linux, written down for the programs that set it up.

mod json;
mod networkd;
mod parameters;
pub(crate) mod text;

use std::collections::HashSet;
use std::fmt::Write as _;

use laxity_plan::Plan;

use crate::contract;
use crate::error::{on_one_line, plain};
use crate::linux::{LinuxPlan, Refusal, handles};
use crate::netlink::ingress;

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
    carried: &LinuxPlan,
    device: &str,
    format: Format,
    promises: &Promises,
) -> Result<String, Refusal> {
    check_device(device)?;
    match format {
        Format::Script => {
            let writer = Writer { plan, carried, device, promises, tc: "tc " };
            Ok(writer.text("#!/bin/sh\n", &format!("set -e\n\n{}", clearing(device))))
        }
        Format::Batch => Ok(Writer { plan, carried, device, promises, tc: "" }.text("", "\n")),
        Format::Json => Ok(json::shown(&carried.setup, device)),
        Format::Networkd => networkd::file(&carried.setup, device),
        Format::Netplan => Err(Refusal::new(
            "a set-up in netplan",
            "its files have no key for any queueing discipline",
            "--format networkd writes a file for the renderer below it, where that can say the plan; or run \
             --format script from a service",
        )),
    }
}

/// A plan in Linux, with what it promises.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is made to be exported")]
pub struct Part<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// As it is carried out.
    pub carried: &'a LinuxPlan,
    /// What it promises.
    pub promises: &'a Promises,
}

impl<'a> Part<'a> {
    fn writer(self, device: &'a str) -> Writer<'a> {
        let Part { plan, carried, promises } = self;
        Writer { plan, carried, device, promises, tc: "tc " }
    }
}

/// Writes a script for both directions: one plan for what leaves an interface, and another for what
/// arrives there, which waits at a device of its own.
///
/// # Errors
/// If the interface has no name that a script can have.
pub fn export_both(egress: Part<'_>, arriving: Part<'_>, device: &str) -> Result<String, Refusal> {
    check_device(device)?;
    let section = |device: &str| format!("{} dev {device}\n", contract::MARK);
    let ifb = ingress::device(device);
    let filter = format!("dev {device} ingress protocol all prio {} matchall", ingress::PRIORITY);
    let first = format!("#!/bin/sh\n{}", section(device));
    let mut text = egress.writer(device).text(&first, &format!("set -e\n\n{}", clearing(device)));
    let before = format!(
        "# The device of an earlier script.\n\
         tc filter del {filter} 2>/dev/null || true\n\
         ip link del {ifb} 2>/dev/null || true\n\n\
         ip link add {ifb} type ifb\nip link set {ifb} up\n\n"
    );
    let first = format!("\n# What arrives at {device} waits at {ifb}.\n{}", section(&ifb));
    text += &arriving.writer(&ifb).text(&first, &before);
    let _ = write!(
        text,
        "\n# Whatever arrives is led there. A clsact that is there already stays, and its filters.\n\
         tc qdisc add dev {device} clsact 2>/dev/null || true\n\
         tc filter add {filter} action mirred egress redirect dev {ifb}\n"
    );
    Ok(text)
}

/// Refuses what a script cannot have as the name of an interface.
fn check_device(device: &str) -> Result<(), Refusal> {
    if is_device(device) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("`{}` as the name of an interface", plain(device)),
        "names of interfaces are letters, digits, `-`, `_`, `.`, `@` and `:`, at most 15 of them",
        "give --dev the name that `ip link` shows",
    ))
}

/// Commands of a script that take away what an interface has.
fn clearing(device: &str) -> String {
    format!(
        "# What was there before; packets that it holds are lost.\n\
         tc qdisc del dev {device} root 2>/dev/null || true\n\n"
    )
}

/// The words of a plan that `tc` has none for, in comments that [`import`](crate::import) reads.
/// Classes have the numbers that `carried` has for their names.
pub fn contracts(plan: &Plan, carried: &LinuxPlan) -> String {
    let mut text = String::new();
    contract::write_link(plan, &mut text);
    let kept = carried.setup.names();
    for (at, handle) in contract::alone(&handles(plan, &carried.plan, &carried.setup)) {
        let handle = kept.get(&plan.classes[at].name).copied().unwrap_or(handle);
        contract::write_class(plan, at, handle, &mut text);
    }
    text
}

/// Writes commands, each behind `tc`.
struct Writer<'a> {
    plan: &'a Plan,
    carried: &'a LinuxPlan,
    device: &'a str,
    promises: &'a Promises,
    tc: &'a str,
}

impl Writer<'_> {
    /// All of it, with a line before its head and lines before its commands.
    fn text(&self, first: &str, before: &str) -> String {
        let mut text = first.to_string();
        self.head(&mut text);
        text.push_str(before);
        self.commands(&mut text);
        text
    }

    fn head(&self, text: &mut String) {
        let Writer { plan, carried, device, promises, .. } = self;
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
        contract::write_link(plan, text);
    }

    fn commands(&self, text: &mut String) {
        let Writer { plan, carried, device, promises, tc } = self;
        let setup = &carried.setup;
        let (shared, leaves) = setup.qdiscs.split_at(setup.qdiscs.len().min(2));
        for (qdisc, comment) in shared.iter().zip(["The link.", "What shares it."]) {
            let _ = writeln!(text, "# {comment}\n{tc}{}", text::qdisc(qdisc, device));
        }
        let numbered = handles(plan, &carried.plan, setup);
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
                contract::write_class(plan, *at, *handle, text);
            }
            for class in setup.classes.iter().filter(|class| class.handle == *handle) {
                let _ = writeln!(text, "{tc}{}", text::class(class, device));
            }
            for qdisc in leaves.iter().filter(|qdisc| qdisc.parent == *handle) {
                let _ = writeln!(text, "{tc}{}", text::qdisc(qdisc, device));
            }
        }
        if !setup.filters.is_empty() {
            text.push_str("\n# Who goes where; the first that matches decides.\n");
        }
        let mut policed = HashSet::new();
        for filter in &setup.filters {
            let known = filter.police.first().is_some_and(|police| !policed.insert(police.index));
            let _ = writeln!(text, "{tc}{}", text::filter(filter, device, known));
        }
    }
}
