//! Drawings of networks: who is joined to whom, and who has reserved which time frames.

use std::collections::BTreeSet;

use laxity::admit::tdp::OutputId;
use laxity::packet::ClassId;
use laxity_plan::tdp::{FramedNetwork, Framing};
use maud::{Markup, html};

use crate::chart::{Figure, Paper, Sheet, text_width};
use crate::quantity::shortened;

mod classes;
mod layout;
mod topology;

use classes::{DrawnClasses, NAME_LIMIT, round};
pub use topology::topology;

/// A row for every output that has time frames and anything reserved, a column for every frame of
/// the period (of the first 120), filled as far as each class has reserved it, or all of them
/// together if there are too many to tell apart.
pub fn reservations<'a>(framing: &'a Framing<'a>) -> Figure<'a> {
    Figure::new(|paper| reservations_on(paper, framing))
}

fn reservations_on(paper: Paper, framing: &Framing<'_>) -> String {
    const ROW: f64 = 52.0;
    const MARGIN: f64 = 12.0;
    const MOST: u32 = 120;
    const LEAST_WIDTH: f64 = 4.0;
    let demand = &framing.demand;
    let FramedNetwork { plan, network, spec } = framing.framed;
    let period = spec.period();
    let shown = period.min(MOST);
    let mut uses = uses(framing);
    let classes = DrawnClasses::new(plan, uses.iter().map(|of| of.class).collect());
    if !classes.are_told_apart() {
        join(&mut uses);
    }
    let outputs: BTreeSet<OutputId> = uses.iter().map(|of| of.output).collect();
    let name = |output: OutputId| {
        let ends = network.ends(demand.outputs[output.index()]);
        ends.map(|end| shortened(end, NAME_LIMIT)).join(" → ")
    };
    let widest = outputs.iter().map(|output| text_width(&name(*output), 12.5));
    let label = widest.fold(60.0, f64::max) + 8.0;
    let room = paper.width() - label - MARGIN;
    let width = (room / f64::from(shown.max(1))).max(LEAST_WIDTH);
    let content = html! {
        @for (row, &output) in outputs.iter().enumerate() {
            @let bottom = ROW * (row as f64 + 1.0) - 10.0;
            @let tall = ROW - 14.0;
            @let capacity = demand.capacities[output.index()].0.max(1) as f64;
            text x="0" y=(round(bottom - tall / 2.0 + 4.0)) {
                (name(output))
            }
            rect x=(round(label)) y=(round(bottom - tall)) width=(round(width * f64::from(shown)))
                height=(round(tall)) fill="none" stroke="currentColor" stroke-opacity="0.3" {}
            @for frame in 0..shown {
                (stack(&uses, &classes, (output, frame), |bytes| tall * bytes as f64 / capacity,
                    label + width * f64::from(frame), bottom, width))
            }
        }
        @let below = ROW * outputs.len() as f64 + 10.0;
        @for frame in (0..=shown).step_by(if width < 5.0 { 20 } else { 10 }) {
            text x=(round(label + width * f64::from(frame))) y=(round(below)) text-anchor="middle"
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
        if spec.time.cycles > 1 { " (super cycle)" } else { "" },
    );
    let height = ROW * outputs.len() as f64 + 24.0;
    let width = label + width * f64::from(shown) + MARGIN;
    Sheet { paper, title: &title, legend: &classes.legend(), width, height }.document(&content)
}

/// The reservations of one frame of one output, on top of one another.
fn stack(
    uses: &[Use],
    shown: &DrawnClasses<'_>,
    (output, frame): (OutputId, u32),
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
            rect class=[style.css_class()] x=(round(x + 0.4)) y=(round(y)) width=(round((width - 0.8).max(0.3)))
                height=(round(height)) color=[style.colour()] fill="currentColor" fill-opacity="0.85"
                stroke="#fff" stroke-width="0.5" {}
        }
    }
}

/// A packet's place in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    output: OutputId,
    frame: u32,
    class: ClassId,
    bytes: u64,
}

/// All places that are reserved, sorted.
fn uses(framing: &Framing<'_>) -> Vec<Use> {
    let demand = &framing.demand;
    let period = u64::from(framing.framed.spec.period());
    let mut uses = Vec::new();
    for (stretch, answer) in demand.stretches.iter().zip(&framing.reservations.answers) {
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

#[cfg(test)]
mod tests {
    use laxity_plan::Plan;

    use super::topology::MOST_ARROWS;
    use super::*;
    use crate::chart::Style;

    /// A plan of `flows` flows over one link. Each flow sends a packet of 100 bytes in every cycle,
    /// which has room for a thousand such packets.
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
        let network_plan = plan.network_plan().unwrap();
        let framing = Framing::new(network_plan.plan.framed_network().unwrap());
        [topology(network_plan).svg(), reservations(&framing).svg()]
    }

    #[test]
    fn classes_that_cannot_be_told_apart_are_drawn_as_one() {
        let filled = |drawing: &str| drawing.matches("fill-opacity=\"0.85\"").count();
        let arrows = |drawing: &str| drawing.matches("class=\"arrow\"").count();
        assert_eq!(arrows(&drawings(MOST_ARROWS)[0]), MOST_ARROWS);
        let [few, few_frames] = drawings(Style::COUNT);
        assert_eq!(arrows(&few), 1);
        assert_eq!(filled(&few_frames), Style::COUNT);
        assert!(few.contains(">c27<") && few.contains(">28<"), "{few}");
        let [many, many_frames] = drawings(Style::COUNT + 1);
        assert_eq!(arrows(&many), 1);
        assert!(filled(&many_frames) <= 10);
        assert!(many.contains(">29 classes<") && many.contains(">29<"), "{many}");
    }
}
