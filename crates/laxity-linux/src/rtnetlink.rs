//! Requests to rtnetlink, many at a time, and what it has to show.
//!
//! What messages say is up to the caller; here they get headers, are sent, and answers are told
//! apart.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NetlinkBuffer, NlasIterator};
use netlink_sys::{
    Socket, SocketAddr,
    protocols::{NETLINK_NETFILTER, NETLINK_ROUTE},
};

use crate::error::{Doing, Error};
use crate::sys;

/// More than the kernel puts into one datagram.
const DATAGRAM: usize = 1 << 17;
/// Room for answers that were not taken yet, and for what is sent at once.
const BUFFERS: i32 = 256 << 20;
/// Group 1, links (`RTNLGRP_LINK`).
const LINKS: u32 = 1;
/// How often something is asked again that changed while it was being told.
const TRIES: usize = 20;

/// The length of `struct nlmsghdr`.
const HEADER: usize = 16;
/// NLMSG_ERROR and NLMSG_DONE.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// NLM_F_DUMP_INTR.
const INTERRUPTED: u16 = 0x10;
/// NLM_F_CAPPED and NLM_F_ACK_TLVS.
const CAPPED: u16 = 0x100;
const HAS_WORDS: u16 = 0x200;
/// NLMSGERR_ATTR_MSG.
const WORDS: u16 = 1;

/// A message without what its header says beside its type.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its type, such as RTM_NEWQDISC.
    pub kind: u16,
    /// Flags beside NLM_F_REQUEST and NLM_F_ACK.
    pub flags: u16,
    /// What follows the header.
    pub payload: &'a [u8],
}

/// A message of a batch that the kernel did not carry out.
#[derive(Debug)]
pub struct Refusal {
    /// Its place in the batch.
    pub place: usize,
    /// Why.
    pub error: io::Error,
    /// The kernel's own words, if it has any.
    pub words: Option<String>,
}

/// A socket to rtnetlink in the network namespace of the thread that opens it.
#[derive(Debug)]
pub struct Rtnetlink {
    socket: Socket,
    sequence: u32,
    /// What the kernel said last.
    datagram: Vec<u8>,
}

impl Rtnetlink {
    /// Opens one.
    ///
    /// # Errors
    /// If the system has no rtnetlink.
    pub fn open() -> Result<Rtnetlink, Error> {
        let opened = Rtnetlink::bound().doing("talk to rtnetlink")?;
        for option in [libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE] {
            // Without privilege buffers stay as they are, which is enough to ask.
            let _as_it_is = sys::set_option(opened.as_fd(), libc::SOL_SOCKET, option, &BUFFERS);
        }
        Ok(opened)
    }

    /// One with buffers as the system gives them.
    pub(crate) fn bound() -> io::Result<Rtnetlink> {
        Rtnetlink::bound_to(NETLINK_ROUTE)
    }

    /// One to netfilter, whose messages have the same form.
    pub(crate) fn netfilter() -> io::Result<Rtnetlink> {
        Rtnetlink::bound_to(NETLINK_NETFILTER)
    }

    fn bound_to(protocol: isize) -> io::Result<Rtnetlink> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Kernels without these say why in numbers, and send back what they were sent.
        let _words = socket.set_ext_ack(true);
        let _short = socket.set_cap_ack(true);
        Ok(Rtnetlink { socket, sequence: 0, datagram: Vec::with_capacity(DATAGRAM) })
    }

    /// One that hears of every change of a link, and never waits for one.
    pub(crate) fn hearing_links() -> io::Result<Rtnetlink> {
        Rtnetlink::bound()?.hearing(&[LINKS])
    }

    /// One that hears what netfilter tells these groups, and never waits for it.
    pub(crate) fn hearing_netfilter(groups: &[u32]) -> io::Result<Rtnetlink> {
        Rtnetlink::netfilter()?.hearing(groups)
    }

    fn hearing(self, groups: &[u32]) -> io::Result<Rtnetlink> {
        groups.iter().try_for_each(|group| self.socket.add_membership(*group))?;
        self.socket.set_non_blocking(true)?;
        Ok(self)
    }

    /// Has messages carried out, one after the other, and tells which were refused; those behind
    /// one that was refused are carried out all the same.
    ///
    /// All go in one system call, in which the kernel carries them out before it returns: a process
    /// that is killed has had all of them carried out, or none.
    ///
    /// # Errors
    /// If they could not be sent at all, and then none was carried out; or if answers were lost,
    /// and then it is not known.
    pub fn send(&mut self, messages: &[Message<'_>]) -> Result<Vec<Refusal>, Error> {
        self.batch(messages).doing("send requests to rtnetlink")
    }

    pub(crate) fn batch(&mut self, messages: &[Message<'_>]) -> io::Result<Vec<Refusal>> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let first = self.sequence.wrapping_add(1);
        let mut bytes = Vec::new();
        for (place, message) in messages.iter().enumerate() {
            // Refusals are always answered; the last answer says that all messages were seen.
            let is_last = place + 1 == messages.len();
            self.write(message, if is_last { NLM_F_ACK } else { 0 }, &mut bytes);
        }
        self.socket.send(&bytes, 0)?;
        let mut refusals = Vec::new();
        loop {
            self.receive()?;
            for answer in answers(&self.datagram) {
                let place = answer.sequence_number().wrapping_sub(first) as usize;
                let Some((code, words)) = error(&answer).filter(|_| place < messages.len()) else {
                    continue;
                };
                if code != 0 {
                    let error = io::Error::from_raw_os_error(code.wrapping_neg());
                    refusals.push(Refusal { place, error, words });
                }
                if place + 1 == messages.len() {
                    return Ok(refusals);
                }
            }
        }
    }

    /// Asks for all of something, and collects what is read in the messages of the answer: in the
    /// type of each, and what follows its header.
    ///
    /// # Errors
    /// If the kernel refuses, or what is asked for never stays the same for as long as it takes to
    /// tell.
    pub fn dump<T>(
        &mut self,
        message: &Message<'_>,
        read: impl Fn(u16, &[u8]) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.dumped(message, read).doing("read what rtnetlink shows")
    }

    pub(crate) fn dumped<T>(
        &mut self,
        message: &Message<'_>,
        read: impl Fn(u16, &[u8]) -> Option<T>,
    ) -> io::Result<Vec<T>> {
        for _ in 0..TRIES {
            if let Some(all) = self.collect(message, &read)? {
                return Ok(all);
            }
        }
        Err(io::Error::other("it changes all the time"))
    }

    /// `None` if it changed meanwhile.
    fn collect<T>(
        &mut self,
        message: &Message<'_>,
        read: &impl Fn(u16, &[u8]) -> Option<T>,
    ) -> io::Result<Option<Vec<T>>> {
        let mut bytes = Vec::new();
        self.write(message, 0, &mut bytes);
        self.socket.send(&bytes, 0)?;
        let (mut all, mut is_whole) = (Vec::new(), true);
        loop {
            self.receive()?;
            let own = |answer: &Answer<'_>| answer.sequence_number() == self.sequence;
            for answer in answers(&self.datagram).filter(own) {
                is_whole &= answer.flags() & INTERRUPTED == 0;
                match answer.message_type() {
                    DONE => return Ok(is_whole.then_some(all)),
                    ERROR => match error(&answer) {
                        Some((code @ ..=-1, _)) => {
                            return Err(io::Error::from_raw_os_error(code.wrapping_neg()));
                        }
                        _ => return Ok(is_whole.then_some(all)),
                    },
                    kind => all.extend(read(kind, answer.payload())),
                }
            }
        }
    }

    fn write(&mut self, message: &Message<'_>, flags: u16, bytes: &mut Vec<u8>) {
        self.sequence = self.sequence.wrapping_add(1);
        let length = (HEADER + message.payload.len()) as u32;
        bytes.extend(length.to_ne_bytes());
        bytes.extend(message.kind.to_ne_bytes());
        bytes.extend((NLM_F_REQUEST | message.flags | flags).to_ne_bytes());
        bytes.extend(self.sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(message.payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }

    /// What is read in the next messages that the kernel sent by itself; nothing if there are none
    /// yet.
    pub(crate) fn heard<T>(
        &mut self,
        read: impl Fn(u16, &[u8]) -> Option<T>,
    ) -> io::Result<Vec<T>> {
        let mut all = Vec::new();
        self.hear(|kind, payload| all.extend(read(kind, payload)))?;
        Ok(all)
    }

    /// Shows the next messages that the kernel sent by itself; tells whether there were any.
    pub(crate) fn hear(&mut self, mut show: impl FnMut(u16, &[u8])) -> io::Result<bool> {
        match self.receive() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            received => received?,
        }
        answers(&self.datagram).for_each(|answer| show(answer.message_type(), answer.payload()));
        Ok(true)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.datagram.clear();
        self.socket.recv(&mut self.datagram, 0).map(drop)
    }
}

impl AsFd for Rtnetlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the socket, which outlives the borrow.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// A message of the kernel's.
type Answer<'a> = NetlinkBuffer<&'a [u8]>;

/// The code of an answer that is one, and the kernel's words.
fn error(answer: &Answer<'_>) -> Option<(i32, Option<String>)> {
    if answer.message_type() != ERROR {
        return None;
    }
    let (code, rest) = answer.payload().split_first_chunk::<4>()?;
    let code = i32::from_ne_bytes(*code);
    if answer.flags() & HAS_WORDS == 0 {
        return Some((code, None));
    }
    // The message that it is about comes first, or its header alone.
    let about = rest.first_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize);
    let about = if answer.flags() & CAPPED != 0 { HEADER } else { about.next_multiple_of(4) };
    Some((code, rest.get(about..).and_then(words)))
}

/// The text among the attributes of an answer.
fn words(attributes: &[u8]) -> Option<String> {
    let mut attributes = NlasIterator::new(attributes).map_while(Result::ok);
    let text = attributes.find(|attribute| attribute.kind() == WORDS)?;
    let text = text.value().split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The messages of a datagram, up to the first that is cut off.
fn answers(mut rest: &[u8]) -> impl Iterator<Item = Answer<'_>> {
    std::iter::from_fn(move || {
        let answer = NetlinkBuffer::new_checked(rest).ok()?;
        rest = rest.get((answer.length() as usize).next_multiple_of(4)..).unwrap_or_default();
        Some(answer)
    })
}
