//! A network's plan as each output of it sees it.

use laxity::packet::ClassId;

use crate::model::{Class, Hop, LinkSpec, Network, Plan, Scheduling, latency};

/// A plan that has a network, with that.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPlan<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its network.
    pub network: &'a Network,
}

impl Plan {
    /// The plan with its network, if it has one.
    pub fn network_plan(&self) -> Option<NetworkPlan<'_>> {
        Some(NetworkPlan { plan: self, network: self.network.as_ref()? })
    }

    /// The places on a path at which regulators hold a class's packets to its arrival curve.
    ///
    /// The first link of a path has none: packets enter the network there. Neither has any link
    /// behind a private one, since each flow comes over a link of its own and all of them together
    /// have no order to keep.
    pub fn regulated<'a>(
        &'a self,
        class: ClassId,
        path: &'a [Hop],
    ) -> impl Iterator<Item = usize> + use<'a> {
        let is_held = self.classes[class.index()].arrival.is_some();
        let network = self.network.as_ref().filter(|_| is_held);
        network.into_iter().flat_map(move |network| {
            let shared = path.iter().take_while(|hop| !network.link(**hop).private).count();
            (1..path.len().min(shared + 1)).filter(|place| network.link(path[*place]).regulate)
        })
    }

    /// The discipline at the beginning of a hop; the plan's own without a network.
    pub fn scheduling_at(&self, hop: Hop) -> Scheduling {
        let own = Scheduling { scheduler: self.scheduler, queue: self.queue };
        self.network.as_ref().map_or(own, |network| network.scheduling(hop, own))
    }

    /// The link of a hop as the output at its beginning sees it; the plan's own without a network.
    pub fn link_at(&self, hop: Hop) -> LinkSpec {
        let Some(network) = &self.network else { return self.link.clone() };
        let link = network.link(hop);
        let latency = latency(link.rate, link.trace.as_ref());
        LinkSpec {
            rate: link.rate,
            trace: link.trace.clone(),
            autorate: link.autorate.clone().filter(|_| !hop.backward),
            latency: latency.map(|late| late.saturating_add(link.latency)),
            ..self.link.clone()
        }
    }

    /// The plan as the output at the beginning of a hop sees it: with the link and the discipline
    /// there, and without network, sources and title. A private link without a discipline of its
    /// own limits no queues.
    pub fn at_hop(&self, hop: Hop) -> Plan {
        let link = self.link_at(hop);
        let is_plain = self.network.as_ref().is_some_and(|network| {
            let link = network.link(hop);
            link.private && link.scheduling.is_none()
        });
        let classes = self.classes.iter().map(|class| Class {
            deadline: class.deadline_over(hop.link),
            queue: class.queue.clone().filter(|_| !is_plain),
            ..class.clone()
        });
        self.inner(link, self.scheduling_at(hop), classes.collect())
    }

    /// A plan of these classes on this link, which sets the pace of their queues, without network,
    /// sources and title.
    pub(crate) fn inner(&self, link: LinkSpec, of: Scheduling, mut classes: Vec<Class>) -> Plan {
        classes
            .iter_mut()
            .filter_map(|class| class.queue.as_deref_mut())
            .for_each(|queue| *queue = queue.on(&link));
        Plan {
            title: None,
            network: None,
            files: Vec::new(),
            scheduler: of.scheduler,
            queue: of.queue.map(|queue| queue.on(&link)),
            classes,
            sources: Vec::new(),
            requests: Vec::new(),
            run: self.run,
            link,
        }
    }
}
