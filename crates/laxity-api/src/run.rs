//! Simulations, each with its verdict.

use std::num::NonZeroU32;
use std::sync::Arc;

use laxity::scheduler::Scheduler;
use laxity_answers::Proof;
use laxity_answers::verdict::{HeldTo, Judged};
use laxity_plan::Plan;
use laxity_plan::network::NetworkPlan;
use laxity_plan::tdp::NetworkAnalysis;
use laxity_sim::Progress;
use laxity_sim::link::{Choices, Run};
use laxity_sim::network::{NetworkRun, OutputSchedulers, Parallelism, Profile, Replaced};
use laxity_sim::record::Observer;
use laxity_sim::source::{Feed, Remarks};
use laxity_sim::summary::Outcome;

use crate::result::RunResult;
use crate::traffic::opaque;
use crate::{Error, Traffic};

/// Simulates a plan and holds it to what it promises. The observer hears of every packet.
///
/// # Errors
/// If nothing arrives, the traffic cannot be had, or `progress` stops it.
pub fn run<'a, O: Observer>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut O,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    held_to(HeldTo::Plan, plan, traffic, observer, progress)
}

/// The same in a comparison with the plan as it is under its `own` scheduler.
///
/// # Errors
/// As [`run`].
pub fn run_compared<'a, O: Observer>(
    own: &Plan,
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut O,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    let to = HeldTo::in_comparison(own.scheduler, plan.scheduler);
    held_to(to, plan, traffic, observer, progress)
}

/// A plan's link whose packets somebody else chooses, step by step, behind the plan's queues.
///
/// # Errors
/// If nothing arrives, or the plan is a network.
pub fn choices(plan: Arc<Plan>, traffic: &Traffic<'_>) -> Result<Choices, Error> {
    if plan.network.is_some() {
        return Err(Error::question(
            "packets are chosen step by step for one link, and the plan is a network",
        ));
    }
    let (duration, seed) = (traffic.duration(&plan)?, traffic.seed(&plan));
    if plan.sources.is_empty() {
        return Err(Error::NothingArrives);
    }
    Ok(Choices::new(plan, duration, seed)?)
}

fn held_to<'a, O: Observer>(
    to: HeldTo,
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut O,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    let prepared = Prepared::new(plan);
    let (outcome, how) = prepared.simulate(traffic, traffic.seed(plan), observer, progress)?;
    Ok(prepared.judged(to, outcome, how))
}

/// A plan with what is worked out before any run of it.
pub(crate) struct Prepared<'a> {
    plan: &'a Plan,
    pub(crate) network: Option<NetworkAnalysis<'a>>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Prepared { plan, network: plan.network_plan().map(NetworkPlan::analysis) }
    }

    /// What is proved; `None` without an admission test.
    pub(crate) fn proof(&self) -> Option<Proof> {
        match &self.network {
            Some(on) => Some(Proof::network(on)),
            None => Proof::link(self.plan),
        }
    }

    /// One run with this seed.
    pub(crate) fn simulate<O: Observer>(
        &self,
        traffic: &Traffic<'_>,
        seed: u64,
        observer: &mut O,
        progress: Progress<'_>,
    ) -> Result<(Outcome, How), Error> {
        match &self.network {
            Some(on) => simulate_network(on, traffic, seed, None, observer, progress),
            None => simulate_link(self.plan, traffic, seed, observer, progress),
        }
    }

    /// What came of a run, with its verdict.
    pub(crate) fn judged(self, to: HeldTo, outcome: Outcome, how: How) -> RunResult<'a> {
        let proof = self.proof();
        let How { parallelism, profile } = how;
        let Outcome { summary, remarks } = outcome;
        let judged = Judged::new(self.plan, to, proof.as_ref(), summary);
        let Prepared { plan, network } = self;
        RunResult { plan, network, judged, proof, remarks, parallelism, profile }
    }
}

/// Simulates one link on a scheduler of the caller's own.
pub(crate) fn simulate_on(
    plan: &Plan,
    scheduler: Box<dyn Scheduler + Send>,
    traffic: &Traffic<'_>,
    seed: u64,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<Outcome, Error> {
    let run = prepare(plan, traffic, seed)?;
    arrived(plan, run.simulate_on(scheduler, observer, progress)?)
}

fn simulate(
    plan: &Plan,
    traffic: &Traffic<'_>,
    seed: u64,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<Outcome, Error> {
    arrived(plan, prepare(plan, traffic, seed)?.simulate(observer, progress)?)
}

/// What came of one link, if anything did.
fn arrived(plan: &Plan, outcome: Outcome) -> Result<Outcome, Error> {
    let mut classes = outcome.summary.hops.iter().flat_map(|link| &link.classes);
    if classes.any(|class| class.arrived > 0) {
        Ok(outcome)
    } else {
        Err(nothing_arrived(plan, &outcome.remarks))
    }
}

fn nothing_arrived(plan: &Plan, remarks: &Remarks) -> Error {
    Error::question(match (remarks.unmatched, plan.run.warm_up) {
        (0, laxity::units::Nanos::ZERO) => {
            "nothing arrived: the sources or the recording have no packet".to_string()
        }
        (0, warm_up) => {
            format!("nothing arrived after the warm-up of {warm_up}: shorten it or send for longer")
        }
        (unmatched, _) => {
            let opaque: String = opaque(remarks).map(|kind| format!("; {kind}")).collect();
            format!(
                "none of the recording's {unmatched} frames matched a class: give the classes a `match`, \
                 such as match = \"udp dport 4000\"{opaque}"
            )
        }
    })
}

fn prepare<'a>(plan: &'a Plan, traffic: &Traffic<'_>, seed: u64) -> Result<Run<'a>, Error> {
    let duration = traffic.duration(plan)?;
    let mut run = Run { plan, duration, seed, feeds: Vec::new() };
    if let Some(open) = traffic.arrivals {
        run.feeds.push(Feed::new(open(plan, None)?));
        return Ok(run);
    }
    if plan.sources.is_empty() {
        return Err(Error::NothingArrives);
    }
    Ok(run.with_sources()?)
}

/// How the work was done, as far as that was asked for.
#[derive(Default)]
pub(crate) struct How {
    parallelism: Option<Parallelism>,
    profile: Option<Profile>,
}

fn simulate_link(
    plan: &Plan,
    traffic: &Traffic<'_>,
    seed: u64,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<(Outcome, How), Error> {
    match (several_threads(traffic), traffic.profile) {
        (Some(_), true) => Err(one_thread_alone()),
        (threads, false) => {
            let outcome = simulate(plan, traffic, seed, observer, progress)?;
            let parallelism = threads.map(|_| Parallelism::one_thread());
            Ok((outcome, How { parallelism, profile: None }))
        }
        (None, true) => {
            let (outcome, profile) = prepare(plan, traffic, seed)?.profile(observer, progress)?;
            Ok((arrived(plan, outcome)?, How { parallelism: None, profile: Some(profile) }))
        }
    }
}

fn several_threads(traffic: &Traffic<'_>) -> Option<NonZeroU32> {
    traffic.threads.filter(|threads| threads.get() > 1)
}

fn one_thread_alone() -> Error {
    Error::question("a profile is of one thread: leave one of both out")
}

/// Simulates a network, with schedulers of the caller's own at some outputs if there are any.
pub(crate) fn simulate_network<O: Observer>(
    on: &NetworkAnalysis<'_>,
    traffic: &Traffic<'_>,
    seed: u64,
    schedulers: Option<&OutputSchedulers<'_>>,
    observer: &mut O,
    progress: Progress<'_>,
) -> Result<(Outcome, How), Error> {
    if on.plan.sources.is_empty() {
        return Err(Error::question(
            "the plan has no [[source]], so nothing would arrive: add one with a `path`",
        ));
    }
    let replaced = traffic.arrivals.map(|open| move |source| open(on.plan, Some(source)));
    let arrivals = replaced.as_ref().map(|open| open as &Replaced<'_>);
    let duration = traffic.duration(on.plan)?;
    let run = NetworkRun { on, duration, seed, arrivals, schedulers };
    let mut how = How::default();
    let outcome = match (several_threads(traffic), traffic.profile) {
        (None, false) => run.simulate(observer, progress)?,
        (None, true) => {
            let (outcome, profile) = run.profile(observer, progress)?;
            how.profile = Some(profile);
            outcome
        }
        (Some(threads), false) => {
            let (outcome, parallelism) = run.simulate_in_parallel(threads, observer, progress)?;
            how.parallelism = Some(parallelism);
            outcome
        }
        (Some(_), true) => {
            return Err(one_thread_alone());
        }
    };
    let mut classes = outcome.summary.network.iter().flat_map(|network| &network.classes);
    if classes.any(|class| class.sent > 0) {
        Ok((outcome, how))
    } else {
        Err(nothing_arrived(on.plan, &outcome.remarks))
    }
}
