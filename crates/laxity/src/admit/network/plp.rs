//! Delay bounds of first-in, first-out tandems by a linear programme of polynomial size (Bouillard
//! 2022, "Trade-off between accuracy and tractability of network calculus in FIFO networks",
//! section 4).
//!
//! The programme is about one moment, at which the last bit of a packet of the flow of interest
//! leaves the last server, and about dates from which that follows. For a date t at which something
//! leaves a server there are two dates at its input:
//!
//! - that at which what leaves at t came: the same amount of every flow, since the server is
//!   first-in, first-out;
//! - one from which on the server has served so much that `out(t) >= in(s) + S(t - s)`, its
//!   service curve.
//!
//! With two for each the number of dates doubles at every server, and the bound is (nearly) the
//! worst case (Bouillard, Stea 2015). Here each server has one date of the second kind, for the
//! earliest date at its output, and one of the first for each. What is lost comes back as
//! constraints that hold anyway: no packet takes longer at a server than the delay found for it
//! (TFA), nor longer over the path than any bound.
//!
//! Variables are how long before that moment each date is, and of how much that each flow had sent
//! up to a date less is there than in the end. What came by the date of the first kind is what had
//! left, so that amounts are the same at every server of a flow's path and have no index of it.
//!
//! Packets are whole, and a date is one in a row of packets: after the packet that the moment is
//! about, and just before some packet at all other dates. What leaves a server just before a time t
//! goes back to the first packet r that does not: the date at its input is that at which r came, or
//! t itself if r came later. If r was there, it ends a period in which so much was served, its own
//! bytes included, which are no more than the longest packet, by which [curves are
//! lower](Tandem::serves); if not, nothing waited, and the second date is t, too.
//!
//! Where it is known when the first byte of a packet leaves the last server, the moment is that,
//! and [the rest of the packet](super::last_packet) neither counts before it nor waits after it.
//!
//! The solver's multipliers are proved in fractions ([`programme`](super::programme)).

use alloc::vec;
use alloc::vec::Vec;

use num_traits::{One, ToPrimitive, Zero};

use super::Tandem;
use super::fifo::{Fifo, long_run};
use super::last_packet::LastPacket;
use super::programme::{Maximum, Solver};
use crate::admit::arrival_curve;
use crate::admit::path::ROUNDING;
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact_bytes, exact_nanos};
use crate::police::TokenBucket;
use crate::units::Nanos;

/// Programs of more variables take too long.
const TOO_MANY: usize = 200;

/// The delay over the path, if it is no more than `known`; `None` if more comes than is served, of
/// a server only the delay is known, or the programme is too large.
pub(super) fn delay(fifo: &Fifo, known: Nanos, solver: &dyn Solver) -> Option<Nanos> {
    if fifo.has_others {
        return None;
    }
    let tandem = fifo.tandem.by_paths();
    let mut programme = Dates::new(&tandem)?;
    programme.order();
    programme.delays(known);
    programme.arrivals();
    programme.services();
    let found = programme.maximum.bound(programme.age(0, 0)?, solver);
    ceil_nanos(&(found + programme.duration))
}

/// The program under construction. Dates are numbered from the end. Number 0 is the moment itself
/// and, at the input of each server, the date at which its bit arrived there. Number `servers - j`
/// is the date for the service curve of server j and, at the inputs of servers before j, the dates
/// at which its traffic arrived there.
struct Dates<'a> {
    tandem: &'a Tandem,
    serves: Vec<Curve>,
    /// The bytes of the last packet that have not left at the moment.
    rest: Exact,
    /// How long these take, in ns.
    duration: Exact,
    maximum: Maximum,
    /// How long before the end: of each server, for the dates 0 to `servers - j`.
    ages: Vec<Vec<usize>>,
    /// Of each flow, how much less at the dates 1 to `servers - (first server)`.
    amounts: Vec<Vec<usize>>,
}

/// A term of a constraint.
type Term = (usize, Exact);

impl<'a> Dates<'a> {
    fn new(tandem: &'a Tandem) -> Option<Dates<'a>> {
        let count = tandem.servers.len();
        let serves: Option<Vec<_>> = (0..count).map(|server| tandem.serves(server)).collect();
        let serves: Vec<_> = serves?.iter().map(Curve::greatest_convex_minorant).collect();
        let all: usize = count * (count + 3) / 2
            + tandem.flows.iter().map(|flow| count - flow.path.start).sum::<usize>();
        if all > TOO_MANY {
            return None;
        }

        // The greatest age of each date.
        let mut oldest: Vec<Vec<Exact>> = vec![Vec::new(); count];
        for server in (0..count).rev() {
            let later = oldest.get(server + 1).cloned().unwrap_or_else(|| [Exact::zero()].to_vec());
            let takes = exact_nanos(tandem.servers[server].delay);
            let here: Vec<usize> = (0..tandem.flows.len())
                .filter(|of| tandem.flows[*of].path.contains(&server))
                .collect();
            let busy = longest_busy(&arrival_curve(&tandem.comes(&here, server)), &serves[server])?;
            oldest[server] = later.iter().map(|age| age + &takes).collect();
            let earliest = later.last()? + busy;
            // Dates are in order.
            let earliest = oldest[server].iter().fold(earliest, |a, b| a.max(b.clone()));
            oldest[server].push(earliest);
        }
        let time = oldest[0][0].to_f64()?.max(1.0);
        let fastest = serves.iter().filter_map(|curve| curve.final_slope().to_f64());
        let fastest = fastest.fold(0.0, f64::max);
        let mut maximum = Maximum::default();
        let mut age = |oldest: &Exact| maximum.variable(oldest.clone(), time);
        let ages: Vec<Vec<usize>> =
            oldest.iter().map(|ages| ages.iter().map(&mut age).collect()).collect();
        let amounts = tandem.flows.iter().map(|flow| {
            let (burst, rate) = long_run(&arrival_curve(&flow.arrivals[0]));
            let most = |age: &Exact| &burst + &rate * age;
            let dates = oldest[flow.path.start][1..].iter();
            dates.map(|age| maximum.variable(most(age), time * fastest)).collect()
        });
        let amounts = amounts.collect();
        let (rest, duration) = match tandem.last_packet() {
            Some(LastPacket { rest, duration }) => (exact_bytes(rest), duration),
            None => (Exact::zero(), Exact::zero()),
        };
        Some(Dates { tandem, serves, rest, duration, maximum, ages, amounts })
    }

    fn age(&self, server: usize, date: usize) -> Option<usize> {
        self.ages.get(server)?.get(date).copied()
    }

    /// An age times a factor; nothing if it is that of the moment itself.
    fn aged(&self, server: usize, date: usize, factor: Exact) -> Option<Term> {
        Some((self.age(server, date)?, factor))
    }

    /// How much less of a flow there is at a date, times a factor.
    fn less(&self, flow: usize, date: usize, factor: Exact) -> Option<Term> {
        Some((*self.amounts[flow].get(date.checked_sub(1)?)?, factor))
    }

    /// Dates and amounts are in order, and nothing leaves before it came.
    fn order(&mut self) {
        for server in 0..self.ages.len() {
            for date in 0..self.ages[server].len() {
                let here = self.aged(server, date, -Exact::one());
                if let Some(after) = date.checked_sub(1) {
                    let later = self.aged(server, after, Exact::one());
                    self.maximum.at_most(here.clone().into_iter().chain(later), Exact::zero());
                }
                if let Some(left) = self.aged(server + 1, date, Exact::one()) {
                    self.maximum.at_most(here.into_iter().chain([left]), Exact::zero());
                }
            }
        }
        for flow in 0..self.amounts.len() {
            for date in 2..=self.amounts[flow].len() {
                let earlier = self.less(flow, date, -Exact::one());
                let later = self.less(flow, date - 1, Exact::one());
                self.maximum.at_most(earlier.into_iter().chain(later), Exact::zero());
            }
        }
    }

    /// No packet takes longer than is known.
    fn delays(&mut self, known: Nanos) {
        for server in 0..self.ages.len() {
            let takes = exact_nanos(self.tandem.servers[server].delay);
            for date in 0..self.ages[server].len() - 1 {
                let came = self.aged(server, date, Exact::one());
                let left = self.aged(server + 1, date, -Exact::one());
                let takes = if left.is_some() { takes.clone() } else { self.begun(takes.clone()) };
                self.maximum.at_most(came.into_iter().chain(left), takes);
            }
        }
        let whole = self.aged(0, 0, Exact::one());
        self.maximum.at_most(whole, self.begun(exact_nanos(known)));
    }

    /// By when the first byte of a packet has left that leaves by this time.
    fn begun(&self, left: Exact) -> Exact {
        if self.duration.is_zero() { left } else { left - &self.duration + exact_nanos(ROUNDING) }
    }

    /// Arrival curves of flows and groups, between any two dates.
    fn arrivals(&mut self) {
        let tandem = self.tandem;
        for (flow, of) in tandem.flows.iter().enumerate() {
            for (line, server) in of.arrivals[0].iter().map(|line| (*line, of.path.start)) {
                self.arrival(&[flow], server, line);
            }
        }
        for group in &tandem.groups {
            for line in &group.arrival {
                self.arrival(&group.flows, group.server, *line);
            }
        }
    }

    fn arrival(&mut self, flows: &[usize], server: usize, line: TokenBucket) {
        let rate = bytes_per_nano(line.rate);
        for earlier in 1..self.ages[server].len() {
            for later in 0..earlier {
                let amounts = flows.iter().flat_map(|&flow| {
                    let came = self.less(flow, earlier, Exact::one());
                    came.into_iter().chain(self.less(flow, later, -Exact::one()))
                });
                let ages = self.aged(server, earlier, -rate.clone());
                let ages = ages.into_iter().chain(self.aged(server, later, rate.clone()));
                let terms: Vec<_> = amounts.chain(ages).collect();
                let mut most = exact_bytes(line.bucket);
                if later == 0 && flows.contains(&0) {
                    most -= &self.rest;
                }
                self.maximum.at_most(terms, most);
            }
        }
    }

    /// Service curves of the servers.
    fn services(&mut self) {
        for server in 0..self.ages.len() {
            let earliest = self.ages[server].len() - 1;
            let passing = |of: &usize| self.tandem.flows[*of].path.contains(&server);
            let flows: Vec<_> = (0..self.tandem.flows.len()).filter(passing).collect();
            for piece in self.serves[server].clone().pieces() {
                // rho (t - s) - c <= what was served from s to t
                let owed = &piece.slope * &piece.start - &piece.value;
                let served = flows.iter().flat_map(|&flow| {
                    let came = self.less(flow, earliest, -Exact::one());
                    came.into_iter().chain(self.less(flow, earliest - 1, Exact::one()))
                });
                let ages = self.aged(server, earliest, piece.slope.clone());
                let left = self.aged(server + 1, earliest - 1, -piece.slope.clone());
                let terms: Vec<_> = served.chain(ages).chain(left).collect();
                self.maximum.at_most(terms, owed);
            }
        }
    }
}

/// The longest time for which more may have come than is served.
fn longest_busy(arrival: &Curve, service: &Curve) -> Option<Exact> {
    let (burst, rate) = long_run(arrival);
    let (behind, served) = long_run(service);
    (served > rate).then(|| (burst - behind) / (served - rate))
}
