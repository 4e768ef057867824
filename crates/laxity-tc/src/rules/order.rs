//! Filters are asked one after the other; the classes of a plan are, too, but each with all that it
//! takes. This finds the order of the classes, and says the rest with `not`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laxity_plan::error::Fault;
use laxity_plan::matching::{Expr, Match};

use super::meeting::Meeting;
use crate::notes::Notes;
use crate::packets::Packets;

/// The most pairs of filters that are compared, and the most that may have packets in common.
const MOST_LOOKS: usize = 1 << 26;
const MOST_MEETINGS: usize = 1 << 22;
/// How many rules before one that takes packets first may have taken them anyway.
const MOST_BEFORE: usize = 16;

/// Packets and the class that they go to, unless an earlier one takes them.
#[derive(Debug)]
pub(crate) struct Rule {
    pub packets: Packets,
    /// `None` for those that no class takes.
    pub class: Option<usize>,
    pub line: usize,
    /// What it is, for notes.
    pub of: &'static str,
    /// The packets are what another filter leaves. The rule need not be reached.
    pub is_rest: bool,
}

/// The order of the classes, and the packets that each takes. The default class is last and takes
/// the rest.
#[derive(Debug)]
pub(crate) struct Arrangement {
    pub order: Vec<usize>,
    pub matches: Vec<Option<Match>>,
}

/// Arranges `count` classes under rules in their order. Only `leaves` take packets.
pub(crate) fn arrange(
    mut rules: Vec<Rule>,
    leaves: &[usize],
    count: usize,
    default: Option<usize>,
    notes: &mut Notes,
) -> Result<Arrangement, Fault> {
    drop_unreached(&mut rules, notes)?;
    let earlier = earlier(&rules)?;
    let order = sorted(&rules, &earlier, leaves, count, default);
    let mut place = vec![usize::MAX; count];
    for (at, class) in order.iter().enumerate() {
        place[*class] = at;
    }
    let mut matches: Vec<ClassMatch> = Vec::new();
    matches.resize_with(count, ClassMatch::default);
    let mut gone = ClassMatch::default();
    for (at, rule) in rules.iter().enumerate() {
        if let (None, Some(_)) = (rule.class, default) {
            let before = earlier[at].iter().map(|before| &rules[*before as usize]);
            let kept: Vec<&Rule> = before.filter(|before| before.class == default).collect();
            gone.add(rule, &kept, notes);
        }
        let Some(class) = rule.class.filter(|class| Some(*class) != default) else { continue };
        let is_later = |other: Option<usize>| other.is_none_or(|other| place[other] > place[class]);
        // What a rule takes first that another one before it took anyway is no loss.
        let is_gone = |before: usize| {
            let both = rules[before].packets.and(&rule.packets);
            let mut first = rules[before.saturating_sub(MOST_BEFORE)..before].iter();
            first.any(|first| !is_later(first.class) && first.packets.contains(&both))
        };
        let taken = earlier[at].iter().map(|before| *before as usize);
        let taken = taken.filter(|before| is_later(rules[*before].class) && !is_gone(*before));
        let taken: Vec<&Rule> = taken.map(|before| &rules[before]).collect();
        if let Some(first) = taken.first() {
            let text =
                format!("with `not`, since line {} takes some of its packets first", first.line);
            notes.reading(rule.line, format!("{}: {text}", rule.of));
        }
        matches[class].add(rule, &taken, notes);
    }
    let mut matches: Vec<_> = matches.into_iter().map(|class| class.finish(notes)).collect();
    let gone = gone.finish(notes);
    let rest = gone.and_then(|gone| reads_back(&Expr::Not(Box::new(gone.expr().clone()))));
    let rest = rest.unwrap_or(Match::ANY);
    if let Some(class) = default {
        matches[class] = Some(rest);
    }
    Ok(Arrangement { order, matches })
}

/// Takes out rules whose packets an earlier one takes.
fn drop_unreached(rules: &mut Vec<Rule>, notes: &mut Notes) -> Result<(), Fault> {
    let meeting = Meeting::new(rules.iter().map(|rule| &rule.packets));
    let (mut kept, mut looks) = (vec![false; rules.len()], 0);
    for (at, rule) in rules.iter().enumerate() {
        if rule.packets.is_empty {
            notes.not_mapped(rule.line, "filter: it asks for what excludes itself");
            continue;
        }
        let before = before(&meeting, rules, at, &mut looks)?;
        let mut before = before.into_iter().filter(|before| kept[*before]).map(|at| &rules[at]);
        match before.find(|before| before.packets.contains(&rule.packets)) {
            None => kept[at] = true,
            Some(before) if before.class == rule.class || rule.is_rest => {}
            Some(before) => notes.reading(
                rule.line,
                format!(
                    "filter: never reached, since line {} takes its packets first",
                    before.line
                ),
            ),
        }
    }
    let mut kept = kept.into_iter();
    rules.retain(|_| kept.next() == Some(true));
    Ok(())
}

/// The rules before one that may take some of its packets.
fn before(
    meeting: &Meeting,
    rules: &[Rule],
    at: usize,
    looks: &mut usize,
) -> Result<Vec<usize>, Fault> {
    let mut found = meeting.with(&rules[at].packets);
    found.truncate(found.partition_point(|before| (*before as usize) < at));
    *looks += found.len();
    if *looks > MOST_LOOKS {
        return Err(too_entangled());
    }
    Ok(found.into_iter().map(|before| before as usize).collect())
}

/// For each rule, the rules before it that send some of its packets elsewhere.
fn earlier(rules: &[Rule]) -> Result<Vec<Vec<u32>>, Fault> {
    let meeting = Meeting::new(rules.iter().map(|rule| &rule.packets));
    let (mut looks, mut meets) = (0, 0);
    let mut all = Vec::with_capacity(rules.len());
    for (at, rule) in rules.iter().enumerate() {
        let mut found = before(&meeting, rules, at, &mut looks)?;
        found.retain(|before| {
            let before = &rules[*before];
            before.class != rule.class && before.packets.overlaps(&rule.packets)
        });
        meets += found.len();
        if meets > MOST_MEETINGS {
            return Err(too_entangled());
        }
        all.push(found.into_iter().map(|before| before as u32).collect());
    }
    Ok(all)
}

fn too_entangled() -> Fault {
    Fault::new(None, "the script's filters take packets from each other in too many ways")
        .help("give them one field in which most of them differ, such as an address or a port")
}

/// The order of the classes. A class stands before those that it takes packets from, or else as in
/// the script. The default class is last.
fn sorted(
    rules: &[Rule],
    earlier: &[Vec<u32>],
    leaves: &[usize],
    count: usize,
    default: Option<usize>,
) -> Vec<usize> {
    let mut before: Vec<(u32, u32)> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let Some(class) = rule.class.filter(|class| Some(*class) != default) else { continue };
        let first = earlier[at].iter().map(|first| &rules[*first as usize]);
        let first = first.filter(|first| first.class != default);
        before.extend(first.filter_map(|first| Some((first.class? as u32, class as u32))));
    }
    before.sort_unstable();
    before.dedup();
    let mut waits = vec![0usize; count];
    for (_, class) in &before {
        waits[*class as usize] += 1;
    }
    let rest: Vec<usize> = leaves.iter().copied().filter(|leaf| Some(*leaf) != default).collect();
    let mut ready: BinaryHeap<_> =
        rest.iter().copied().filter(|class| waits[*class] == 0).map(Reverse).collect();
    let mut in_circles = rest.iter().copied();
    let (mut order, mut done) = (Vec::with_capacity(leaves.len()), vec![false; count]);
    while order.len() < rest.len() {
        let next = ready.pop().map(|Reverse(class)| class).or_else(|| in_circles.next());
        let Some(class) = next else { break };
        if std::mem::replace(&mut done[class], true) {
            continue;
        }
        order.push(class);
        let from = before.partition_point(|(first, _)| (*first as usize) < class);
        let waiting = before[from..].iter().take_while(|(first, _)| *first as usize == class);
        for later in waiting.map(|(_, later)| *later as usize) {
            waits[later] -= 1;
            if waits[later] == 0 {
                ready.push(Reverse(later));
            }
        }
    }
    order.extend(default.filter(|default| leaves.contains(default)));
    order
}

/// What a class takes, as its rules come.
#[derive(Debug, Default)]
struct ClassMatch {
    /// Packets without exceptions, like ones joined.
    plain: Vec<(Packets, usize)>,
    /// The others.
    limited: Vec<Part>,
}

/// A part of a match: what it takes of all frames, or of those without a VLAN tag.
#[derive(Clone, Debug)]
struct Part {
    expression: Expr,
    untagged: bool,
    line: usize,
}

impl ClassMatch {
    fn add(&mut self, rule: &Rule, taken: &[&Rule], notes: &mut Notes) {
        let Rule { packets, line, .. } = rule;
        if !taken.is_empty() {
            let of_rule = |taken: &&Rule| {
                let untagged = taken.packets.untagged && !packets.untagged;
                Packets { untagged, ..taken.packets.clone() }.expression()
            };
            let not = Expr::Not(Box::new(Expr::either(taken.iter().map(of_rule).collect())));
            let expression = match packets.with_any_tag().expression() {
                Expr::Any => not,
                packets => Expr::all(vec![packets, not]),
            };
            let part = Part { expression, untagged: packets.untagged, line: *line };
            if reads_back(&joined(std::slice::from_ref(&part))).is_none() {
                let text = format!("{}: too many others take some of its packets first", rule.of);
                notes.not_mapped(*line, text);
                return;
            }
            self.limited.push(part);
            return;
        }
        if let Some((last, _)) = self.plain.last_mut()
            && let Some(both) = last.or(packets)
        {
            *last = both;
        } else {
            self.plain.push((packets.clone(), *line));
        }
    }

    fn finish(self, notes: &mut Notes) -> Option<Match> {
        let part = |(packets, line): &(Packets, usize)| Part {
            expression: packets.with_any_tag().expression(),
            untagged: packets.untagged,
            line: *line,
        };
        let mut parts: Vec<Part> = self.plain.iter().map(part).chain(self.limited).collect();
        if parts.iter().any(|part| part.expression == Expr::Any && !part.untagged) {
            return Some(Match::ANY);
        }
        while !parts.is_empty() {
            if let Some(read) = reads_back(&joined(&parts)) {
                return Some(read);
            }
            // Too large as a whole: what fits is kept.
            let half = parts.len() / 2;
            let lost = parts.split_off(half);
            let line = lost.first().map_or(0, |part| part.line);
            let text = format!("{} filters from here on: a match has no room for them", lost.len());
            notes.not_mapped(line, text);
        }
        None
    }
}

/// What any of the parts takes.
fn joined(parts: &[Part]) -> Expr {
    let without_tag = |inner: Expr| match inner {
        Expr::Any => Expr::Tagged(false),
        inner => Expr::all(vec![Expr::Tagged(false), inner]),
    };
    if parts.iter().all(|part| part.untagged) {
        let inner = parts.iter().map(|part| part.expression.clone());
        return without_tag(Expr::either(inner.collect()));
    }
    let each = parts.iter().map(|part| {
        if part.untagged { without_tag(part.expression.clone()) } else { part.expression.clone() }
    });
    Expr::either(each.collect())
}

/// The match that an expression is printed as, if it keeps to the limits of those that are read.
fn reads_back(expression: &Expr) -> Option<Match> {
    expression.to_string().parse().ok()
}

#[cfg(test)]
mod tests;
