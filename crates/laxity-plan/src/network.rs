//! A network's plan as each output of it sees it.

use laxity::packet::ClassId;

use crate::model::{
    Class, Hop, LinkSpec, Network, NetworkLink, Plan, QueueSpec, Scheduling, latency,
};

/// A plan that has a network, with that.
#[derive(Clone, Copy, Debug)]
pub struct Networked<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its network.
    pub network: &'a Network,
}

impl Plan {
    /// The plan with its network, if it has one.
    pub fn networked(&self) -> Option<Networked<'_>> {
        Some(Networked { plan: self, network: self.network.as_ref()? })
    }
}

impl<'a> Networked<'a> {
    /// The link of a hop.
    pub fn link(&self, hop: Hop) -> &'a NetworkLink {
        &self.network.links[hop.link.index()]
    }

    /// At which places of a path a class's packets are held until they keep to its arrival curve
    /// again. At the first link of a path packets enter the network, and those that have come over
    /// private links, where each flow goes its own way, are in no order that could be kept.
    pub fn regulated(&self, class: ClassId, path: &[Hop]) -> impl Iterator<Item = usize> {
        let is_held = self.plan.classes[class.index()].arrival.is_some();
        let shared = path.iter().take_while(|hop| is_held && !self.link(**hop).private).count();
        (1..path.len().min(shared + 1)).filter(|place| self.link(path[*place]).regulate)
    }

    /// The discipline at the beginning of a hop.
    pub fn scheduling(&self, hop: Hop) -> Scheduling {
        let Plan { scheduler, queue, .. } = *self.plan;
        self.network.scheduling(hop, Scheduling { scheduler, queue })
    }

    /// The link of a hop as the output at its beginning sees it.
    pub fn link_at(&self, hop: Hop) -> LinkSpec {
        let link = self.link(hop);
        LinkSpec {
            rate: link.rate,
            trace: link.trace.clone(),
            latency: latency(link.rate, link.trace.as_ref())
                .map(|late| late.saturating_add(link.latency)),
            ..self.plan.link.clone()
        }
    }

    /// The plan as the output at the beginning of a hop sees it. A private link without a
    /// discipline of its own does not limit queues either.
    pub fn at(&self, hop: Hop) -> Plan {
        let Networked { plan, .. } = self;
        let link = self.link(hop);
        let own = self.link_at(hop);
        let is_plain = link.private && link.scheduling.is_none();
        let on = |queue: Option<QueueSpec>| Some(queue?.on(&own)).filter(|_| !is_plain);
        let class = |class: &Class| Class {
            queue: on(class.queue.as_deref().copied()).map(Box::new),
            ..class.clone()
        };
        let Scheduling { scheduler, queue } = self.scheduling(hop);
        Plan {
            title: None,
            network: None,
            files: Vec::new(),
            scheduler,
            queue: on(queue),
            classes: plan.classes.iter().map(class).collect(),
            sources: Vec::new(),
            run: plan.run,
            link: own,
        }
    }
}
