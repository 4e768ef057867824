//! One run, and its measurements.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use laxity_sim::network::NetworkRun;
use laxity_sim::summary::EndToEnd;

use super::plans::network_plan;

/// Measurements of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The classes, in the plan's order.
    pub flows: Vec<Flow>,
    /// Directions of links in use, each with the share of time in which it was sending.
    pub links: Vec<(String, f64)>,
    /// Packets that were sent after their frame.
    pub late: f64,
}

/// Measurements of a class. Times are in ms.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub name: String,
    /// The longest delay from end to end less the shortest.
    pub jitter: f64,
    /// The jitter from the first transmission on.
    pub transit_jitter: f64,
    pub longest: f64,
    /// The promised delay; NaN if there is none.
    pub bound: f64,
    pub dropped: f64,
    is_reserved: bool,
}

impl Run {
    pub(super) fn simulate(plan: &Plan, duration: Nanos, seed: u64) -> Result<Run, SimError> {
        let on = network_plan(plan).analysis();
        let run = NetworkRun::new(&on, Some(duration), seed);
        let summary = run.simulate(&mut (), &mut laxity_sim::to_the_end)?.summary;
        let hops = summary.hops.iter();
        let links = hops.clone().map(|hop| (hop.output(), hop.utilization));
        Ok(Run {
            flows: summary
                .network
                .as_ref()
                .expect("a network")
                .classes
                .iter()
                .map(|class| Flow::new(plan, class))
                .collect(),
            links: links.collect(),
            late: hops.filter_map(|hop| hop.frames).map(|frames| frames.late as f64).sum(),
        })
    }

    /// The classes that are promised frames.
    pub(super) fn reserved(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| flow.is_reserved)
    }
}

impl Flow {
    fn new(plan: &Plan, class: &EndToEnd) -> Flow {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let spread = |delay: Option<laxity_sim::summary::DelaySummary>| {
            delay.map_or(f64::NAN, |delay| ms(delay.max - delay.min))
        };
        let id = plan.class(&class.name);
        Flow {
            name: class.name.clone(),
            jitter: spread(class.delay_ns),
            transit_jitter: spread(class.transit_ns),
            longest: class.delay_ns.map_or(f64::NAN, |delay| ms(delay.max)),
            bound: class.bound_ns.map_or(f64::NAN, ms),
            dropped: class.dropped as f64,
            is_reserved: id.is_some_and(|id| plan.classes[id.index()].wants_frames()),
        }
    }
}
