//! What is proved of a network, before anything is sent.

use std::collections::BTreeMap;

use laxity::admit::network::Method;
use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::Nanos;
use laxity_plan::model::{Class, Hop};
use laxity_plan::paths::{BoundError, ClassAtOutput, Output, OutputId, Route};
use laxity_plan::tdp::NetworkAnalysis;
use serde::Serialize;

use super::nodes;
use super::promises::{AnalysedNetwork, is_any_promised};
use crate::link;
use crate::reason::{Finding, Reason, Unbounded, admitted};

/// What is proved of every path and output of a network.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkProof {
    /// The discipline of links that have none of their own.
    pub scheduler: &'static str,
    /// Why the plan is admitted, refused or left open.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
    /// The classes from end to end, a path each.
    pub paths: Vec<PathProof>,
    /// The outputs on these paths.
    pub outputs: Vec<OutputProof>,
    /// The outputs that feed one another in circles, `from → to`.
    pub circles: Vec<String>,
    /// If there are any, the most that all classes may send for bounds to exist, in percent of
    /// their arrival curves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded_up_to_percent: Option<u64>,
}

/// A class along a path.
#[derive(Clone, Debug, Serialize)]
pub struct PathProof {
    /// The class.
    pub class: String,
    /// The nodes from the sender to the receiver.
    pub nodes: Vec<String>,
    /// How many flows take it.
    pub flows: u32,
    /// The delay that is promised from end to end, in ns.
    pub deadline_ns: Option<u64>,
    /// The least bound that any method finds, in ns.
    pub bound_ns: Option<u64>,
    /// The method that finds it.
    pub method: Option<&'static str>,
    /// The bound of every method that applies, in ns, by the name of the method.
    pub methods_ns: BTreeMap<&'static str, u64>,
    /// By how much the bound is below the deadline, in ns.
    pub slack_ns: Option<u64>,
    /// The sum of the bounds of all outputs and of propagation, in ns.
    pub sum_ns: Option<u64>,
    /// The sum where outputs in a row that serve the same packets are taken as one, in ns.
    pub once_ns: Option<u64>,
    /// The delay of the longest packet through the empty network, in ns.
    pub empty_ns: u64,
    /// The output that adds most to the sum, or that has no bound: `from → to`.
    pub binding: Option<String>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<Unbounded>,
    /// The outputs on the way.
    pub hops: Vec<HopProof>,
}

/// An output as a class sees it on its path.
#[derive(Clone, Debug, Serialize)]
pub struct HopProof {
    /// The link.
    pub link: String,
    /// The bound from a packet's arrival at the node to its last bit out, in ns.
    pub bound_ns: Option<u64>,
    /// The propagation delay to the next node, in ns.
    pub propagation_ns: u64,
    /// Whether packets are held to the arrival curve of their class before they come there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub regulated: bool,
}

/// An output and the classes that pass it.
#[derive(Clone, Debug, Serialize)]
pub struct OutputProof {
    /// The link.
    pub link: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Whether every flow has such a link to itself.
    pub private: bool,
    /// The discipline.
    pub scheduler: &'static str,
    /// Its rate in bits per second.
    pub rate_bps: u64,
    /// Sum of the long-term arrival rates of the classes that have an arrival curve here, in bits
    /// per second.
    pub long_run_bps: u64,
    /// Whether its scheduler can keep what it promises; absent where the traffic is not known, and
    /// where the scheduler promises nothing.
    pub fits: Option<bool>,
    /// The classes.
    pub classes: Vec<PassingProof>,
}

/// A class at an output.
#[derive(Clone, Debug, Serialize)]
pub struct PassingProof {
    /// Its name.
    pub name: String,
    /// The burst of its long-term arrival curve there, in bytes; absent where that is not known.
    pub burst_bytes: Option<u64>,
    /// The long-term rate of that arrival curve, in bits per second.
    pub rate_bps: Option<u64>,
    /// The delay that it is promised at every output, in ns.
    pub deadline_ns: Option<u64>,
    /// The delay that is proved, in ns.
    pub bound_ns: Option<u64>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<Unbounded>,
}

impl NetworkProof {
    /// What is proved of a network without time frames.
    pub fn new(on: &NetworkAnalysis<'_>) -> NetworkProof {
        let (plan, paths) = (on.plan, on.paths());
        let network = AnalysedNetwork { on: on.network_plan(), paths };
        let outputs: Vec<_> = paths.output_ids().map(|output| network.output(output)).collect();
        let routes = || paths.routes.iter().filter(|route| !route.acks);
        let late = routes().filter_map(|route| network.late_over(route));
        let mut reasons: Vec<Reason> = late.collect();
        let (mut refusals, outputs): (Vec<_>, Vec<_>) = outputs.into_iter().unzip();
        reasons.extend(refusals.iter_mut().flat_map(std::mem::take));
        let mut proof = NetworkProof {
            scheduler: plan.scheduler.name(),
            reasons,
            paths: routes().map(|route| network.path(route)).collect(),
            outputs,
            circles: paths
                .cyclic
                .iter()
                .map(|output| network.ends(&paths.outputs[output.index()]))
                .collect(),
            bounded_up_to_percent: None,
        };
        if proof.reasons.is_empty() {
            let is_bounded = proof.paths.iter().any(|path| path.bound_ns.is_some());
            proof.reasons.push(Reason::whole(if is_any_promised(plan) {
                Finding::PromisesHold
            } else {
                Finding::NoPromise { is_bounded }
            }));
        }
        proof
    }

    /// Adds the load at which bounds are lost, where outputs feed one another. That analyses the
    /// network fourteen times more.
    pub fn with_stability(mut self, on: &NetworkAnalysis<'_>) -> NetworkProof {
        if !self.circles.is_empty() && !on.plan.scheduler.room().is_of_networks {
            self.bounded_up_to_percent = on.network_plan().bounded_up_to();
        }
        self
    }

    /// Whether everything that is promised holds; `None` if nothing is promised and nothing known.
    pub fn admitted(&self) -> Option<bool> {
        admitted(&self.reasons)
    }
}

impl AnalysedNetwork<'_> {
    fn path(&self, route: &Route) -> PathProof {
        let class = &self.on.plan.classes[route.class.index()];
        let (deadline, bound) = (class.end_to_end, route.bound());
        let early = |bound: Nanos| deadline?.0.checked_sub(bound.0);
        let bounds = || route.outputs.iter().map(|output| self.bound(*output, route.class));
        let unproved = bounds().position(|bound| bound.is_err());
        let slowest =
            || (0..route.path.len()).max_by_key(|at| bounds().nth(*at).and_then(Result::ok));
        let hop = |(place, (hop, bound)): (usize, (&Hop, Result<Nanos, BoundError>))| {
            let link = self.on.network.link(*hop);
            HopProof {
                link: link.name.clone(),
                bound_ns: bound.ok().map(|bound| bound.0),
                propagation_ns: link.delay.0,
                regulated: route.regulated.contains(&place),
            }
        };
        let methods = route.bounds.iter().flatten();
        PathProof {
            class: class.name.clone(),
            nodes: nodes(self.on.network, &route.path),
            flows: route.flows,
            deadline_ns: deadline.map(|deadline| deadline.0),
            bound_ns: bound.ok().map(|bound| bound.0),
            slack_ns: bound.ok().and_then(early),
            method: route.least().ok().map(|least| least.method.name()),
            methods_ns: methods.map(|of| (of.method.name(), of.delay.0)).collect(),
            sum_ns: route.by(Method::Hops).map(|sum| sum.0),
            once_ns: route.by(Method::Once).map(|once| once.0),
            empty_ns: route.unloaded.0,
            binding: unproved.or_else(slowest).map(|at| self.on.network.output(route.path[at])),
            unbounded: bound.err().map(Unbounded::Path),
            hops: route.path.iter().zip(bounds()).enumerate().map(hop).collect(),
        }
    }

    fn bound(&self, output: OutputId, class: ClassId) -> Result<Nanos, BoundError> {
        self.paths.outputs[output.index()]
            .class(class)
            .map_or(Err(BoundError::UnboundedUpstream), |of| of.bound)
    }

    /// What breaks the promise of a route's class from end to end, if anything does.
    fn late_over(&self, route: &Route) -> Option<Reason> {
        let deadline = self.deadline_over(route)?;
        let class = &self.on.plan.classes[route.class.index()];
        let late = Reason::late(&class.name, deadline, route.bound().map_err(Unbounded::Path))?;
        Some(late.over(nodes(self.on.network, &route.path)))
    }

    /// An output, and what stands against its promises.
    fn output(&self, id: OutputId) -> (Vec<Reason>, OutputProof) {
        let output = &self.paths.outputs[id.index()];
        let link = self.on.network.link(output.hop);
        let [from, to] = self.on.network.ends(output.hop).map(str::to_string);
        let is_tested = output.knows_arrivals() && link::has_test(&self.on.plan.at_hop(output.hop));
        let mut reasons = self.refusals_at(id);
        let fits = is_tested.then_some(reasons.is_empty());
        reasons.extend(self.late_at(output));
        reasons.extend(self.small_queues_at(id));
        let proof = OutputProof {
            link: link.name.clone(),
            from,
            to,
            private: output.private.is_some(),
            scheduler: self.on.plan.scheduling_at(output.hop).scheduler.name(),
            rate_bps: link.rate.0,
            long_run_bps: output.long_run().0,
            fits,
            classes: self.passing(output),
        };
        (reasons, proof)
    }

    fn passing(&self, output: &Output) -> Vec<PassingProof> {
        let over = output.hop.link;
        let deadline = |class: &Class| class.deadline_over(over).map(|Nanos(deadline)| deadline);
        let of = |passing: &ClassAtOutput| {
            let lines = passing.arrival.as_ref();
            let long_run = lines.and_then(|lines| TokenBucket::slowest(lines));
            PassingProof {
                name: self.on.plan.classes[passing.class.index()].name.clone(),
                burst_bytes: long_run.map(|line| line.bucket.0),
                rate_bps: long_run.map(|line| line.rate.0),
                deadline_ns: deadline(&self.on.plan.classes[passing.class.index()]),
                bound_ns: passing.bound.ok().map(|bound| bound.0),
                unbounded: passing.bound.err().map(Unbounded::Path),
            }
        };
        output.classes.iter().map(of).collect()
    }
}
