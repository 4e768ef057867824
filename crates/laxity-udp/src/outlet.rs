//! One socket, and what to do when the kernel does not take a datagram.

use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::os::fd::AsFd;

use laxity::units::Nanos;

use crate::batch::{Joining, Waiting};
use crate::departures::{Departures, Report};
use crate::settings::{SocketError, TransmitTime, UdpSettings};
use crate::sys::{self, Message};
use crate::times::{Times, shifted};
use crate::{Departure, Loss, UdpStatistics};

/// The most messages of one call.
const MOST_MESSAGES: usize = 64;

/// Reports errors of `etf`, from `linux/net_tstamp.h`.
const TXTIME_REPORT_ERRORS: u32 = 2;

/// A socket that sends.
#[derive(Debug)]
pub(crate) struct Outlet {
    socket: UdpSocket,
    is_v4: bool,
    /// Shorter datagrams may be put together: the kernel has refused that for this length.
    joined_below: usize,
    departures: Departures,
}

/// What became of a datagram.
pub(crate) type Outcome = Result<(), Loss>;

/// How the first message of a call has failed before.
#[derive(Default)]
struct Failures {
    is_repeated: bool,
    /// When the sink stops waiting for room.
    patient_until: Option<Nanos>,
}

/// What to do after an error.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Repeat,
    Wait,
    /// Send each datagram as a message: those of this length and longer ones, or all.
    Separate {
        all: bool,
    },
    Lose(Loss),
}

/// What all sockets of a sink share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub settings: UdpSettings,
    pub times: Times,
    pub statistics: UdpStatistics,
}

impl Outlet {
    pub(crate) fn open(
        number: usize,
        socket: UdpSocket,
        settings: &UdpSettings,
    ) -> Result<Outlet, SocketError> {
        let doing = |option| move |cause| SocketError { socket: number, option, cause };
        let is_v4 = socket.local_addr().map_err(doing("a question for its address"))?.is_ipv4();
        let fd = socket.as_fd();
        // A kernel that does not know it would send what is put together as one datagram.
        let can_join = sys::set_option(fd, libc::SOL_UDP, libc::UDP_SEGMENT, [0]).is_ok();
        let clock = match settings.transmit_time {
            TransmitTime::Off => None,
            TransmitTime::Fq => Some(libc::CLOCK_MONOTONIC),
            TransmitTime::Etf => Some(libc::CLOCK_TAI),
        };
        if let Some(clock) = clock {
            let value = [clock as u32, TXTIME_REPORT_ERRORS];
            sys::set_option(fd, libc::SOL_SOCKET, libc::SO_TXTIME, value)
                .map_err(doing("transmit times (SO_TXTIME)"))?;
        }
        if settings.local_drops {
            let (level, name) = match is_v4 {
                true => (libc::SOL_IP, libc::IP_RECVERR),
                false => (libc::SOL_IPV6, libc::IPV6_RECVERR),
            };
            sys::set_option(fd, level, name, [1]).map_err(doing("reports of errors"))?;
        }
        let mut departures = Departures::default();
        if settings.departures {
            departures.switch_on(fd).map_err(doing("timestamps (SO_TIMESTAMPING)"))?;
        }
        let joined_below = if can_join { usize::MAX } else { 0 };
        Ok(Outlet { socket, is_v4, joined_below, departures })
    }

    pub(crate) fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Sends all that waits, in order. Appends what became of each.
    pub(crate) fn send<B: AsRef<[u8]>>(
        &mut self,
        waiting: &[Waiting<B>],
        shared: &mut Shared,
        outcomes: &mut Vec<Outcome>,
    ) {
        let slices: Vec<_> = waiting.iter().map(|one| IoSlice::new(one.bytes())).collect();
        let clock_offset = match shared.settings.transmit_time {
            TransmitTime::Off => None,
            TransmitTime::Fq => Some(shared.times.offset(libc::CLOCK_MONOTONIC)),
            TransmitTime::Etf => Some(shared.times.offset(libc::CLOCK_TAI)),
        };
        let (mut done, mut failures) = (0, Failures::default());
        while done < waiting.len() {
            let rest = &waiting[done..];
            let messages = self.messages(rest, &slices[done..], shared, clock_offset);
            shared.statistics.calls += 1;
            let (settled, outcome) = match sys::send(self.socket.as_fd(), &messages) {
                Ok(accepted) => (self.account(rest, &messages[..accepted], shared), Ok(())),
                Err(error) => {
                    let first = messages[0].slices;
                    match self.after(&error, first, &mut failures, shared) {
                        Ok(()) => continue,
                        Err(loss) => (first.len(), Err(loss)),
                    }
                }
            };
            outcomes.resize(outcomes.len() + settled, outcome);
            (done, failures) = (done + settled, Failures::default());
        }
    }

    /// Counts messages that the kernel has taken. Returns the number of their datagrams.
    fn account<B: AsRef<[u8]>>(
        &mut self,
        waiting: &[Waiting<B>],
        accepted: &[Message<'_>],
        shared: &mut Shared,
    ) -> usize {
        let mut datagrams = 0;
        for message in accepted {
            let count = message.slices.len();
            if self.departures.is_on() {
                let sent = waiting[datagrams..][..count].iter();
                self.departures.sent(sent.map(|one| (one.packet.handle, one.starts_at)));
            }
            datagrams += count;
        }
        let statistics = &mut shared.statistics;
        let bytes = waiting[..datagrams].iter().map(|one| one.bytes().len() as u64);
        statistics.bytes_sent += bytes.sum::<u64>();
        statistics.sent += datagrams as u64;
        statistics.messages += accepted.len() as u64;
        datagrams
    }

    /// Prepares for another try after the kernel has not taken the first message, which has these
    /// datagrams.
    ///
    /// # Errors
    /// If there is to be none: they are lost.
    fn after(
        &mut self,
        error: &io::Error,
        datagrams: &[IoSlice<'_>],
        failures: &mut Failures,
        shared: &mut Shared,
    ) -> Result<(), Loss> {
        // The kernel may have counted the message that failed.
        if self.departures.is_on() {
            self.departures.switch_on(self.socket.as_fd()).map_err(|_| Loss::Other)?;
        }
        match answer(error, datagrams.len() > 1, failures.is_repeated) {
            Answer::Repeat => {
                failures.is_repeated = true;
                shared.statistics.repeated += 1;
            }
            Answer::Wait => {
                shared.statistics.waits += 1;
                let now = shared.times.now();
                let patience = shared.settings.patience;
                let until = failures.patient_until.get_or_insert(now.saturating_add(patience));
                let left = until.saturating_sub(now);
                if left == Nanos::ZERO || !sys::wait_for_room(self.socket.as_fd(), left) {
                    return Err(Loss::NoRoom);
                }
            }
            Answer::Separate { all } => {
                self.joined_below = if all { 0 } else { datagrams[0].len() };
                shared.statistics.not_segmented += 1;
            }
            Answer::Lose(loss) => return Err(loss),
        }
        Ok(())
    }

    /// Hands on what the kernel has said since it was last read.
    pub(crate) fn read_reports(
        &mut self,
        shared: &mut Shared,
        mut departed: impl FnMut(Departure),
    ) {
        if !shared.settings.has_reports() {
            return;
        }
        let Shared { times, statistics, .. } = shared;
        self.departures.read(self.socket.as_fd(), *times, |report| match report {
            Report::Departed(departure) => {
                let after = departure.left.saturating_sub(departure.planned);
                statistics.departures.record(after);
                departed(departure);
            }
            Report::Missed => statistics.missed += 1,
        });
    }

    fn messages<'a, B: AsRef<[u8]>>(
        &self,
        waiting: &[Waiting<B>],
        slices: &'a [IoSlice<'a>],
        shared: &Shared,
        clock_offset: Option<i128>,
    ) -> Vec<Message<'a>> {
        let joining = shared.settings.segmentation.filter(|_| clock_offset.is_none());
        let joining = joining.map(|longest| Joining { longest, below: self.joined_below });
        let mut messages = Vec::with_capacity(waiting.len().min(MOST_MESSAGES));
        let mut from = 0;
        while from < waiting.len() && messages.len() < MOST_MESSAGES {
            let until = from + Waiting::joined(&waiting[from..], joining);
            let first = &waiting[from];
            let transmit_at = clock_offset.map(|offset| shifted(first.starts_at, offset).0);
            messages.push(first.message(&slices[from..until], self.is_v4, transmit_at));
            from = until;
        }
        messages
    }
}

/// An error says that none of the messages was taken, the first one because of it or because of
/// what had happened to an earlier datagram: then the next call has no such error.
fn answer(error: &io::Error, is_joined: bool, is_repeated: bool) -> Answer {
    let unreachable = if is_repeated { Answer::Lose(Loss::Unreachable) } else { Answer::Repeat };
    match error.raw_os_error().unwrap_or_default() {
        libc::EINTR => Answer::Repeat,
        libc::EAGAIN => Answer::Wait,
        // The interface makes no checksums.
        libc::EIO | libc::EOPNOTSUPP if is_joined => Answer::Separate { all: true },
        // They are too long for the path: each of them may be cut to fragments.
        libc::EINVAL | libc::EMSGSIZE if is_joined => Answer::Separate { all: false },
        libc::EMSGSIZE if !is_repeated => Answer::Repeat,
        libc::EMSGSIZE => Answer::Lose(Loss::TooLong),
        libc::ENOBUFS | libc::ENOMEM => Answer::Lose(Loss::LocalQueue),
        libc::EPERM | libc::EACCES => Answer::Lose(Loss::Forbidden),
        libc::ECONNREFUSED
        | libc::EHOSTDOWN
        | libc::EHOSTUNREACH
        | libc::ENETDOWN
        | libc::ENETUNREACH
        | libc::ENOPROTOOPT
        | libc::EPROTO => unreachable,
        _ => Answer::Lose(Loss::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_answer() {
        let to = |number, is_joined, is_repeated| {
            answer(&io::Error::from_raw_os_error(number), is_joined, is_repeated)
        };
        assert_eq!(to(libc::EAGAIN, true, true), Answer::Wait);
        assert_eq!(to(libc::EIO, true, false), Answer::Separate { all: true });
        assert_eq!(to(libc::EINVAL, true, false), Answer::Separate { all: false });
        assert_eq!(to(libc::EINVAL, false, false), Answer::Lose(Loss::Other));
        assert_eq!(to(libc::ECONNREFUSED, true, false), Answer::Repeat);
        assert_eq!(to(libc::ECONNREFUSED, true, true), Answer::Lose(Loss::Unreachable));
        assert_eq!(to(libc::ENOBUFS, true, false), Answer::Lose(Loss::LocalQueue));
        assert_eq!(to(libc::EMSGSIZE, false, true), Answer::Lose(Loss::TooLong));
        assert_eq!(to(libc::EPERM, false, false), Answer::Lose(Loss::Forbidden));
    }
}
