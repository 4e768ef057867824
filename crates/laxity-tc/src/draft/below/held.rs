//! Disciplines at classes whose own classes become classes of the plan.

use laxity_plan::error::Fault;

use crate::assembly::{Assembly, Discipline, Node};
use crate::draft::class::default_class;
use crate::notes::Notes;
use crate::packets::Packets;
use crate::rules::{self, Rule};
use crate::toml::Curves;

/// What hangs at a leaf, if a class of a plan can hold it.
pub(super) fn held(class: &Node) -> Option<Discipline> {
    let below = class.below.as_ref().filter(|below| class.is_leaf && !below.classes.is_empty())?;
    let discipline = below.root.as_ref()?.discipline;
    match discipline {
        Discipline::Drr | Discipline::Qfq | Discipline::Prio(_) => Some(discipline),
        Discipline::Hfsc { .. }
        | Discipline::Htb { .. }
        | Discipline::FqCodel(_)
        | Discipline::Fifo => None,
    }
}

/// Joins to a set-up what its classes hold: their classes, and where these get their packets.
pub(crate) fn join(
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
