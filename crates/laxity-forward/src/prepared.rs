//! A plan with all that is built to follow it.

use std::collections::HashMap;

use laxity::packet::{ClassId, FlowId, Hosts};
use laxity::police::Policer;
use laxity::port::{Books, Port};
use laxity::scheduler::{Reach, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::discipline::Growth;
use laxity_plan::matching::Headers;
use laxity_plan::model::Class;
use prefetch_index::prefetch_index;

use crate::cache::{Classification, Lookup};
use crate::classify::Sorter;
use crate::error::Refusal;
use crate::event::{Event, Sink};
use crate::forwarder::Settings;
use crate::under_way::EmulatedWire;

/// What the path of a packet asks of its class, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ClassTerms {
    /// The delay that packets are promised.
    pub(crate) deadline: Option<Nanos>,
    /// How much later packets are if the link was late.
    pub(crate) growth: Growth,
    /// Whether it is known what arrives.
    pub(crate) has_contract: bool,
    /// Whether the code points of packets are cleared.
    pub(crate) is_washed: bool,
}

const _: () = assert!(size_of::<ClassTerms>() == 64);

/// A plan that is ready to be followed: what takes time and memory is done.
pub struct PreparedPlan {
    pub(crate) plan: Plan,
    pub(crate) sorter: Sorter,
    pub(crate) policer: Policer,
    /// Whether they drop acknowledgements.
    pub(crate) filters_acks: bool,
    /// Whether its schedulers share by hosts.
    pub(crate) shares_by_hosts: bool,
    /// By number.
    pub(crate) classes: Vec<ClassTerms>,
    pub(crate) port: Port<Box<dyn Scheduler + Send>>,
    pub(crate) wire: Option<EmulatedWire>,
    /// The classes that have packets of their own, by name.
    pub(crate) leaves: HashMap<String, ClassId>,
    /// Whether it is the plan that is followed already.
    pub(crate) is_anew: bool,
}

impl PreparedPlan {
    /// The plan is one that is followed already, whose scheduler is to begin anew with what is
    /// queued. Nothing else is remembered, so that what follows can be repeated without what was
    /// before. That is refused where a wire is emulated.
    pub fn anew(self) -> Self {
        PreparedPlan { is_anew: true, ..self }
    }

    /// Builds what a plan takes, with nothing queued and books that are empty.
    ///
    /// # Errors
    /// If the plan is not of a link, or does not say where all frames go.
    pub fn new(plan: Plan, settings: &Settings) -> Result<Self, Refusal> {
        if plan.network.is_some() {
            return Err(Refusal::Network);
        }
        if plan.scheduler.room().is_of_networks {
            return Err(Refusal::OfNetworks(plan.scheduler.kind().word()));
        }
        if !settings.is_host {
            refuse_host_marks(&plan)?;
        }
        let books = Books::of_counts(plan.classes.len());
        Ok(PreparedPlan {
            is_anew: false,
            sorter: Sorter::new(&plan, settings.flows, settings.secret)?,
            policer: plan.policer(Nanos::ZERO),
            filters_acks: plan.filters_acks(),
            shares_by_hosts: plan.shares_by_hosts(),
            classes: ClassTerms::of_classes(&plan),
            port: Port::new(plan.build_scheduler(settings.seed), books),
            wire: EmulatedWire::new(&plan, settings.seed),
            leaves: plan.leaves().map(|(id, class)| (class.name.clone(), id)).collect(),
            plan,
        })
    }

    /// The number of a flow of a class that comes into sight, which is introduced to the scheduler.
    pub(crate) fn new_flow(&mut self, class: ClassId, headers: &Headers, sink: Sink<'_>) -> FlowId {
        let PreparedPlan { sorter, port, shares_by_hosts, .. } = self;
        let (flow, hosts) = (sorter.next_flow(class), sorter.hosts(headers));
        introduce(port, *shares_by_hosts, (class, flow, hosts), sink);
        flow
    }

    /// The class and flow of a frame. A flow that is new is introduced to the scheduler.
    pub(crate) fn sort(&mut self, headers: &Headers, sink: Sink<'_>) -> Classification {
        let lookup = self.sorter.lookup(headers);
        self.find(lookup, headers, sink)
    }

    /// The same of a frame that is looked up.
    #[inline]
    pub(crate) fn find(
        &mut self,
        lookup: Lookup,
        headers: &Headers,
        sink: Sink<'_>,
    ) -> Classification {
        let PreparedPlan { sorter, port, shares_by_hosts, .. } = self;
        sorter.find(lookup, headers, |Classification { class, flow }, hosts| {
            introduce(port, *shares_by_hosts, (class, flow, hosts), sink);
        })
    }

    /// Loads what a packet of a flow needs that comes soon.
    #[inline]
    pub(crate) fn prefetch(&self, Classification { class, flow }: Classification, reach: Reach) {
        if reach == Reach::Class {
            prefetch_index(&self.classes, class.index());
            self.policer.prefetch(class);
        }
        self.port.prefetch(class, flow, reach);
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The books of all classes.
    pub fn into_books(self) -> Books {
        self.port.into_books()
    }
}

/// Introduces a flow to a scheduler, and tells where that shares by hosts.
fn introduce(
    port: &mut Port<Box<dyn Scheduler + Send>>,
    shares_by_hosts: bool,
    (class, flow, hosts): (ClassId, FlowId, Hosts),
    sink: Sink<'_>,
) {
    port.introduce(class, flow, hosts);
    if shares_by_hosts {
        sink(&Event::Introduced { class, flow, hosts });
    }
}

impl ClassTerms {
    /// Those of all classes of a plan, by number.
    fn of_classes(plan: &Plan) -> Vec<ClassTerms> {
        let terms = |((class, growth), is_washed): ((&Class, Growth), bool)| ClassTerms {
            deadline: class.deadline,
            growth,
            has_contract: class.arrival.is_some(),
            is_washed,
        };
        plan.classes.iter().zip(plan.growths()).zip(plan.washes()).map(terms).collect()
    }
}

/// Refuses a plan whose matches test what only a host knows of its own packets.
pub(crate) fn refuse_host_marks(plan: &Plan) -> Result<(), Refusal> {
    plan.host_class().map_or(Ok(()), |class| Err(Refusal::HostMarks(class.name.clone())))
}
