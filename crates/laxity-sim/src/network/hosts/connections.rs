//! The ends of TCP connections. They are made when first needed, since many may begin late.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::packet::AckTag;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::acks::{AckHistory, Acknowledgement};
use laxity_plan::model::{SourceId, TcpSource};
use rand::RngExt;

use crate::error::SourceProblem;
use crate::network::hosts::receiving::ReceivingEnd;
use crate::network::hosts::sending::{SendingEnd, Workload, Workloads};
use crate::network::ids::{FlowKey, TransferId};
use crate::source::random::generator;
use crate::tcp::Ack;

/// Distinguishes the generators of hosts from those of requests.
const HOSTS: u64 = 1 << 62;

/// The connections of a network before they begin.
#[derive(Default)]
pub(crate) struct Connections {
    workloads: Workloads,
    /// One for each source, in the order of flows.
    sources: Vec<ConnectionGroup>,
    /// If some queue drops acknowledgements that later ones make superfluous: those of the present
    /// transfer of each flow.
    acks: Option<HashMap<FlowKey, (TransferId, AckHistory)>>,
}

/// A source and its connections.
struct ConnectionGroup {
    /// The flow of its first connection.
    first: FlowKey,
    source: SourceId,
    workload: Arc<Workload>,
    start: Nanos,
    stagger: Nanos,
}

impl Connections {
    /// Those of a plan, before any is added.
    pub(crate) fn new(plan: &Plan) -> Self {
        Connections { acks: plan.filters_acks().then(HashMap::new), ..Connections::default() }
    }

    /// What an acknowledgement of a flow's transfer makes of those before it.
    pub(crate) fn tag(&mut self, flow: FlowKey, transfer: TransferId, ack: &Ack) -> AckTag {
        let Some(acks) = &mut self.acks else { return AckTag::NONE };
        let (last, history) = acks.entry(flow).or_insert_with(|| (transfer, AckHistory::default()));
        if *last != transfer {
            *last = transfer;
            history.begin_anew();
        }
        let mut blocks = [(0, 0); 4];
        for (block, held) in blocks.iter_mut().zip(ack.blocks.iter()) {
            *block = (held.start as u32, held.end as u32);
        }
        let next = ack.next as u32;
        let (stamps, congestion, is_pure) = (None, ack.echo.into(), true);
        history.tag(&Acknowledgement { next, blocks, stamps, congestion, is_pure })
    }

    /// Adds the connections of a source: the flows from `first` on.
    ///
    /// # Errors
    /// If a distribution's parameters describe none.
    pub(crate) fn add(
        &mut self,
        first: FlowKey,
        source: SourceId,
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
        let of = |of| generator(seed, of | u64::from(source.0), (flow.0 - first.0).into());
        let (mut asked, host) = (of(0), of(HOSTS));
        let begins = start.saturating_add(Nanos(asked.random_range(0..=stagger.0)));
        SendingEnd::new(workload.clone(), begins, asked, host)
    }

    /// The receiving end of a flow that is a connection.
    pub(crate) fn receiver(&self, flow: FlowKey) -> ReceivingEnd {
        self.group(flow).workload.receiver()
    }

    fn group(&self, flow: FlowKey) -> &ConnectionGroup {
        let behind = self.sources.partition_point(|source| source.first <= flow);
        &self.sources[behind - 1]
    }
}
