//! States of paths: who sends what, from where it comes and where it goes on.

use laxity::units::Nanos;

use super::resv::ResvState;
use super::timing::{Timing, lifetime};
use super::{Arrival, Datagram, Discard, Flow, Host, Link, Route, Router, datagram};
use crate::guaranteed::{Contract, Terms};
use crate::message::{Adspec, General, Hop, Kind, Message, Object, Opaque, ServiceTerms, Tspec};

/// What a sender has said.
#[derive(Debug)]
pub(super) struct PathState {
    pub(super) said: Said,
    expires: Nanos,
    next_refresh: Nanos,
    pub(super) resv: Option<ResvState>,
}

/// What is passed on, and where.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    /// The node that the flow comes from.
    pub(super) previous: Hop,
    /// Where the flow goes.
    pub(super) route: Route,
    pub(super) tspec: Tspec,
    /// As it came.
    pub(super) adspec: Option<Adspec>,
    /// The time to live that it goes on with.
    ttl: u8,
    opaque: Vec<Opaque>,
}

impl PathState {
    pub(super) fn next_timer(&self) -> Nanos {
        let own = self.expires.min(self.next_refresh);
        self.resv.as_ref().map_or(own, |resv| own.min(resv.next_timer()))
    }

    pub(super) fn contract(&self) -> Option<&Contract> {
        self.resv.as_ref().map(ResvState::contract)
    }
}

impl Router {
    /// Keeps what a sender says, and passes it on if it is new.
    pub(super) fn path(
        &mut self,
        now: Nanos,
        arrival: &Arrival<'_>,
        message: &Message,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        if arrival.bytes.len() > Router::LONGEST_KEPT {
            return Err(Discard::TooLong);
        }
        let flow = flow(message)?;
        if !flow.is_served() {
            return Err(Discard::Unserved);
        }
        if self.paths.len() >= Router::MOST && !self.paths.contains_key(&flow) {
            return Err(Discard::TooMany);
        }
        let refresh_ms = message.refresh_ms().ok_or(Discard::Incomplete)?;
        let said = Said::new(flow, arrival, message, host)?;
        let expires = now.saturating_add(lifetime(refresh_ms));
        match self.paths.get_mut(&flow) {
            Some(path) => {
                path.expires = expires;
                // What is left of the link changes all the time: it goes with the next refresh.
                let is_new = !path.said.is_like(&said);
                if path.said.previous != said.previous {
                    path.resv.iter_mut().for_each(|resv| resv.refresh_at(now));
                }
                path.said = said;
                if is_new {
                    path.next_refresh = self.timing.next(now);
                    out.extend(path.said.message(flow, &self.timing));
                }
            }
            None => {
                out.extend(said.message(flow, &self.timing));
                let next_refresh = self.timing.next(now);
                self.paths.insert(flow, PathState { said, expires, next_refresh, resv: None });
            }
        }
        Ok(())
    }

    /// Forgets a sender that ends, and passes that on.
    pub(super) fn path_tear(
        &mut self,
        arrival: &Arrival<'_>,
        message: &Message,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        let flow = flow(message)?;
        let path = self.paths.get(&flow).ok_or(Discard::Unknown)?;
        if message.hop() != Some(path.said.previous) {
            return Err(Discard::Unknown);
        }
        if arrival.ttl > 1 {
            out.extend(path.said.tear(flow));
        }
        self.forget(flow, host);
        Ok(())
    }

    /// Refreshes and ends what is due of a flow.
    pub(super) fn tick_flow(
        &mut self,
        now: Nanos,
        flow: Flow,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) {
        let Some(path) = self.paths.get_mut(&flow) else { return };
        if path.expires <= now {
            out.extend(path.said.tear(flow));
            return self.forget(flow, host);
        }
        if path.next_refresh <= now {
            path.next_refresh = self.timing.next(now);
            if let Some(route) = host.route(flow.session.destination) {
                path.said.route = route;
            }
            out.extend(path.said.message(flow, &self.timing));
        }
        self.tick_resv(now, flow, host, out);
    }

    /// Ends what is reserved for a flow, tells the node before, and forgets the flow.
    pub(super) fn end_path(&mut self, flow: Flow, host: &mut impl Host, out: &mut Vec<Datagram>) {
        self.end_resv(flow, host, out);
        self.forget(flow, host);
    }

    fn forget(&mut self, flow: Flow, host: &mut impl Host) {
        let path = self.paths.remove(&flow);
        if path.is_some_and(|path| path.resv.is_some()) {
            host.release(&flow);
        }
    }
}

impl Said {
    fn new(
        flow: Flow,
        arrival: &Arrival<'_>,
        message: &Message,
        host: &mut impl Host,
    ) -> Result<Said, Discard> {
        let (previous, tspec) = (message.hop(), message.sender_tspec());
        let (previous, tspec) = previous.zip(tspec).ok_or(Discard::Incomplete)?;
        let ttl = arrival.ttl.checked_sub(1).filter(|ttl| *ttl > 0).ok_or(Discard::NoRoute)?;
        let route = host.route(flow.session.destination).ok_or(Discard::NoRoute)?;
        if route.address == flow.session.destination {
            return Err(Discard::NoRoute);
        }
        let mut adspec = message.adspec().cloned();
        // A node that does not know RSVP has let it live less long (RFC 2205, 2.9).
        if arrival.ttl != message.send_ttl {
            adspec.iter_mut().for_each(|adspec| adspec.general.is_broken = true);
        }
        let opaque = opaque(message);
        Ok(Said { previous, route, tspec, adspec, ttl, opaque })
    }

    /// Whether it is the same, but for what is left of the link.
    fn is_like(&self, other: &Said) -> bool {
        let link = self.route.link.zip(other.route.link);
        let link = link.map(|(link, other)| Link { bandwidth: link.bandwidth, ..other });
        let link = link.or(other.route.link);
        let route = Route { link, ..other.route };
        *self == Said { route, ..other.clone() }
    }

    /// The terms of this hop, if its link takes reservations.
    pub(super) fn terms(&self) -> Option<Terms> {
        let d = |link: Link| link.delay.saturating_add(link.lateness);
        self.route.link.map(|link| Terms::new(&self.tspec, d(link)))
    }

    /// The terms of the nodes that the flow has come through, if it has come through any.
    pub(super) fn upstream(&self) -> Option<Terms> {
        let Adspec { general, .. } = self.adspec.as_ref()?;
        let terms = self.adspec.as_ref()?.guaranteed()?;
        (general.hops > 0).then_some(Terms { c: terms.c_sum, d: terms.d_sum })
    }

    /// The message that passes it on.
    fn message(&self, flow: Flow, timing: &Timing) -> Option<Datagram> {
        let Route { address, interface, .. } = self.route;
        let mut objects = vec![
            Object::Session(flow.session),
            Object::Hop(Hop { address, handle: interface }),
            Object::RefreshTime(timing.refresh_ms()),
        ];
        objects.extend(self.opaque.iter().cloned().map(Object::Opaque));
        objects.extend([Object::Sender(flow.sender), Object::SenderTspec(self.tspec)]);
        objects.extend(self.next_adspec().map(Object::Adspec));
        self.send(flow, Kind::Path, objects)
    }

    fn tear(&self, flow: Flow) -> Option<Datagram> {
        let Route { address, interface, .. } = self.route;
        let hop = Object::Hop(Hop { address, handle: interface });
        let (session, sender) = (Object::Session(flow.session), Object::Sender(flow.sender));
        let objects = vec![session, hop, sender, Object::SenderTspec(self.tspec)];
        self.send(flow, Kind::PathTear, objects)
    }

    fn send(&self, flow: Flow, kind: Kind, objects: Vec<Object>) -> Option<Datagram> {
        let message = Message { kind, send_ttl: self.ttl, objects };
        datagram(&message, Some(flow.sender.source), flow.session.destination, true)
    }

    /// What the path offers up to the next node (RFC 2212, RFC 2215).
    fn next_adspec(&self) -> Option<Adspec> {
        let mut adspec = self.adspec.clone()?;
        let General { hops, bandwidth, mtu, .. } = &mut adspec.general;
        *hops = hops.saturating_add(1);
        if let Some(link) = self.route.link {
            *bandwidth = bandwidth.min(link.bandwidth);
            *mtu = (*mtu).min(link.mtu);
        }
        let own = self.terms();
        for service in &mut adspec.services {
            let ServiceTerms::Guaranteed(terms) = service else { continue };
            let Some(Terms { c, d }) = own else {
                terms.is_broken = true;
                continue;
            };
            for (sum, own) in [(&mut terms.c_total, c), (&mut terms.c_sum, c)] {
                *sum = sum.saturating_add(own);
            }
            for (sum, own) in [(&mut terms.d_total, d), (&mut terms.d_sum, d)] {
                *sum = sum.saturating_add(own);
            }
        }
        Some(adspec)
    }
}

/// The flow that a message of its sender is about.
fn flow(message: &Message) -> Result<Flow, Discard> {
    let (session, sender) = message.session().zip(message.sender()).ok_or(Discard::Incomplete)?;
    Ok(Flow { session, sender })
}

/// The objects of a message that are passed on as they are.
pub(super) fn opaque(message: &Message) -> Vec<Opaque> {
    let opaque = |object: &Object| match object {
        Object::Opaque(opaque) => Some(opaque.clone()),
        _ => None,
    };
    message.objects.iter().filter_map(opaque).collect()
}
