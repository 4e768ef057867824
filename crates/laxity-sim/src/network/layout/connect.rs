//! From a plan's sources to flows over the network.

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{ModelSource, Recording, Source, TcpSource};

use crate::error::SimError;
use crate::network::flow::{Flow, FlowBooks};
use crate::network::hosts::{Hosts, Sending, SourceFlows};
use crate::network::ids::FlowKey;
use crate::network::layout::{Layout, Routes};
use crate::network::run::NetworkRun;
use crate::source::Feed;
use crate::source::closed_loop::SourceCopy;

/// Makes the sources of a run and lays the routes of their flows. Returns them with the times at
/// which connections begin that send from this part of the network.
///
/// # Errors
///
/// Fails if a source makes no sense or its recording cannot be opened.
pub(crate) fn connect(
    run: &NetworkRun<'_>,
    layout: &mut Layout<'_>,
) -> Result<(Hosts, Vec<(FlowKey, Nanos)>), SimError> {
    let plan = run.on.plan;
    let mut hosts = Hosts::default();
    let mut begins = Vec::new();
    let mut numbers = FlowNumbers(vec![0; plan.classes.len()]);
    let counts = plan.sources.iter().map(|source| match source {
        Source::Model(ModelSource { count, .. }) | Source::Tcp(TcpSource { count, .. }) => {
            *count as usize
        }
        Source::Recording(_) => 0,
    });
    layout.topology.flows.reserve_exact(counts.sum());
    for (index, source) in plan.sources.iter().enumerate() {
        let feed = match run.arrivals {
            Some(open) => Some(Feed::new(open(index)?)),
            None => Feed::from_source(plan, run.seed, index)?,
        };
        let flows = match source {
            Source::Model(ModelSource { class, path, count, .. })
            | Source::Tcp(TcpSource { class, path, count, .. }) => {
                let is_backlogged = matches!(feed, Some(Feed::Backlogged(_)));
                let bound = layout.bound(*class, path);
                let first = FlowKey::from_index(layout.topology.flows.len());
                let is_private = layout.is_private(path);
                let returns = add_connections(run, layout, &mut hosts, index, &mut begins)?;
                let mut routes = None;
                for flow in (0..*count).map(FlowId) {
                    let shared = routes.take().filter(|_| !is_private);
                    let laid = shared.unwrap_or_else(|| layout.lay(*class, path, returns));
                    routes = Some(laid.clone());
                    let copy = SourceCopy { source: hosts.sources.len(), flow };
                    layout.topology.flows.push(Flow {
                        id: numbers.next(*class),
                        backlogged: is_backlogged.then_some(copy),
                        ..new_flow(*class, laid, bound)
                    });
                }
                SourceFlows::Copies(first)
            }
            Source::Recording(Recording { path, .. }) => {
                let mut flows = vec![None; plan.classes.len()];
                for (class, _) in plan.leaves() {
                    let bound = layout.bound(class, path);
                    let flow = new_flow(class, layout.lay(class, path, false), bound);
                    flows[class.index()] = Some(FlowKey::from_index(layout.topology.flows.len()));
                    layout.topology.flows.push(flow);
                }
                SourceFlows::Classes(flows)
            }
        };
        let [is_here, _] = layout.topology.here.has_ends(run.on.network_plan(), source.path());
        hosts.sources.extend(feed.map(|feed| Sending { feed, is_here, flows }));
    }
    // Recorded packets bring their own numbers: their flows have those that are left.
    for source in &hosts.sources {
        let SourceFlows::Classes(flows) = &source.flows else { continue };
        for flow in flows.iter().flatten() {
            let flow = &mut layout.topology.flows[flow.index()];
            flow.id = numbers.next(flow.class);
        }
    }
    Ok((hosts, begins))
}

/// The numbers of flows in each class that are next.
struct FlowNumbers(Vec<u32>);

impl FlowNumbers {
    fn next(&mut self, class: ClassId) -> FlowId {
        let number = &mut self.0[class.index()];
        *number += 1;
        FlowId(*number - 1)
    }
}

/// Adds the connections of a source, which the next flows are, if it is TCP; returns whether it is.
fn add_connections(
    run: &NetworkRun<'_>,
    layout: &Layout<'_>,
    hosts: &mut Hosts,
    index: usize,
    begins: &mut Vec<(FlowKey, Nanos)>,
) -> Result<bool, SimError> {
    let source = &run.on.plan.sources[index];
    let Source::Tcp(tcp) = source else { return Ok(false) };
    if run.arrivals.is_some() {
        return Ok(false);
    }
    let first = FlowKey::from_index(layout.topology.flows.len());
    let added = hosts.connections.add(first, index as u32, tcp);
    added.map_err(|problem| SimError::Source { number: index + 1, problem })?;
    let [begins_here, _] = layout.topology.here.has_ends(run.on.network_plan(), source.path());
    if begins_here {
        let flows = (first.0..first.0 + tcp.count).map(FlowKey);
        begins.extend(
            flows.filter_map(|flow| Some((flow, hosts.connections.sender(run.seed, flow).begins?))),
        );
    }
    Ok(true)
}

/// A flow along routes.
fn new_flow(class: ClassId, routes: Routes, bound: Option<Nanos>) -> Flow {
    let [path, back] = routes;
    let (id, books) = (FlowId::default(), FlowBooks::default());
    Flow { class, id, path, back, bound, backlogged: None, sender: None, receiver: None, books }
}
