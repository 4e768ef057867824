//! Share of refused demands with immediate and with non-immediate forwarding. The paper leaves
//! reservation to others; the literature measures the worth of spare delays by demands that come
//! one after another at random.
//!
//! A demand is refused if no choice of frames has room for it; others are held for good. The load
//! is the demand so far for the busiest link, refused or not. Below a full link demands are refused
//! only because the free frames do not fit them.

use laxity::admit::tdp::{Flow, Hop, Ledger, OutputId};
use laxity::units::Bytes;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::drawing::{chart, series};
use crate::experiment::Runs;
use laxity_report::chart::{self, Axis, Dash, Mark, Series, Style, Unit};
use laxity_sim::error::SimError;

/// Frames of a cycle, and their capacity on links of 100 Mbit/s (section IV.A).
const PERIOD: u32 = 60;
const CAPACITY: Bytes = Bytes(3125);
/// The paper's first scenario: 1020 bytes, with preamble and gap, forwarded three frames later.
const PACKET: Bytes = Bytes(1040);
const DELAY: u32 = 3;
/// Packets that a demand may ask for in a cycle.
const PACKETS: std::ops::RangeInclusive<u32> = 1..=12;

/// Spare delays: frames by which a node may forward packets of a flow later.
pub(super) const SPARES: [u32; 3] = [0, 1, 3];
/// Loads at which refusals are counted, in tenths of a link.
const LOADS: std::ops::RangeInclusive<u32> = 1..=15;

/// The networks.
const NETWORKS: [Network; 2] = [Network::Ring, Network::Mesh];

/// Where demands come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// Ten nodes in a ring with two chords; from one node to another on a shortest path.
    Ring,
    /// The paper's four routers, each linked to each; once or twice around three or four of them.
    Mesh,
}

/// Refusals in a network with a spare delay per hop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The network.
    pub network: Network,
    /// The spare delay, in frames.
    pub spare: u32,
    /// By load, from low to high.
    pub points: Vec<Point>,
}

/// Refusals up to a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// Demand for the busiest link, as a share of its capacity.
    pub load: f64,
    /// Shares of refused demands, by seed.
    pub refused: Vec<f64>,
}

impl Point {
    /// The seeds' mean.
    pub(super) fn mean(&self) -> f64 {
        self.refused.iter().sum::<f64>() / self.refused.len() as f64
    }

    /// The standard deviation between seeds; at least two are needed.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.refused.iter().map(|refused| (refused - mean).powi(2)).sum();
        (squares / (self.refused.len() as f64 - 1.0)).sqrt()
    }
}

/// Number of runs of [`measure`].
pub(super) fn runs(seeds: u64) -> u64 {
    seeds * (NETWORKS.len() * SPARES.len()) as u64
}

/// Measures all networks with all spare delays. The demands of a seed are the same for all spare
/// delays.
///
/// # Errors
/// None of its own.
pub(super) fn measure(runs: Runs<'_>) -> Result<Vec<Curve>, SimError> {
    let mut curves = Vec::new();
    for network in NETWORKS {
        for spare in SPARES {
            let seeds = runs.each(1..=runs.seeds, |seed| Ok(refused(network, spare, seed)))?;
            let point = |(at, tenths): (usize, u32)| Point {
                load: f64::from(tenths) / 10.0,
                refused: seeds.iter().map(|refused| refused[at]).collect(),
            };
            let points = LOADS.enumerate().map(point).collect();
            curves.push(Curve { network, spare, points });
        }
    }
    Ok(curves)
}

/// The share of demands that are refused until the load has reached each level.
fn refused(network: Network, spare: u32, seed: u64) -> Vec<f64> {
    let links = network.links();
    let mut ledger = Ledger::new(PERIOD, &vec![CAPACITY; links.len()]);
    let mut asked = vec![0; links.len()];
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut demands, mut refused) = (0, 0);
    let mut shares = Vec::new();
    for tenths in LOADS {
        let full = u64::from(PERIOD) * CAPACITY.0;
        while asked.iter().all(|asked| 10 * asked < u64::from(tenths) * full) {
            let flow = network.demand(&links, spare, &mut random);
            for hop in &flow.path {
                asked[hop.output.index()] += u64::from(flow.packets) * PACKET.0;
            }
            demands += 1;
            refused += u32::from(ledger.reserve(&flow).is_err());
        }
        shares.push(f64::from(refused) / f64::from(demands));
    }
    shares
}

impl Network {
    /// Its name in figures and tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Network::Ring => "ring of ten nodes with two chords",
            Network::Mesh => "loops in a mesh of four routers",
        }
    }

    /// Links in one direction each, from node to node; the place of each is its output's number.
    fn links(self) -> Vec<(u32, u32)> {
        let one_way: Vec<(u32, u32)> = match self {
            Network::Ring => {
                (0..10).map(|node| (node, (node + 1) % 10)).chain([(0, 5), (2, 7)]).collect()
            }
            Network::Mesh => {
                (0..4).flat_map(|one| (0..one).map(move |other| (other, one))).collect()
            }
        };
        one_way.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]).collect()
    }

    fn demand(self, links: &[(u32, u32)], spare: u32, random: &mut Pcg64Mcg) -> Flow {
        let nodes = match self {
            Network::Ring => {
                let from = random.random_range(0..10);
                let to = (from + random.random_range(1..10)) % 10;
                shortest(links, from, to)
            }
            Network::Mesh => {
                let mut routers = vec![0, 1, 2, 3];
                for place in 0..3 {
                    routers.swap(place, random.random_range(place..4));
                }
                routers.truncate(random.random_range(3..=4));
                let loops = random.random_range(1..=2);
                let hops = loops * routers.len();
                routers.iter().copied().cycle().take(hops + 1).collect()
            }
        };
        let output = |ends: &[u32]| {
            links.iter().position(|link| [link.0, link.1] == *ends).map(OutputId::from_index)
        };
        let outputs = nodes.windows(2).filter_map(output);
        let hop = |output| Hop { output, delay: DELAY, spare, propagation: 0 };
        let packets = random.random_range(PACKETS);
        Flow { path: outputs.map(hop).collect(), packets, packet: PACKET }
    }
}

/// The nodes on a shortest path, of several the one whose links are listed first.
fn shortest(links: &[(u32, u32)], from: u32, to: u32) -> Vec<u32> {
    let mut paths = vec![vec![from]];
    let mut at = 0;
    while at < paths.len() {
        let path = paths[at].clone();
        let last = path[path.len() - 1];
        if last == to {
            return path;
        }
        let onward = links.iter().filter(|link| link.0 == last).map(|link| link.1);
        let new: Vec<_> =
            onward.filter(|node| !paths.iter().any(|path| path.contains(node))).collect();
        paths.extend(new.into_iter().map(|node| [&path[..], &[node]].concat()));
        at += 1;
    }
    Vec::new()
}

/// Refusals by load, a panel per network, with the deviation between seeds.
pub(super) fn figure(curves: &[Curve]) -> String {
    let panel = |network: Network| {
        let of_network = curves.iter().filter(|curve| curve.network == network);
        let x = Axis::linear("Asked of the busiest link", Unit::Share);
        let y = Axis::linear("Demands refused", Unit::Share);
        let lines = of_network.enumerate().flat_map(|(at, curve)| drawn(at, curve));
        chart(network.name(), x, y, lines)
    };
    chart::panels("Refused demands, by spare forwarding delay", &NETWORKS.map(panel), 2)
}

fn drawn(at: usize, curve: &Curve) -> [Series; 3] {
    let line = |name: String, style, deviations: f64| {
        let at =
            |point: &Point| (point.load, (point.mean() + deviations * point.deviation()).max(0.0));
        series(name, Mark::Line, style, curve.points.iter().map(at))
    };
    let name = match curve.spare {
        0 => "immediate forwarding".to_owned(),
        1 => "up to a frame later".to_owned(),
        frames => format!("up to {frames} frames later"),
    };
    let deviation = |by| {
        let style = Style { faint: true, ..Style::new(at).dashed(Dash::Dotted) };
        line("deviation between seeds".to_owned(), style, by)
    };
    [line(name, Style::new(at), 0.0), deviation(-1.0), deviation(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const SEEDS: u64 = 12;

    /// How far the mean of such values may be from what it stands for, but for chance of about one
    /// in a thousand: three standard errors.
    fn noise(values: &[f64]) -> f64 {
        let point = Point { load: 0.0, refused: values.to_vec() };
        3.0 * point.deviation() / (values.len() as f64).sqrt()
    }

    #[test]
    fn more_is_refused_the_more_is_asked_and_less_if_packets_may_wait() {
        let done = AtomicU64::new(0);
        let step = || _ = done.fetch_add(1, Ordering::Relaxed);
        let curves = measure(Runs { seeds: SEEDS, duration: None, step: &step }).unwrap();
        assert_eq!(done.into_inner(), runs(SEEDS));
        assert_eq!(curves.len(), NETWORKS.len() * SPARES.len());
        for of_network in curves.chunks(SPARES.len()) {
            for Curve { points, .. } in of_network {
                assert!(points.iter().all(|point| point.refused.len() == SEEDS as usize));
                // A fifth of a link leaves enough to choose from.
                assert!(points[..2].iter().all(|point| point.mean() == 0.0));
                // The mean of few seeds may fall where hardly any demand was refused.
                let more = |pair: &[Point]| pair[0].mean() < pair[1].mean();
                assert!(points[6..].windows(2).all(more));
                assert!(points[..6].iter().all(|point| point.mean() < points[6].mean()));
            }
            let [immediate, one, three] = of_network else { panic!() };
            for later in [one, three] {
                let mut clearly = 0;
                for (now, later) in immediate.points.iter().zip(&later.points) {
                    let pairs = later.refused.iter().zip(&now.refused);
                    let more: Vec<f64> = pairs.map(|(later, now)| later - now).collect();
                    let mean = more.iter().sum::<f64>() / more.len() as f64;
                    assert!(mean <= noise(&more));
                    clearly += u32::from(mean < -noise(&more));
                }
                assert!(later.spare < 3 || clearly >= 5);
            }
        }
        let svg = figure(&curves);
        assert!(svg.starts_with("<svg") && !svg.contains("no data"));
        for name in [Network::Ring.name(), Network::Mesh.name(), "immediate forwarding"] {
            assert!(svg.contains(name));
        }
    }

    #[test]
    fn demands_go_shortest_ways_or_in_loops() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for network in NETWORKS {
            let links = network.links();
            let mut least = [[10; 10]; 10];
            for &(one, other) in &links {
                least[one as usize][other as usize] = 1;
            }
            for over in 0..10 {
                for one in 0..10 {
                    for other in 0..10 {
                        let detour = least[one][over] + least[over][other];
                        least[one][other] = least[one][other].min(detour);
                    }
                }
            }
            for _ in 0..500 {
                let flow = network.demand(&links, 2, &mut random);
                let ends: Vec<_> = flow.path.iter().map(|hop| links[hop.output.index()]).collect();
                assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0));
                let (from, to) = (ends[0].0, ends[ends.len() - 1].1);
                match network {
                    Network::Ring => {
                        assert_eq!(ends.len(), least[from as usize][to as usize]);
                    }
                    Network::Mesh => {
                        assert_eq!(from, to);
                        assert!([3, 4, 6, 8].contains(&ends.len()));
                    }
                }
                assert!(PACKETS.contains(&flow.packets));
            }
        }
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let point = Point { load: 1.0, refused: vec![0.1, 0.2, 0.6] };
        assert!((point.mean() - 0.3).abs() < 1e-12);
        assert!((point.deviation() - 0.07_f64.sqrt()).abs() < 1e-12);
    }
}
