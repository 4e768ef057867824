//! Figure 13: what a packet costs, by the number of sessions and of levels.
//!
//! Times depend on the machine, so only their ratios are judged. Short disturbances fall on few of
//! the timed stretches, and their median counts. Long ones fall on all cases alike, since a round
//! measures each case once, and the median over the rounds counts.

use std::hint::black_box;
use std::time::Instant;

use laxity::link::Link;
use laxity::packet::{ClassId, Packet};
use laxity::sched::Hfsc;
use laxity::sched::hfsc::{ClassSpec, Curves};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::SourceId;
use laxity_sim::error::SimError;
use laxity_sim::source::{Arrivals, Feed};

use crate::claims::Measurements;
use crate::drawing::{chart, series, within};
use crate::experiment::{Part, Runs, median};
use laxity_report::chart::{self, Axis, Mark, Style, Unit};

const GROWTH: &str = "cost with 1000 sessions in % of that with 100 (Fig. 13a)";
const LEVELS: &str = "cost with 1000 sessions in % of that at one level (Fig. 13b)";

/// What is shared, and the packets: 8 us each.
const LINK: Rate = Rate(1_000_000_000);
const LENGTH: u32 = 1000;
/// As in the paper, the packets after the 10000th are timed, up to the 20000th: in stretches of a
/// fraction of a millisecond.
const WARM_UP: usize = 10_000;
const STRETCHES: usize = 25;
const STRETCH: usize = 400;

/// Number of classes below each class, level by level.
type Shape = &'static [u32];
/// At one level.
const HUNDRED: Shape = &[100];
const THOUSAND: Shape = &[1000];
const BETWEEN: [Shape; 8] = [&[200], &[300], &[400], &[500], &[600], &[700], &[800], &[900]];
const IN_LEVELS: [(&str, Shape); 2] = [("two levels", &[10, 100]), ("three levels", &[10, 10, 10])];

/// Measurements of each case.
const ROUNDS: usize = 31;
const ROUNDS_IF_SHORTENED: usize = 9;

/// What sessions do.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// Each is on and off for exponential times that have one mean, on at 1.9 times its rate: a
    /// two-state Markov source of 0.95 times its rate.
    Markov,
    /// Each always has two packets queued.
    Backlogged,
}

const TRAFFIC: [Traffic; 2] = [Traffic::Markov, Traffic::Backlogged];

impl Traffic {
    fn name(self) -> &'static str {
        match self {
            Traffic::Markov => "two-state Markov sources",
            Traffic::Backlogged => "all backlogged",
        }
    }
}

/// Times it all, or if shortened only what is judged.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let shortened = runs.duration.is_some();
    let between: &[Shape] = if shortened { &[] } else { &BETWEEN };
    let rounds = if shortened { ROUNDS_IF_SHORTENED } else { ROUNDS };
    let one_level: Vec<Shape> = [&[&[1], HUNDRED], between, &[THOUSAND]].concat();
    let shapes = [one_level, IN_LEVELS.map(|(_, shape)| shape).to_vec()].concat();
    let mut costs = Vec::new();
    for traffic in TRAFFIC {
        let cost = Cost::measure(&shapes, traffic, rounds)?;
        measured.add(GROWTH, traffic.name(), cost.percent(THOUSAND, HUNDRED));
        for (name, shape) in IN_LEVELS {
            let of = format!("{name}, {}", traffic.name());
            measured.add(LEVELS, &of, cost.percent(shape, THOUSAND));
        }
        costs.push(cost);
        (runs.step)();
    }
    let row = |shape: &Shape| {
        let sessions: u32 = shape.iter().product();
        let ns = costs.iter().map(|cost| format!("{:.0}", cost.nanos(shape)));
        [sessions.to_string(), shape.len().to_string()].into_iter().chain(ns).collect()
    };
    let header = ["sessions", "levels"].into_iter().chain(TRAFFIC.map(Traffic::name));
    Ok(Part::default().figure("figure-13", figure(&costs)).table(
        format!("Figure 13: ns a packet in and out, median of {rounds} rounds"),
        &header.collect::<Vec<_>>(),
        shapes.iter().map(row),
    ))
}

/// Number of runs.
pub(super) const RUNS: u64 = TRAFFIC.len() as u64;

/// What a packet costs in each shape.
struct Cost {
    traffic: Traffic,
    /// In ns, round by round.
    shapes: Vec<(Shape, Vec<f64>)>,
}

impl Cost {
    fn measure(shapes: &[Shape], traffic: Traffic, rounds: usize) -> Result<Cost, SimError> {
        let loads = shapes.iter().map(|shape| Load::new(shape, traffic));
        let loads = loads.collect::<Result<Vec<_>, _>>()?;
        let mut shapes: Vec<_> = shapes.iter().map(|&shape| (shape, Vec::new())).collect();
        for _ in 0..rounds {
            for (load, (_, times)) in loads.iter().zip(&mut shapes) {
                times.push(load.nanos_per_packet());
            }
        }
        Ok(Cost { traffic, shapes })
    }

    fn times(&self, shape: Shape) -> &[f64] {
        let found = self.shapes.iter().find(|(known, _)| *known == shape);
        found.map_or(&[], |(_, times)| times)
    }

    /// A shape's cost in percent of another's: the median over the rounds.
    fn percent(&self, of: Shape, to: Shape) -> f64 {
        let rounds = self.times(of).iter().zip(self.times(to));
        median(rounds.map(|(of, to)| of / to * 100.0).collect())
    }

    /// The cost of a packet, in ns.
    fn nanos(&self, shape: Shape) -> f64 {
        median(self.times(shape).to_vec())
    }
}

/// Sessions of equal rates in a hierarchy, and what they send.
struct Load {
    traffic: Traffic,
    classes: Vec<ClassSpec>,
    /// In the order of arrival.
    packets: Vec<Packet>,
}

impl Load {
    fn new(shape: Shape, traffic: Traffic) -> Result<Load, SimError> {
        let (classes, first) = hierarchy(shape);
        let sessions = classes.len() as u32 - first;
        let packets = match traffic {
            Traffic::Markov => markov_packets(first, sessions)?,
            Traffic::Backlogged => {
                let classes = (first..first + sessions).chain(first..first + sessions);
                classes.map(|class| packet(class, Nanos::ZERO)).collect()
            }
        };
        Ok(Load { traffic, classes, packets })
    }

    fn port(&self) -> Port<'_> {
        Port {
            scheduler: Hfsc::new(&self.classes).expect("these classes make a hierarchy"),
            link: Link::new(LINK),
            coming: self.packets.iter(),
            refilled: matches!(self.traffic, Traffic::Backlogged),
        }
    }

    fn nanos_per_packet(&self) -> f64 {
        let mut port = self.port();
        port.send(WARM_UP);
        let stretch = |_| {
            let begin = Instant::now();
            port.send(STRETCH);
            begin.elapsed().as_nanos() as f64 / STRETCH as f64
        };
        median((0..STRETCHES).map(stretch).collect())
    }
}

/// Classes of a shape, each with an equal part of its parent's rate, and the first leaf's number.
fn hierarchy(shape: Shape) -> (Vec<ClassSpec>, u32) {
    let (mut classes, mut parents) = (Vec::new(), vec![None]);
    let (mut rate, mut first) = (LINK.0, 0);
    for (level, children) in (1..).zip(shape) {
        rate /= u64::from(*children);
        first = classes.len() as u32;
        let line = Some(ServiceCurve::linear(Rate(rate)));
        let real_time = line.filter(|_| level == shape.len());
        let curves = Curves { real_time, link_share: line, upper_limit: None };
        let below = parents.iter().flat_map(|parent| (0..*children).map(move |_| *parent));
        classes.extend(below.map(|parent| ClassSpec { parent, curves }));
        parents = (first..classes.len() as u32).map(|class| Some(ClassId(class))).collect();
    }
    (classes, first)
}

/// The packets of Markov sources in their stationary state, enough for all that are sent.
fn markov_packets(first: u32, sessions: u32) -> Result<Vec<Packet>, SimError> {
    const PACKETS_IN_A_BURST: u64 = 10;
    /// All sources are on at first; after this many mean on times the state is stationary.
    const FORGOTTEN_AFTER: u64 = 10;

    let peak = Rate(LINK.0 * 19 / 10 / u64::from(sessions));
    let on = peak.time_for(Bytes(PACKETS_IN_A_BURST * u64::from(LENGTH)));
    let plan = format!(
        "version = 1\nlink.rate = \"{}bit\"\nscheduler.kind = \"fifo\"\nclass.session = {{}}\n\
         [[source]]\nclass = \"session\"\nmodel = \"on-off\"\ncount = {sessions}\n\
         packet = \"{LENGTH}b\"\nrate = \"{}bit\"\n\
         on = {{ exponential = \"{on}\" }}\noff = {{ exponential = \"{on}\" }}\n",
        LINK.0,
        peak.0,
        on = format!("{}ns", on.0),
    );
    let plan = Plan::parse(&plan, "cost", ".".as_ref()).expect("this plan is valid");
    let mut arrivals = Feed::from_source(&plan, 1, SourceId(0))?.expect("it is not TCP");
    let begin = Nanos(on.0 * FORGOTTEN_AFTER);
    let mut packets = Vec::new();
    while let (Some(arrival), true) =
        (arrivals.next_arrival()?, packets.len() < 2 * (WARM_UP + STRETCHES * STRETCH))
    {
        if arrival.time >= begin {
            packets.push(packet(first + arrival.flow.0, arrival.time));
        }
    }
    Ok(packets)
}

fn packet(class: u32, arrival: Nanos) -> Packet {
    Packet { class: ClassId(class), length: LENGTH, arrival, ..Packet::default() }
}

/// A scheduler, its link and what comes to it.
struct Port<'a> {
    scheduler: Hfsc,
    link: Link,
    coming: std::slice::Iter<'a, Packet>,
    /// Whether a class that sends a packet gets another.
    refilled: bool,
}

impl Port<'_> {
    fn send(&mut self, packets: usize) {
        let drops = &mut |_: Packet, _: DropReason| {};
        let mut now = self.link.free_at();
        for _ in 0..packets {
            loop {
                while let Some(next) = self.coming.as_slice().first()
                    && next.arrival <= now
                {
                    self.scheduler.enqueue(now, *next, drops);
                    self.coming.next();
                }
                if let Some(sent) = black_box(self.scheduler.dequeue(now, drops)) {
                    now = self.link.transmit(now, sent.packet.length);
                    if self.refilled {
                        let next = Packet { arrival: now, ..sent.packet };
                        self.scheduler.enqueue(now, next, drops);
                    }
                    break;
                }
                let Some(next) = self.coming.as_slice().first() else { return };
                now = next.arrival;
            }
        }
    }
}

/// Cost by sessions at one level, and by levels with 1000 sessions.
fn figure(costs: &[Cost]) -> String {
    let of_thousand = IN_LEVELS.map(|(_, shape)| shape).into_iter().chain([THOUSAND]);
    let of_thousand: Vec<Shape> = of_thousand.collect();
    let all = costs.iter().flat_map(|cost| cost.shapes.iter().map(|(shape, _)| cost.nanos(shape)));
    let highest = all.fold(0.0, f64::max);
    let panel = |title: &str, label: &str, x: &dyn Fn(Shape) -> Option<u32>| {
        let line = |(at, cost): (usize, &Cost)| {
            let shown = cost.shapes.iter().filter_map(|(shape, _)| Some((x(shape)?, *shape)));
            let points = shown.map(|(x, shape)| (f64::from(x), cost.nanos(shape) * 1e-9));
            series(cost.traffic.name(), Mark::Line, Style::new(at), points)
        };
        let y = within((0.0, highest * 1.1e-9), Axis::linear("", Unit::Time));
        chart(title, Axis::linear(label, Unit::Count), y, costs.iter().enumerate().map(line))
    };
    let sessions = |shape: Shape| (shape.len() == 1).then(|| shape[0]);
    let levels = |shape: Shape| of_thousand.contains(&shape).then_some(shape.len() as u32);
    let panels =
        [panel("One level", "Sessions", &sessions), panel("1000 sessions", "Levels", &levels)];
    chart::panels("One packet in and one out", &panels, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hierarchy_shares_the_link_at_every_level() {
        let (classes, first) = hierarchy(&[10, 10, 10]);
        assert_eq!((classes.len(), first), (1110, 110));
        assert_eq!(classes[9].parent, None);
        assert_eq!(classes[10].parent, Some(ClassId(0)));
        assert_eq!(classes[1109].parent, Some(ClassId(109)));
        let rate = |class: usize| classes[class].curves.link_share.unwrap().m2();
        assert_eq!([rate(0), rate(10), rate(110)], [100_000_000, 10_000_000, 1_000_000].map(Rate));
        assert!(classes[109].curves.real_time.is_none() && classes[110].curves.real_time.is_some());
    }

    #[test]
    fn markov_sources_send_at_095_of_their_rate() {
        for sessions in [1, 10, 1000] {
            let packets = markov_packets(0, sessions).unwrap();
            let time = packets[packets.len() - 1].arrival - packets[0].arrival;
            let load = packets.len() as f64 * 8e3 / time.as_secs_f64() / LINK.0 as f64;
            // 40000 packets in bursts of 10: the number of bursts alone varies by 1/63.
            assert!((load - 0.95).abs() < 0.06, "{sessions}: {load}");
            assert!(packets.is_sorted_by_key(|packet| packet.arrival));
        }
    }

    #[test]
    fn there_is_something_to_send_to_the_end() {
        const SENT: usize = WARM_UP + STRETCHES * STRETCH;
        for traffic in TRAFFIC {
            let load = Load::new(HUNDRED, traffic).unwrap();
            let mut port = load.port();
            port.send(SENT);
            let time = port.link.free_at().saturating_sub(load.packets[0].arrival);
            let least = LINK.time_for(Bytes(SENT as u64 * u64::from(LENGTH)));
            let queued = port.scheduler.backlog().packets;
            match traffic {
                Traffic::Markov => {
                    assert!(time > least && time.0 < least.0 * 5 / 4, "{time} for {least}");
                    assert_eq!(queued + SENT + port.coming.len(), load.packets.len());
                }
                Traffic::Backlogged => assert_eq!((time, queued), (least, 200)),
            }
        }
    }
}
