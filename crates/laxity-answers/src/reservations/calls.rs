//! Calls that ask for reservations in a simulation, and what becomes of each.
//!
//! What is granted does not depend on what is sent. So all calls ask before anything is simulated,
//! and a simulation gets one plan after another.

mod admission;
mod stage;
mod summary;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use laxity::reserve::bookings::{Bookings, Period, Refusal, State};
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::calls::{Call, PlanWithCalls};
use laxity_plan::model::{BestEffort, CallTimes, RecordedCall, RequestSpec, SchedulerSpec};
use laxity_plan::random::{DistError, Generator, Sampler, generator};
use thiserror::Error;

use super::Book;
use crate::Reason;
use admission::Test;

pub use stage::Stage;
pub use summary::{CallsSummary, RequestSummary, SentSummary};

/// Calls ask with numbers that sources do not draw.
const REQUESTS: u64 = 1 << 40;

/// What becomes of all calls in a time.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever simulates")]
pub struct Calls {
    /// Those that are granted, in the order in which they ask. A call sends for as long as it
    /// lasts.
    pub granted: Vec<GrantedCall>,
    /// All that ask, in that order, and what they are answered.
    pub asked: Vec<AskedCall>,
    /// The calls of each request, by its number.
    pub requests: Vec<RequestCalls>,
    /// When what occupies the link changes; the first time is 0.
    pub changes: Vec<Change>,
    /// The schedulable region of two requests: the most calls of the second that fit beside each
    /// number of the first, from none on. Empty with one request or more than two, or where more
    /// than a thousand of either fit.
    pub region: Vec<u32>,
    /// Whether what has ended is free again after some time; not before the link is started again
    /// otherwise.
    pub settles: bool,
}

/// A call that is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever simulates")]
pub struct GrantedCall {
    /// Its request and its time.
    pub call: Call,
    /// No packet that conforms takes longer; `None` if it is promised no delay.
    pub bound: Option<Nanos>,
}

/// A call that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever reports")]
pub struct AskedCall {
    /// Its request.
    pub request: usize,
    /// When it asks, and how long it is to last.
    pub times: RecordedCall,
    /// What it is granted; `None` if it is refused.
    pub granted: Option<GrantedCall>,
}

/// The calls of one request.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever reports")]
pub struct RequestCalls {
    /// Calls that asked after the warm-up.
    pub offered: u64,
    /// Those of them that were granted.
    pub granted: u64,
    /// Why the first of the others was refused.
    pub refused: Vec<Reason>,
    /// The most that there were at once.
    pub most: u32,
    /// How many there were, times the nanoseconds for which they were, after the warm-up.
    pub nanoseconds: u128,
    /// How many there may be at once beside no others.
    pub alone: u32,
    /// The long-term rate that each is promised.
    pub rate: Rate,
    /// The mean of the calls that would be there at once if all were granted: the offered load in
    /// erlangs. `None` if calls come by no Poisson process, there are several requests, or holding
    /// times have no mean.
    pub erlangs: Option<f64>,
}

impl RequestCalls {
    /// The part of the calls that were refused; `None` if none came.
    pub fn blocking(&self) -> Option<f64> {
        let refused = self.offered - self.granted;
        (self.offered > 0).then(|| refused as f64 / self.offered as f64)
    }

    /// The part that Erlang's loss formula has refused (Erlang 1917), if there are no calls of
    /// other requests, calls come by a Poisson process, and no more than [`Book::MOST`] fit. It
    /// holds whatever the holding times' distribution is.
    pub fn erlang_b(&self) -> Option<f64> {
        let erlangs = self.erlangs.filter(|_| self.alone < Book::MOST as u32)?;
        let next = |blocking: f64, servers: u32| {
            erlangs * blocking / (f64::from(servers) + erlangs * blocking)
        };
        Some((1..=self.alone).fold(1.0, next))
    }
}

/// What occupies the link from a time on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever simulates")]
pub struct Change {
    /// From when on.
    pub at: Nanos,
    /// The calls that last, and those that have ended and are still felt: positions in
    /// [`granted`](Calls::granted).
    pub present: Box<[u32]>,
    /// Whether some begin soon, or have ended and are still felt, so that best effort is to have no
    /// deadlines.
    pub is_settling: bool,
}

impl Change {
    /// The plan that is followed from then on.
    pub fn plan(&self, plan: &Plan, granted: &[GrantedCall]) -> PlanWithCalls {
        let calls: Vec<Call> = self.calls().map(|call| granted[call].call).collect();
        let followed = plan.with_calls(&calls);
        if self.is_settling { settling(followed) } else { followed }
    }

    /// The calls that are present, by their positions.
    pub fn calls(&self) -> impl Iterator<Item = usize> {
        self.present.iter().map(|call| *call as usize)
    }
}

/// Why nobody can say what becomes of calls.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallsError {
    /// The plan has no requests.
    #[error("the plan has no [[request]], so no calls come")]
    None,
    /// The plan's promises are of windows.
    #[error(
        "calls come and go under disciplines that promise delays; `dwcs` promises windows of packets"
    )]
    Windows,
    /// The plan does not hold without any call.
    #[error("the plan is refused even without a call")]
    Refused(Vec<Reason>),
    /// There are too many.
    #[error("too many calls: shorten the duration, or lengthen `every`")]
    TooMany,
    /// A distribution makes no sense.
    #[error("`every` or `holding`: {0}")]
    Dist(#[from] DistError),
}

/// The time between two contracts. Nothing is proved by other rules than those of the plan: they
/// show what these are good for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever tries others")]
pub struct Rules {
    /// Whether newcomers [wait](Plan::newcomers_wait).
    pub wait: bool,
    /// How long what has ended is felt, by the [settling time](Plan::settling_time).
    pub felt: fn(&Plan, Option<Nanos>) -> Option<Nanos>,
}

impl Rules {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> Rules {
        Rules { wait: plan.with_calls(&[]).plan.newcomers_wait(), felt: |_, settling| settling }
    }
}

const MOST_CALLS: usize = 1_000_000;

/// The most calls that all changes name together: what is there at each is kept.
const MOST_NOTED: usize = 100_000_000;

impl Calls {
    /// Lets all calls of a plan's requests ask in this time, as drawn with this seed. Calls that
    /// are refused go away.
    ///
    /// # Errors
    /// If the plan has no requests, or is refused without any call, or too many ask.
    pub fn draw(plan: &Plan, duration: Nanos, seed: u64) -> Result<Calls, CallsError> {
        Calls::draw_by(plan, duration, seed, Rules::new(plan))
    }

    /// The same by other rules for the time between two contracts.
    ///
    /// # Errors
    /// As there.
    pub fn draw_by(
        plan: &Plan,
        duration: Nanos,
        seed: u64,
        rules: Rules,
    ) -> Result<Calls, CallsError> {
        if plan.requests.is_empty() {
            return Err(CallsError::None);
        }
        if let SchedulerSpec::Dwcs(_) = plan.scheduler {
            return Err(CallsError::Windows);
        }
        let mut test = Test::new(plan, rules);
        test.fits(vec![0; plan.requests.len()]).map_err(CallsError::Refused)?;
        let requests = (0..plan.requests.len()).map(|request| test.request(request)).collect();
        let calls = Calls {
            granted: Vec::new(),
            asked: Vec::new(),
            requests,
            changes: vec![Change::default()],
            region: test.region(),
            settles: true,
        };
        let exchange = Exchange {
            test,
            callers: Callers::new(plan, seed)?,
            bookings: Bookings::default(),
            ends: BinaryHeap::new(),
            active: vec![0; plan.requests.len()],
            calls,
            noted: 0,
        };
        exchange.run(plan.run.warm_up, duration)
    }
}

/// The link on which calls ask.
struct Exchange<'a> {
    test: Test<'a>,
    callers: Callers,
    bookings: Bookings<usize, usize>,
    /// When calls end, and their positions.
    ends: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// How many calls of each request there are.
    active: Vec<u32>,
    calls: Calls,
    /// How many calls all changes name.
    noted: usize,
}

impl Exchange<'_> {
    fn run(mut self, warm_up: Nanos, duration: Nanos) -> Result<Calls, CallsError> {
        let mut now = Nanos::ZERO;
        loop {
            let end = self.ends.peek().map(|Reverse((end, _))| *end);
            let next = [self.callers.next(), end, self.bookings.next_change(now)];
            let next = next.into_iter().flatten().min().map_or(duration, |at| at.min(duration));
            for (request, active) in self.calls.requests.iter_mut().zip(&self.active) {
                let measured = next.saturating_sub(now.max(warm_up));
                request.nanoseconds += u128::from(*active) * u128::from(measured.0);
                if measured > Nanos::ZERO {
                    request.most = request.most.max(*active);
                }
            }
            now = next;
            if now == duration {
                return Ok(self.calls);
            }
            self.bookings.expire(now);
            self.hang_up(now);
            while let Some((request, holding)) = self.callers.ask(now) {
                if self.calls.asked.len() == MOST_CALLS {
                    return Err(CallsError::TooMany);
                }
                let granted = self.answer(now, request, holding, now >= warm_up);
                let times = RecordedCall { at: now, holding };
                self.calls.asked.push(AskedCall { request, times, granted });
            }
            self.note(now)?;
        }
    }

    /// Ends calls whose time is over.
    fn hang_up(&mut self, now: Nanos) {
        while let Some(&Reverse((end, call))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let released: Result<(), Refusal<()>> = self.bookings.release(now, &call);
            debug_assert!(released.is_ok(), "a call is released once");
            self.active[self.calls.granted[call].call.request] -= 1;
        }
    }

    /// Answers a call.
    fn answer(
        &mut self,
        now: Nanos,
        request: usize,
        holding: Nanos,
        is_measured: bool,
    ) -> Option<GrantedCall> {
        let Exchange { test, bookings, ends, active, calls, .. } = self;
        let counts = &mut calls.requests[request];
        counts.offered += u64::from(is_measured);
        let (number, period) = (calls.granted.len(), Period { from: now, until: None });
        if bookings.iter().count() >= Book::MOST {
            return None;
        }
        match bookings.request(now, number, request, period, None, test) {
            Ok(()) => {
                calls.settles &= test.settles;
                let from = bookings.get(&number).map_or(now, |booking| booking.period().from);
                let until = from.saturating_add(holding);
                let call = Call { request, from, until };
                let granted = GrantedCall { call, bound: test.last[request] };
                calls.granted.push(granted);
                ends.push(Reverse((until, number)));
                active[request] += 1;
                counts.granted += u64::from(is_measured);
                Some(granted)
            }
            Err(refusal) => {
                if let Refusal::NoRoom { why, .. } = refusal
                    && is_measured
                    && counts.refused.is_empty()
                {
                    counts.refused = of_requests(test.plan, why);
                }
                None
            }
        }
    }

    /// Notes what occupies the link, if that has changed.
    fn note(&mut self, now: Nanos) -> Result<(), CallsError> {
        let states = self.bookings.iter().filter_map(|(call, one)| Some((*call, one.state(now)?)));
        let present = states.filter(|(_, state)| *state != State::Ahead);
        let present: Box<[u32]> = present.map(|(call, _)| call as u32).collect();
        let is_settling = self.bookings.is_settling(now);
        let change = Change { at: now, present, is_settling };
        let is_same = |last: &Change| {
            last.present == change.present && last.is_settling == change.is_settling
        };
        if !self.calls.changes.last().is_some_and(is_same) {
            self.noted += change.present.len();
            self.calls.changes.push(change);
        }
        if self.noted > MOST_NOTED { Err(CallsError::TooMany) } else { Ok(()) }
    }
}

/// Who calls, and when.
struct Callers {
    /// Of each request the time of the next call, if there is one, and all that follow.
    requests: Vec<(Option<RecordedCall>, CallStream)>,
}

/// The calls of a request, one after another.
type CallStream = Box<dyn Iterator<Item = RecordedCall>>;

impl Callers {
    fn new(plan: &Plan, seed: u64) -> Result<Self, DistError> {
        let caller = |(number, request): (usize, &RequestSpec)| {
            let mut calls = stream(&request.times, generator(seed, REQUESTS + number as u64, 0))?;
            Ok((calls.next(), calls))
        };
        Ok(Callers {
            requests: plan.requests.iter().enumerate().map(caller).collect::<Result<_, _>>()?,
        })
    }

    /// When the next call comes.
    fn next(&self) -> Option<Nanos> {
        self.requests.iter().filter_map(|(next, _)| Some(next.as_ref()?.at)).min()
    }

    /// A call that comes by now: its request, and how long it lasts.
    fn ask(&mut self, now: Nanos) -> Option<(usize, Nanos)> {
        let comes = |(next, _): &(Option<RecordedCall>, _)| next.is_some_and(|call| call.at <= now);
        let request = self.requests.iter().position(comes)?;
        let (next, calls) = &mut self.requests[request];
        let call = std::mem::replace(next, calls.next())?;
        Some((request, call.holding))
    }
}

fn stream(times: &CallTimes, mut generator: Generator) -> Result<CallStream, DistError> {
    Ok(match times {
        CallTimes::Recorded(calls) => {
            let calls = Arc::clone(calls);
            Box::new((0..calls.len()).map(move |number| calls[number]))
        }
        CallTimes::Drawn { every, holding } => {
            let (every, holding) = (Sampler::new(*every)?, Sampler::new(*holding)?);
            let mut next = every.draw(&mut generator);
            Box::new(std::iter::from_fn(move || {
                let at = next;
                next = next.saturating_add(every.draw(&mut generator));
                Some(RecordedCall { at, holding: holding.draw(&mut generator) })
            }))
        }
    })
}

/// Reasons that name a request's class for any of its calls, each class once.
fn of_requests(plan: &Plan, reasons: Vec<Reason>) -> Vec<Reason> {
    let mut kept: Vec<Reason> = Vec::new();
    for mut reason in reasons {
        let name = reason.class.as_deref().and_then(|class| class.rsplit_once('#'));
        let of_call = name.map(|(class, _)| class.to_owned()).filter(|class| {
            plan.requests.iter().any(|request| plan.classes[request.class.index()].name == *class)
        });
        if let Some(class) = &of_call {
            reason.class = Some(class.clone());
        }
        let kind = |reason: &Reason| std::mem::discriminant(&reason.finding);
        let is_same = |other: &Reason| other.class == reason.class && kind(other) == kind(&reason);
        if of_call.is_none() || !kept.iter().any(is_same) {
            kept.push(reason);
        }
    }
    kept
}

/// The plan while what has ended is still felt.
fn settling(mut followed: PlanWithCalls) -> PlanWithCalls {
    if let SchedulerSpec::Edf(edf) = &mut followed.plan.scheduler {
        edf.best_effort = BestEffort::Background;
    }
    followed
}
