//! Who is joined to whom, and whose packets go where.

use std::collections::{BTreeMap, BTreeSet};

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Network, NodeId};
use laxity_plan::network::NetworkPlan;
use maud::{Markup, html};

use super::layout::{self, Place};
use super::shown::{NAME_LIMIT, ShownClasses, round};
use crate::chart::{self, Dash, Figure, Paper, Sheet, Style, text_width};
use crate::quantity::{count, shortened};

/// How far apart the lines of two classes over one link are.
const APART: f64 = 6.0;
/// More lines than this over one link are drawn as one.
pub(super) const MOST_ARROWS: usize = 8;
/// More nodes than this have no room for their names.
const MOST_NODES: usize = 48;
const NODE_HEIGHT: f64 = 34.0;

/// The nodes as they are joined, the links between them, and over each link an arrow for every
/// class that takes it in that direction, or if there are too many to tell apart, one with their
/// number.
pub fn topology(on: NetworkPlan<'_>) -> Figure<'_> {
    Figure::new(move |paper| topology_on(paper, on))
}

fn topology_on(paper: Paper, NetworkPlan { plan, network }: NetworkPlan<'_>) -> String {
    let takers = takers(plan);
    let shown = ShownClasses::new(plan, takers.values().flatten().copied().collect());
    let title = "Nodes, links and the classes that take them";
    let drawn = |width, height, content: &Markup| {
        Sheet { paper, title, legend: &shown.legend(), width, height }.document(content)
    };
    if network.nodes.len() > MOST_NODES {
        let nodes = count(network.nodes.len() as u64);
        return drawn(
            0.0,
            30.0,
            &html! { text x="0" y="18" { (nodes) " nodes are too many to draw." } },
        );
    }
    let spread = Spread::new(paper, network, &takers);
    let content = html! {
        @for hop in network.hops().filter(|hop| !hop.backward) {
            @let [from, to] = network.between(hop).map(|node| spread.place(node));
            line x1=(round(from.0)) y1=(round(from.1)) x2=(round(to.0)) y2=(round(to.1))
                stroke="currentColor" stroke-opacity="0.25" stroke-width="1.2" {}
        }
        @for (hop, classes) in &takers { (arrows(&shown, network, classes, *hop, &spread)) }
        @for (id, node) in (0..).map(NodeId).zip(&network.nodes) {
            @let (x, y) = spread.place(id);
            g {
                title { (node.name) }
                rect.node x=(round(x - spread.node / 2.0)) y=(round(y - NODE_HEIGHT / 2.0))
                    width=(round(spread.node)) height=(NODE_HEIGHT) rx=(NODE_HEIGHT / 2.0) fill="#fff"
                    stroke="currentColor" stroke-width="1.4" {}
                text x=(round(x)) y=(round(y + 4.5)) text-anchor="middle" {
                    (shortened(&node.name, NAME_LIMIT))
                }
            }
        }
    };
    drawn(spread.width, spread.height, &content)
}

/// Nodes spread on paper.
struct Spread {
    places: Vec<Place>,
    /// How wide a node is.
    node: f64,
    width: f64,
    height: f64,
}

impl Spread {
    /// Most traffic goes from left to right, or downwards where the paper is too narrow for that.
    fn new(paper: Paper, network: &Network, takers: &BTreeMap<Hop, BTreeSet<ClassId>>) -> Spread {
        let ends = |hop: Hop| network.between(hop).map(NodeId::index);
        let links = network.hops().filter(|hop| !hop.backward).map(|hop| ends(hop).into());
        let mut parts = layout::parts(network.nodes.len(), &links.collect::<Vec<_>>());
        let names = network.nodes.iter().map(|node| shortened(&node.name, NAME_LIMIT));
        let node = names.map(|name| text_width(&name, 12.5) + 20.0).fold(48.0, f64::max);
        let (least, room) = (node + LINK.0, paper.width() - node - 2.0 * EDGE);
        for part in &mut parts {
            let at = |node: usize| part.iter().find(|(other, _)| *other == node);
            let advance = |(hop, classes): (&Hop, &BTreeSet<ClassId>)| {
                let [from, to] = ends(*hop).map(|node| at(node).map_or(0.0, |(_, place)| place.0));
                (to - from) * classes.len() as f64
            };
            if takers.iter().map(advance).sum::<f64>() < -1e-9 {
                part.iter_mut().for_each(|(_, place)| place.0 = -place.0);
            }
            let [wide, high] = layout::extent(part);
            if wide * least > room && high < wide {
                part.iter_mut().for_each(|(_, place)| *place = (place.1, place.0));
            }
        }
        let mut places = layout::stacked(&parts);
        let far = |of: fn(&Place) -> f64| places.iter().map(of).fold(0.0, f64::max);
        let (wide, high) = (far(|place| place.0), far(|place| place.1));
        let across = (room / wide.max(1e-9)).clamp(least, (node + LINK.1).max(least));
        let width = (wide * across + node + 2.0 * EDGE).max(paper.width());
        let left = (width - wide * across) / 2.0;
        let top = NODE_HEIGHT / 2.0 + EDGE + MOST_ARROWS as f64 * APART;
        for place in &mut places {
            *place = (left + place.0 * across, top + place.1 * DOWN);
        }
        Spread { places, node, width, height: high * DOWN + 2.0 * top }
    }

    fn place(&self, node: NodeId) -> Place {
        self.places[node.index()]
    }

    /// How far along a line of this direction a node reaches.
    fn reach(&self, (along_x, along_y): (f64, f64)) -> f64 {
        let across = self.node / 2.0 / along_x.abs().max(1e-9);
        across.min(NODE_HEIGHT / 2.0 / along_y.abs().max(1e-9))
    }
}

/// The least and the greatest distance between nodes side by side.
const LINK: (f64, f64) = (44.0, 150.0);
/// The distance between nodes below one another.
const DOWN: f64 = 110.0;
/// The room around a drawing.
const EDGE: f64 = 6.0;

/// An arrow for each class, to the right of the link as the class goes.
fn arrows(
    shown: &ShownClasses<'_>,
    network: &Network,
    classes: &BTreeSet<ClassId>,
    hop: Hop,
    spread: &Spread,
) -> Markup {
    let [(x1, y1), (x2, y2)] = network.between(hop).map(|node| spread.place(node));
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let along @ (along_x, along_y) = ((x2 - x1) / length, (y2 - y1) / length);
    let styles: Vec<_> = classes.iter().map(|class| shown.style(*class)).collect();
    let apart = shown.are_told_apart() && styles.len() <= MOST_ARROWS;
    let drawn = if apart { styles.clone() } else { vec![Style::default()] };
    let from = spread.reach(along) + 5.0;
    html! {
        @for (at, style) in drawn.iter().enumerate() {
            @let aside = APART * (at as f64 + 1.0);
            @let point = |along: f64, more: f64| {
                let aside = aside + more;
                format!(
                    "{:.1} {:.1}",
                    x1 + along * along_x - aside * along_y,
                    y1 + along * along_y + aside * along_x,
                )
            };
            @let head = 0.6 * length;
            @let line = format!("M{}L{}", point(from, 0.0), point((length - from).max(from), 0.0));
            @let tip = format!(
                "M{}L{}L{}", point(head - 7.0, -3.5), point(head, 0.0), point(head - 7.0, 3.5),
            );
            g.arrow {
                (chart::stroke(&line, *style))
                (chart::stroke(&tip, style.dashed(Dash::Solid)))
            }
        }
        @if drawn.len() < styles.len() {
            @let (x, y) = (x1 + 0.4 * length * along_x, y1 + 0.4 * length * along_y);
            text x=(round(x - 4.0 * APART * along_y)) y=(round(y + 4.0 * APART * along_x + 4.0))
                text-anchor="middle" fill-opacity="0.8" { (count(styles.len() as u64)) }
        }
    }
}

/// The classes that take each hop, in the plan's order.
fn takers(plan: &Plan) -> BTreeMap<Hop, BTreeSet<ClassId>> {
    let mut takers: BTreeMap<Hop, BTreeSet<ClassId>> = BTreeMap::new();
    for source in &plan.sources {
        for hop in source.path().iter() {
            takers.entry(*hop).or_default().extend(plan.fed_by(source));
        }
    }
    takers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_goes_to_the_right_and_down_where_paper_is_narrow() {
        let names = ["e", "d", "c", "b", "a", "first"];
        let links: String = names
            .windows(2)
            .map(|pair| {
                format!("network.{}.between = [\"{}\", \"{}\"]\n", pair[0], pair[0], pair[1])
            })
            .collect();
        let text = format!(
            "version = 1\nlink = {{ rate = \"8mbit\", max-packet = \"100b\" }}\n\
             scheduler.kind = \"fifo\"\nclass.one = {{}}\n{links}[[source]]\nclass = \"one\"\n\
             model = \"constant\"\nrate = \"80kbit\"\npacket = \"100b\"\n\
             path = [\"first\", \"a\", \"b\", \"c\", \"d\", \"e\"]\n",
        );
        let plan = Plan::parse(&text, "plan.toml", "".as_ref()).unwrap();
        let network = plan.network.as_ref().unwrap();
        let takers = takers(&plan);
        for (paper, is_level) in [(Paper::Wide, true), (Paper::Narrow, false)] {
            let spread = Spread::new(paper, network, &takers);
            let place = |name: &str| {
                let at = network.nodes.iter().position(|node| node.name == name).unwrap();
                spread.places[at]
            };
            let path: Vec<_> = names.iter().rev().map(|name| place(name)).collect();
            let (along, across): (Vec<_>, Vec<_>) =
                path.iter().map(|&(x, y)| if is_level { (x, y) } else { (y, x) }).unzip();
            assert!(along.is_sorted_by(|a, b| a < b) && across.iter().all(|at| *at == across[0]));
        }
    }
}
