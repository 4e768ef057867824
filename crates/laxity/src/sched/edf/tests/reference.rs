//! The ways to assign deadlines from their definitions: all history, exact numbers, one rounding.

use std::vec::Vec;

use num_traits::Zero;

use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_nanos};
use crate::sched::edf::{Line, TwoLines};
use crate::units::Nanos;

/// A rule of Chakraborty, Gries and Thiele (2002) and all the packets it has been applied to.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    rule: Rule,
    /// The curve that the rule is about.
    curve: Curve,
    history: Vec<Past>,
}

/// Where a deadline comes from.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// Algorithm 1 on a curve.
    Exact(Curve),
    /// Section 4.1, and 4.2 where the line has an offset.
    Line(Line),
    /// Algorithm 2.
    TwoLines(TwoLines),
    /// Algorithm 3, with the demand of earlier packets that the module `two_line_fast` states.
    TwoLineFast(TwoLines),
    /// Algorithm 3 as it is printed.
    TwoLineFastAsPrinted(TwoLines),
}

/// A packet that has its deadline.
#[derive(Clone, Debug)]
struct Past {
    /// r_i.
    arrival: Exact,
    /// w_i.
    length: Exact,
    /// The absolute deadline, not rounded; `None` when it never comes.
    deadline: Option<Exact>,
}

impl Reference {
    pub(super) fn new(rule: Rule) -> Self {
        let curve = match &rule {
            Rule::Exact(curve) => curve.clone(),
            Rule::Line(line) => line.curve(),
            Rule::TwoLines(lines)
            | Rule::TwoLineFast(lines)
            | Rule::TwoLineFastAsPrinted(lines) => lines.curve(),
        };
        Reference { rule, curve, history: Vec::new() }
    }

    pub(super) fn reset(&mut self) {
        self.history.clear();
    }

    /// The deadline rounded up; [`Nanos::MAX`] when it never comes.
    pub(super) fn assign(&mut self, arrival: Nanos, length: u32) -> Nanos {
        let (arrival, length) = (exact_nanos(arrival), exact(length.into()));
        let deadline = match &self.rule {
            Rule::Exact(_) => self.exact(&arrival, &length),
            Rule::Line(line) => self.line(line, &arrival, &length),
            Rule::TwoLines(lines) => self.two_lines(lines, &arrival, &length),
            Rule::TwoLineFast(_) => self.two_line_fast(&arrival, &length),
            Rule::TwoLineFastAsPrinted(lines) => self.as_printed(lines, &arrival, &length),
        };
        let rounded = deadline.as_ref().and_then(ceil_nanos).unwrap_or(Nanos::MAX);
        self.history.push(Past { arrival, length, deadline });
        rounded
    }

    /// `D_n = max over i <= n of ( r_i + E^-1(w_i + ... + w_n) )`.
    fn exact(&self, arrival: &Exact, length: &Exact) -> Option<Exact> {
        let mut deadline = arrival + self.curve.lower_pseudo_inverse(length)?;
        let mut work = length.clone();
        for past in self.history.iter().rev() {
            work += &past.length;
            deadline = deadline.max(&past.arrival + self.curve.lower_pseudo_inverse(&work)?);
        }
        Some(deadline)
    }

    /// `D_n = w_n/gamma + max(r_n + delta, D_{n-1})`.
    fn line(&self, line: &Line, arrival: &Exact, length: &Exact) -> Option<Exact> {
        let slope = bytes_per_nano(line.rate);
        if slope.is_zero() {
            return None;
        }
        let earliest = arrival + exact_nanos(line.offset);
        let start = match self.history.last() {
            Some(previous) => earliest.max(previous.deadline.clone()?),
            None => earliest,
        };
        Some(start + length / slope)
    }

    /// Algorithm 2 with the sets S and k as its comments define them: S holds the packets whose
    /// point on the demand curve of the n packets so far lies at p or before, k is the one of the
    /// others whose point is nearest to E. The printed loop goes over S only, which leaves out what
    /// k was found for, and never puts a packet whose own deadline exceeds p into the choice of k;
    /// here k counts, and every packet outside S may be k.
    fn two_lines(&self, lines: &TwoLines, arrival: &Exact, length: &Exact) -> Option<Exact> {
        let mut least = self.curve.lower_pseudo_inverse(length)?;
        let Some(last) = self.history.last() else { return Some(arrival + least) };
        let last_deadline = last.deadline.as_ref()?;
        let p = corner(lines);
        let (mut near, mut k) = (Vec::new(), None::<(Exact, &Past, Exact)>);
        let mut work = Exact::zero();
        for past in self.history.iter().rev() {
            work += &past.length;
            let span = last_deadline - &past.arrival;
            if p.as_ref().is_none_or(|p| span <= *p) {
                near.push((past, work.clone()));
            } else {
                let distance = self.curve.value(&span) - &work;
                if k.as_ref().is_none_or(|(nearest, ..)| distance < *nearest) {
                    k = Some((distance, past, work.clone()));
                }
            }
        }
        for (past, work) in near.into_iter().chain(k.map(|(_, past, work)| (past, work))) {
            least = least.max(
                self.curve.lower_pseudo_inverse(&(work + length))? - (arrival - &past.arrival),
            );
        }
        Some(arrival + least)
    }

    /// `D' = max( r' + E^-1(w), r + E^-1( E(D - r) + w ) )`, where D is rounded as it was assigned.
    fn two_line_fast(&self, arrival: &Exact, length: &Exact) -> Option<Exact> {
        let alone = arrival + self.curve.lower_pseudo_inverse(length)?;
        let Some(previous) = self.history.last() else { return Some(alone) };
        let demand = self.curve.value(&(previous.deadline.as_ref()?.ceil() - &previous.arrival));
        Some(alone.max(&previous.arrival + self.curve.lower_pseudo_inverse(&(demand + length))?))
    }

    /// Algorithm 3 line by line.
    fn as_printed(&self, lines: &TwoLines, arrival: &Exact, length: &Exact) -> Option<Exact> {
        let (r, s) = (bytes_per_nano(lines.first), bytes_per_nano(lines.second.rate));
        let p = corner(lines)?;
        let Some(previous) = self.history.last() else {
            return Some(arrival + self.curve.lower_pseudo_inverse(length)?);
        };
        let both = &previous.length + length;
        let relative = if both >= &r * &p {
            let behind = both / &s + (&previous.arrival - arrival) + &p - &p * &r / &s;
            if *length < &r * &p { behind.max(length / &r) } else { behind }
        } else {
            length / r + (previous.deadline.as_ref()? - arrival).max(Exact::zero())
        };
        Some(arrival + relative)
    }
}

/// p, where the two lines cross; `None` when they are parallel.
fn corner(lines: &TwoLines) -> Option<Exact> {
    let (r, s) = (bytes_per_nano(lines.first), bytes_per_nano(lines.second.rate));
    let offset = exact_nanos(lines.second.offset);
    (s > r).then(|| &s * offset / (&s - r))
}
