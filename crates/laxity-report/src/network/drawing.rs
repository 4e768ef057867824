//! Drawings of networks: who is joined to whom, and whose frames are whose.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::model::Source;
use laxity_plan::network::{Hop, Network};
use laxity_plan::tdp::Framing;
use maud::{Markup, html};

use crate::chart::{self, Style, WIDTH};
use crate::quantity::{count, shortened};

/// The longest name that is written whole.
const NAME_LIMIT: usize = 12;
/// How far apart the lines of two classes over one link are.
const APART: f64 = 6.0;

/// The nodes on a circle, the links between them, and over each link an arrow for every class that
/// takes it in that direction, or if there are too many to tell apart, one with their number.
///
/// # Panics
/// If the plan has no network.
pub fn topology(plan: &Plan) -> String {
    let network = plan.network.as_ref().expect("a plan with a network");
    let takers = takers(plan);
    let shown = Shown::new(plan, takers.values().flatten().copied().collect());
    let radius = (40.0 + 18.0 * network.nodes.len() as f64).clamp(120.0, 300.0);
    let height = 2.0 * radius + 70.0;
    let place = |node: u32| {
        let angle = TAU * (f64::from(node) + 0.5) / network.nodes.len() as f64;
        let x = WIDTH / 2.0 - 1.4 * radius * angle.cos();
        (x, height / 2.0 - radius * angle.sin())
    };
    let content = html! {
        @for hop in network.hops().filter(|hop| !hop.backward) {
            @let [(x1, y1), (x2, y2)] = network.between(hop).map(place);
            line x1=(round(x1)) y1=(round(y1)) x2=(round(x2)) y2=(round(y2))
                stroke="currentColor" stroke-opacity="0.25" stroke-width="1.2" {}
        }
        @for (hop, classes) in &takers { (arrows(&shown, network, classes, *hop, &place)) }
        @for (number, node) in (0..).zip(&network.nodes) {
            @let (x, y) = place(number);
            circle cx=(round(x)) cy=(round(y)) r="24" fill="#fff" stroke="currentColor"
                stroke-width="1.4" {}
            text x=(round(x)) y=(round(y + 4.5)) text-anchor="middle" fill="#222" {
                (shortened(&node.name, NAME_LIMIT))
            }
        }
    };
    let title = "Nodes, links and the classes that take them";
    chart::drawing(title, &shown.legend(), height, &content)
}

/// An arrow for each class, to the right of the link as the class goes.
fn arrows(
    shown: &Shown<'_>,
    network: &Network,
    classes: &BTreeSet<ClassId>,
    hop: Hop,
    place: &dyn Fn(u32) -> (f64, f64),
) -> Markup {
    let [(x1, y1), (x2, y2)] = network.between(hop).map(place);
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let (along_x, along_y) = ((x2 - x1) / length, (y2 - y1) / length);
    let styles: Vec<_> = classes.iter().map(|class| shown.style(*class)).collect();
    let arrows = if shown.are_told_apart() { styles.len() } else { 1 };
    html! {
        @for (at, style) in styles.iter().take(arrows).enumerate() {
            @let aside = APART * (at as f64 + 1.0);
            @let point = |along: f64, more: f64| {
                let aside = aside + more;
                format!(
                    "{:.1} {:.1}",
                    x1 + along * along_x - aside * along_y,
                    y1 + along * along_y + aside * along_x,
                )
            };
            @let (from, to) = (30.0, length - 30.0);
            @let head = 0.6 * length;
            @let data = format!(
                "M{}L{}M{}L{}L{}",
                point(from, 0.0), point(to, 0.0),
                point(head - 7.0, -3.5), point(head, 0.0), point(head - 7.0, 3.5),
            );
            path d=(data) fill="none" stroke=(style.colour()) stroke-width="1.6"
                stroke-linejoin="round" {}
        }
        @if arrows < styles.len() {
            @let (x, y) = (x1 + 0.4 * length * along_x, y1 + 0.4 * length * along_y);
            text x=(round(x - 4.0 * APART * along_y)) y=(round(y + 4.0 * APART * along_x + 4.0))
                text-anchor="middle" fill-opacity="0.75" { (count(styles.len() as u64)) }
        }
    }
}

/// A row for every output that has frames and anything reserved, a column for every frame of the
/// period (of the first 120), filled as far as each class has reserved it, or all of them together if
/// there are too many to tell apart.
pub fn frames(plan: &Plan, framing: &Framing) -> String {
    const LABEL: f64 = 96.0;
    const ROW: f64 = 52.0;
    const MARGIN: f64 = 12.0;
    const MOST: u32 = 120;
    let demand = &framing.demand;
    let period = demand.spec.period();
    let shown = period.min(MOST);
    let width = (WIDTH - LABEL - MARGIN) / f64::from(shown);
    let mut uses = uses(framing);
    let classes = Shown::new(plan, uses.iter().map(|of| of.class).collect());
    if !classes.are_told_apart() {
        join(&mut uses);
    }
    let outputs: BTreeSet<u32> = uses.iter().map(|of| of.output).collect();
    let network = plan.network.as_ref().expect("a plan with a network");
    let content = html! {
        @for (row, &output) in outputs.iter().enumerate() {
            @let bottom = ROW * (row as f64 + 1.0) - 10.0;
            @let tall = ROW - 14.0;
            @let capacity = demand.capacities[output as usize].0.max(1) as f64;
            text x="0" y=(round(bottom - tall / 2.0 + 4.0)) {
                (network.ends(demand.outputs[output as usize]).map(|end| shortened(end, NAME_LIMIT)).join(" → "))
            }
            rect x=(round(LABEL)) y=(round(bottom - tall)) width=(round(width * f64::from(shown)))
                height=(round(tall)) fill="none" stroke="currentColor" stroke-opacity="0.3" {}
            @for frame in 0..shown {
                (stack(&uses, &classes, (output, frame), |bytes| tall * bytes as f64 / capacity,
                    LABEL + width * f64::from(frame), bottom, width))
            }
        }
        @let below = ROW * outputs.len() as f64 + 10.0;
        @for frame in (0..=shown).step_by(10) {
            text x=(round(LABEL + width * f64::from(frame))) y=(round(below)) text-anchor="middle"
                fill-opacity="0.75" { (frame) }
        }
    };
    let title = format!(
        "What is reserved of {} a cycle{}",
        if shown == period {
            "the frames of".to_owned()
        } else {
            format!("the first {shown} frames of")
        },
        if demand.spec.time.cycles > 1 { " (super cycle)" } else { "" },
    );
    let height = ROW * outputs.len() as f64 + 24.0;
    chart::drawing(&title, &classes.legend(), height, &content)
}

/// The reservations of one frame of one output, on top of one another.
fn stack(
    uses: &[Use],
    shown: &Shown<'_>,
    (output, frame): (u32, u32),
    tall: impl Fn(u64) -> f64,
    x: f64,
    bottom: f64,
    width: f64,
) -> Markup {
    let from = uses.partition_point(|of| (of.output, of.frame) < (output, frame));
    let here = uses[from..].iter().take_while(|of| (of.output, of.frame) == (output, frame));
    let mut below = 0;
    let mut placed = Vec::new();
    for one in here {
        placed.push((bottom - tall(below + one.bytes), tall(one.bytes), shown.style(one.class)));
        below += one.bytes;
    }
    html! {
        @for (y, height, style) in placed {
            rect x=(round(x + 0.4)) y=(round(y)) width=(round((width - 0.8).max(0.3)))
                height=(round(height)) fill=(style.colour()) fill-opacity="0.85" stroke="#fff"
                stroke-width="0.5" {}
        }
    }
}

/// A packet's place in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    output: u32,
    frame: u32,
    class: ClassId,
    bytes: u64,
}

/// All places that are reserved, sorted.
fn uses(framing: &Framing) -> Vec<Use> {
    let demand = &framing.demand;
    let period = u64::from(demand.spec.period());
    let mut uses = Vec::new();
    for (stretch, answer) in demand.stretches.iter().zip(&framing.reserved.answers) {
        let Ok(reservation) = answer else { continue };
        let mut lag = 0;
        for (at, (hop, delay)) in stretch.flow.path.iter().zip(&reservation.delays).enumerate() {
            lag += if at > 0 { u64::from(*delay) + u64::from(hop.propagation) } else { 0 };
            let slots = reservation.slots;
            let first = u64::from(slots.start) + lag;
            uses.extend((0..slots.packets).map(|packet| Use {
                output: hop.output,
                frame: ((first + u64::from(slots.offset(packet))) % period) as u32,
                class: stretch.class,
                bytes: stretch.flow.packet.0,
            }));
        }
    }
    uses.sort_unstable();
    uses
}

/// Makes one place of all in a frame.
fn join(uses: &mut Vec<Use>) {
    uses.dedup_by(|next, of| {
        let is_same = (next.output, next.frame) == (of.output, of.frame);
        of.bytes += if is_same { next.bytes } else { 0 };
        is_same
    });
}

/// The classes that take each hop, in the plan's order.
fn takers(plan: &Plan) -> BTreeMap<Hop, BTreeSet<ClassId>> {
    let mut takers: BTreeMap<Hop, BTreeSet<ClassId>> = BTreeMap::new();
    for (class, path) in plan.sources.iter().filter_map(Source::feeds) {
        path.iter().for_each(|hop| {
            takers.entry(*hop).or_default().insert(class);
        });
    }
    takers
}

/// The classes that a drawing shows, with their styles in every figure.
struct Shown<'a> {
    plan: &'a Plan,
    classes: BTreeMap<ClassId, Style>,
}

impl<'a> Shown<'a> {
    fn new(plan: &'a Plan, classes: BTreeSet<ClassId>) -> Self {
        let leaves = plan.leaves().map(|(class, _)| class).zip((0..).map(Style::of));
        let classes = leaves.filter(|(class, _)| classes.contains(class)).collect();
        Shown { plan, classes }
    }

    fn are_told_apart(&self) -> bool {
        self.classes.len() <= Style::COUNT
    }

    fn style(&self, class: ClassId) -> Style {
        let own = self.classes.get(&class).filter(|_| self.are_told_apart());
        own.copied().unwrap_or(Style::of(0))
    }

    fn legend(&self) -> Vec<(String, Style)> {
        if !self.are_told_apart() {
            return vec![(format!("{} classes", count(self.classes.len() as u64)), Style::of(0))];
        }
        let name = |class: &ClassId| self.plan.classes[class.index()].name.clone();
        self.classes.iter().map(|(class, style)| (name(class), *style)).collect()
    }
}

fn round(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use laxity_plan::model::SchedulerSpec;

    use super::*;

    /// So many flows over one link, each with a packet of 100 bytes a cycle of a thousand times that.
    fn plan(flows: usize) -> Plan {
        let class = |flow: usize| format!("class.c{flow} = {{ gap = \"10ms\" }}\n");
        let source = |flow: usize| {
            format!(
                "[[source]]\nclass = \"c{flow}\"\nmodel = \"constant\"\nrate = \"80kbit\"\n\
                 packet = \"100b\"\npath = [\"a\", \"b\"]\n"
            )
        };
        let text = format!(
            "version = 1\nscheduler = {{ kind = \"tdp\", frame = \"1ms\", frames = 10 }}\n\
             link = {{ rate = \"80mbit\", max-packet = \"100b\" }}\n\
             network = {{ one = {{ between = [\"a\", \"b\"] }} }}\n{}{}",
            (0..flows).map(class).collect::<String>(),
            (0..flows).map(source).collect::<String>(),
        );
        Plan::parse(&text, "plan.toml", "".as_ref()).unwrap()
    }

    fn drawings(flows: usize) -> [String; 2] {
        let plan = plan(flows);
        let SchedulerSpec::Tdp(spec) = plan.scheduler else { panic!("no frames") };
        [topology(&plan), frames(&plan, &Framing::of(&plan, &spec))]
    }

    #[test]
    fn classes_that_cannot_be_told_apart_are_drawn_as_one() {
        let filled = |drawing: &str| drawing.matches("fill-opacity=\"0.85\"").count();
        let arrows = |drawing: &str| drawing.matches("stroke-width=\"1.6\"").count();
        let [few, few_frames] = drawings(Style::COUNT);
        assert_eq!(arrows(&few), Style::COUNT);
        assert_eq!(filled(&few_frames), Style::COUNT);
        assert!(few.contains(">c20<"), "{few}");
        let [many, many_frames] = drawings(Style::COUNT + 1);
        assert_eq!(arrows(&many), 1);
        assert!(filled(&many_frames) <= 10);
        assert!(many.contains(">22 classes<") && many.contains(">22<"), "{many}");
    }
}
