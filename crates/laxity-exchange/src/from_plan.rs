//! From a plan to the network of other tools: first-in, first-out ports, and one flow per class and
//! path.

use std::collections::HashMap;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop, ModelSource, SchedulerSpec, Source};
use laxity_plan::network::NetworkPlan;

use crate::Error;
use crate::error::shown;
use crate::network::{Flow, Network, Port, Service};

/// The network of a plan.
pub(crate) fn network(plan: &Plan, notes: &mut Vec<String>) -> Result<Network, Error> {
    let on = plan.network_plan().ok_or_else(|| {
        Error::new("the plan has no network: add links such as `[network.uplink]`, and a `path` to each source")
    })?;
    let mut reading = Reading { on, ports: Vec::new(), numbers: HashMap::new() };
    let mut flows = Vec::new();
    for source in &plan.sources {
        let Source::Model(source) = source else {
            return Err(Error::new(
                "the plan has TCP or recordings, of which nothing is proved: give it sources with `arrival` alone",
            ));
        };
        flows.push(reading.flow(source)?);
    }
    let mut of: HashMap<&str, usize> = HashMap::new();
    for flow in &flows {
        *of.entry(flow.name.as_str()).or_default() += 1;
    }
    if let Some(name) = flows.iter().map(|flow| flow.name.as_str()).find(|name| of[name] > 1) {
        return Err(shared(name));
    }
    if plan.classes.iter().any(|class| class.deadline.is_some()) {
        notes.push(
            "a `deadline` at every output is left out: other tools have one from end to end".into(),
        );
    }
    if plan.classes.iter().any(|class| class.queue.is_some()) || plan.queue.is_some() {
        notes.push(
            "limits of queues are left out: what is proved takes them as long as need be".into(),
        );
    }
    let name = plan.title.clone().unwrap_or_else(|| "network".into());
    Ok(Network { name, ports: reading.ports, flows })
}

fn shared(class: &str) -> Error {
    Error::new(format!(
        "the flows of class `{}` have one arrival curve together, which other tools cannot say: give each a class of its own",
        shown(class)
    ))
}

struct Reading<'a> {
    on: NetworkPlan<'a>,
    ports: Vec<Port>,
    numbers: HashMap<Hop, usize>,
}

impl Reading<'_> {
    fn flow(&mut self, source: &ModelSource) -> Result<Flow, Error> {
        let plan = self.on.plan;
        let class: &Class = &plan.classes[source.class.index()];
        let arrival = class.arrival.as_ref().ok_or_else(|| {
            Error::new(format!(
                "class `{}` does not say what it sends: add `arrival`",
                shown(&class.name)
            ))
        })?;
        if source.count > 1 {
            return Err(shared(&class.name));
        }
        let ports: Result<Vec<usize>, Error> =
            source.path.iter().map(|hop| self.port(*hop)).collect();
        Ok(Flow {
            name: class.name.clone(),
            ports: ports?,
            arrival: arrival.buckets.clone(),
            shortest: Some(plan.min_packet(class)),
            longest: Some(plan.max_packet(class)),
            deadline: class.end_to_end,
        })
    }

    fn port(&mut self, hop: Hop) -> Result<usize, Error> {
        if let Some(&number) = self.numbers.get(&hop) {
            return Ok(number);
        }
        let link = self.on.network.link(hop);
        let is_fifo = self.on.plan.scheduling_at(hop).scheduler == SchedulerSpec::Fifo;
        let disturbs = link.disturbs() || link.loss.is_some();
        let unsaid = [
            (!is_fifo, "a scheduler that is not fifo"),
            (link.delay > Nanos::ZERO, "`delay`, which adds the same to every bound,"),
            (link.trace.is_some(), "a `rate-trace`"),
            (link.autorate.is_some(), "a `rate` that is found"),
            (disturbs, "`jitter`, `reorder`, `duplicate` or `loss`"),
            (link.regulate, "`regulate`"),
            (link.private, "`private`"),
        ];
        if let Some((_, what)) = unsaid.into_iter().find(|(is_there, _)| *is_there) {
            let link = shown(&link.name);
            return Err(Error::new(format!("link `{link}` has {what}, which the file cannot say")));
        }
        let ends = self.on.network.ends(hop).map(str::to_string);
        let service = Service { rate: link.rate, latency: link.latency, peak: link.peak() };
        self.ports.push(Port { ends, service });
        self.numbers.insert(hop, self.ports.len() - 1);
        Ok(self.ports.len() - 1)
    }
}
