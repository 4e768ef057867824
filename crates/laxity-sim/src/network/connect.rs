//! From a plan's sources to flows over the network.

use std::ops::Range;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{Hop, ModelSource, Recording, Source, TcpSource};
use rand::RngExt;

use super::flow::{Flow, FlowBooks};
use super::receiving::ReceivingEnd;
use super::sending::{SendingEnd, Workloads};
use super::simulation::{Fed, Flows, Simulation};
use crate::error::SimError;
use crate::record::Observer;
use crate::source::Feed;
use crate::source::closed_loop::SourceCopy;
use crate::source::random::generator;

/// Where the generators of hosts are apart from those of what they are asked to send.
const HOSTS: u64 = 1 << 62;

/// A connection's ends that are in this part of the network.
type Ends = (Option<Box<SendingEnd>>, Option<Box<ReceivingEnd>>);

impl<O: Observer> Simulation<'_, O> {
    /// Makes the sources' flows.
    pub(super) fn connect(&mut self) -> Result<(), SimError> {
        let plan = self.run.on.plan;
        let mut of_class = vec![0; plan.classes.len()];
        let mut next = |class: ClassId| {
            let number = &mut of_class[class.index()];
            *number += 1;
            FlowId(*number - 1)
        };
        let mut workloads = Workloads::default();
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
                    let mut connections = self.connections(index, source, &mut workloads)?;
                    let is_backlogged = matches!(feed, Some(Feed::Backlogged(_)));
                    let bound = self.topology.bound(*class, path);
                    let first = self.flows.len() as u32;
                    let is_private = self.topology.is_private(path);
                    let mut routes = None;
                    for flow in (0..*count).map(FlowId) {
                        let copy = is_backlogged.then_some(SourceCopy { source: number, flow });
                        let ends = connections.next();
                        let returns = ends.is_some();
                        let (sender, receiver) = ends.unwrap_or_default();
                        let id = next(*class);
                        let shared = routes.take().filter(|_| !is_private);
                        let laid =
                            shared.unwrap_or_else(|| self.topology.lay(*class, path, returns));
                        routes = Some(laid.clone());
                        let flow = Self::flow(*class, laid, bound);
                        self.flows.push(Flow { id, sender, receiver, backlogged: copy, ..flow });
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
        Ok(())
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
        [begins, ends].map(|node| node.is_some_and(|node| self.here.has(node)))
    }

    /// The ends of a TCP source's connections that are here; none of another.
    fn connections(
        &self,
        index: usize,
        source: &Source,
        workloads: &mut Workloads,
    ) -> Result<impl Iterator<Item = Ends> + use<O>, SimError> {
        let (workload, start, stagger, count) = match source {
            Source::Tcp(source) if self.run.arrivals.is_none() => {
                let workload = workloads
                    .of(source)
                    .map_err(|problem| SimError::Source { number: index + 1, problem })?;
                (Some(workload), source.start, source.stagger, source.count)
            }
            _ => (None, Nanos::ZERO, Nanos::ZERO, 0),
        };
        let (seed, [begins_here, ends_here]) = (self.run.seed, self.has_ends(source));
        Ok((0..count).zip(std::iter::repeat(workload).flatten()).map(move |(copy, workload)| {
            let [mut asked, host] =
                [0, HOSTS].map(|of| generator(seed, of | index as u64, copy.into()));
            let begins = start.saturating_add(Nanos(asked.random_range(0..=stagger.0)));
            let receiver = ends_here.then(|| Box::new(workload.receiver()));
            let sender = || Box::new(SendingEnd::new(workload, begins, asked, host));
            (begins_here.then(sender), receiver)
        }))
    }
}
