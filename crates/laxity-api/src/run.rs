//! Simulations, each with its verdict.

use std::num::NonZeroU32;
use std::sync::Arc;

use laxity::scheduler::Scheduler;
use laxity_answers::Proof;
use laxity_answers::verdict::{HeldTo, JudgedRun};
use laxity_plan::Plan;
use laxity_plan::model::{Source, SourceId};
use laxity_plan::network::NetworkPlan;
use laxity_plan::tdp::NetworkAnalysis;
use laxity_sim::Progress;
use laxity_sim::link::{Choices, Run};
use laxity_sim::network::{
    NetworkRun, OutputSchedulers, OutputWitness, Parallelism, Profile, Replaced,
};
use laxity_sim::record::Observer;
use laxity_sim::source::{Feed, Remarks, open_source};
use laxity_sim::summary::Outcome;

use crate::result::RunResult;
use crate::traffic::opaque;
use crate::{Error, Traffic};

/// Refuses a plan whose calls come and go: here every class stays.
fn without_calls(plan: &Plan) -> Result<(), Error> {
    if plan.requests.is_empty() {
        return Ok(());
    }
    Err(Error::question(
        "the plan has [[request]], and `laxity run` and `compare` alone simulate calls that come and go",
    ))
}

/// Simulates a plan and holds it to what it promises. The observer hears of every packet.
///
/// # Errors
/// If nothing arrives, the traffic cannot be had, an output is left to a scheduler of one's own
/// ([`with_custom`](crate::with_custom)), or `progress` stops it.
pub fn run<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    held_to(HeldTo::Plan, plan, traffic, observer, progress)
}

/// The same in a comparison with the plan as it is under its `own` scheduler.
///
/// # Errors
/// As [`run`].
pub fn run_compared<'a>(
    own: &Plan,
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
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
    without_calls(&plan)?;
    let (duration, seed) = (traffic.duration(&plan)?, traffic.seed(&plan));
    if plan.sources.is_empty() {
        return Err(Error::NothingArrives);
    }
    Ok(Choices::new(plan, duration, seed)?)
}

fn held_to<'a>(
    to: HeldTo,
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    let analysed = AnalysedPlan::new(plan);
    let (outcome, how) = analysed.simulate(traffic, traffic.seed(plan), observer, progress)?;
    Ok(analysed.judged(to, outcome, how))
}

/// A plan with what is worked out before any run of it.
pub(crate) struct AnalysedPlan<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) network: Option<NetworkAnalysis<'a>>,
}

impl<'a> AnalysedPlan<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        AnalysedPlan { plan, network: plan.network_plan().map(NetworkPlan::analysis) }
    }

    /// What is proved; `None` without an admission test.
    pub(crate) fn proof(&self) -> Option<Proof> {
        match &self.network {
            Some(on) => Some(Proof::network(on)),
            None => Proof::link(self.plan),
        }
    }

    /// One run with this seed.
    pub(crate) fn simulate(
        &self,
        traffic: &Traffic<'_>,
        seed: u64,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<(Outcome, How), Error> {
        match &self.network {
            Some(on) => simulate_network(on, traffic, seed, Own::default(), observer, progress),
            None => simulate_link(self.plan, None, traffic, seed, observer, progress),
        }
    }

    /// What came of a run, with its verdict.
    pub(crate) fn judged(self, to: HeldTo, outcome: Outcome, how: How) -> RunResult<'a> {
        let proof = self.proof();
        let How { parallelism, profile } = how;
        let Outcome { summary, remarks } = outcome;
        let judged = JudgedRun::new(self.plan, to, proof.as_ref(), summary);
        let AnalysedPlan { plan, network } = self;
        let explanation = None;
        RunResult { plan, network, judged, proof, explanation, remarks, parallelism, profile }
    }
}

/// How the work was done, as far as that was asked for.
#[derive(Default)]
pub(crate) struct How {
    parallelism: Option<Parallelism>,
    profile: Option<Profile>,
}

/// What a caller puts at the outputs of a network.
#[derive(Clone, Copy, Default)]
pub(crate) struct Own<'a> {
    pub schedulers: Option<&'a OutputSchedulers<'a>>,
    pub witness: Option<&'a OutputWitness<'a>>,
}

/// Simulates one link, on a scheduler of the caller's own if there is one.
pub(crate) fn simulate_link(
    plan: &Plan,
    scheduler: Option<Box<dyn Scheduler + Send>>,
    traffic: &Traffic<'_>,
    seed: u64,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<(Outcome, How), Error> {
    let parallelism = several_threads(traffic)?.map(|_| Parallelism::one_thread());
    let mut how = How { parallelism, profile: None };
    let run = link_run(plan, traffic, seed)?;
    let outcome = match scheduler {
        Some(scheduler) => run.simulate_on(scheduler, observer, progress)?,
        None if traffic.profile => {
            let (outcome, profile) = run.profile(observer, progress)?;
            how.profile = Some(profile);
            outcome
        }
        None => run.simulate(observer, progress)?,
    };
    let mut classes = outcome.summary.hops.iter().flat_map(|link| &link.classes);
    if classes.any(|class| class.arrived > 0) {
        Ok((outcome, how))
    } else {
        Err(nothing_arrived(plan, &outcome.remarks))
    }
}

/// The number of threads that are asked for, if it is more than one.
fn several_threads(traffic: &Traffic<'_>) -> Result<Option<NonZeroU32>, Error> {
    let threads = traffic.threads.filter(|threads| threads.get() > 1);
    if threads.is_some() && traffic.profile {
        return Err(Error::question("a profile is of one thread: leave one of both out"));
    }
    Ok(threads)
}

fn link_run<'a>(plan: &'a Plan, traffic: &Traffic<'_>, seed: u64) -> Result<Run<'a>, Error> {
    without_calls(plan)?;
    let duration = traffic.duration(plan)?;
    let mut run = Run { plan, duration, seed, feeds: Vec::new() };
    if let Some(open) = traffic.arrivals {
        run.feeds.push(Feed::recorded_without(open(plan, None)?, traffic.without));
        return Ok(run);
    }
    if plan.sources.is_empty() {
        return Err(Error::NothingArrives);
    }
    if traffic.without.is_empty() {
        return Ok(run.with_sources()?);
    }
    for (number, source) in plan.sources.iter().enumerate() {
        let feed = match source {
            Source::Model(source) if traffic.without.contains(&source.class) => None,
            Source::Recording(recording) => {
                let arrivals = open_source(recording, plan, SourceId::from_index(number))?;
                Some(Feed::recorded_without(arrivals, traffic.without))
            }
            Source::Model(_) | Source::Tcp(_) => {
                Feed::from_source(plan, seed, SourceId::from_index(number))?
            }
        };
        run.feeds.extend(feed);
    }
    Ok(run)
}

/// Simulates a network, with schedulers of the caller's own at some outputs if there are any, and
/// witnesses if there are any.
pub(crate) fn simulate_network(
    on: &NetworkAnalysis<'_>,
    traffic: &Traffic<'_>,
    seed: u64,
    Own { schedulers, witness }: Own<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<(Outcome, How), Error> {
    if on.plan.sources.is_empty() {
        return Err(Error::question(
            "the plan has no [[source]], so nothing would arrive: add one with a `path`",
        ));
    }
    if schedulers.is_none()
        && let Some(hop) = on.network.hops().find(|hop| on.network.is_custom(*hop))
    {
        return Err(Error::question(format!(
            "`{}` is left to a scheduler of one's own, and none is given",
            on.network.output(hop)
        )));
    }
    let replaced = traffic.arrivals.map(|open| move |source| open(on.plan, Some(source)));
    let arrivals = replaced.as_ref().map(|open| open as &Replaced<'_>);
    let duration = traffic.duration(on.plan)?;
    let without = traffic.without;
    let run = NetworkRun { on, duration, seed, arrivals, without, schedulers, witness };
    let mut how = How::default();
    let outcome = match several_threads(traffic)? {
        Some(threads) => {
            let (outcome, parallelism) = run.simulate_in_parallel(threads, observer, progress)?;
            how.parallelism = Some(parallelism);
            outcome
        }
        None if traffic.profile => {
            let (outcome, profile) = run.profile(observer, progress)?;
            how.profile = Some(profile);
            outcome
        }
        None => run.simulate(observer, progress)?,
    };
    let mut classes = outcome.summary.network.iter().flat_map(|network| &network.classes);
    if classes.any(|class| class.sent > 0) {
        Ok((outcome, how))
    } else {
        Err(nothing_arrived(on.plan, &outcome.remarks))
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
