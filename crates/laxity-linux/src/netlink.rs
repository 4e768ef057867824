//! rtnetlink: requests with their answers, and what the kernel tells of by itself.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// More than the kernel puts into one answer.
const ANSWER: usize = 1 << 16;

/// Group 1, links (`RTNLGRP_LINK`).
const LINKS: u32 = 1;

/// A socket to the kernel's rtnetlink, in the network namespace of the thread that opens it.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
    answer: Vec<u8>,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0, answer: Vec::with_capacity(ANSWER) })
    }

    /// One that hears of every change of a link, and never waits for one.
    pub(crate) fn hearing_links() -> io::Result<Self> {
        let netlink = Netlink::open()?;
        netlink.socket.add_membership(LINKS)?;
        netlink.socket.set_non_blocking(true)?;
        Ok(netlink)
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the socket, which outlives the borrow.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }

    /// Asks, and collects the answers until the kernel says that these were all.
    pub(crate) fn request(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;

        let mut answers = Vec::new();
        loop {
            for message in self.receive()? {
                if message.header.sequence_number != self.sequence {
                    continue;
                }
                match message.payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::Error(error) => {
                        return match error.code {
                            None => Ok(answers),
                            Some(_) => Err(error.to_io()),
                        };
                    }
                    _ => {}
                }
            }
        }
    }

    /// The next messages that the kernel sent by itself; none if there are none yet.
    pub(crate) fn heard(&mut self) -> io::Result<VecDeque<RouteNetlinkMessage>> {
        let messages = match self.receive() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Vec::new(),
            received => received?,
        };
        let inner = |message: NetlinkMessage<RouteNetlinkMessage>| match message.payload {
            NetlinkPayload::InnerMessage(inner) => Some(inner),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(inner).collect())
    }

    /// One datagram. What cannot be read of it, such as messages of a newer kernel, is left out.
    fn receive(&mut self) -> io::Result<Vec<NetlinkMessage<RouteNetlinkMessage>>> {
        self.answer.clear();
        self.socket.recv(&mut self.answer, 0)?;
        let mut rest = self.answer.as_slice();
        let mut messages = Vec::new();
        while let Some(length) = rest.first_chunk().map(|length| u32::from_ne_bytes(*length)) {
            let length = length as usize;
            if length < 16 || length > rest.len() {
                break;
            }
            messages.extend(NetlinkMessage::deserialize(&rest[..length]));
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
        Ok(messages)
    }
}
