//! Disciplines that hang at a class of hfsc or htb. Where that class does nothing but shape, they
//! share the link. Else classes of a plan hold them where they can.

use laxity::units::Rate;
use laxity_plan::error::Fault;

use super::class::default_class;
use super::htb;
use super::link::link_rate;
use crate::assembly::{Assembly, Discipline, Node, Root, Shaper};
use crate::notes::Notes;
use crate::packets::Packets;
use crate::rules::{self, Rule};
use crate::setup::FqCodel;
use crate::toml::Curves;

/// The set-up whose classes share the link: what hangs at the one leaf of hfsc or htb, if all
/// traffic goes there, and else the one that is given.
pub(crate) fn shaped(
    mut setup: Assembly,
    root: Root,
    given: Option<Rate>,
    notes: &mut Notes,
) -> Result<(Assembly, Root), Fault> {
    let Some(leaf) = the_leaf(&setup, &root) else { return Ok((setup, root)) };
    let Some(mut below) = setup.classes[leaf].below.take() else { return Ok((setup, root)) };
    let Some(mut shared) = below.root.take() else { return Ok((setup, root)) };
    if let Discipline::Htb { r2q, .. } = root.discipline {
        htb::lend(&mut setup, r2q, notes);
    }
    let limits = setup.classes.iter().filter_map(|class| class.curves.upper_limit?.linear());
    let least = limits.chain(given).min();
    let class = &setup.classes[leaf];
    let rate = least.map_or_else(|| link_rate(&setup, &root, None, &mut Notes::default()), Ok)?;
    let shapers = [&setup.shaper, &below.shaper].into_iter().flatten();
    let own = match shapers.into_iter().find(|shaper| shaper.rate < rate) {
        Some(shaper) => Shaper::new(shaper.rate, shaper.line, shaper.what.clone()),
        None => Shaper::new(rate, class.origin.line, class.class.handle.to_string()),
    };
    let text = format!(
        "{} only shapes: it is the link, which {} at it shares",
        class.class.handle,
        shared.discipline.name()
    );
    notes.reading(class.origin.line, text);
    shared.overhead = root.overhead;
    below.shaper = Some(own);
    below.contract = setup.contract;
    below.queue_length = setup.queue_length;
    below.states = setup.states;
    below.unshaped = setup.unshaped;
    Ok((*below, shared))
}

/// The one class that has packets, if there is no other and all traffic goes there.
fn the_leaf(setup: &Assembly, root: &Root) -> Option<usize> {
    let default = match root.discipline {
        Discipline::Hfsc { default } | Discipline::Htb { default, .. } => default,
        Discipline::Prio(_)
        | Discipline::FqCodel(_)
        | Discipline::Cake(_)
        | Discipline::Qfq
        | Discipline::Drr
        | Discipline::Fifo => return None,
    };
    let mut leaves = (0..setup.classes.len()).filter(|class| setup.classes[*class].is_leaf);
    let (leaf, None) = (leaves.next()?, leaves.next()) else { return None };
    let class = &setup.classes[leaf];
    let has_classes = class.below.as_ref().is_some_and(|below| !below.classes.is_empty());
    let number = class.class.handle.minor();
    let takes_all = setup.filters.iter().any(|filter| {
        filter.at == 0
            && filter.mark.is_none()
            && filter.link.is_none()
            && filter.class.minor() == number
            && filter.packets == Default::default()
    });
    let gets_all = default == u32::from(number) || takes_all;
    (has_classes && gets_all).then_some(leaf)
}

/// Whether classes that shape can hold schedulers in the plan: some do, and all curves are mere
/// shares.
pub(super) fn holds(setup: &Assembly, curves: &[Curves], link: Rate) -> bool {
    let some = setup.classes.iter().any(|class| flows(class).is_some() || held(class).is_some());
    let share = |curves: &Curves| {
        let share = curves.link_share?.linear()?;
        let promised =
            curves.real_time.is_none_or(|curve| curve.linear().is_some_and(|rate| rate <= share));
        let plain = curves.upper_limit.is_none() && promised;
        plain.then_some(share)
    };
    let Some(shares) = curves.iter().map(share).collect::<Option<Vec<Rate>>>() else {
        return false;
    };
    let (mut left, mut of_link): (Vec<u64>, u64) =
        (shares.iter().map(|share| share.0).collect(), link.0);
    let fits = setup.classes.iter().zip(&shares).all(|(class, share)| {
        let left = class.parent.map_or(&mut of_link, |parent| &mut left[parent]);
        let rest = left.checked_sub(share.0);
        *left = rest.unwrap_or(0);
        rest.is_some()
    });
    some && fits
}

/// The flow queues that hang at a leaf.
pub(super) fn flows(class: &Node) -> Option<&FqCodel> {
    let root = class.below.as_ref().filter(|_| class.is_leaf)?.root.as_ref()?;
    match &root.discipline {
        Discipline::FqCodel(fq_codel) => Some(fq_codel),
        _ => None,
    }
}

/// Notes what hangs at classes and is not in the plan.
pub(super) fn note_unheld(setup: &Assembly, holds: bool, notes: &mut Notes) {
    for class in setup.classes.iter().filter(|class| class.is_leaf) {
        let Some(root) = class.below.as_ref().and_then(|below| below.root.as_ref()) else {
            continue;
        };
        let handle = class.class.handle;
        let text = match &root.discipline {
            Discipline::FqCodel(_) if holds => continue,
            Discipline::FqCodel(_) => format!(
                "{handle}: fq_codel: its flows share one queue, turns among them are not kept: \
                 a class holds `fq-codel` only beside shares of the link alone, without limits, bands or bent curves"
            ),
            other => format!(
                "{handle}: {} and what hangs at it: this class has one queue, for a plan's class holds drr, qfq or prio, and \
                 only beside shares of the link alone, without limits, bands or bent curves",
                other.name()
            ),
        };
        notes.not_mapped(root.line, text);
    }
}

/// What hangs at a leaf, if a class of a plan can hold it.
fn held(class: &Node) -> Option<Discipline> {
    let below = class.below.as_ref().filter(|below| class.is_leaf && !below.classes.is_empty())?;
    let discipline = below.root.as_ref()?.discipline;
    match discipline {
        Discipline::Drr | Discipline::Qfq | Discipline::Prio(_) => Some(discipline),
        Discipline::Hfsc { .. }
        | Discipline::Htb { .. }
        | Discipline::FqCodel(_)
        | Discipline::Cake(_)
        | Discipline::Fifo => None,
    }
}

/// Joins to a set-up what its classes hold: their classes, and where these get their packets.
pub(super) fn join(
    setup: &mut Assembly,
    curves: &mut Vec<Curves>,
    mut rules: Vec<Rule>,
    mut default: Option<usize>,
    notes: &mut Notes,
) -> Result<(Vec<Rule>, Option<usize>), Fault> {
    for leaf in 0..setup.classes.len() {
        let Some(discipline) = held(&setup.classes[leaf]) else { continue };
        let Some(mut below) = setup.classes[leaf].below.take() else { continue };
        let Some(root) = below.root.take() else { continue };
        below.states.clone_from(&setup.states);
        let own_default = default_class(&below, &root, notes);
        let own = rules::rules(&below, &root, own_default, notes)?;
        let first = setup.classes.len();
        let depth = setup.classes[leaf].depth + 1;
        let classes = below.classes.into_iter();
        setup.classes.extend(classes.map(|class| Node { parent: Some(leaf), depth, ..class }));
        curves.resize(setup.classes.len(), Curves::default());
        let class = &mut setup.classes[leaf];
        (class.is_leaf, class.holds, class.queue) = (false, Some(discipline), None);
        curves[leaf].real_time = None;
        let rest = own_default.map(|class| first + class);
        let inside = |outer: &Rule| {
            let among = |rule: &Rule| Rule {
                packets: outer.packets.and(&rule.packets),
                class: rule.class.map(|class| first + class),
                is_rest: rule.is_rest || outer.is_rest,
                ..*rule
            };
            let mut all: Vec<Rule> = own.iter().map(among).collect();
            all.retain(|rule| !rule.packets.is_empty);
            all.push(Rule { packets: outer.packets.clone(), class: rest, is_rest: true, ..*outer });
            all
        };
        if default == Some(leaf) {
            let (packets, line, of) = (Packets::default(), root.line, "filter");
            rules.push(Rule { packets, class: default, line, of, is_rest: true });
            default = rest;
        }
        let mut all = Vec::with_capacity(rules.len());
        for rule in rules {
            if rule.class == Some(leaf) {
                all.extend(inside(&rule));
            } else {
                all.push(rule);
            }
            rules::limited(all.len())?;
        }
        rules = all;
    }
    Ok((rules, default))
}
