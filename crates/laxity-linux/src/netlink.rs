//! Messages of rtnetlink about interfaces, as values.

use std::io;

use netlink_packet_core::{NLM_F_DUMP, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::link::LinkMessage;

use crate::rtnetlink::{Message, Rtnetlink};

/// Makes, changes or removes what the message describes, in the network namespace of the calling
/// thread.
pub(crate) fn change(message: &RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    let (kind, payload) = written(message);
    let message = Message { kind, flags, payload: &payload };
    let refusal = Rtnetlink::bound()?.batch(&[message])?.pop();
    refusal.map_or(Ok(()), |refusal| Err(refusal.error))
}

/// Every link of the namespace that the socket was opened in.
pub(crate) fn links(socket: &mut Rtnetlink) -> io::Result<Vec<LinkMessage>> {
    let (kind, payload) = written(&RouteNetlinkMessage::GetLink(LinkMessage::default()));
    let question = Message { kind, flags: NLM_F_DUMP, payload: &payload };
    socket.dumped(&question, |kind, payload| match read(kind, payload)? {
        RouteNetlinkMessage::NewLink(link) => Some(link),
        _ => None,
    })
}

/// Every address of the namespace that the socket was opened in.
pub(crate) fn addresses(socket: &mut Rtnetlink) -> io::Result<Vec<AddressMessage>> {
    let (kind, payload) = written(&RouteNetlinkMessage::GetAddress(AddressMessage::default()));
    let question = Message { kind, flags: NLM_F_DUMP, payload: &payload };
    socket.dumped(&question, |kind, payload| match read(kind, payload)? {
        RouteNetlinkMessage::NewAddress(address) => Some(address),
        _ => None,
    })
}

/// Reads a message; `None` if it cannot be read, such as one of a newer kernel.
pub(crate) fn read(kind: u16, payload: &[u8]) -> Option<RouteNetlinkMessage> {
    let mut header = NetlinkHeader::default();
    header.message_type = kind;
    RouteNetlinkMessage::deserialize(&header, payload).ok()
}

/// The type of a message, and what follows its header.
pub(crate) fn written(message: &RouteNetlinkMessage) -> (u16, Vec<u8>) {
    let mut payload = vec![0; message.buffer_len()];
    message.serialize(&mut payload);
    (message.message_type(), payload)
}
