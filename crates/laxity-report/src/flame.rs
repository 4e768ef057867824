//! Flame charts of delays: for each class, how its waiting is shared between causes.

use std::collections::BTreeMap;

use laxity::explain;
use laxity::packet::ClassId;
use laxity_answers::why::{Cause, ClassTotals, TotalDelays};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use maud::{Markup, PreEscaped, html};

use crate::figures::MOST_CLASSES;
use crate::html::omission;
use crate::quantity::{count, percent, time};
use crate::why::place;
use crate::words;

pub(crate) const STYLE: &str = include_str!("html/flame.css");
const SCRIPT: &str = include_str!("html/flame.js");

/// A piece of a delay narrower than this share of the whole is left out of the drawing.
const LEAST_SHARE: f64 = 0.001;

/// A piece of a delay, split further below it.
struct Piece {
    name: String,
    /// In nanoseconds, of all packets of the class.
    time: u128,
    /// The class that was in the way.
    class: Option<ClassId>,
    below: Vec<Piece>,
}

/// A box of the drawing. Shares are of the whole width.
struct Cell<'a> {
    from: f64,
    share: f64,
    piece: &'a Piece,
    /// The names of the pieces above it and its own.
    path: String,
}

/// The delays of each class by kind of cause, by class and by rule; in a network first by link.
pub(crate) fn section(plan: &Plan, totals: &TotalDelays) -> Markup {
    let classes = (0..).map(ClassId).zip(&totals.classes);
    let classes: Vec<_> = classes.filter(|(_, class)| class.total() > 0).collect();
    if classes.is_empty() {
        return html! {};
    }
    html! {
        section.flames {
            h2 { "What delays consist of" }
            p.note { (INTRODUCTION) (omission(classes.len())) }
            @for (id, class) in classes.iter().take(MOST_CLASSES) { (flame(plan, *id, class)) }
            script type="module" { (PreEscaped(SCRIPT)) }
        }
    }
}

const INTRODUCTION: &str = "A bar is the mean delay of a class, from end to end. Each row below splits it further: by \
     link in a network, by what happened, by the class that was in the way, and by the rule that \
     put it there. Point at a piece, or go there by Tab and the arrow keys, to read its time.";

fn flame(plan: &Plan, id: ClassId, class: &ClassTotals) -> Markup {
    let name = plan.classes[id.index()].name.as_str();
    let whole = Piece {
        name: name.to_string(),
        time: class.total(),
        class: Some(id),
        below: links(plan, id, class),
    };
    let mean = |nanos: u128| time(nanos as f64 / class.packets as f64);
    let subject = |class: ClassId| plan.leaves().position(|(leaf, _)| leaf == class);
    let colour = |piece: &Piece| {
        let subject = piece.class.and_then(subject);
        subject.map(|subject| format!("subject-{}", subject % crate::chart::HUES))
    };
    let says = |cell: &Cell<'_>| {
        format!("{}: {}, {}", cell.path, mean(cell.piece.time), percent(cell.share))
    };
    html! {
        h3 { (name) ": " (mean(whole.time)) " on average over " (count(class.packets)) " packets" }
        div.flame.wide role="group" aria-label=(format!("What the delay of {name} consists of")) {
            @for row in rows(&whole) {
                div.row { @for cell in row {
                    div.piece.(colour(cell.piece).unwrap_or_default()) tabindex=(if cell.share < 1.0 { -1 } else { 0 }) title=(says(&cell)) aria-label=(says(&cell))
                        role="img"
                        style=(format!("left:{:.3}%;width:{:.3}%", cell.from * 100.0, cell.share * 100.0)) {
                        span aria-hidden="true" { (cell.piece.name) }
                    }
                } }
            }
        }
        p.readout aria-hidden="true" { }
    }
}

/// The rows of a drawing, from the whole down.
fn rows(whole: &Piece) -> Vec<Vec<Cell<'_>>> {
    let first = Cell { from: 0.0, share: 1.0, piece: whole, path: whole.name.clone() };
    let mut rows = vec![vec![first]];
    while let Some(above) = rows.last() {
        let below: Vec<_> = above.iter().flat_map(|cell| cells_below(whole.time, cell)).collect();
        if below.is_empty() {
            break;
        }
        rows.push(below);
    }
    rows
}

fn cells_below<'a>(whole: u128, above: &Cell<'a>) -> Vec<Cell<'a>> {
    let mut from = above.from;
    let mut cells = Vec::new();
    for piece in &above.piece.below {
        let share = piece.time as f64 / whole as f64;
        if share >= LEAST_SHARE {
            let path = format!("{} › {}", above.path, piece.name);
            cells.push(Cell { from, share, piece, path });
        }
        from += share;
    }
    cells
}

/// The delay by link, in the order of the plan; by kind of cause where there is one link.
fn links(plan: &Plan, own: ClassId, class: &ClassTotals) -> Vec<Piece> {
    let mut links: BTreeMap<Option<Hop>, Vec<(Cause, u128)>> = BTreeMap::new();
    for ((hop, cause), time) in &class.parts {
        links.entry(*hop).or_default().push((*cause, *time));
    }
    let pieces = links.into_iter().flat_map(|(hop, causes)| match hop {
        None => kinds(plan, own, &causes),
        Some(hop) => {
            let time = causes.iter().map(|(_, time)| time).sum();
            let below = kinds(plan, own, &causes);
            vec![Piece { name: place(plan, hop), time, class: None, below }]
        }
    });
    pieces.collect()
}

/// A delay at a link by kind of cause.
fn kinds(plan: &Plan, own: ClassId, causes: &[(Cause, u128)]) -> Vec<Piece> {
    let mut kinds: BTreeMap<Kind, Vec<(Cause, u128)>> = BTreeMap::new();
    for (cause, time) in causes {
        kinds.entry(Kind::new(*cause)).or_default().push((*cause, *time));
    }
    let piece = |(kind, causes): (Kind, Vec<(Cause, u128)>)| Piece {
        name: kind.name().into(),
        time: causes.iter().map(|(_, time)| time).sum(),
        class: matches!(kind, Kind::Transmission).then_some(own),
        below: match kind {
            Kind::OnLink | Kind::Before => by_class(plan, own, &causes),
            Kind::Held => causes.iter().map(|cause| rule(plan, own, *cause)).collect(),
            Kind::Other | Kind::Transmission | Kind::Wire => match &causes[..] {
                [_] => Vec::new(),
                several => several.iter().map(|cause| rule(plan, own, *cause)).collect(),
            },
        },
    };
    kinds.into_iter().map(piece).collect()
}

/// What other packets cost, by their class and, below, by the rule that put them first.
fn by_class(plan: &Plan, own: ClassId, causes: &[(Cause, u128)]) -> Vec<Piece> {
    let mut classes: BTreeMap<ClassId, Vec<(Cause, u128)>> = BTreeMap::new();
    for (cause, time) in causes {
        if let Cause::Wait(wait) = cause {
            classes.entry(wait.class().unwrap_or(own)).or_default().push((*cause, *time));
        }
    }
    let piece = |(class, causes): (ClassId, Vec<(Cause, u128)>)| Piece {
        name: plan.classes[class.index()].name.to_string(),
        time: causes.iter().map(|(_, time)| time).sum(),
        class: Some(class),
        below: causes
            .iter()
            .filter(|(cause, _)| matches!(cause, Cause::Wait(explain::Cause::Before(..))))
            .map(|cause| Piece { class: Some(class), ..rule(plan, own, *cause) })
            .collect(),
    };
    classes.into_iter().map(piece).collect()
}

fn rule(plan: &Plan, own: ClassId, (cause, time): (Cause, u128)) -> Piece {
    Piece { name: words::rule(plan, own, cause), time, class: None, below: Vec::new() }
}

/// What happened while a packet waited or travelled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    OnLink,
    Before,
    Held,
    Other,
    Transmission,
    Wire,
}

impl Kind {
    fn new(cause: Cause) -> Kind {
        match cause {
            Cause::Wait(explain::Cause::OnLink(_)) => Kind::OnLink,
            Cause::Wait(explain::Cause::Before(..)) => Kind::Before,
            Cause::Wait(explain::Cause::Held(_)) => Kind::Held,
            Cause::Wait(explain::Cause::SlowLink | explain::Cause::LateChoice) => Kind::Other,
            Cause::Transmission | Cause::SlowTransmission => Kind::Transmission,
            Cause::Propagation | Cause::Wire | Cause::Regulator | Cause::WireAndRegulator => {
                Kind::Wire
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::OnLink => "on the link when it came",
            Kind::Before => "sent before it",
            Kind::Held => "nothing was sent",
            Kind::Other => "slow or late link",
            Kind::Transmission => "its own transmission",
            Kind::Wire => "on the way",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity::explain::{Cause::*, Rule};

    use super::*;

    const PLAN: &str = r#"
        version = 1
        link = { rate = "1mbit", max-packet = "100b" }
        scheduler.kind = "fifo"
        class.voice = {}
        class.web = {}
    "#;

    /// Every piece is split without a rest, and lies below the one that it is part of.
    #[test]
    fn pieces_add_up_to_the_delay() {
        let plan = Plan::parse(PLAN, "plan.toml", Path::new("")).unwrap();
        let [voice, web] = [0, 1].map(ClassId);
        let parts = [
            (Cause::Wait(OnLink(web)), 100),
            (Cause::Wait(Before(voice, Rule::ArrivalOrder)), 50),
            (Cause::Wait(Before(web, Rule::EarlierDeadline)), 30),
            (Cause::Wait(Before(web, Rule::BestEffort)), 20),
            (Cause::Wait(Held(Rule::UpperLimit)), 10),
            (Cause::Transmission, 700),
            (Cause::Propagation, 60),
            (Cause::Wire, 30),
        ];
        let parts = parts.into_iter().map(|(cause, time)| ((None, cause), time)).collect();
        let class = ClassTotals { packets: 10, parts };
        let whole = Piece {
            name: "voice".into(),
            time: class.total(),
            class: None,
            below: links(&plan, voice, &class),
        };
        check(&whole);
        let rows = rows(&whole);
        assert_eq!(rows.len(), 4);
        let shares = |row: &[Cell<'_>]| row.iter().map(|cell| cell.share).sum::<f64>();
        assert!((shares(&rows[1]) - 1.0).abs() < 1e-9);
        for (above, below) in rows.iter().zip(&rows[1..]) {
            for cell in below {
                let holds = |other: &&Cell<'_>| {
                    other.from <= cell.from + 1e-9
                        && cell.from + cell.share <= other.from + other.share + 1e-9
                };
                let parent = above.iter().find(holds).unwrap();
                assert!(cell.path.starts_with(&parent.path), "{} {}", cell.path, parent.path);
            }
        }
        let page = flame(&plan, voice, &class).into_string();
        let wanted = "voice › sent before it › web › their deadlines are earlier: 3 ns, 3 %";
        assert!(page.replace('\u{a0}', " ").contains(wanted), "{page}");
    }

    fn check(piece: &Piece) {
        if !piece.below.is_empty() {
            let sum: u128 = piece.below.iter().map(|piece| piece.time).sum();
            assert_eq!(sum, piece.time, "{}", piece.name);
        }
        piece.below.iter().for_each(check);
    }
}
