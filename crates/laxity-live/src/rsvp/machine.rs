//! What a router of RSVP asks of this machine: routes of the kernel, and the running link.

use std::net::Ipv4Addr;
use std::time::Instant;

use laxity::units::{Bytes, Nanos, Rate};
use laxity_linux::interface::{Interface, LinkHeader};
use laxity_linux::route::Routes;
use laxity_plan::Plan;
use laxity_plan::model::LinkSpec;
use laxity_rsvp::guaranteed::Contract;
use laxity_rsvp::router::Flow;
use laxity_rsvp::{Host, Link, Refusal, Route};
use serde_json::{Map, Value, json};

use super::{AgentError, COUNTS};
use crate::client::Client;
use crate::reservations::{Answer, Order, Refused, Why, Wish, keys};

/// The kernel's routes and a link that reserves.
#[derive(Debug)]
pub(super) struct Machine {
    client: Client,
    routes: Routes,
    /// The number of the link's interface.
    interface: u32,
    link: Link,
    /// When the link was last asked what is left of it, and whether it answered.
    asked: Option<(Instant, bool)>,
    told: Vec<String>,
}

impl Machine {
    pub(super) fn new(
        plan: &Plan,
        interface: Interface,
        client: Client,
        lateness: Nanos,
    ) -> Result<Machine, AgentError> {
        if plan.network.is_some() {
            return Err(AgentError::Network);
        }
        let LinkSpec { rate, overhead, max_packet, latency, stall, .. } = plan.link;
        let latency = latency.ok_or(AgentError::Unsure)?;
        let times = [latency, stall, lateness];
        let delay = times.into_iter().fold(rate.time_for(max_packet), Nanos::saturating_add);
        let has_header = interface.header == LinkHeader::Ethernet;
        let link = Link { delay, bandwidth: 0.0, mtu: interface.mtu, has_header, overhead };
        let routes = Routes::open()?;
        let mut machine = Machine {
            client,
            routes,
            interface: interface.index,
            link,
            asked: None,
            told: Vec::new(),
        };
        if machine.client.status()?.promised.is_none() {
            let socket = machine.client.socket().display().to_string();
            return Err(AgentError::NoReservations(socket));
        }
        machine.link.mtu = machine.largest_packet(max_packet);
        Ok(machine)
    }

    /// The largest packet of IP that both the interface and the plan let pass.
    fn largest_packet(&self, max_packet: Bytes) -> u32 {
        let fits = |packet: &u32| u64::from(self.link.on_link(*packet)) <= max_packet.0;
        (0..=self.link.mtu).rev().find(fits).unwrap_or(0)
    }

    /// What has happened since it was last asked, in sentences.
    pub(super) fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }

    /// The link as it is now; `None` if it does not answer.
    fn link(&mut self) -> Option<Link> {
        let is_fresh = |(at, _): &(Instant, bool)| at.elapsed() < COUNTS;
        let is_there = match self.asked.filter(is_fresh) {
            Some((_, is_there)) => is_there,
            None => {
                let promised = self.client.status().ok().and_then(|status| status.promised);
                if let Some(promised) = &promised {
                    self.link.bandwidth = promised.headroom_bps() as f32 / 8.0;
                }
                self.asked = Some((Instant::now(), promised.is_some()));
                promised.is_some()
            }
        };
        is_there.then_some(self.link)
    }

    fn order(&mut self, order: &Order) -> Result<(), Refused> {
        self.asked = None;
        match self.client.order(order) {
            Ok(Answer::Refused(refused)) => Err(refused),
            Ok(_) => Ok(()),
            Err(error) => {
                let (reason, message) = (Why::Unavailable, error.to_string());
                Err(Refused { reason, message, offer: Default::default() })
            }
        }
    }

    /// The contract of a reservation of this name that is there already, as of an agent before.
    fn is_as(&self, name: &str, class: &Map<String, Value>) -> bool {
        let Ok(Answer::Listed { reservations }) = self.client.order(&Order::List) else {
            return false;
        };
        let Ok(wanted) = keys(class) else { return false };
        reservations.iter().any(|one| one.name == name && one.keys == wanted.to_string())
    }

    fn answer(
        &mut self,
        flow: &Flow,
        contract: &Contract,
        answer: Result<(), Refused>,
    ) -> Result<(), Refusal> {
        match answer {
            Ok(()) => {
                let ms = contract.deadline.as_millis_f64();
                self.told.push(format!("`{flow}` is granted: no packet takes longer than {ms} ms"));
                Ok(())
            }
            Err(Refused { reason, message, offer }) => {
                self.told.push(format!("`{flow}` is refused: {message}"));
                Err(match (reason, offer.deadline_ns) {
                    (Why::NoRoom, Some(deadline)) => Refusal::Late(Nanos(deadline)),
                    (Why::NoRoom, None) => Refusal::Full,
                    _ => Refusal::Unavailable,
                })
            }
        }
    }
}

impl Host for Machine {
    fn route(&mut self, destination: Ipv4Addr) -> Option<Route> {
        let found = self.routes.find(destination)?;
        let is_own = found.interface == self.interface;
        let link = if is_own { self.link() } else { None };
        Some(Route { address: found.source, interface: found.interface, link })
    }

    fn reserve(&mut self, flow: &Flow, contract: &Contract, lasts: Nanos) -> Result<(), Refusal> {
        let (name, class) = (flow.to_string(), class(flow, contract));
        let wish = Wish {
            name: name.clone(),
            class: class.clone(),
            from_ns: None,
            for_ns: Some(lasts.0),
            hold_ns: None,
        };
        let answer = match self.order(&Order::Reserve(Box::new(wish))) {
            Err(Refused { reason: Why::Exists, .. }) if self.is_as(&name, &class) => {
                self.order(&Order::Renew { name, for_ns: Some(lasts.0) })
            }
            Err(Refused { reason: Why::Exists, .. }) => {
                return self.change(flow, contract, lasts);
            }
            answer => answer,
        };
        self.answer(flow, contract, answer)
    }

    fn change(&mut self, flow: &Flow, contract: &Contract, lasts: Nanos) -> Result<(), Refusal> {
        let name = flow.to_string();
        let order = Order::Change { name: name.clone(), class: class(flow, contract) };
        let answer = self.order(&order);
        let renewed = || Order::Renew { name, for_ns: Some(lasts.0) };
        let answer = answer.and_then(|()| self.order(&renewed()));
        self.answer(flow, contract, answer)
    }

    fn renew(&mut self, flow: &Flow, lasts: Nanos) -> bool {
        let order = Order::Renew { name: flow.to_string(), for_ns: Some(lasts.0) };
        self.order(&order).is_ok()
    }

    fn release(&mut self, flow: &Flow) {
        let name = flow.to_string();
        // A lease that has ended has nothing left to release.
        let _ended = self.order(&Order::Release { name });
        self.told.push(format!("`{flow}` has ended"));
    }
}

/// The class of a flow, in the words of plans. What breaks its contract is best effort (RFC 2212,
/// policing).
fn class(flow: &Flow, Contract { deadline, buckets, packet }: &Contract) -> Map<String, Value> {
    let bucket = |Bytes(bytes), Rate(bits)| {
        json!({
            "bucket": format!("{bytes}b"),
            "rate": format!("{bits}bit"),
            "packet": format!("{}b", packet.0),
        })
    };
    let arrival: Vec<Value> = buckets.iter().map(|it| bucket(it.bucket, it.rate)).collect();
    let keys = [
        ("match", json!(flow.expression())),
        ("deadline", json!(format!("{}ns", deadline.0))),
        ("arrival", json!(arrival)),
        ("police", json!("demote")),
    ];
    keys.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
}
