//! From a plan's sources to flows over the network.

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{Source, SourceId};

use crate::error::SimError;
use crate::network::flow::{Flow, FlowBooks};
use crate::network::hosts::connections::Connections;
use crate::network::hosts::{Hosts, Sending, SourceFlows};
use crate::network::ids::FlowKey;
use crate::network::layout::{Layout, Routes};
use crate::network::run::NetworkRun;
use crate::source::closed_loop::SourceCopy;
use crate::source::{Feed, FeedId, flows_of, open_source};

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
    let mut hosts = Hosts { connections: Connections::new(plan), ..Hosts::default() };
    let mut begins = Vec::new();
    let mut numbers = FlowNumbers(vec![0; plan.classes.len()]);
    let counts = plan.sources.iter().filter_map(flows_of).map(|(_, count)| count as usize);
    layout.topology.flows.reserve_exact(counts.sum());
    for (id, source) in (0..).map(SourceId).zip(&plan.sources) {
        let feed = match (run.arrivals, source) {
            (Some(open), _) => Some(Feed::recorded_without(open(id)?, run.without)),
            (None, Source::Recording(recording)) => {
                let arrivals = open_source(recording, plan, id)?;
                Some(Feed::recorded_without(arrivals, run.without))
            }
            (None, Source::Model(_) | Source::Tcp(_)) => Feed::from_source(plan, run.seed, id)?,
        };
        let is_here = layout.topology.here.has_start(run.on.network_plan(), source.path());
        let path = source.path();
        let flows = match flows_of(source) {
            Some((class, count)) => {
                let is_backlogged = matches!(feed, Some(Feed::Backlogged(_)));
                let bound = layout.bound(class, path);
                let first = FlowKey::from_index(layout.topology.flows.len());
                let is_private = layout.is_private(path);
                let mut returns = false;
                if let (Source::Tcp(tcp), None) = (source, run.arrivals) {
                    returns = true;
                    let added = hosts.connections.add(first, id, tcp);
                    added.map_err(|problem| SimError::Source { id, problem })?;
                    let flows = (first.0..first.0 + tcp.count).map(FlowKey).filter(|_| is_here);
                    let begin =
                        |flow| Some((flow, hosts.connections.sender(run.seed, flow).begins?));
                    begins.extend(flows.filter_map(begin));
                }
                let mut routes = None;
                for flow in (0..count).map(FlowId) {
                    let shared = routes.take().filter(|_| !is_private);
                    let laid = shared.unwrap_or_else(|| layout.lay(class, path, returns));
                    routes = Some(laid.clone());
                    let feed = FeedId::from_index(hosts.sources.len());
                    layout.topology.flows.push(Flow {
                        id: numbers.next(class),
                        backlogged: is_backlogged.then_some(SourceCopy { feed, flow }),
                        ..new_flow(class, laid, bound)
                    });
                }
                SourceFlows::Copies(first)
            }
            None => {
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

/// A flow along routes.
fn new_flow(class: ClassId, routes: Routes, bound: Option<Nanos>) -> Flow {
    let [path, back] = routes;
    let (id, books) = (FlowId::default(), FlowBooks::default());
    Flow { class, id, path, back, bound, backlogged: None, sender: None, receiver: None, books }
}
