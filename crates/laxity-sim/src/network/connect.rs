//! From a plan's sources to flows over the network.

use std::ops::Range;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{Hop, ModelSource, Recording, Source, TcpSource};

use super::flow::{Flow, FlowBooks};
use super::simulation::{Fed, Flows, Simulation};
use crate::error::SimError;
use crate::record::Observer;
use crate::source::Feed;
use crate::source::closed_loop::SourceCopy;

impl<O: Observer> Simulation<'_, O> {
    /// Makes the sources' flows; tells when the connections begin that send from here, by flow.
    pub(super) fn connect(&mut self) -> Result<Vec<(u32, Nanos)>, SimError> {
        let plan = self.run.on.plan;
        let mut begins = Vec::new();
        let mut of_class = vec![0; plan.classes.len()];
        let mut next = |class: ClassId| {
            let number = &mut of_class[class.index()];
            *number += 1;
            FlowId(*number - 1)
        };
        let counts = plan.sources.iter().map(|source| match source {
            Source::Model(ModelSource { count, .. }) | Source::Tcp(TcpSource { count, .. }) => {
                *count as usize
            }
            Source::Recording(_) => 0,
        });
        self.flows.reserve_exact(counts.sum());
        for (index, source) in plan.sources.iter().enumerate() {
            let feed = match self.run.arrivals {
                Some(open) => Some(Feed::new(open(index)?)),
                None => Feed::of_source(plan, self.run.seed, index)?,
            };
            let number = self.sources.len();
            let flows = match source {
                Source::Model(ModelSource { class, path, count, .. })
                | Source::Tcp(TcpSource { class, path, count, .. }) => {
                    let is_backlogged = matches!(feed, Some(Feed::Backlogged(_)));
                    let bound = self.topology.bound(*class, path);
                    let first = self.flows.len() as u32;
                    let is_private = self.topology.is_private(path);
                    let mut routes = None;
                    let returns = self.add_connections(index, source, &mut begins)?;
                    for flow in (0..*count).map(FlowId) {
                        let copy = is_backlogged.then_some(SourceCopy { source: number, flow });
                        let id = next(*class);
                        let shared = routes.take().filter(|_| !is_private);
                        let laid =
                            shared.unwrap_or_else(|| self.topology.lay(*class, path, returns));
                        routes = Some(laid.clone());
                        let flow = Self::flow(*class, laid, bound);
                        self.flows.push(Flow { id, backlogged: copy, ..flow });
                    }
                    Flows::Copies(first)
                }
                Source::Recording(Recording { path, .. }) => {
                    let mut flows = vec![None; plan.classes.len()];
                    for (class, _) in plan.leaves() {
                        let bound = self.topology.bound(class, path);
                        let flow = Self::flow(class, self.topology.lay(class, path, false), bound);
                        flows[class.index()] = Some(self.flows.len() as u32);
                        self.flows.push(flow);
                    }
                    Flows::Classes(flows)
                }
            };
            let is_here = self.has_ends(source)[0];
            self.sources.extend(feed.map(|feed| Fed { feed, is_here, flows }));
        }
        // Recorded packets bring their own numbers: their flows have those that are left.
        for source in &self.sources {
            let Flows::Classes(flows) = &source.flows else { continue };
            for flow in flows.iter().flatten() {
                let flow = &mut self.flows[*flow as usize];
                flow.id = next(flow.class);
            }
        }
        Ok(begins)
    }

    /// The flows that come next are connections, if their source is TCP: whether it is.
    fn add_connections(
        &mut self,
        index: usize,
        source: &Source,
        begins: &mut Vec<(u32, Nanos)>,
    ) -> Result<bool, SimError> {
        let Source::Tcp(tcp) = source else { return Ok(false) };
        if self.run.arrivals.is_some() {
            return Ok(false);
        }
        let first = self.flows.len() as u32;
        let added = self.connections.add(first, index as u32, tcp);
        added.map_err(|problem| SimError::Source { number: index + 1, problem })?;
        let [begins_here, _] = self.has_ends(source);
        if begins_here {
            let of = |flow| Some((flow, self.connections.sender(self.run.seed, flow).begins?));
            begins.extend((first..first + tcp.count).filter_map(of));
        }
        Ok(true)
    }

    /// A flow along routes.
    fn flow(class: ClassId, routes: [Range<u32>; 2], bound: Option<Nanos>) -> Flow {
        let [path, back] = routes;
        let (id, books) = (FlowId::default(), FlowBooks::default());
        Flow { class, id, path, back, bound, backlogged: None, sender: None, receiver: None, books }
    }

    /// Whether the flows of a source begin and end in this part of the network.
    fn has_ends(&self, source: &Source) -> [bool; 2] {
        let path = source.path();
        let between = |hop: &Hop| self.run.on.network.between(*hop);
        let begins = path.first().map(|hop| between(hop)[0]);
        let ends = path.last().map(|hop| between(hop)[1]);
        [begins, ends].map(|node| node.is_some_and(|node| self.here.has(node.0)))
    }
}
