//! Schedulers that a program brings: in place of a link's, or at outputs of a network.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use laxity::scheduler::Withdraw;
use laxity_answers::verdict::HeldTo;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Network};
use laxity_sim::Progress;
use laxity_sim::network::OutputSchedulers;
use laxity_sim::record::Observer;
use laxity_sim::summary::{Outcome, Summary};

use crate::result::RunResult;
use crate::run::{AnalysedPlan, Own, simulate_link, simulate_network};
use crate::{Error, Traffic};

/// A scheduler that a program brings, for the classes of a plan.
pub struct Custom {
    /// What tables call it.
    pub name: String,
    /// The output of a network where it is, `from → to`; `None` for the only link.
    pub at: Option<String>,
    /// The scheduler.
    pub scheduler: Box<dyn Withdraw + Send>,
}

/// The plan, where a program brings the schedulers of some outputs of its network, `from → to`.
/// Nothing is proved of what waits there.
///
/// # Errors
/// If the network has no such output, if every flow has such an output of its own, or if packets
/// have time frames there.
pub fn with_custom(mut plan: Plan, outputs: &[String]) -> Result<Plan, Error> {
    for output in outputs {
        let hop = hop(&plan, output)?;
        let network_plan = plan.network_plan().expect("it has outputs");
        let why = if network_plan.network.link(hop).private {
            Some("every flow has such a link of its own")
        } else if plan.scheduling_at(hop).scheduler.room().is_of_networks {
            Some("packets have time frames there")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(Error::question(format!(
                "no scheduler of one's own can be at `{output}`: {why}"
            )));
        }
        let links = plan.network.iter_mut().flat_map(|network| &mut network.links);
        if let Some(link) = links.into_iter().nth(hop.link.index()) {
            link.custom[usize::from(hop.backward)] = true;
        }
    }
    Ok(plan)
}

/// The hop of an output's name.
fn hop(plan: &Plan, output: &str) -> Result<Hop, Error> {
    let named = |network: &Network| network.hops().find(|hop| network.output(*hop) == output);
    plan.network.as_ref().and_then(named).ok_or_else(|| {
        let outputs: Vec<_> = outputs(plan).take(20).map(|name| format!("`{name}`")).collect();
        Error::question(match &outputs[..] {
            [] => "the plan is one link: leave out the output".to_owned(),
            outputs => {
                format!("the plan has no output `{output}`; accepted: {}", outputs.join(", "))
            }
        })
    })
}

/// The names of the outputs of a network, `from → to`.
pub(crate) fn outputs(plan: &Plan) -> impl Iterator<Item = String> {
    plan.network.iter().flat_map(|network| network.hops().map(|hop| network.output(hop)))
}

/// Simulates a plan on schedulers of a program's own, behind the plan's queues: in place of the
/// link's, or at those outputs of a network that [`with_custom`] left to the program.
///
/// On a link, promises and proofs are those of the plan's scheduler, which has to prove no more
/// than holds of the other one; `fifo` proves nothing. Beside an `own` plan the run is held to what
/// [`run_compared`](crate::run_compared) says.
///
/// # Errors
/// As [`run`](crate::run()), and if the schedulers are not at the outputs that were left to them.
pub fn run_custom<'a>(
    own: Option<&Plan>,
    plan: &'a Plan,
    schedulers: Vec<Custom>,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    let to = own.map_or(HeldTo::Plan, |own| HeldTo::in_comparison(own.scheduler, plan.scheduler));
    let (analysed, seed) = (AnalysedPlan::new(plan), traffic.seed(plan));
    if analysed.network.is_some() {
        let named = schedulers.into_iter().map(|custom| match &custom.at {
            Some(at) => Ok((hop(plan, at)?, custom)),
            None => Err(Error::question(format!(
                "{} is to be at an output of the network, and none is named",
                custom.name
            ))),
        });
        let customs = named.collect::<Result<BTreeMap<Hop, Custom>, Error>>()?;
        return at_outputs(analysed, customs, to, traffic, observer, progress);
    }
    let Ok([Custom { name, at: None, scheduler }]) = <[Custom; 1]>::try_from(schedulers) else {
        return Err(Error::question("one link takes one scheduler, without an output"));
    };
    let scheduler = plan.behind_queues(scheduler, seed);
    let (outcome, how) = simulate_link(plan, Some(scheduler), traffic, seed, observer, progress)?;
    let summary = Summary { scheduler: name, ..outcome.summary };
    Ok(analysed.judged(to, Outcome { summary, ..outcome }, how))
}

fn at_outputs<'a>(
    analysed: AnalysedPlan<'a>,
    customs: BTreeMap<Hop, Custom>,
    to: HeldTo,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<RunResult<'a>, Error> {
    let Some(on) = &analysed.network else { unreachable!("it is a network") };
    let left = on.network.hops().filter(|hop| on.network.is_custom(*hop));
    if !left.eq(customs.keys().copied()) {
        return Err(Error::question(
            "each output that is left to a scheduler of one's own needs one, and no other takes one",
        ));
    }
    let names: BTreeMap<Hop, String> =
        customs.iter().map(|(hop, custom)| (*hop, custom.name.clone())).collect();
    let waiting: BTreeMap<_, _> =
        customs.into_iter().map(|(hop, custom)| (hop, custom.scheduler)).collect();
    let waiting = Mutex::new(waiting);
    let take: &OutputSchedulers<'_> =
        &|hop, _| waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&hop);
    let seed = traffic.seed(on.plan);
    let own = Own { schedulers: Some(take), witness: None };
    let (mut outcome, how) = simulate_network(on, traffic, seed, own, observer, progress)?;
    let summary = &mut outcome.summary;
    for (hop, name) in names {
        let [from, to] = on.network.ends(hop);
        summary.scheduler += &format!(", {name} at {}", on.network.output(hop));
        let at = summary.hops.iter_mut().filter(|hop| hop.from == from && hop.to == to);
        at.for_each(|hop| hop.scheduler.clone_from(&name));
    }
    Ok(analysed.judged(to, outcome, how))
}
