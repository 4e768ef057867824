//! From a plan to the ends of a node's links.

use laxity::link::Link;
use laxity::sched::Tdp;
use laxity_plan::model::{Hop, SchedulerSpec};
use laxity_plan::paths::{OutputId, Paths};
use laxity_plan::tdp::{NetworkAnalysis, Schedule};

use super::framed_output::FramedOutput;
use super::input::Input;
use super::marks;
use super::output::{Output, Plain};
use crate::error::Refusal;
use crate::forwarder::Settings;
use crate::outlet::Outlet;

/// The output at the beginning of a hop, which is the port of this number.
pub(super) fn output(
    on: &NetworkAnalysis<'_>,
    port: usize,
    hop: Hop,
    paths: &Paths,
    schedule: Option<&Schedule<'_>>,
    settings: &Settings,
) -> Result<Output, Refusal> {
    let link = on.network.link(hop);
    let known = |output: &laxity_plan::paths::Output| {
        output.hop == hop && !link.private && output.knows_arrivals()
    };
    let here = match paths.outputs.iter().position(known) {
        Some(output) => paths.plan_at(on.network_plan(), OutputId::from_index(output)),
        None => on.plan.at_hop(hop),
    };
    let scheduler = here.build_scheduler(settings.seed);
    let (SchedulerSpec::Tdp(spec), Some(framed), Some(schedule)) =
        (here.scheduler, on.plan.framed_network(), schedule)
    else {
        let outlet = Outlet::new(Link::new(link.rate), settings.catch_up, false);
        let plain = Plain::new(port, schedule.is_some(), here.washes(), scheduler, outlet);
        return Ok(Output::Plain(Box::new(plain)));
    };
    let settings = framed.settings(hop, schedule.ahead(hop));
    let tdp = Tdp::reserving(settings, |frame| schedule.is_reserved(hop, frame))?;
    let neighbour = on.network.between(hop)[1];
    let shortest = u32::try_from(on.plan.link.min_packet.0).unwrap_or(u32::MAX);
    let padding = on.plan.link.accounted(marks::PADDING as u32).max(shortest);
    let padding = framed.is_in_step(neighbour).then_some(padding);
    let tdp = tdp.over(scheduler);
    Ok(Output::Framed(Box::new(FramedOutput::new(
        port, tdp, spec.time, link.rate, spec.late, padding,
    ))))
}

/// The input at the end of a hop, if marked packets come there.
pub(super) fn input(on: &NetworkAnalysis<'_>, hop: Hop) -> Result<Option<Input>, Refusal> {
    let Some(framed) = on.plan.framed_network() else { return Ok(None) };
    let is_marked = framed.has_frames(hop) && framed.is_in_step(on.network.between(hop)[1]);
    let input = is_marked.then(|| Input::new(framed.spec.time, on.network.link(hop).delay));
    Ok(input.transpose()?)
}
