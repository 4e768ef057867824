//! The least upper delay bound of a first-in, first-out tandem (Lenzini, Mingozzi, Stea 2008, "A
//! methodology for computing end-to-end delay bounds in FIFO-multiplexing tandems"; Bisti, Lenzini,
//! Mingozzi, Stea 2012, "Numerical analysis of worst-case end-to-end delay bounds in FIFO tandem
//! networks").
//!
//! A tandem is nested if the paths of any two flows are disjoint or one contains the other. From
//! the inside out, each cross flow leaves a service curve with a free theta
//! ([`fifo`](super::fifo)), and convolution joins servers in a row. In the end the flow of interest
//! has a service curve with one parameter for each cross flow. The bound is the least delay over
//! all values of these parameters.
//!
//! The curves are pseudo-affine: a delay D and stages `sigma + rho t`. A cross flow of the curve
//! `b + r t`, with theta = D + u, leaves (2008, Theorem 3.1, with u for the distance of the curves
//! and s)
//!
//! ```text
//! D + u, and sigma + rho u - b, rho - r    for u >= (b - sigma) / rho over all stages
//! ```
//!
//! All of these are linear in the parameters u. So is the delay of the flow of interest, the least
//! h with `sigma + rho h >= b` over all stages. One linear programme finds them all. It works in
//! floating-point numbers and with the lines of arrival curves that count in the long run. Its
//! result needs no proof, because any theta gives a service curve. The thetas found are rounded to
//! nanoseconds, and the delay for them is computed from the exact curves, in fractions.
//!
//! Other tandems are made nested: of two flows that overlap, one is cut and counts as two flows
//! from there on. The second part has the arrival curve that is known for it at the cut. Cuts at
//! every server give separated flow analysis.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use num_traits::ToPrimitive;

use super::Tandem;
use super::fifo::{Fifo, Stages, long_run, residual};
use super::programme::{Programme, Row, Solver};
use crate::admit::arrival_curve;
use crate::curve::{Curve, Exact, ceil_nanos, exact_nanos};
use crate::units::Nanos;

/// Where flows that overlap are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cuts {
    /// The one that began first, where the other joins.
    Earlier,
    /// The one that began last, where the other leaves.
    Later,
    /// All, at every server.
    Everywhere,
}

/// The lesser delay of both ways to cut flows that overlap, if any do.
pub(super) fn least(fifo: &Fifo, solver: &dyn Solver) -> Option<Nanos> {
    let of = |cuts| delay(fifo, cuts, solver);
    let cut = nested_paths(&fifo.tandem, Cuts::Earlier);
    let is_nested =
        cut.iter().map(|(_, flows)| flows.len()).sum::<usize>() == fifo.tandem.flows.len();
    if is_nested {
        of(Cuts::Earlier)
    } else {
        [Cuts::Earlier, Cuts::Later].into_iter().filter_map(of).min()
    }
}

/// The delay over the path, with flows cut where they overlap; `None` where more comes than is
/// served.
pub(super) fn delay(fifo: &Fifo, cuts: Cuts, solver: &dyn Solver) -> Option<Nanos> {
    let Fifo { tandem, apart, .. } = fifo;
    let nested = NestedTandem::new(tandem, cuts)?;
    let mut thetas = nested.best(solver)?.into_iter();
    let served = nested.served(&nested.whole, &mut thetas);
    let distance =
        tandem.longest(&nested.arrival, |arrival| Curve::horizontal_distance(arrival, &served))?;
    Some(ceil_nanos(&distance)?.saturating_add(*apart))
}

/// A nested tandem.
struct NestedTandem {
    /// The service curve of each server for all its traffic.
    serves: Vec<Curve>,
    /// The traffic that passes all servers: the flow of interest, and flows with the same path.
    arrival: Curve,
    /// The nested cross flows.
    whole: Inside,
}

/// Servers in a row, and cross flows inside, from left to right.
struct Inside {
    servers: Range<usize>,
    cross: Vec<Cross>,
}

/// Flows that pass the same servers.
struct Cross {
    arrival: Curve,
    inside: Inside,
}

impl NestedTandem {
    fn new(tandem: &Tandem, cuts: Cuts) -> Option<NestedTandem> {
        let servers = 0..tandem.servers.len();
        let serves: Option<Vec<_>> = servers.clone().map(|server| tandem.serves(server)).collect();
        let mut cross = nested_paths(tandem, cuts);
        let whole = cross.iter().position(|(path, _)| *path == servers)?;
        let arrival = arrival_curve(&tandem.comes(&cross.swap_remove(whole).1, 0));
        // Those that begin first come first, and of these the longest, which hold the others.
        cross.sort_by_key(|(path, _)| (path.start, usize::MAX - path.end));
        let mut cross = cross.into_iter().peekable();
        let mut next_inside = |within: &Range<usize>| {
            let (path, flows) = cross.next_if(|(path, _)| path.end <= within.end)?;
            let comes = arrival_curve(&tandem.comes(&flows, path.start));
            Some((path, comes))
        };
        let whole = inside(servers, &mut next_inside);
        Some(NestedTandem { serves: serves?, arrival, whole })
    }

    /// The theta of all cross flows that make the delay the least, those inside first.
    fn best(&self, solver: &dyn Solver) -> Option<Vec<Nanos>> {
        let mut search = Search::new(self)?;
        let served = search.served(self, &self.whole)?;
        let (burst, rate) = long_run(&self.arrival);
        let burst = search.amount(burst.to_f64()?);
        let last = search.variables;
        search.variables += 1;
        for (sigma, rho) in &served.stages {
            if *rho < rate {
                return None;
            }
            // sigma + rho h >= burst
            search.at_least(&sigma.plus(last, search.rate(rho)?), burst);
        }
        let cost = served.delay.plus(last, 1.0);
        let mut costs = vec![0.0; search.variables];
        cost.terms.iter().for_each(|(variable, factor)| costs[*variable] += factor);
        let found = solver.minimise(&Programme { costs, rows: search.rows })?;
        // The conversion saturates, and whatever theta is, the curve holds.
        let nanos = |theta: &Expression| Nanos((theta.value(&found) * search.time + 0.5) as u64);
        Some(search.thetas.iter().map(nanos).collect())
    }

    /// The service of the flows that pass all of these servers.
    fn served(&self, inside: &Inside, thetas: &mut impl Iterator<Item = Nanos>) -> Curve {
        let mut served: Vec<Curve> = Vec::new();
        let mut at = inside.servers.start;
        for cross in &inside.cross {
            served.extend(self.serves[at..cross.inside.servers.start].iter().cloned());
            at = cross.inside.servers.end;
            let here = self.served(&cross.inside, thetas);
            let theta = exact_nanos(thetas.next().unwrap_or_default());
            served.push(residual(&here, &cross.arrival, &theta));
        }
        served.extend(self.serves[at..inside.servers.end].iter().cloned());
        served.into_iter().reduce(|all, one| all.convolve(&one)).unwrap_or_else(Curve::zero)
    }
}

/// Parts of flows' paths, any two either disjoint or nested, each with the flows that pass it.
fn nested_paths(tandem: &Tandem, cuts: Cuts) -> Vec<(Range<usize>, Vec<usize>)> {
    let all = 0..tandem.servers.len();
    let mut parts: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    for (number, flow) in tandem.flows.iter().enumerate() {
        if cuts == Cuts::Everywhere && (flow.path != all || number > 0) {
            flow.path.clone().for_each(|server| add(&mut parts, server..server + 1, &[number]))
        } else {
            add(&mut parts, flow.path.clone(), &[number])
        }
    }
    while let Some((earlier, later)) = overlapping(&parts) {
        let (cut, at) = match cuts {
            Cuts::Earlier => (earlier, parts[later].0.start),
            _ => (later, parts[earlier].0.end),
        };
        let (path, flows) = parts.remove(cut);
        add(&mut parts, path.start..at, &flows);
        add(&mut parts, at..path.end, &flows);
    }
    parts
}

/// Flows pass a part as well.
fn add(parts: &mut Vec<(Range<usize>, Vec<usize>)>, path: Range<usize>, flows: &[usize]) {
    match parts.iter_mut().find(|(known, _)| *known == path) {
        Some((_, of)) => of.extend(flows),
        None => parts.push((path, flows.to_vec())),
    }
}

/// Two parts that overlap, the one that begins first first.
fn overlapping(parts: &[(Range<usize>, Vec<usize>)]) -> Option<(usize, usize)> {
    let overlap =
        |a: &Range<usize>, b: &Range<usize>| a.start < b.start && b.start < a.end && a.end < b.end;
    let later = |(earlier, (a, _)): (usize, &(Range<usize>, Vec<usize>))| {
        Some((earlier, parts.iter().position(|(b, _)| overlap(a, b))?))
    };
    parts.iter().enumerate().find_map(later)
}

/// The servers of a cross flow, and its arrival curve.
type Coming = (Range<usize>, Curve);

/// The cross flows inside, those inside these first.
fn inside(servers: Range<usize>, next: &mut dyn FnMut(&Range<usize>) -> Option<Coming>) -> Inside {
    let mut cross = Vec::new();
    while let Some((path, arrival)) = next(&servers) {
        cross.push(Cross { arrival, inside: inside(path, next) });
    }
    Inside { servers, cross }
}

/// A linear expression: a constant and factors of variables.
#[derive(Clone, Debug, Default)]
struct Expression {
    constant: f64,
    terms: Vec<(usize, f64)>,
}

impl Expression {
    fn plus(&self, variable: usize, factor: f64) -> Expression {
        let mut sum = self.clone();
        match sum.terms.iter_mut().find(|term| term.0 == variable) {
            Some(term) => term.1 += factor,
            None => sum.terms.push((variable, factor)),
        }
        sum
    }

    fn value(&self, of: &[f64]) -> f64 {
        self.terms
            .iter()
            .fold(self.constant, |sum, (variable, factor)| sum + factor * of[*variable])
    }

    fn add(&self, other: &Expression) -> Expression {
        let sum = other.terms.iter().fold(self.clone(), |sum, term| sum.plus(term.0, term.1));
        Expression { constant: self.constant + other.constant, ..sum }
    }
}

/// A pseudo-affine curve whose delay and bursts are linear in the parameters.
#[derive(Clone, Debug, Default)]
struct Affine {
    delay: Expression,
    /// The rates are exact: of a link that is full, a rounded one would be too little.
    stages: Vec<(Expression, Exact)>,
}

/// The linear programme in the making, in units in which numbers are neither large nor small.
struct Search {
    /// In nanoseconds.
    time: f64,
    /// In bytes per nanosecond.
    fastest: f64,
    variables: usize,
    rows: Vec<Row>,
    /// Of each cross flow, those inside first.
    thetas: Vec<Expression>,
}

impl Search {
    fn new(nested: &NestedTandem) -> Option<Search> {
        let float = |x: &Exact| x.to_f64();
        let rates: Option<Vec<f64>> =
            nested.serves.iter().map(|curve| float(curve.final_slope())).collect();
        let fastest = rates?.into_iter().fold(0.0, f64::max);
        let burst = float(&long_run(&nested.arrival).0)?;
        if fastest <= 0.0 {
            return None;
        }
        let time = (burst / fastest).max(1.0);
        Some(Search { time, fastest, variables: 0, rows: Vec::new(), thetas: Vec::new() })
    }

    fn rate(&self, bytes_per_nano: &Exact) -> Option<f64> {
        Some(bytes_per_nano.to_f64()? / self.fastest)
    }

    fn amount(&self, bytes: f64) -> f64 {
        bytes / (self.fastest * self.time)
    }

    fn at_least(&mut self, sum: &Expression, least: f64) {
        let terms = sum.terms.iter().filter(|term| term.1 != 0.0).copied().collect();
        self.rows.push(Row { terms, at_least: least - sum.constant });
    }

    /// The service of the flows that pass all of these servers.
    fn served(&mut self, nested: &NestedTandem, inside: &Inside) -> Option<Affine> {
        let mut served = Affine::default();
        let mut at = inside.servers.start;
        let join = |served: &mut Affine, one: Affine| {
            served.delay = served.delay.add(&one.delay);
            served.stages.extend(one.stages);
        };
        for cross in &inside.cross {
            for server in at..cross.inside.servers.start {
                join(&mut served, self.server(&nested.serves[server])?);
            }
            at = cross.inside.servers.end;
            let here = self.served(nested, &cross.inside)?;
            join(&mut served, self.left(here, &cross.arrival)?);
        }
        for server in at..inside.servers.end {
            join(&mut served, self.server(&nested.serves[server])?);
        }
        Some(served)
    }

    fn server(&self, curve: &Curve) -> Option<Affine> {
        let Stages { delay, stages } = Stages::from_curve(curve)?;
        let constant = |constant: f64| Expression { constant, terms: Vec::new() };
        let stage = |(sigma, rho): &(Exact, Exact)| {
            Some((constant(self.amount(sigma.to_f64()?)), rho.clone()))
        };
        let stages = stages.iter().map(stage).collect::<Option<_>>()?;
        Some(Affine { delay: constant(delay.to_f64()? / self.time), stages })
    }

    /// The service that a cross flow leaves.
    fn left(&mut self, service: Affine, cross: &Curve) -> Option<Affine> {
        let (burst, rate) = long_run(cross);
        let burst = self.amount(burst.to_f64()?);
        let u = self.variables;
        self.variables += 1;
        let mut stages = Vec::new();
        for (sigma, rho) in service.stages {
            if rho <= rate {
                return None;
            }
            let mut after = sigma.plus(u, self.rate(&rho)?);
            // rho u >= burst - sigma
            self.at_least(&after, burst);
            after.constant -= burst;
            stages.push((after, rho - &rate));
        }
        let delay = service.delay.plus(u, 1.0);
        self.thetas.push(delay.clone());
        Some(Affine { delay, stages })
    }
}
