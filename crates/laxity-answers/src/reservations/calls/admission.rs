//! The admission test of a plan with calls.

use std::collections::HashMap;

use laxity::reserve::bookings::Admission;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::calls::Call;
use laxity_plan::model::{CallTimes, Dist, RequestSpec};
use statrs::function::gamma::gamma;

use super::{RequestCalls, Rules};
use crate::Reason;
use crate::reservations::{Book, promises};

/// The most calls of each request whose region is worked out.
const MOST_OF_REGION: u32 = 1000;

/// The admission test of a plan with calls, which remembers its answers: they depend on how many
/// calls there are of each request alone.
pub(super) struct Test<'a> {
    pub(super) plan: &'a Plan,
    rules: Rules,
    known: HashMap<Vec<u32>, Answer>,
    /// The bounds of each request's calls, when calls fitted last.
    pub(super) last: Vec<Option<Nanos>>,
    /// Whether what ends is free again some time after that.
    pub(super) settles: bool,
}

/// Whether a number of calls of each request fits: what each request's are promised, and the
/// settling time.
pub(super) type Answer = Result<(Vec<Option<Nanos>>, Option<Nanos>), Vec<Reason>>;

impl Admission<usize> for Test<'_> {
    type Error = Vec<Reason>;

    fn test(&mut self, requests: &[&usize]) -> Result<Option<Nanos>, Vec<Reason>> {
        let mut counts = vec![0; self.plan.requests.len()];
        requests.iter().for_each(|request| counts[**request] += 1);
        let (bounds, settling) = self.fits(counts)?;
        (self.last, self.settles) = (bounds, settling.is_some());
        Ok((self.rules.felt)(self.plan, settling))
    }

    fn waits(&self) -> bool {
        self.rules.wait
    }
}

impl<'a> Test<'a> {
    pub(super) fn new(plan: &'a Plan, rules: Rules) -> Self {
        Test { plan, rules, known: HashMap::new(), last: Vec::new(), settles: true }
    }

    /// Whether these numbers of calls fit.
    pub(super) fn fits(&mut self, counts: Vec<u32>) -> Answer {
        let plan = self.plan;
        self.known.entry(counts).or_insert_with_key(|counts| answer(plan, counts)).clone()
    }

    /// A request without calls yet.
    pub(super) fn request(&mut self, request: usize) -> RequestCalls {
        let RequestSpec { class, times } = &self.plan.requests[request];
        let is_alone = self.plan.requests.len() == 1;
        let erlangs = match times {
            CallTimes::Drawn { every: Dist::Exponential(every), holding } if is_alone => {
                mean(*holding)
                    .filter(|mean| *mean <= Nanos::LIMIT.0 as f64)
                    .map(|mean| mean / every.0 as f64)
            }
            _ => None,
        };
        let class = &self.plan.classes[class.index()];
        let promised = class.relative_deadline().and_then(|_| self.plan.sustained_rate(class));
        RequestCalls {
            offered: 0,
            granted: 0,
            refused: Vec::new(),
            most: 0,
            nanoseconds: 0,
            alone: self.alone(request),
            rate: promised.unwrap_or(Rate(0)),
            erlangs,
        }
    }

    /// How many calls of a request fit beside no others, up to [`Book::MOST`].
    fn alone(&mut self, request: usize) -> u32 {
        let mut fit = |count: u32| {
            let mut counts = vec![0; self.plan.requests.len()];
            counts[request] = count;
            self.fits(counts).is_ok()
        };
        let most = Book::MOST as u32;
        let (mut least, mut above) = (0, 1);
        while above <= most && fit(above) {
            (least, above) = (above, 2 * above);
        }
        above = above.min(most + 1);
        while above - least > 1 {
            let middle = least + (above - least) / 2;
            *if fit(middle) { &mut least } else { &mut above } = middle;
        }
        least
    }

    /// How many calls of the second request fit beside each number of the first.
    pub(super) fn region(&mut self) -> Vec<u32> {
        if self.plan.requests.len() != 2 {
            return Vec::new();
        }
        let [first, second] = [self.alone(0), self.alone(1)];
        if first.max(second) > MOST_OF_REGION {
            return Vec::new();
        }
        let mut region = vec![second];
        for count in 1..=first {
            let last = region[region.len() - 1];
            // More of the first never leave room for more of the second.
            let most = (0..=last).rev().find(|most| self.fits(vec![count, *most]).is_ok());
            region.push(most.unwrap_or_default());
        }
        region
    }
}

pub(super) fn answer(plan: &Plan, counts: &[u32]) -> Answer {
    let of_request = |(request, count): (usize, &u32)| {
        let call = Call { request, from: Nanos::ZERO, until: Nanos::ZERO };
        std::iter::repeat_n(call, *count as usize)
    };
    let calls: Vec<Call> = counts.iter().enumerate().flat_map(of_request).collect();
    let with_calls = plan.with_calls(&calls);
    let promises = promises(&with_calls.plan)?;
    let promised = |request: usize| {
        let own = calls.iter().position(|call| call.request == request)?;
        promises[with_calls.calls[own].index()]
    };
    let bounds = (0..counts.len()).map(promised).collect();
    Ok((bounds, with_calls.plan.settling_time()))
}

/// The mean of a distribution in ns; `None` if it has none. For a normal distribution it leaves out
/// that no draw is negative.
fn mean(dist: Dist<Nanos>) -> Option<f64> {
    let float = |Nanos(time): Nanos| time as f64;
    Some(match dist {
        Dist::Constant(mean) | Dist::Normal(mean, _) | Dist::Exponential(mean) => float(mean),
        Dist::Uniform(from, to) => f64::midpoint(float(from), float(to)),
        Dist::Pareto(minimum, shape) if shape > 1.0 => float(minimum) * shape / (shape - 1.0),
        Dist::Pareto(..) => return None,
        Dist::LogNormal(median, sigma) => float(median) * (sigma * sigma / 2.0).exp(),
        Dist::Weibull(scale, shape) => float(scale) * gamma(1.0 + 1.0 / shape),
    })
}
