//! What a router of RSVP asks of this machine: routes of the kernel, and the running link.

use std::collections::BTreeMap;
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
use crate::reservations::{Answer, Order, Refused, Reservation, Stage, Why, Wish, keys};

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
    /// The names of what is reserved.
    names: BTreeMap<Flow, String>,
    told: Vec<String>,
}

/// How many names a flow may have.
const NAMES: u32 = 9;

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
        let times = [latency, stall];
        let delay = times.into_iter().fold(rate.time_for(max_packet), Nanos::saturating_add);
        let has_header = interface.header == LinkHeader::Ethernet;
        let link =
            Link { delay, lateness, bandwidth: 0.0, mtu: interface.mtu, has_header, overhead };
        let routes = Routes::open()?;
        let mut machine = Machine {
            client,
            routes,
            interface: interface.index,
            link,
            asked: None,
            names: BTreeMap::new(),
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

    /// The reservation of this name, as of an agent before, unless it has ended.
    fn standing(&self, name: &str) -> Option<Reservation> {
        let Ok(Answer::Listed { reservations }) = self.client.order(&Order::List) else {
            return None;
        };
        let mut reservations = reservations.into_iter();
        reservations.find(|one| one.name == name && one.state != Stage::Leaving)
    }

    /// Reserves under the first name that is free. What has ended keeps its name as long as it is
    /// felt.
    fn reserve_anew(
        &mut self,
        flow: &Flow,
        class: &Map<String, Value>,
        lasts: Nanos,
    ) -> Result<(), Refused> {
        let for_ns = Some(lasts.0);
        let mut answer = Ok(());
        for number in 1..=NAMES {
            let name = if number == 1 { flow.to_string() } else { format!("{flow} {number}") };
            let (from_ns, hold_ns, class) = (None, None, class.clone());
            let (own, path) = (name.clone(), Vec::new());
            let wish = Wish { name: own, class: class.clone(), path, from_ns, for_ns, hold_ns };
            answer = self.order(&Order::Reserve(Box::new(wish)));
            if matches!(answer, Err(Refused { reason: Why::Exists, .. })) {
                let Some(standing) = self.standing(&name) else { continue };
                let is_alike = keys(&class).is_ok_and(|keys| keys.to_string() == standing.keys);
                if !is_alike {
                    answer = self.order(&Order::Change { name: name.clone(), class });
                }
                if is_alike || answer.is_ok() {
                    answer = self.order(&Order::Renew { name: name.clone(), for_ns });
                }
            }
            if answer.is_ok() {
                self.names.insert(*flow, name);
            }
            break;
        }
        answer
    }

    /// The name of what is reserved for a flow.
    fn name(&self, flow: &Flow) -> String {
        self.names.get(flow).cloned().unwrap_or_else(|| flow.to_string())
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
        let answer = self.reserve_anew(flow, &class(flow, contract), lasts);
        self.answer(flow, contract, answer)
    }

    fn change(&mut self, flow: &Flow, contract: &Contract, lasts: Nanos) -> Result<(), Refusal> {
        let name = self.name(flow);
        let order = Order::Change { name: name.clone(), class: class(flow, contract) };
        let answer = self.order(&order);
        let renewed = || Order::Renew { name, for_ns: Some(lasts.0) };
        let answer = answer.and_then(|()| self.order(&renewed()));
        self.answer(flow, contract, answer)
    }

    fn renew(&mut self, flow: &Flow, lasts: Nanos) -> bool {
        let order = Order::Renew { name: self.name(flow), for_ns: Some(lasts.0) };
        self.order(&order).is_ok()
    }

    fn release(&mut self, flow: &Flow) {
        let name = self.names.remove(flow).unwrap_or_else(|| flow.to_string());
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
