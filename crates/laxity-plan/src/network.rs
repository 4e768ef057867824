//! A network's plan as each output of it sees it.

use crate::model::{Class, Hop, LinkSpec, Plan, QueueSpec, Scheduling};

impl Plan {
    /// The discipline at the beginning of a hop of its network.
    ///
    /// # Panics
    /// If it has no network.
    pub fn scheduling_at(&self, hop: Hop) -> Scheduling {
        let network = self.network.as_ref().expect("a plan with a network");
        network.scheduling(hop, Scheduling { scheduler: self.scheduler, queue: self.queue })
    }

    /// The plan as the output at the beginning of a hop of its network sees it. A private link without
    /// a discipline of its own does not limit queues either.
    ///
    /// # Panics
    /// If it has no network.
    pub fn at(&self, hop: Hop) -> Plan {
        let network = self.network.as_ref().expect("a plan with a network");
        let link = &network.links[hop.link as usize];
        let own = LinkSpec { rate: link.rate, ..self.link.clone() };
        let is_plain = link.private && link.scheduling.is_none();
        let on = |queue: Option<QueueSpec>| Some(queue?.on(&own)).filter(|_| !is_plain);
        let class = |class: &Class| Class { queue: on(class.queue), ..class.clone() };
        let Scheduling { scheduler, queue } = self.scheduling_at(hop);
        Plan {
            title: None,
            network: None,
            scheduler,
            queue: on(queue),
            classes: self.classes.iter().map(class).collect(),
            sources: Vec::new(),
            run: self.run,
            link: own,
        }
    }
}
