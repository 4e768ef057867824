//! Runs whose schedulers have witnesses.

use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_answers::verdict::HeldTo;
use laxity_answers::why::service::ServiceRecorder;
use laxity_answers::why::{DelaySink, Explainer, Gatherer};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_sim::Progress;
use laxity_sim::record::Observer;
use laxity_sim::summary::Outcome;

use crate::result::RunResult;
use crate::run::{AnalysedPlan, How, Own, run, simulate_link, simulate_network};
use crate::{Error, Traffic};

/// Packets at outputs that the timeline of a report keeps, so that a report stays below 1 MB.
const IN_REPORT: usize = 30_000;
/// The same of a page that is asked for by itself; about 150 bytes of memory each.
const ON_PAGE: usize = 1 << 21;
/// The slowest packets of each class around which the timeline of a long run is kept.
const SLOWEST: usize = 5;

/// Simulates a plan as [`run`] does, to the same result, and also records why packets waited, for
/// the report. On several threads, and with a profile, nothing is recorded.
///
/// # Errors
/// As [`run`].
pub fn run_explained<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    if traffic.profile || traffic.threads.is_some_and(|threads| threads.get() > 1) {
        return run(plan, traffic, observer, progress);
    }
    let analysed = AnalysedPlan::new(plan);
    let mut explainer = Explainer::new(IN_REPORT, SLOWEST, plan.classes.len(), plan.run.warm_up);
    let services = ServiceRecorder::new(plan);
    let (outcome, how) =
        simulate(&analysed, traffic, &mut explainer, observer, Some(&services), progress)?;
    let mut result = analysed.judged(HeldTo::Plan, outcome, how);
    result.explanation = Some(explainer.finish(services.finish()));
    Ok(result)
}

/// An explainer that keeps all of a run, unless it is very long.
pub(crate) fn whole_run(plan: &Plan) -> Explainer {
    Explainer::new(ON_PAGE, SLOWEST, plan.classes.len(), Nanos::ZERO)
}

/// Simulates a plan and passes the delay of every packet to `sink`. Records the service of classes
/// if there is a recorder.
pub(crate) fn simulate(
    analysed: &AnalysedPlan<'_>,
    traffic: &Traffic<'_>,
    sink: impl DelaySink,
    observer: &mut dyn Observer,
    services: Option<&ServiceRecorder<'_>>,
    progress: Progress<'_>,
) -> Result<(Outcome, How), Error> {
    let plan = analysed.plan;
    let mut gatherer = Gatherer::new(plan, sink);
    let (waits, seed) = (gatherer.waits(), traffic.seed(plan));
    let witness = |hop: Option<Hop>, scheduler: Box<dyn Scheduler + Send>| {
        let scheduler = match services {
            Some(services) => services.watch(hop, scheduler),
            None => scheduler,
        };
        waits.witness(plan, hop, scheduler)
    };
    let mut observers = (observer, &mut gatherer);
    let outcome = match &analysed.network {
        Some(on) => {
            let witness =
                |hop: Hop, scheduler: Box<dyn Scheduler + Send>| witness(Some(hop), scheduler);
            let own = Own { schedulers: None, witness: Some(&witness) };
            simulate_network(on, traffic, seed, own, &mut observers, progress)
        }
        None => {
            let scheduler = witness(None, plan.build_scheduler(seed));
            simulate_link(plan, Some(scheduler), traffic, seed, &mut observers, progress)
        }
    };
    gatherer.finish();
    outcome
}
