//! Linear programmes in fractions, by the simplex algorithm as it is taught, and with it the
//! programme of polynomial size for two servers, constraint by constraint.

use std::vec;
use std::vec::Vec;

use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::collection::vec as many;
use proptest::prelude::*;

use super::*;
use crate::admit::Service;
use crate::admit::network::plp;
use crate::admit::network::programme::Maximum;
use crate::curve::{Exact, bytes_per_nano, exact, exact_bytes, exact_nanos};

/// `terms · x <= bound`, where the bound is not negative.
#[derive(Clone, Debug)]
pub(super) struct AtMost {
    pub terms: Vec<(usize, Exact)>,
    pub bound: Exact,
}

/// Greatest value of variable `of`, where no variable is negative; `None` if it has no bound.
///
/// Simplex method with a slack variable for each constraint. The first variable that helps enters
/// the basis (Bland 1977), so the search ends.
pub(super) fn greatest(variables: usize, of: usize, rows: &[AtMost]) -> Option<Exact> {
    let width = variables + rows.len();
    let mut tableau: Vec<Vec<Exact>> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        assert!(!row.bound.is_negative(), "zero is no solution");
        let mut line = vec![Exact::zero(); width + 1];
        row.terms.iter().for_each(|(variable, factor)| line[*variable] += factor);
        line[variables + number] = Exact::one();
        line[width] = row.bound.clone();
        tableau.push(line);
    }
    let mut gains = vec![Exact::zero(); width + 1];
    gains[of] = Exact::one();
    let mut basis: Vec<usize> = (variables..width).collect();
    while let Some(enters) = (0..width).find(|at| gains[*at].is_positive()) {
        let rising = (0..rows.len()).filter(|row| tableau[*row][enters].is_positive());
        let ratio = |row: &usize| (&tableau[*row][width] / &tableau[*row][enters], basis[*row]);
        let leaves = rising.min_by_key(ratio)?;
        let pivot = tableau[leaves][enters].clone();
        tableau[leaves].iter_mut().for_each(|entry| *entry /= &pivot);
        let line = tableau[leaves].clone();
        let clear = |other: &mut Vec<Exact>| {
            let factor = other[enters].clone();
            if !factor.is_zero() {
                other.iter_mut().zip(&line).for_each(|(entry, of)| *entry -= &factor * of);
            }
        };
        let others = tableau.iter_mut().enumerate().filter(|(row, _)| *row != leaves);
        others.for_each(|(_, other)| clear(other));
        clear(&mut gains);
        basis[leaves] = enters;
    }
    Some(-gains[width].clone())
}

/// Says something, whatever it is asked.
struct Guesses(Vec<f64>);

impl Solver for Guesses {
    fn minimise(&self, programme: &Programme) -> Option<Vec<f64>> {
        Some((0..programme.costs.len()).map(|at| self.0[at % self.0.len()]).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A proved maximum is never below the greatest value, whatever the solver says, and with a
    /// good one it is that value, but for what floating-point numbers err.
    #[test]
    fn a_maximum_is_proved_by_anybody_and_found_by_a_solver(
        drawn in many((many(-5..10i64, 4), 0..100u64), 1..8),
        upper in many(1..200u64, 4),
        guesses in many(0.0..3.0f64, 1..9),
    ) {
        let mut maximum = Maximum::default();
        let mut rows = Vec::new();
        for (variable, upper) in upper.iter().enumerate() {
            maximum.variable(exact(*upper), 1.0);
            maximum.at_most([(variable, Exact::one())], exact(*upper));
            rows.push(AtMost { terms: vec![(variable, Exact::one())], bound: exact(*upper) });
        }
        for (factors, bound) in &drawn {
            let whole = |factor: &i64| if factor.is_negative() { -exact(factor.unsigned_abs()) } else { exact(factor.unsigned_abs()) };
            let terms: Vec<_> = factors.iter().map(whole).enumerate().collect();
            maximum.at_most(terms.clone(), exact(*bound));
            rows.push(AtMost { terms, bound: exact(*bound) });
        }
        let greatest = greatest(4, 0, &rows).unwrap();
        prop_assert!(maximum.bound(0, &Guesses(guesses)) >= greatest);
        let found = maximum.bound(0, &Simplex);
        prop_assert!(found >= greatest);
        let [found, greatest] = [found, greatest].map(|x| x.to_f64().unwrap());
        prop_assert!(found - greatest <= 1e-6 * (1.0 + greatest), "{found} {greatest}");
    }
}

/// Two servers. Each has a rate, a latency and a longest time that a packet takes.
#[derive(Clone, Copy, Debug)]
struct Two {
    rates: [Rate; 2],
    late: [Nanos; 2],
    takes: [Nanos; 2],
    /// Of the flow over both, and of those over the first and the second.
    lines: [TokenBucket; 3],
    /// The shortest packet of the flow over both; none if it is not known when the second server
    /// begins to send it.
    last: Option<Bytes>,
}

/// Where everything is: how long before the end dates are, and how much less flows had sent by
/// then.
///
/// The last bit leaves server 2 at the end. It came there at `came2`, and from `from2` on server 2
/// has served by its curve. What came there by then had come to server 1 by `came1` and `before1`,
/// and from `from1` on server 1 has served what left it up to `from2`.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Variable {
    Came2,
    From2,
    Came1,
    Before1,
    From1,
    /// Of the flow over both, less than at `Came1`: by `Before1`, which is what there is at
    /// `From2`, and by `From1`.
    BothBefore,
    BothFrom,
    /// Of the flow over the first server.
    FirstBefore,
    FirstFrom,
    /// Of the flow over the second server, less than at `Came2`: by `From2`.
    SecondFrom,
}

impl Two {
    fn tandem(&self) -> Tandem {
        let server = |at: usize| Server {
            service: Some(Service {
                curve: Curve::rate_latency(self.rates[at], self.late[at]),
                late: Nanos::ZERO,
            }),
            order: Order::Fifo,
            packet: Bytes(0),
            delay: self.takes[at],
            link_rate: self.last.map(|_| self.rates[at]),
        };
        let flow = |(class, path): (usize, Range<usize>)| Flow {
            class,
            arrivals: vec![vec![self.lines[class]]; path.len()],
            path,
            packet: Bytes(0),
        };
        let paths = [0..2, 0..1, 1..2];
        let flows = paths.into_iter().enumerate().map(flow).collect();
        let shortest = self.last.unwrap_or(Bytes(1));
        Tandem { servers: vec![server(0), server(1)], flows, groups: vec![], shortest }
    }

    /// The last packet but its first byte.
    fn rest_bytes(&self) -> Bytes {
        self.last.map(|last| Bytes(last.0 - 1)).unwrap_or_default()
    }

    /// How long the second server sends that.
    fn rest(&self) -> Exact {
        exact_bytes(self.rest_bytes()) / bytes_per_nano(self.rates[1])
    }

    /// The constraints in the order of the paper's section 4: dates in order, delays, arrivals,
    /// services.
    fn rows(&self) -> Vec<AtMost> {
        use Variable::{
            Before1, BothBefore, BothFrom, Came1, Came2, FirstBefore, FirstFrom, From1, From2,
            SecondFrom,
        };
        let mut rows = Vec::new();
        let mut row = |terms: &[(Variable, Exact)], bound: Exact| {
            let terms = terms.iter().map(|(of, factor)| (*of as usize, factor.clone())).collect();
            rows.push(AtMost { terms, bound });
        };
        let plus = Exact::one;
        let minus = || -Exact::one();
        // The first is no longer ago than the second.
        for (later, earlier) in [
            (Came2, From2),
            (Came1, Before1),
            (Before1, From1),
            (Came2, Came1),
            (From2, Before1),
            (BothBefore, BothFrom),
            (FirstBefore, FirstFrom),
        ] {
            row(&[(later, plus()), (earlier, minus())], Exact::zero());
        }
        let takes = self.takes.map(exact_nanos);
        // The moment is when the first byte leaves the second server, if that is known.
        let is_known = self.rest_bytes() > Bytes(0);
        let rest = is_known.then(|| self.rest() - exact_nanos(Nanos(1)));
        row(&[(Came2, plus())], &takes[1] - rest.unwrap_or_default());
        row(&[(Came1, plus()), (Came2, minus())], takes[0].clone());
        row(&[(Before1, plus()), (From2, minus())], takes[0].clone());
        // Amounts between two dates, the later first, and the time between them.
        let dates = [
            (0, BothBefore, None, Before1, Came1),
            (0, BothFrom, None, From1, Came1),
            (0, BothFrom, Some(BothBefore), From1, Before1),
            (1, FirstBefore, None, Before1, Came1),
            (1, FirstFrom, None, From1, Came1),
            (1, FirstFrom, Some(FirstBefore), From1, Before1),
            (2, SecondFrom, None, From2, Came2),
        ];
        for (line, less, than, earlier, later) in dates {
            let rate = bytes_per_nano(self.lines[line].rate);
            let mut terms = vec![(less, plus()), (earlier, -rate.clone()), (later, rate)];
            terms.extend(than.map(|than| (than, minus())));
            let comes_after = line == 0 && than.is_none();
            let rest = if comes_after { self.rest_bytes() } else { Bytes(0) };
            row(&terms, exact_bytes(self.lines[line].bucket) - exact_bytes(rest));
        }
        // Rounding takes a nanosecond more at each server.
        let owed = |at: usize| {
            bytes_per_nano(self.rates[at]) * exact_nanos(self.late[at].saturating_add(Nanos(1)))
        };
        let [first, second] = self.rates.map(bytes_per_nano);
        row(&[(From2, second), (BothBefore, minus()), (SecondFrom, minus())], owed(1));
        let served = [
            (BothFrom, minus()),
            (BothBefore, plus()),
            (FirstFrom, minus()),
            (FirstBefore, plus()),
        ];
        let mut terms = vec![(From1, first.clone()), (From2, -first)];
        terms.extend(served);
        row(&terms, owed(0));
        rows
    }
}

fn two() -> impl Strategy<Value = Two> {
    let line = (1..9_000u64, 100_000..2_400_000u64)
        .prop_map(|(bytes, rate)| TokenBucket { bucket: Bytes(bytes), rate: Rate(rate) });
    let rate = 5_000_000..20_000_000u64;
    let late = 0..2_000_000u64;
    let last = proptest::option::of(1..=100u64);
    ([rate.clone(), rate], [late.clone(), late], [line.clone(), line.clone(), line], 0..=2u64, last)
        .prop_map(|(rates, late, lines, more, last)| {
            let (rates, late) = (rates.map(Rate), late.map(Nanos));
            // At least what all bursts take together: sometimes that is what counts.
            let all: u64 = lines.iter().map(|line| line.bucket.0).sum();
            let takes = |at: usize| {
                rates[at].time_for(Bytes(all * (2 + more) / 2)).saturating_add(late[at])
            };
            let last = last.map(|percent| Bytes((lines[0].bucket.0 * percent).div_ceil(100)));
            Two { rates, late, takes: [takes(0), takes(1)], lines, last }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// With the solver's multipliers the bound is the greatest delay of the programme in fractions,
    /// but for a few nanoseconds, and never below it.
    #[test]
    fn plp_is_the_greatest_delay_of_its_programme(two in two()) {
        let fifo = two.tandem().as_fifo().unwrap();
        let found = plp::delay(&fifo, Nanos::MAX, &Simplex).unwrap();
        let greatest = greatest(10, Variable::Came1 as usize, &two.rows()).unwrap();
        let greatest = crate::curve::ceil_nanos(&(greatest + two.rest())).unwrap();
        prop_assert!(found >= greatest && found.0 - greatest.0 <= 5 + greatest.0 / 1_000_000, "{found} {greatest} {two:?}");
    }
}
