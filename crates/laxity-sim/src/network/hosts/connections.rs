//! The ends of TCP's connections, made when they are first needed: a plan may hold many that begin
//! late.

use std::sync::Arc;

use laxity::units::Nanos;
use laxity_plan::model::TcpSource;
use rand::RngExt;

use crate::error::SourceProblem;
use crate::network::hosts::receiving::ReceivingEnd;
use crate::network::hosts::sending::{SendingEnd, Workload, Workloads};
use crate::network::ids::FlowKey;
use crate::source::random::generator;

/// Where the generators of hosts are apart from those of what they are asked to send.
const HOSTS: u64 = 1 << 62;

/// What is known of the connections of a network before they begin.
#[derive(Default)]
pub(crate) struct Connections {
    workloads: Workloads,
    /// In the order of their flows.
    sources: Vec<ConnectionGroup>,
}

/// A source and its connections.
struct ConnectionGroup {
    /// The flow of its first connection.
    first: FlowKey,
    /// The number of the source in the plan, from 0.
    source: u32,
    workload: Arc<Workload>,
    start: Nanos,
    stagger: Nanos,
}

impl Connections {
    /// A source's connections are the flows from `first` on.
    ///
    /// # Errors
    /// If a distribution's parameters describe none.
    pub(crate) fn add(
        &mut self,
        first: FlowKey,
        source: u32,
        tcp: &TcpSource,
    ) -> Result<(), SourceProblem> {
        let workload = self.workloads.workload(tcp)?;
        let TcpSource { start, stagger, .. } = *tcp;
        self.sources.push(ConnectionGroup { first, source, workload, start, stagger });
        Ok(())
    }

    /// The sending end of a flow that is a connection.
    pub(crate) fn sender(&self, seed: u64, flow: FlowKey) -> SendingEnd {
        let ConnectionGroup { first, source, workload, start, stagger } = self.group(flow);
        let of = |of| generator(seed, of | u64::from(*source), (flow.0 - first.0).into());
        let (mut asked, host) = (of(0), of(HOSTS));
        let begins = start.saturating_add(Nanos(asked.random_range(0..=stagger.0)));
        SendingEnd::new(workload.clone(), begins, asked, host)
    }

    /// The receiving end of one.
    pub(crate) fn receiver(&self, flow: FlowKey) -> ReceivingEnd {
        self.group(flow).workload.receiver()
    }

    fn group(&self, flow: FlowKey) -> &ConnectionGroup {
        let behind = self.sources.partition_point(|source| source.first <= flow);
        &self.sources[behind - 1]
    }
}
