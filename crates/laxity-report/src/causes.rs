//! The causes of the slowest packets as a figure.

use std::collections::BTreeMap;

use laxity::units::Nanos;
use laxity_answers::why::{Delays, PacketDelay};
use laxity_plan::Plan;

use crate::chart::{Axis, Bar, Bars, Figure, Segment, Style, Unit};
use crate::html::NamedFigure;
use crate::why::packet_head;
use crate::words;

/// The number of causes with a colour of their own; shorter ones share the colour of the text.
const MOST_COLOURS: usize = 7;
const NS: f64 = 1e-9;

/// Deadlines are drawn up to this multiple of the longest delay: further ones would make bars
/// short.
const DEADLINES_WITHIN: f64 = 1.5;

/// The figure of the packets that are listed: a bar each, cut by cause in the order of the links;
/// `None` if no packet is listed.
pub fn figure(plan: &Plan, delays: &Delays) -> Option<NamedFigure<'static>> {
    let keys = Keys::new(plan, &delays.slowest);
    let longest = delays.slowest.first()?.delay().0 as f64 * NS;
    let bar = |packet| {
        let bar = bar(plan, &keys, packet);
        Bar { deadline: bar.deadline.filter(|at| *at <= longest * DEADLINES_WITHIN), ..bar }
    };
    let bars = Bars {
        title: "Why the slowest packets were late".to_string(),
        axis: Axis::linear("Delay", Unit::Time),
        bars: delays.slowest.iter().map(bar).collect(),
        keys: keys.0,
    };
    let caption = "Each bar is the delay of a packet, cut by what it waited for. A cause stands \
                   once at each link, for all of its time there."
        .to_string();
    Some(NamedFigure { name: "causes", figure: Figure::from(bars), caption })
}

/// The causes in words with their styles, those that last longest first.
struct Keys(Vec<(String, Style)>);

impl Keys {
    fn new(plan: &Plan, packets: &[PacketDelay]) -> Keys {
        let mut times: BTreeMap<String, Nanos> = BTreeMap::new();
        for packet in packets {
            for part in packet.hops.iter().flat_map(|hop| &hop.parts) {
                let name = words::cause(plan, packet.packet.class, part.cause);
                *times.entry(name).or_default() += part.time;
            }
        }
        let mut names: Vec<_> = times.into_iter().collect();
        names.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let style = |place: usize| {
            let subject = (place < MOST_COLOURS).then_some(place);
            Style { subject, faint: subject.is_none(), ..Style::default() }
        };
        Keys(names.into_iter().enumerate().map(|(at, (name, _))| (name, style(at))).collect())
    }

    fn place(&self, name: &str) -> usize {
        self.0.iter().position(|(other, _)| other == name).unwrap_or_default()
    }
}

fn bar(plan: &Plan, keys: &Keys, packet: &PacketDelay) -> Bar {
    let segments = packet.hops.iter().flat_map(|hop| {
        let place = hop.hop.map_or_else(String::new, |at| crate::why::place(plan, at));
        hop.parts.iter().map(move |part| Segment {
            key: keys.place(&words::cause(plan, packet.packet.class, part.cause)),
            length: part.time.0 as f64 * NS,
            place: place.clone(),
        })
    });
    Bar {
        label: packet_head(plan, packet),
        segments: segments.collect(),
        deadline: packet.due.map(|due| (due - packet.packet.arrival).0 as f64 * NS),
    }
}
