//! What the kernel says afterwards: when datagrams have left, and which missed their time.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;

use crate::control::parse;
use crate::times::{Times, shifted};
use crate::{Departure, sys};

// From `linux/net_tstamp.h` and `linux/errqueue.h`.
const TIMESTAMPING: u32 = TX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY;
const TX_SOFTWARE: u32 = 1 << 1;
const SOFTWARE: u32 = 1 << 4;
const OPT_ID: u32 = 1 << 7;
const OPT_TSONLY: u32 = 1 << 11;
const ORIGIN_TIMESTAMPING: u8 = 4;
const ORIGIN_TXTIME: u8 = 6;
/// A timestamp taken when the driver got the packet.
const TSTAMP_SND: u32 = 0;

/// Datagrams whose departure is not told yet, per socket. Of more the oldest are forgotten: packets
/// that a queue drops have none.
const MOST: usize = 4_096;

/// Reports read in one turn, so that it ends.
const AT_ONCE: usize = 1_024;

/// Matches the kernel's reports with what a socket has sent.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    is_on: bool,
    /// The number that the kernel gives to the next message.
    next: u32,
    under_way: VecDeque<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    message: u32,
    handle: u64,
    planned: Nanos,
}

/// What the kernel has said.
pub(crate) enum Report {
    Departed(Departure),
    Missed,
}

impl Departures {
    /// Has the kernel tell when messages of the socket leave, and number them from zero.
    pub(crate) fn switch_on(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        // The numbers begin anew only if they were off.
        for flags in [0, TIMESTAMPING] {
            sys::set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, [flags])?;
        }
        *self = Departures { is_on: true, ..Departures::default() };
        Ok(())
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// A message was sent with these datagrams: handles and planned starts.
    pub(crate) fn sent(&mut self, datagrams: impl Iterator<Item = (u64, Nanos)>) {
        let message = self.next;
        self.next = message.wrapping_add(1);
        for (handle, planned) in datagrams {
            if self.under_way.len() == MOST {
                self.under_way.pop_front();
            }
            self.under_way.push_back(UnderWay { message, handle, planned });
        }
    }

    /// Reads what the kernel has said, without waiting.
    pub(crate) fn read(
        &mut self,
        socket: BorrowedFd<'_>,
        times: Times,
        mut report: impl FnMut(Report),
    ) {
        let mut buffer = [0_u64; 64];
        let mut offset = None;
        for _ in 0..AT_ONCE {
            let Ok(length) = sys::receive_error(socket, &mut buffer) else { return };
            let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
            match Told::parse(&bytes[..length]) {
                Some(Told::Departed { message, at }) => {
                    let offset = *offset.get_or_insert_with(|| times.offset(libc::CLOCK_REALTIME));
                    let left = shifted(at, -offset);
                    self.departed(message, left).for_each(|one| report(Report::Departed(one)));
                }
                Some(Told::Missed) => report(Report::Missed),
                None => {}
            }
        }
    }

    fn departed(&mut self, message: u32, left: Nanos) -> impl Iterator<Item = Departure> {
        let begin = self.under_way.iter().position(|one| one.message == message);
        let rest = begin.unwrap_or(self.under_way.len());
        let count = self.under_way.range(rest..).take_while(|one| one.message == message).count();
        let departed = self.under_way.drain(rest..rest + count);
        departed.map(move |UnderWay { handle, planned, .. }| Departure { handle, planned, left })
    }
}

/// A message from a socket's queue of errors.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// A message left, at a time on the real-time clock.
    Departed { message: u32, at: Nanos },
    /// A discipline has dropped a datagram that missed its transmit time.
    Missed,
}

impl Told {
    fn parse(control: &[u8]) -> Option<Told> {
        let (mut at, mut error) = (None, None);
        for (level, kind, data) in parse(control) {
            match (level, kind) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => at = first_time(data),
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                    error = data.get(..16);
                }
                _ => {}
            }
        }
        // `struct sock_extended_err`.
        let error = error?;
        let number = |from: usize| Some(u32::from_ne_bytes(error[from..from + 4].try_into().ok()?));
        match error[4] {
            ORIGIN_TIMESTAMPING if number(8)? == TSTAMP_SND => {
                Some(Told::Departed { message: number(12)?, at: at? })
            }
            ORIGIN_TXTIME => Some(Told::Missed),
            _ => None,
        }
    }
}

/// The software timestamp, the first of three `struct timespec`.
fn first_time(data: &[u8]) -> Option<Nanos> {
    const WORD: usize = size_of::<libc::c_long>();
    let word = |at: usize| {
        let bytes = data.get(at * WORD..(at + 1) * WORD)?.try_into().ok()?;
        u64::try_from(libc::c_long::from_ne_bytes(bytes)).ok()
    };
    Some(Nanos(word(0)?.checked_mul(1_000_000_000)?.checked_add(word(1)?)?))
}
