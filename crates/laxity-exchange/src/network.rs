//! A network of first-in, first-out queues, as in the models of all these tools, and its plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::Arrival;
use laxity_plan::written::quoted;

use crate::Error;
use crate::error::shown;

/// Output ports and the flows that pass them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub name: String,
    pub ports: Vec<Port>,
    pub flows: Vec<Flow>,
}

/// An output port: a queue and its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// The node of the port, and the node that it leads to.
    pub ends: [String; 2],
    pub service: Service,
}

/// A rate-latency service curve, and the highest rate at which the port sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub rate: Rate,
    pub latency: Nanos,
    pub peak: Rate,
}

/// A flow that passes ports in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub name: String,
    /// Numbers of the ports, in order.
    pub ports: Vec<usize>,
    pub arrival: Vec<TokenBucket>,
    pub shortest: Option<Bytes>,
    pub longest: Option<Bytes>,
    /// From end to end.
    pub deadline: Option<Nanos>,
}

impl Network {
    /// The network's plan as text. It passes `check`.
    pub(crate) fn plan(&self) -> Result<String, Error> {
        let text = self.text()?;
        Plan::parse(&text, "plan", Path::new("")).map_err(|error| {
            Error::new(format!("what the file says is no plan: {}", error.message()))
        })?;
        Ok(text)
    }

    /// Rounds bursts up to a packet, as packets in a plan are whole. Other tools have parts of
    /// packets, too.
    pub(crate) fn round_bursts(&mut self, notes: &mut Vec<String>) {
        let mut rounded: Vec<&str> = Vec::new();
        for flow in &mut self.flows {
            let packet = flow.packet();
            let short = flow.arrival.iter_mut().filter(|line| line.bucket < packet);
            if short.map(|line| line.bucket = packet).count() > 0 {
                rounded.push(&flow.name);
            }
        }
        let more = match rounded.len() {
            0 => return,
            1 => String::new(),
            flows => format!(" and {} more", flows - 1),
        };
        notes.push(format!(
            "bursts below a packet are rounded up to one, of flow `{}`{more}: packets are whole in a plan",
            shown(rounded[0])
        ));
    }

    fn text(&self) -> Result<String, Error> {
        let links = self.links()?;
        let rate = links.iter().map(|(_, service)| service.rate).max();
        let (Some(rate), false) = (rate, self.flows.is_empty()) else {
            return Err(Error::new("there is nothing that any flow passes"));
        };
        let longest = self.flows.iter().map(Flow::packet).max().unwrap_or(FLUID);
        let shortest = self.flows.iter().map(|flow| flow.shortest.unwrap_or(FLUID)).min();
        let shortest = shortest.unwrap_or(FLUID);
        let mut text = String::from("version = 1\n");
        let title: String =
            self.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text += &format!("title = {}\n\n", quoted(&title));
        text += &format!(
            "[link]\nrate = \"{}bit\"\nmax-packet = \"{}b\"\nmin-packet = \"{}b\"\n\n",
            rate.0, longest.0, shortest.0
        );
        text += "[scheduler]\nkind = \"fifo\"\n";
        for flow in &self.flows {
            text += &format!("\n[class.{}]\n", quoted(&flow.name));
            if let Some(deadline) = flow.deadline {
                text += &format!("end-to-end = \"{}ns\"\n", deadline.0);
            }
            text += &format!("arrival = {}\n", flow.contract());
        }
        for (number, ([from, to], service)) in links.iter().enumerate() {
            text += &format!(
                "\n[network.link-{}]\nbetween = [{}, {}]\nrate = \"{}bit\"\n",
                number + 1,
                quoted(from),
                quoted(to),
                service.rate.0
            );
            if service.latency > Nanos::ZERO {
                text += &format!("latency = \"{}ns\"\n", service.latency.0);
            }
            if service.peak != service.rate {
                text += &format!("peak = \"{}bit\"\n", service.peak.0);
            }
        }
        for flow in &self.flows {
            text += &format!(
                "\n[[source]]\nclass = {}\nmodel = \"greedy\"\npacket = \"{}b\"\nburst = \"100ms\"\n\
                 spacing = \"100ms\"\npath = [{}]\n",
                quoted(&flow.name),
                flow.packet().0,
                self.nodes(flow).iter().map(|node| quoted(node)).collect::<Vec<_>>().join(", ")
            );
        }
        Ok(text)
    }

    /// The nodes on the path of a flow.
    pub(crate) fn nodes(&self, flow: &Flow) -> Vec<&str> {
        let first = flow.ports.first().map(|&port| self.ports[port].ends[0].as_str());
        let rest = flow.ports.iter().map(|&port| self.ports[port].ends[1].as_str());
        first.into_iter().chain(rest).collect()
    }

    /// The links with the ports at their ends, in their order. A plan's link has the same rate in
    /// both directions.
    fn links(&self) -> Result<Vec<([&str; 2], Service)>, Error> {
        let used: BTreeSet<usize> =
            self.flows.iter().flat_map(|flow| &flow.ports).copied().collect();
        let mut known: BTreeMap<[&str; 2], Service> = BTreeMap::new();
        let mut links = Vec::new();
        for port in used.into_iter().map(|port| &self.ports[port]) {
            let ends = [port.ends[0].as_str(), port.ends[1].as_str()];
            let mut between = ends;
            between.sort_unstable();
            match known.insert(between, port.service) {
                None => links.push((ends, port.service)),
                Some(other) if other == port.service => {}
                Some(_) => {
                    return Err(Error::new(format!(
                        "two ports between `{}` and `{}` differ: a link of a plan has one rate, `latency` and \
                         `peak`, in both directions",
                        shown(ends[0]),
                        shown(ends[1])
                    )));
                }
            }
        }
        Ok(links)
    }
}

/// Packet length if the file gives none: as close to a fluid as a plan can be.
pub(crate) const FLUID: Bytes = Bytes(1);

impl Flow {
    /// The packets that a source sends.
    fn packet(&self) -> Bytes {
        self.longest.unwrap_or(FLUID)
    }

    fn contract(&self) -> Arrival {
        Arrival {
            buckets: self.arrival.clone(),
            packet: Some(self.packet()),
            shortest: Some(self.shortest.unwrap_or(FLUID)),
        }
    }
}

/// Refuses a text that cannot name a class or a node, and says what can.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    const LONGEST: usize = 64;
    let fits = (1..=LONGEST).contains(&name.chars().count()) && !name.trim().is_empty();
    if fits && !name.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(format!(
            "`{}` cannot be a name in a plan: that has 1 to {LONGEST} characters, of one line",
            shown(name)
        ))
    }
}
