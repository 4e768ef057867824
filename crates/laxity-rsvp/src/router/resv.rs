//! States of reservations.

use std::net::Ipv4Addr;

use laxity::units::Nanos;

use super::path::{PathState, Said, opaque};
use super::timing::lifetime;
use super::{Datagram, Discard, Flow, Host, Refusal, Router, TTL, datagram};
use crate::guaranteed::Contract;
use crate::message::{
    ErrorCode, Filter, Flowspec, Hop, Kind, Message, Object, Opaque, Rspec, Session, Style,
};

/// What is reserved for a flow.
#[derive(Debug)]
pub(super) struct ResvState {
    /// The node that asked.
    pub(super) next: Hop,
    /// What the flowspec asked for, without slack.
    asked: Contract,
    /// What was granted.
    granted: Contract,
    /// What goes on to the node before.
    flowspec: Flowspec,
    opaque: Vec<Opaque>,
    expires: Nanos,
    next_refresh: Nanos,
}

impl ResvState {
    pub(super) fn contract(&self) -> &Contract {
        &self.granted
    }

    pub(super) fn next_timer(&self) -> Nanos {
        self.expires.min(self.next_refresh)
    }

    pub(super) fn refresh_at(&mut self, time: Nanos) {
        self.next_refresh = time;
    }
}

/// A message that asks for reservations.
#[derive(Clone, Copy)]
struct Request<'a> {
    hop: Hop,
    lasts: Nanos,
    confirm: Option<Ipv4Addr>,
    message: &'a Message,
}

impl Router {
    /// Asks the link for what a receiver wants, and passes on what was granted.
    pub(super) fn resv(
        &mut self,
        now: Nanos,
        message: &Message,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        let whole = message.session().zip(message.hop()).zip(message.refresh_ms());
        let ((session, hop), refresh_ms) = whole.ok_or(Discard::Incomplete)?;
        let style = message.style().ok_or(Discard::Incomplete)?;
        let flows = message.flows();
        if flows.is_empty() || message.bytes().is_none_or(|it| it.len() > Router::LONGEST_KEPT) {
            return Err(Discard::Incomplete);
        }
        let lasts = lifetime(refresh_ms);
        let request = Request { hop, lasts, confirm: message.confirm(), message };
        for (sender, flowspec) in flows {
            let flow = Flow { session, sender };
            let asked = match style {
                Style::Fixed => self.reserve(now, flow, flowspec, request, host, out),
                Style::Other(_) => Err(ErrorCode::UnknownStyle),
            };
            if let Err(error) = asked {
                let is_in_place = self.resv_of(&flow).is_some();
                let error = (error, is_in_place);
                out.extend(Self::refuse(flow, hop, style, flowspec, error, host));
            }
        }
        Ok(())
    }

    fn resv_of(&self, flow: &Flow) -> Option<&ResvState> {
        self.paths.get(flow)?.resv.as_ref()
    }

    fn reserve(
        &mut self,
        now: Nanos,
        flow: Flow,
        flowspec: Option<&Flowspec>,
        request: Request<'_>,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) -> Result<(), ErrorCode> {
        if !self.has_session(flow.session) {
            return Err(ErrorCode::NoPath);
        }
        let path = self.paths.get_mut(&flow).ok_or(ErrorCode::NoSender)?;
        let asked = path.asked(request.hop, flowspec.ok_or(ErrorCode::BadFlowspec)?)?;
        let expires = now.saturating_add(request.lasts);
        let granted = path.granted(&flow, &asked, request.lasts, host);
        let (contract, slack) = match granted {
            Ok(granted) => granted,
            Err(error) => {
                // What was reserved stays, as long as its receiver lives.
                if let Some(resv) = &mut path.resv {
                    host.renew(&flow, request.lasts);
                    resv.expires = expires;
                }
                return Err(error);
            }
        };
        let rspec = Rspec { slack, ..asked.rspec };
        let flowspec = Flowspec::Guaranteed { tspec: asked.tspec, rspec };
        let opaque = opaque(request.message);
        let is_new = path.resv.as_ref().is_none_or(|resv| {
            resv.flowspec != flowspec || resv.opaque != opaque || resv.next_refresh <= now
        });
        let next_refresh = match &path.resv {
            Some(resv) if !is_new => resv.next_refresh,
            _ => self.timing.next(now),
        };
        let (next, granted) = (request.hop, contract);
        let asked = asked.contract;
        let resv = ResvState { next, asked, granted, flowspec, opaque, expires, next_refresh };
        if is_new || request.confirm.is_some() {
            let refresh_ms = self.timing.refresh_ms();
            out.extend(resv.message(flow, &path.said, refresh_ms, request.confirm, host));
        }
        path.resv = Some(resv);
        Ok(())
    }

    fn has_session(&self, session: Session) -> bool {
        let first = Filter { source: Ipv4Addr::UNSPECIFIED, port: 0 };
        let mut from = self.paths.range(Flow { session, sender: first }..);
        from.next().is_some_and(|(flow, _)| flow.session == session)
    }

    /// Releases what a receiver gives back, and passes that on.
    pub(super) fn resv_tear(
        &mut self,
        message: &Message,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        let whole = message.session().zip(message.hop());
        let (session, hop) = whole.ok_or(Discard::Incomplete)?;
        let mut torn = Err(Discard::Unknown);
        for (sender, _) in message.flows() {
            let flow = Flow { session, sender };
            if self.resv_of(&flow).is_some_and(|resv| resv.next == hop) {
                self.end_resv(flow, host, out);
                torn = Ok(());
            }
        }
        torn
    }

    /// Refreshes and ends what is due.
    pub(super) fn tick_resv(
        &mut self,
        now: Nanos,
        flow: Flow,
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) {
        let Some(path) = self.paths.get_mut(&flow) else { return };
        let Some(resv) = &mut path.resv else { return };
        if resv.expires <= now {
            self.end_resv(flow, host, out);
        } else if resv.next_refresh <= now {
            resv.next_refresh = self.timing.next(now);
            let refresh_ms = self.timing.refresh_ms();
            out.extend(resv.message(flow, &path.said, refresh_ms, None, host));
        }
    }

    /// Releases what is reserved for a flow, and tells the node before.
    pub(super) fn end_resv(&mut self, flow: Flow, host: &mut impl Host, out: &mut Vec<Datagram>) {
        let Some(path) = self.paths.get_mut(&flow) else { return };
        let Some(resv) = path.resv.take() else { return };
        host.release(&flow);
        out.extend(resv.tear(flow, &path.said, host));
    }
}

/// What a flowspec asks for.
struct Asked {
    tspec: crate::message::Tspec,
    rspec: Rspec,
    contract: Contract,
}

impl PathState {
    /// What a flowspec means here, if it is for this path.
    fn asked(&self, hop: Hop, flowspec: &Flowspec) -> Result<Asked, ErrorCode> {
        let said = &self.said;
        if hop.handle != said.route.interface {
            return Err(ErrorCode::NoPath);
        }
        let Flowspec::Guaranteed { tspec, rspec } = flowspec else {
            return Err(ErrorCode::UnsupportedService);
        };
        let link = said.route.link.ok_or(ErrorCode::UnsupportedService)?;
        let terms = said.terms().ok_or(ErrorCode::UnsupportedService)?;
        if tspec.most > link.mtu {
            return Err(ErrorCode::Mtu);
        }
        let on_link = |packet| link.on_link(packet);
        let mut contract = Contract::new(tspec, rspec, terms, said.upstream(), on_link)?;
        // What the link is not told of is left for when it is late.
        contract.deadline = contract.deadline.saturating_sub(link.lateness);
        Ok(Asked { tspec: *tspec, rspec: *rspec, contract })
    }

    /// Has it reserved. Returns what was granted, and the slack that is left.
    fn granted(
        &self,
        flow: &Flow,
        asked: &Asked,
        lasts: Nanos,
        host: &mut impl Host,
    ) -> Result<(Contract, u32), ErrorCode> {
        let wanted = &asked.contract;
        if let Some(resv) = self.resv.as_ref().filter(|resv| resv.asked == *wanted) {
            let left = asked.slack_left(&resv.granted);
            // The link may have started anew.
            if let Some(left) = left
                && (host.renew(flow, lasts) || host.reserve(flow, &resv.granted, lasts).is_ok())
            {
                return Ok((resv.granted.clone(), left));
            }
        }
        let mut ask = |contract: &Contract| match self.resv {
            Some(_) => host.change(flow, contract, lasts),
            None => host.reserve(flow, contract, lasts),
        };
        let refusal = match ask(wanted) {
            Ok(()) => return Ok((wanted.clone(), asked.rspec.slack)),
            Err(refusal) => refusal,
        };
        // Of the slack as much is used as it takes to fit.
        if let Refusal::Late(deadline) = refusal {
            let later = Contract { deadline, ..wanted.clone() };
            if let Some(left) = asked.slack_left(&later)
                && ask(&later).is_ok()
            {
                return Ok((later, left));
            }
        }
        Err(match refusal {
            Refusal::Late(_) => ErrorCode::Delay,
            Refusal::Full => ErrorCode::Bandwidth,
            Refusal::Unavailable => ErrorCode::System,
        })
    }
}

impl Asked {
    /// The slack that is left under a contract with a later deadline, in microseconds, rounded
    /// down; `None` if there is not enough.
    fn slack_left(&self, granted: &Contract) -> Option<u32> {
        let used = granted.deadline.saturating_sub(self.contract.deadline).0.div_ceil(1_000);
        self.rspec.slack.checked_sub(u32::try_from(used).ok()?)
    }
}

impl ResvState {
    /// The message that passes it on to the node before.
    fn message(
        &self,
        flow: Flow,
        said: &Said,
        refresh_ms: u32,
        confirm: Option<Ipv4Addr>,
        host: &mut impl Host,
    ) -> Option<Datagram> {
        let mut objects =
            vec![Object::Session(flow.session), back(said, host)?, Object::RefreshTime(refresh_ms)];
        objects.extend(confirm.map(Object::Confirm));
        objects.extend(self.opaque.iter().cloned().map(Object::Opaque));
        objects.extend(self.descriptor(flow));
        let message = Message { kind: Kind::Resv, send_ttl: TTL, objects };
        datagram(&message, None, said.previous.address, false)
    }

    fn tear(&self, flow: Flow, said: &Said, host: &mut impl Host) -> Option<Datagram> {
        let mut objects = vec![Object::Session(flow.session), back(said, host)?];
        objects.extend(self.descriptor(flow));
        let message = Message { kind: Kind::ResvTear, send_ttl: TTL, objects };
        datagram(&message, None, said.previous.address, false)
    }

    fn descriptor(&self, flow: Flow) -> [Object; 3] {
        let flowspec = Object::Flowspec(self.flowspec.clone());
        [Object::Style(Style::Fixed), flowspec, Object::Filter(flow.sender)]
    }
}

/// This node, as the node before gets to know it: with its own handle.
fn back(said: &Said, host: &mut impl Host) -> Option<Object> {
    let Hop { address, handle } = said.previous;
    Some(Object::Hop(Hop { address: host.route(address)?.address, handle }))
}
