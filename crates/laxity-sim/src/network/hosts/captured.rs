//! Hosts of captured flows, which sources read and outputs elsewhere share by.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use laxity::explain::Explain;
use laxity::packet::{ClassId, FlowId, Hosts, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropSink, QueueMemory, Reach, Scheduler};
use laxity::units::Nanos;
use laxity_plan::model::{Plan, Source};

use crate::source::{Introduction, Stream};

/// The hosts of all flows of captures that have come into sight anywhere in a network. All parts of
/// it share them.
#[derive(Clone, Default)]
pub(crate) struct CapturedHosts(Arc<Mutex<HashMap<(ClassId, FlowId), Hosts>>>);

impl CapturedHosts {
    /// Whether outputs of a plan may have to know them.
    pub(crate) fn are_asked_for(plan: &Plan) -> bool {
        let is_recording = |source: &Source| matches!(source, Source::Recording(_));
        plan.shares_by_hosts() && plan.sources.iter().any(is_recording)
    }

    /// Adds the flows of a stream that have come into sight.
    pub(crate) fn extend(&self, stream: &mut Stream) {
        stream.introduce(&mut |Introduction { class, flow, hosts }| {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert((class, flow), hosts);
        });
    }

    fn find(&self, class: ClassId, flow: FlowId) -> Option<Hosts> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(class, flow)).copied()
    }
}

/// A scheduler to which flows are introduced when their first packets come. A source far away has
/// told of them before: then what happens does not depend on which part runs ahead.
pub(crate) struct IntroducingScheduler {
    scheduler: Box<dyn Scheduler + Send>,
    hosts: CapturedHosts,
    /// Flows that have come.
    flows: HashSet<(ClassId, FlowId)>,
}

impl IntroducingScheduler {
    pub(crate) fn new(scheduler: Box<dyn Scheduler + Send>, hosts: CapturedHosts) -> Self {
        IntroducingScheduler { scheduler, hosts, flows: HashSet::new() }
    }

    fn introduce_flow(&mut self, &Packet { class, flow, .. }: &Packet) {
        if self.flows.insert((class, flow))
            && let Some(hosts) = self.hosts.find(class, flow)
        {
            self.scheduler.introduce(class, flow, hosts);
        }
    }
}

impl Scheduler for IntroducingScheduler {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.introduce_flow(&packet);
        self.scheduler.enqueue(now, packet, drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.introduce_flow(&packet);
        self.scheduler.take_over(now, packet, drops);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        self.scheduler.memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        self.scheduler.prefetch(class, flow, reach);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.scheduler.dequeue(now, drops)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint() + self.flows.capacity() * size_of::<(ClassId, FlowId)>()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.scheduler.explain()
    }
}
