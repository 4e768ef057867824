//! Settings and counts of a UDP sink.

use std::net::UdpSocket;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_engine::{Pace, Settings, Spacing, Statistics};
use laxity_udp::{Loss, TransmitTime, UdpSettings, UdpStatistics};

use crate::engine::{pace, waiting_events};
use crate::error::Failure;
use crate::sized::sized;
use crate::status::lx_status::*;

/// Settings of a UDP sink. A field that is zero has its default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lx_udp_settings {
    /// `sizeof(lx_udp_settings)`.
    pub size: u32,
    /// How many `sockets` there are. With 0 the sink opens one of its own, of any family.
    pub socket_count: u32,
    /// Bound UDP sockets, which the sink duplicates and sends by. The caller may receive by them,
    /// and closes them at any time. With `transmit_time`, `local_drops` or `departures` the sink
    /// sets options of them that stay set: the caller's calls may then return errors that the
    /// network reports.
    pub sockets: *const i32,
    /// The rate of the link, which paces datagrams. Default that of the plan; without a plan as
    /// fast as the sockets take them.
    pub bits_per_second: u64,
    /// Datagrams go to the kernel in batches of this time of the link, in ns. Default each one when
    /// the link is free.
    pub batch: u64,
    /// The most time, in ns, that is made up for when the sink's thread was late. Default 10 ms.
    pub catch_up: u64,
    /// How long before its start a batch goes to the kernel, in ns: with `transmit_time`.
    pub lead: u64,
    /// How long a full buffer of a socket is waited for, in ns. Default 1 ms.
    pub patience: u64,
    /// Datagrams that each producer's ring holds, up to 2^24. Default 1024.
    pub ring: u64,
    /// Datagrams of each producer that may be in the scheduler, up to 2^24. Default 4096.
    pub backlog: u64,
    /// Events that wait to be received, up to 2^24. Default none: the sink tells of nothing.
    pub events: u64,
    /// The most datagrams that wait where no plan orders them, up to 2^24. Default 65536.
    pub limit: u32,
    /// An `lx_transmit_time`: whether the kernel is told when each datagram is to start.
    pub transmit_time: u32,
    /// 1 to be told when datagrams have left, as `LX_DEPARTED`. Nobody else may send by the sockets
    /// then.
    pub departures: u8,
    /// 1 to be told that a queue of this machine has dropped a datagram, as `LX_LOST`.
    pub local_drops: u8,
    /// 1 to send nothing until `lx_udp_sink_set_rate`.
    pub held: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// Whether the kernel is told when each datagram is to start.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_transmit_time {
    /// It is not told.
    LX_TRANSMIT_AT_ONCE = 0,
    /// For an interface with the discipline `fq`.
    LX_TRANSMIT_BY_FQ = 1,
    /// For an interface with the discipline `etf`.
    LX_TRANSMIT_BY_ETF = 2,
}

/// Why a datagram was lost.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_loss {
    /// The socket's buffer had no room in time.
    LX_LOST_NO_ROOM = 0,
    /// A queue of this machine, or its memory, was full.
    LX_LOST_LOCAL_QUEUE = 1,
    /// It is too long for the path.
    LX_LOST_TOO_LONG = 2,
    /// There is no way to its destination, or nobody there.
    LX_LOST_UNREACHABLE = 3,
    /// A filter or a right that is missing forbids it.
    LX_LOST_FORBIDDEN = 4,
    /// Any other error.
    LX_LOST_OTHER = 5,
}

/// Counts of a UDP sink: received = sent + lost + dropped + queued, but for datagrams that are
/// being handed to the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_udp_statistics {
    /// `sizeof(lx_udp_statistics)`.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Datagrams that came from producers.
    pub received: u64,
    /// Datagrams that the kernel has taken.
    pub sent: u64,
    /// Their bytes, without headers.
    pub bytes_sent: u64,
    /// Datagrams that were not sent, or that the kernel has dropped at once.
    pub lost: u64,
    /// Datagrams that the queue or the plan's scheduler has dropped.
    pub dropped: u64,
    /// Datagrams that wait.
    pub queued: u64,
    /// How often a producer found its ring full.
    pub ring_full: u64,
    /// Datagrams that producers dropped because their ring was full; they never came in.
    pub ring_dropped: u64,
    /// Calls of the kernel.
    pub calls: u64,
    /// How often the sink has waited for room in a socket's buffer.
    pub waits: u64,
    /// Datagrams that a discipline below has dropped because they missed their transmit time.
    pub missed: u64,
    /// Events that found no room.
    pub events_lost: u64,
}

sized! {
    lx_udp_settings = 96, "settings";
    lx_udp_statistics = 104, "statistics";
}

impl lx_udp_settings {
    /// Every default.
    pub(super) const DEFAULT: lx_udp_settings = lx_udp_settings {
        size: size_of::<lx_udp_settings>() as u32,
        socket_count: 0,
        sockets: std::ptr::null(),
        bits_per_second: 0,
        batch: 0,
        catch_up: 0,
        lead: 0,
        patience: 0,
        ring: 0,
        backlog: 0,
        events: 0,
        limit: 0,
        transmit_time: 0,
        departures: 0,
        local_drops: 0,
        held: 0,
        reserved: [0; 5],
    };

    /// The settings of the engine. `rate` is that of the plan, or 0.
    pub(super) fn engine(&self, rate: u64) -> Result<Settings, Failure> {
        let default = Settings::default();
        let or = |value: u64, default: u64| if value == 0 { default } else { value };
        let packets = |value, default: usize| {
            usize::try_from(or(value, default as u64)).unwrap_or(usize::MAX)
        };
        let paced = pace(or(self.bits_per_second, rate))?;
        Ok(Settings {
            pace: if self.held == 1 { Pace::Hold } else { paced },
            spacing: Spacing {
                catch_up: Nanos(or(self.catch_up, Spacing::EACH.catch_up.0)),
                batch: Nanos(self.batch),
                lead: Nanos(self.lead),
            },
            ring: packets(self.ring, default.ring),
            backlog: packets(self.backlog, default.backlog),
            ..default
        })
    }

    /// Those of the sink.
    pub(super) fn udp(&self) -> Result<UdpSettings, Failure> {
        let default = UdpSettings::default();
        let flags = [self.departures, self.local_drops, self.held];
        if flags.iter().any(|flag| *flag > 1) || self.reserved != [0; 5] {
            let message = "departures, local_drops and held are 0 or 1, and reserved is 0";
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        Ok(UdpSettings {
            patience: if self.patience == 0 { default.patience } else { Nanos(self.patience) },
            transmit_time: match self.transmit_time {
                0 => TransmitTime::Off,
                1 => TransmitTime::Fq,
                2 => TransmitTime::Etf,
                other => {
                    let message = format!("{other} is no lx_transmit_time: there are 0, 1 and 2");
                    return Err(Failure::new(LX_ERR_ARGUMENT, message));
                }
            },
            departures: self.departures == 1,
            local_drops: self.local_drops == 1,
            ..default
        })
    }

    /// How many events wait to be received.
    pub(super) fn events(&self) -> Result<usize, Failure> {
        waiting_events(self.events)
    }

    /// The sockets, or one that is opened.
    ///
    /// # Safety
    /// `sockets` is NULL or there are `socket_count`.
    pub(super) unsafe fn sockets(&self) -> Result<Vec<UdpSocket>, Failure> {
        let refused = |error| Failure::new(LX_ERR_SOCKET, error);
        if self.socket_count == 0 {
            let own = UdpSocket::bind("[::]:0").or_else(|_| UdpSocket::bind("0.0.0.0:0"));
            let own = own.map_err(|error| refused(format!("no socket can be opened: {error}")))?;
            return Ok(vec![own]);
        }
        if self.sockets.is_null() || !self.sockets.is_aligned() {
            return Err(Failure::new(LX_ERR_NULL, "the sockets are NULL"));
        }
        let duplicate = |number: usize| {
            // SAFETY: there are as many, as the caller promises.
            let descriptor = unsafe { self.sockets.add(number).read() };
            let refused = |why: &str| refused(format!("socket {number}, {descriptor}: {why}"));
            if descriptor < 0 {
                return Err(refused("no file descriptor"));
            }
            // SAFETY: a file descriptor is not below 0, and that of the caller is open meanwhile.
            let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
            let owned = descriptor.try_clone_to_owned();
            Ok(UdpSocket::from(owned.map_err(|error| refused(&error.to_string()))?))
        };
        (0..self.socket_count as usize).map(duplicate).collect()
    }
}

/// The number of a loss.
pub(super) fn loss(loss: Loss) -> lx_loss {
    match loss {
        Loss::NoRoom => lx_loss::LX_LOST_NO_ROOM,
        Loss::LocalQueue => lx_loss::LX_LOST_LOCAL_QUEUE,
        Loss::TooLong => lx_loss::LX_LOST_TOO_LONG,
        Loss::Unreachable => lx_loss::LX_LOST_UNREACHABLE,
        Loss::Forbidden => lx_loss::LX_LOST_FORBIDDEN,
        _ => lx_loss::LX_LOST_OTHER,
    }
}

impl lx_udp_statistics {
    /// Takes over what the sink has counted.
    pub(super) fn count(&mut self, of: &UdpStatistics) {
        self.sent = of.sent;
        self.bytes_sent = of.bytes_sent;
        self.lost = of.all_lost();
        self.calls = of.calls;
        self.waits = of.waits;
        self.missed = of.missed;
    }

    /// The same with what the engine has counted.
    pub(super) fn with_engine(self, of: &Statistics) -> lx_udp_statistics {
        lx_udp_statistics {
            received: of.received,
            dropped: of.dropped.iter().sum(),
            queued: of.queued,
            ring_full: of.ring_full,
            ring_dropped: of.ring_dropped,
            ..self
        }
    }
}
