//! How many demands are refused with immediate and with non-immediate forwarding: the paper leaves
//! reservation to others, but what a flow's choice of delays is worth is a question of the
//! literature on it, asked as there by demands that come one after another at random.
//!
//! A demand that no choice of frames has room for is refused; others are held for good. The load is
//! what was asked for so far, refused or not, of the link that most was asked of. Up to a full link
//! nothing is refused for want of capacity, but only because free frames do not lie as a flow needs
//! them.

use laxity::admit::tdp::{Flow, Hop, Ledger};
use laxity::units::Bytes;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::experiment::Step;
use laxity_report::chart::{self, Axis, Chart, Dash, Mark, Series, Style, Unit};

/// Frames of a cycle, and what each carries on links of 100 Mbit/s, as in the paper (section IV.A).
const PERIOD: u32 = 60;
const CAPACITY: Bytes = Bytes(3125);
/// The paper's first scenario: 1020 bytes, with preamble and gap, forwarded three frames later.
const PACKET: Bytes = Bytes(1040);
const DELAY: u32 = 3;
/// Packets that a demand may ask for in a cycle.
const PACKETS: std::ops::RangeInclusive<u32> = 1..=12;

/// By how many frames a node may forward packets of a flow later than immediately.
pub(super) const SPARES: [u32; 3] = [0, 1, 3];
/// The loads at which it is counted what was refused, in tenths of a link.
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

/// What was refused in a network, with so much spare delay a hop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The network.
    pub network: Network,
    /// The spare delay, in frames.
    pub spare: u32,
    /// By load, from low to high.
    pub points: Vec<Point>,
}

/// What was refused up to a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// What was asked of the busiest link, as a share of what it carries.
    pub load: f64,
    /// By seed, the share of demands that were refused.
    pub refused: Vec<f64>,
}

impl Point {
    /// The seeds' mean.
    pub(super) fn mean(&self) -> f64 {
        self.refused.iter().sum::<f64>() / self.refused.len() as f64
    }

    /// The standard deviation between seeds, of which there are two at least.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.refused.iter().map(|refused| (refused - mean).powi(2)).sum();
        (squares / (self.refused.len() as f64 - 1.0)).sqrt()
    }
}

/// How many runs [`measure`] makes.
pub(super) fn runs(seeds: u64) -> u64 {
    seeds * (NETWORKS.len() * SPARES.len()) as u64
}

/// All networks with all spare delays, with seeds from 1 up to this one. The demands of a seed are
/// the same whatever the spare delay.
pub(super) fn measure(seeds: u64, step: Step<'_>) -> Vec<Curve> {
    let mut curves = Vec::new();
    for network in NETWORKS {
        for spare in SPARES {
            let run = |seed| {
                let refused = refused(network, spare, seed);
                step();
                refused
            };
            let runs: Vec<Vec<f64>> = (1..=seeds).into_par_iter().map(run).collect();
            let point = |(at, tenths): (usize, u32)| Point {
                load: f64::from(tenths) / 10.0,
                refused: runs.iter().map(|refused| refused[at]).collect(),
            };
            let points = LOADS.enumerate().map(point).collect();
            curves.push(Curve { network, spare, points });
        }
    }
    curves
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
                asked[hop.output as usize] += u64::from(flow.packets) * PACKET.0;
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
        let output = |ends: &[u32]| links.iter().position(|link| [link.0, link.1] == *ends);
        let outputs = nodes.windows(2).filter_map(output);
        let hop = |output| Hop { output: output as u32, delay: DELAY, spare, propagation: 0 };
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

/// What is refused by load, a panel a network, with the deviation between seeds.
pub(super) fn figure(curves: &[Curve]) -> String {
    let panel = |network: Network| {
        let of_network = curves.iter().filter(|curve| curve.network == network);
        Chart {
            title: network.name().to_owned(),
            x: Axis::linear("Asked of the busiest link", Unit::Share),
            y: Axis::linear("Demands refused", Unit::Share),
            series: of_network.enumerate().flat_map(|(at, curve)| drawn(at, curve)).collect(),
            markers: Vec::new(),
        }
    };
    chart::panels("Refused demands, by spare forwarding delay", &NETWORKS.map(panel), 2)
}

fn drawn(at: usize, curve: &Curve) -> [Series; 3] {
    let series = |name: String, style, deviations: f64| {
        let at =
            |point: &Point| (point.load, (point.mean() + deviations * point.deviation()).max(0.0));
        Series { name, mark: Mark::Line, style, points: curve.points.iter().map(at).collect() }
    };
    let name = match curve.spare {
        0 => "immediate forwarding".to_owned(),
        1 => "up to a frame later".to_owned(),
        frames => format!("up to {frames} frames later"),
    };
    let deviation = |by| {
        let style = Style { faint: true, ..Style::new(at).dashed(Dash::Dotted) };
        series("deviation between seeds".to_owned(), style, by)
    };
    [series(name, Style::new(at), 0.0), deviation(-1.0), deviation(1.0)]
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
        let curves = measure(SEEDS, &|| {
            done.fetch_add(1, Ordering::Relaxed);
        });
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
                let ends: Vec<_> = flow.path.iter().map(|hop| links[hop.output as usize]).collect();
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
