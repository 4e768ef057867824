//! The matches of a plan as a list of decisions: which packets go to which class. The first
//! decision holds. `not` is a decision that these packets go on to the classes behind.

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::matching::{Expr, Numbers, Side};
use laxity_plan::model::Class;

use crate::linux::refusal::Refusal;
use crate::packets::{Field, PORTS, Packets, all_vlans};
use crate::setup::{Handle, MOST_FILTERS};

/// The rules of a plan are more than are read.
#[derive(Debug)]
pub(super) struct TooManyRules;

/// Packets and the class that they go to, unless a rule before takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub packets: Packets,
    pub class: ClassId,
}

/// The rules of all classes, in the order in which they are asked.
pub(super) fn rules(
    plan: &Plan,
    numbers: &[Handle],
    remarks: &mut Vec<String>,
) -> Result<Vec<Rule>, Refusal> {
    // Those that are asked first stand last.
    let mut all: Vec<Rule> = Vec::new();
    let leaves: Vec<(ClassId, &Class)> = plan.leaves().collect();
    for (id, class) in &leaves {
        if class.matching.is_none() {
            let handle = numbers[id.index()];
            remarks.push(format!(
                "Class {} has no `match`: no filter sends packets to {handle}.",
                class.name
            ));
        }
    }
    for (id, class) in leaves.into_iter().rev() {
        let Some(matching) = &class.matching else { continue };
        let mut own: Vec<Rule> = Vec::new();
        let too_many = |TooManyRules| too_many(class);
        for (packets, takes) in decided(matching.expr()).map_err(too_many)? {
            if takes {
                own.push(Rule { packets, class: id });
            } else if !go_on(&packets, &all, &mut own).map_err(too_many)? {
                return Err(Refusal::new(
                    format!("`not` in the `match` of class {}", class.name),
                    "a filter names what it takes, not what it leaves, and no class behind takes that",
                    "end the plan with a class of `match = \"any\"`",
                ));
            }
            if own.len() + all.len() > MOST_FILTERS {
                return Err(too_many(TooManyRules));
            }
        }
        all.extend(own.into_iter().rev());
    }
    all.reverse();
    Ok(all)
}

/// The refusal of a class whose match comes to too many rules or filters.
pub(super) fn too_many(class: &Class) -> Refusal {
    Refusal::new(
        format!("`match` of class {} has too many alternatives", class.name),
        format!("{MOST_FILTERS} filters are the most here"),
        "write fewer ranges and alternatives",
    )
}

/// Sends packets that a class leaves to those behind it; `false` if none takes all of them.
fn go_on(packets: &Packets, behind: &[Rule], own: &mut Vec<Rule>) -> Result<bool, TooManyRules> {
    for rule in behind.iter().rev().filter(|rule| rule.packets.overlaps(packets)) {
        own.push(Rule { packets: packets.and(&rule.packets), class: rule.class });
        if own.len() > MOST_FILTERS {
            return Err(TooManyRules);
        }
        if rule.packets.contains(packets) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an expression holds: the first of these packets that a packet is among decides. For a
/// packet among none it does not hold.
type Decisions = Vec<(Packets, bool)>;

fn decided(expr: &Expr) -> Result<Decisions, TooManyRules> {
    let those = |ask: &dyn Fn(&mut Packets)| {
        let mut packets = Packets::default();
        ask(&mut packets);
        (packets, true)
    };
    let with = |field, numbers: &Numbers| vec![those(&|packets| packets.with(field, numbers))];
    let at_sides = |side: &Side, of: &dyn Fn(Side) -> Decisions| match side {
        Side::Any => [of(Side::Source), of(Side::Destination)].concat(),
        side => of(*side),
    };
    let mut found = match expr {
        Expr::Any => vec![(Packets::default(), true)],
        Expr::Version(version) => vec![those(&|packets| packets.require_version(*version))],
        Expr::Protocol(numbers) => with(Field::Protocol, numbers),
        Expr::Dscp(numbers) => with(Field::Dscp, numbers),
        Expr::Ecn(numbers) => with(Field::Ecn, numbers),
        Expr::Vlan(numbers) => with(Field::Vlan, numbers),
        Expr::Pcp(numbers) => with(Field::Pcp, numbers),
        Expr::Tagged(true) => with(Field::Vlan, &all_vlans()),
        Expr::Tagged(false) => vec![those(&Packets::without_tag)],
        Expr::Port(side, numbers) => {
            at_sides(side, &|side| with(PORTS[usize::from(side != Side::Source)], numbers))
        }
        Expr::Address(side, nets) => at_sides(side, &|side| {
            nets.iter().map(|net| those(&|packets| packets.within(side, *net))).collect()
        }),
        // Plans with such tests are refused before.
        Expr::Host(_) => Vec::new(),
        Expr::Not(inner) => {
            let inner = decided(inner)?;
            let mut all: Decisions =
                inner.into_iter().map(|(packets, holds)| (packets, !holds)).collect();
            all.push((Packets::default(), true));
            all
        }
        Expr::All(parts) => joined(parts, true)?,
        Expr::Either(parts) => joined(parts, false)?,
    };
    found.retain(|(packets, _)| !packets.is_empty);
    while found.last().is_some_and(|(_, holds)| !holds) {
        found.pop();
    }
    Ok(found)
}

/// All of several expressions, or either of them. Those that only name what they take come first:
/// their order does not matter.
fn joined(parts: &[Expr], all_of_them: bool) -> Result<Decisions, TooManyRules> {
    let takes_only = |part: &Decisions| part.iter().all(|(_, holds)| *holds);
    let parts: Result<Vec<Decisions>, TooManyRules> = parts.iter().map(decided).collect();
    let (first, last): (Vec<_>, Vec<_>) = parts?.into_iter().partition(takes_only);
    let mut all: Decisions =
        if all_of_them { vec![(Packets::default(), true)] } else { Vec::new() };
    for part in first.into_iter().chain(last) {
        let in_any_order = takes_only(&all);
        let decides_all = part.last().is_some_and(|(packets, _)| *packets == Packets::default());
        let mut next: Decisions = Vec::new();
        for (packets, holds) in all {
            if holds != all_of_them {
                next.push((packets, holds));
                continue;
            }
            next.extend(part.iter().map(|(other, holds)| (packets.and(other), *holds)));
            if !decides_all && !in_any_order {
                next.push((packets, false));
            }
            next.retain(|(packets, _)| !packets.is_empty);
            if next.len() > MOST_FILTERS {
                return Err(TooManyRules);
            }
        }
        if !all_of_them {
            next.extend(part);
        }
        all = next;
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
