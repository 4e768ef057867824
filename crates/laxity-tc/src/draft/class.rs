//! The classes of a plan: their curves and names, and which of them gets the rest.

use std::collections::{HashMap, HashSet};

use laxity::units::Rate;

use crate::assembly::{Assembly, Discipline, Node, Root};
use crate::notes::Notes;
use crate::toml::Curves;

/// The curves that are written: real-time ones on leaves only, limits only where they limit.
pub(super) fn curves(
    setup: &Assembly,
    discipline: Discipline,
    link: Rate,
    whole: Option<usize>,
    notes: &mut Notes,
) -> Vec<Curves> {
    // The least rate that limits each class from above.
    let mut limits: Vec<Rate> = Vec::with_capacity(setup.classes.len());
    let mut all = Vec::with_capacity(setup.classes.len());
    for (at, class) in setup.classes.iter().enumerate() {
        let mut curves = class.curves;
        if !class.is_leaf {
            let Curves { real_time, link_share, .. } = curves;
            if matches!(discipline, Discipline::Hfsc { .. })
                && real_time != link_share
                && real_time.is_some()
                && whole != Some(at)
            {
                let text = match link_share {
                    Some(_) => "its `rt` is left out, as Linux does: it has classes below it",
                    None => "its `rt` becomes a share, as in Linux: it has classes below it",
                };
                notes.reading(class.origin.line, format!("{}: {text}", class.class.handle));
            }
            curves.link_share = link_share.or(real_time);
            curves.real_time = None;
        }
        let above = class.parent.map_or(link, |parent| limits[parent]);
        let own = curves.upper_limit.and_then(|limit| limit.linear());
        if own.is_some_and(|own| own >= above) {
            curves.upper_limit = None;
        }
        limits.push(own.map_or(above, |own| own.min(above)));
        all.push(curves);
    }
    all
}

/// The class of what no filter takes.
pub(super) fn default_class(setup: &Assembly, root: &Root, notes: &mut Notes) -> Option<usize> {
    let (default, fate) = match root.discipline {
        Discipline::Hfsc { default } => (default, "drops"),
        Discipline::Htb { default, .. } => (default, "sends unshaped"),
        Discipline::Qfq | Discipline::Drr => (0, "drops"),
        Discipline::Prio(prio) => return setup.find(u16::from(prio.priomap[0]) + 1),
        Discipline::FqCodel(_) | Discipline::Cake(_) | Discipline::Fifo => return Some(0),
    };
    let minor = u16::try_from(default).ok().filter(|minor| *minor != 0);
    let class =
        minor.and_then(|minor| setup.find(minor)).filter(|class| setup.classes[*class].is_leaf);
    if class.is_none() {
        let why = match default {
            0 => "there is no default class".into(),
            minor => format!("the default class {minor:x} is none that has packets"),
        };
        let text = format!("{why}: what no filter takes, which Linux {fate}, is left out");
        notes.not_mapped(root.line, text);
    }
    class
}

/// The weights of the classes: of qfq their own, of drr their part of all quanta beside them.
pub(super) fn weights(setup: &Assembly, discipline: Discipline) -> Vec<Option<String>> {
    let mut quanta: HashMap<Option<usize>, (u32, u32)> = HashMap::new();
    for class in &setup.classes {
        if let Some(quantum) = class.weight() {
            let (least, greatest) = quanta.entry(class.parent).or_insert((quantum, quantum));
            (*least, *greatest) = ((*least).min(quantum), (*greatest).max(quantum));
        }
    }
    let written = |class: &Node| {
        let weight = class.weight()?;
        let of = class.parent.and_then(|parent| setup.classes[parent].holds).unwrap_or(discipline);
        let (least, greatest) = quanta.get(&class.parent)?;
        Some(match of {
            Discipline::Drr => share(weight, *least, *greatest),
            _ => weight.to_string(),
        })
    };
    setup.classes.iter().map(written).collect()
}

/// The largest weight of a plan, in millionths.
const LARGEST: u64 = 4_000_000_000;

/// The weight of a quantum among those from `least` to `greatest`, as a plan writes it: 1 for the
/// least, or less where the greatest would be too large then. It is rounded down, which gives the
/// quantum back: a plan's are rounded up, and a packet is less than a million bytes.
fn share(quantum: u32, least: u32, greatest: u32) -> String {
    let least = u64::from(least.max(1));
    let one = (LARGEST * least / u64::from(greatest.max(1))).min(1_000_000);
    let millionths = (u64::from(quantum) * one / least).max(1);
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Each class by the comment on its line, or else by its number.
pub(super) fn names(setup: &Assembly) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |class: &Node| {
        let number = class.class.handle.to_string().replace(':', "-");
        let called = setup.contract.name(class.class.handle).filter(|name| !taken.contains(name));
        let comment =
            class.origin.comment.as_deref().and_then(name_in).filter(|name| !taken.contains(name));
        let mut name = called.or(comment).unwrap_or(number);
        while !taken.insert(name.clone()) {
            name.push('-');
        }
        name
    };
    setup.classes.iter().map(name).collect()
}

/// The name that a comment begins with: up to three words before a sign.
fn name_in(comment: &str) -> Option<String> {
    let head = comment.split([':', ';', ',', '.', '(', '=', '–', '—']).next().unwrap_or_default();
    let head = head.split(" - ").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let name = words.join("-");
    let fits =
        (1..=3).contains(&words.len()) && name.chars().count() <= 32 && name.chars().all(part);
    fits.then_some(name)
}
