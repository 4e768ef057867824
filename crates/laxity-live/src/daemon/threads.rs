//! The threads of a bridge: one, unless several serve the link of a plan.

use laxity_engine::RateShare;
use laxity_forward::{Forwarder, PreparedPlan, Refusal, Settings};
use laxity_linux::clock::Stopwatch;
use laxity_linux::frames::{Backend, Pool, Side};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Options, Packets, Receive};

use crate::bridge::{Bridge, Forwarding, Recorder, Way};
use crate::error::LiveError;
use crate::process::{PlanText, settings};
use crate::worker;
use crate::workers::Workers;

/// How many threads serve both ways.
pub(super) fn count(plans: &[Option<PlanText>; 2]) -> Result<u16, LiveError> {
    let count = |plan: &PlanText| plan.plan.link.threads.map_or(1, |threads| threads.count);
    match plans.each_ref().map(|plan| plan.as_ref().map(count)) {
        [Some(there), Some(back)] if there != back => Err(LiveError::UnequalThreads(there, back)),
        [there, back] => Ok(there.or(back).unwrap_or(1)),
    }
}

/// Opens packet sockets for each thread, among which frames are spread by flow.
pub(super) fn packets<R: Receive>(
    interfaces: [&Interface; 2],
    options: &Options,
    threads: u16,
) -> Result<Vec<Packets<R>>, LiveError> {
    Ok(match threads {
        1 => vec![Packets::open(interfaces, options)?],
        _ => Packets::spread(interfaces, options, threads)?,
    })
}

/// A bridge for each backend, with a scheduler for each way that has a plan.
pub(super) fn bridges<B: Backend>(
    backends: Vec<B>,
    plans: &[Option<PlanText>; 2],
    is_host: bool,
    time: Stopwatch,
) -> Result<Vec<Bridge<B>>, LiveError> {
    let [there, back] = plans;
    let mut shares = [shares(there), shares(back)];
    let bridge = |backend: B| {
        let [of_there, of_back] = shares.each_mut().map(Vec::pop);
        let way = |plan: &Option<PlanText>, share| match plan {
            Some(plan) => scheduled(plan, backend.pool(), is_host, share),
            None => Ok(Way::Plain),
        };
        let ways = [way(there, of_there)?, way(back, of_back)?];
        Ok(Bridge::on(time, backend, ways))
    };
    backends.into_iter().map(bridge).collect()
}

/// A share for each thread of a link that several serve.
fn shares(plan: &Option<PlanText>) -> Vec<RateShare> {
    let threads = plan.as_ref().and_then(|plan| plan.plan.link.threads);
    threads.map_or_else(Vec::new, |threads| RateShare::of_link(threads.rate, threads.count))
}

fn scheduled(
    PlanText { plan, .. }: &PlanText,
    pool: &Pool,
    is_host: bool,
    share: Option<RateShare>,
) -> Result<Way, Refusal> {
    let settings = Settings { is_host, ..settings(plan, pool, Side::A) };
    let forwarder = Forwarder::new(plan.clone(), settings)?;
    Ok(Way::Scheduled(Box::new(match share {
        Some(share) => forwarder.sharing(share),
        None => forwarder,
    })))
}

/// Starts a thread for each bridge. Where they are to stay on a core, it is the one of the first,
/// and the others have those behind it.
pub(super) fn start<B: Backend + Send + 'static>(
    bridges: Vec<Bridge<B>>,
    options: worker::Options,
) -> Result<(ForwardingThreads, Vec<Recorder>), LiveError> {
    let mut workers = Vec::new();
    let mut recorders = Vec::new();
    for (number, mut bridge) in bridges.into_iter().enumerate() {
        bridge.open()?;
        let core = options.core.map(|first| first + number);
        let (worker, recorder) = Forwarding::start(bridge, worker::Options { core, ..options })?;
        workers.push(worker);
        recorders.push(recorder);
    }
    Ok((Workers::new(workers), recorders))
}

/// Handles of the threads of a bridge.
type ForwardingThreads = Workers<(Side, PreparedPlan)>;
