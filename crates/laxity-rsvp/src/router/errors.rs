//! Errors, found here or passed on.

use super::{Datagram, Discard, Flow, Host, Router, TTL, datagram};
use crate::message::{ErrorCode, ErrorSpec, Flowspec, Hop, Kind, Message, Object, Style};

/// The classes of objects that RFC 2205 has.
const CLASSES: std::ops::RangeInclusive<u8> = 1..=15;

impl Router {
    /// Refuses a message for an object that nobody knows (RFC 2205, 3.10).
    pub(super) fn refuse_unknown(
        &self,
        message: &Message,
        (class, kind): (u8, u8),
        host: &mut impl Host,
        out: &mut Vec<Datagram>,
    ) {
        let error = if CLASSES.contains(&class) {
            ErrorCode::UnknownType { class, kind }
        } else {
            ErrorCode::UnknownClass { class, kind }
        };
        let Some((session, hop)) = message.session().zip(message.hop()) else { return };
        match message.kind {
            Kind::Path => {
                let Some(route) = host.route(hop.address) else { return };
                let error = Object::Error(ErrorSpec::new(route.address, error));
                let mut objects = vec![Object::Session(session), error];
                objects.extend(message.sender().map(Object::Sender));
                objects.extend(message.sender_tspec().map(Object::SenderTspec));
                let refusal = Message { kind: Kind::PathErr, send_ttl: TTL, objects };
                out.extend(datagram(&refusal, None, hop.address, false));
            }
            Kind::Resv => {
                let style = message.style().unwrap_or(Style::Fixed);
                for (sender, flowspec) in message.flows() {
                    let flow = Flow { session, sender };
                    out.extend(Self::refuse(flow, hop, style, flowspec, (error, false), host));
                }
            }
            // Errors about errors and ends help nobody.
            Kind::PathErr | Kind::ResvErr | Kind::PathTear | Kind::ResvTear | Kind::ResvConf => {}
        }
    }

    /// The message that refuses a reservation to the node that asked for it. `error` says why, and
    /// whether what was reserved before still is.
    pub(super) fn refuse(
        flow: Flow,
        hop: Hop,
        style: Style,
        flowspec: Option<&Flowspec>,
        (error, is_in_place): (ErrorCode, bool),
        host: &mut impl Host,
    ) -> Option<Datagram> {
        let address = host.route(hop.address)?.address;
        let mut error = ErrorSpec::new(address, error);
        if is_in_place {
            error.flags |= ErrorSpec::IN_PLACE;
        }
        let own = Hop { address, handle: hop.handle };
        let mut objects = vec![
            Object::Session(flow.session),
            Object::Hop(own),
            Object::Error(error),
            Object::Style(style),
        ];
        objects.extend(flowspec.cloned().map(Object::Flowspec));
        objects.push(Object::Filter(flow.sender));
        let message = Message { kind: Kind::ResvErr, send_ttl: TTL, objects };
        datagram(&message, None, hop.address, false)
    }

    /// Passes an error about a path on towards its sender.
    pub(super) fn path_error(
        &self,
        message: &Message,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        let (session, sender) =
            message.session().zip(message.sender()).ok_or(Discard::Incomplete)?;
        let path = self.paths.get(&Flow { session, sender }).ok_or(Discard::Unknown)?;
        let message = Message { send_ttl: TTL, ..message.clone() };
        out.extend(datagram(&message, None, path.said.previous.address, false));
        Ok(())
    }

    /// Passes an error about a reservation on towards its receiver.
    pub(super) fn resv_error(
        &self,
        mut message: Message,
        out: &mut Vec<Datagram>,
    ) -> Result<(), Discard> {
        let session = message.session().ok_or(Discard::Incomplete)?;
        let (sender, _) = *message.flows().first().ok_or(Discard::Incomplete)?;
        let path = self.paths.get(&Flow { session, sender }).ok_or(Discard::Unknown)?;
        let resv = path.resv.as_ref().ok_or(Discard::Unknown)?;
        let own = Hop { address: path.said.route.address, handle: resv.next.handle };
        for object in &mut message.objects {
            if let Object::Hop(hop) = object {
                *hop = own;
            }
        }
        message.send_ttl = TTL;
        out.extend(datagram(&message, None, resv.next.address, false));
        Ok(())
    }
}
