//! What crosses for a datagram, and its ranks by protocols.

use laxity::deadline_queue::{Budget, Datagram, GroupOrder, Rank, Reason};
use laxity::units::{Bytes, Nanos, Rate};

use crate::error::{Failure, lx_error};
use crate::packet::{LX_NEVER, LX_TIME_MAX};
use crate::sized::{SizedOut, read, sized};
use crate::status::lx_status::{self, *};

/// A datagram. Payloads do not cross: `handle` says which one it is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_datagram {
    /// `sizeof(lx_datagram)`.
    pub size: u32,
    /// Length in bytes, as it counts for the budget; at least 1.
    pub length: u32,
    /// The caller's own mark, which comes out unchanged.
    pub handle: u64,
    /// When it is due, in ns; 0 or `LX_NEVER` if it only has a share of what others leave. A
    /// datagram that is late is still sent.
    pub deadline: u64,
    /// From when on it is of no use, in ns; 0 or `LX_NEVER` if it always is. It is sent if it
    /// arrives by then.
    pub expires: u64,
    /// The stream that has a share of the level. Datagrams with a deadline need none.
    pub stream: u64,
    /// The place within the stream, its upper half: the least goes first, of equal ones the first
    /// to come. Datagrams with a deadline need none.
    pub order_high: u64,
    /// The lower half.
    pub order_low: u64,
    /// Lower levels go first, whatever waits in higher ones.
    pub level: u32,
    /// Zero.
    pub reserved: u32,
}

/// What congestion control lets out now.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_budget {
    /// `sizeof(lx_budget)`.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// The most bytes that may leave now. Forecasts do not look at it.
    pub bytes: u64,
    /// The rate at which the path carries bytes; 0 if it is not known, and datagrams count as
    /// arrived when they leave.
    pub bits_per_second: u64,
    /// Bytes that have left and not arrived: they arrive before all that leaves now.
    pub in_flight: u64,
}

/// Why a datagram is handed back.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_unsent_reason {
    /// It has expired.
    LX_UNSENT_EXPIRED = 0,
    /// It was its turn, and it would have arrived after it expires.
    LX_UNSENT_TOO_LATE = 1,
}

/// Which group of a track is sent first.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_group_order {
    /// The oldest one.
    LX_GROUPS_ASCENDING = 0,
    /// The newest one.
    LX_GROUPS_DESCENDING = 1,
}

sized! {
    lx_datagram = 64, "datagram";
    lx_budget = 32, "budget";
}

impl lx_datagram {
    /// The datagram as queues know it.
    pub(super) fn checked(&self) -> Result<Datagram, Failure> {
        if self.length == 0 {
            return Err(refused("the datagram's length is 0: it is at least 1"));
        }
        let (handle, length) = (self.handle, self.length);
        Ok(Datagram { handle, length, ..self.terms()? })
    }

    /// The same without handle and length, which are not looked at.
    pub(crate) fn terms(&self) -> Result<Datagram, Failure> {
        if self.reserved != 0 {
            return Err(refused("the datagram's reserved is not 0"));
        }
        let rank = Rank {
            level: self.level,
            stream: self.stream,
            order: u128::from(self.order_high) << 64 | u128::from(self.order_low),
        };
        let (deadline, expires) = (time(self.deadline)?, time(self.expires)?);
        Ok(Datagram { rank, deadline, expires, ..Datagram::default() })
    }

    /// The same with another rank.
    fn ranked(self, Rank { level, stream, order }: Rank) -> lx_datagram {
        let (order_high, order_low) = ((order >> 64) as u64, order as u64);
        lx_datagram { level, stream, order_high, order_low, ..self }
    }
}

impl From<Datagram> for lx_datagram {
    fn from(Datagram { handle, length, rank, deadline, expires }: Datagram) -> lx_datagram {
        let time = |time: Option<Nanos>| time.map_or(LX_NEVER, |Nanos(time)| time);
        let size = size_of::<lx_datagram>() as u32;
        let (deadline, expires) = (time(deadline), time(expires));
        lx_datagram { size, length, handle, deadline, expires, ..Default::default() }.ranked(rank)
    }
}

impl lx_budget {
    /// The budget as queues know it.
    pub(super) fn checked(&self) -> Result<Budget, Failure> {
        if self.reserved != 0 {
            return Err(refused("the budget's reserved is not 0"));
        }
        let rate = (self.bits_per_second != 0).then_some(Rate(self.bits_per_second));
        Ok(Budget { bytes: Bytes(self.bytes), rate, in_flight: Bytes(self.in_flight) })
    }
}

/// The number of a reason.
pub(super) fn unsent_reason(reason: Reason) -> lx_unsent_reason {
    match reason {
        Reason::Expired => lx_unsent_reason::LX_UNSENT_EXPIRED,
        Reason::TooLate => lx_unsent_reason::LX_UNSENT_TOO_LATE,
    }
}

/// A time that may be missing.
fn time(time: u64) -> Result<Option<Nanos>, Failure> {
    match time {
        0 | LX_NEVER => Ok(None),
        time if time > LX_TIME_MAX => {
            let message = format!("the time {time} is above LX_TIME_MAX, {LX_TIME_MAX}");
            Err(Failure::new(LX_ERR_TIME, message))
        }
        time => Ok(Some(Nanos(time))),
    }
}

#[cold]
fn refused(message: &str) -> Failure {
    Failure::new(LX_ERR_ARGUMENT, message)
}

/// Gives a datagram another rank, and leaves the rest of it.
///
/// # Safety
/// `datagram` is NULL or points to a struct of its size, which can be written.
unsafe fn rank(
    datagram: *mut lx_datagram,
    error: *mut *mut lx_error,
    rank: impl FnOnce() -> Result<Rank, Failure>,
) -> lx_status {
    crate::entry::enter(error, || {
        // SAFETY: as the caller promises.
        let (given, out) = unsafe { (read(datagram)?, SizedOut::new(datagram)?) };
        out.write(given.ranked(rank()?));
        Ok(LX_OK)
    })
}

/// Gives a datagram the rank of an object of Media over QUIC Transport: by the priority of the
/// subscriber, then by that of the publisher, where 0 is the highest; in a track by its group order
/// and then by the number of the object or subgroup. `group_order` is an `lx_group_order`. Tracks
/// of the same priorities share alike.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_datagram_rank_moq(
    datagram: *mut lx_datagram,
    subscriber: u8,
    publisher: u8,
    track: u64,
    group_order: u32,
    group: u64,
    object: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let moq = || {
        let order = match group_order {
            0 => GroupOrder::Ascending,
            1 => GroupOrder::Descending,
            _ => {
                let message = format!("{group_order} is no lx_group_order: there are 0 and 1");
                return Err(refused(&message));
            }
        };
        Ok(Rank::moq([subscriber, publisher], track, order, group, object))
    };
    // SAFETY: the caller gives NULL or a struct of its size.
    unsafe { rank(datagram, error, moq) }
}

/// Gives a datagram the rank of what a response of HTTP sends (RFC 9218): by urgency, from 0, the
/// highest, to 7; higher values count as 7. Responses that are not incremental go one after
/// another, by the number of their stream. Each incremental one of an urgency, and all others
/// together, have equal shares.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_datagram_rank_http(
    datagram: *mut lx_datagram,
    urgency: u8,
    is_incremental: u32,
    stream: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    // SAFETY: the caller gives NULL or a struct of its size.
    unsafe { rank(datagram, error, || Ok(Rank::http(urgency, is_incremental != 0, stream))) }
}
