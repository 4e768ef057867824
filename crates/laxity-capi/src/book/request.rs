//! What is asked of a book, and what it answers.

use std::ffi::c_char;
use std::ptr;

use laxity::reserve::bookings::Period;
use laxity::units::Nanos;
use laxity_answers::reservations::{Granted, NoRoom, Request};

use crate::error::Failure;
use crate::packet::{LX_NEVER, LX_TIME_MAX};
use crate::pointer::text;
use crate::sized::sized;
use crate::status::lx_status::*;

/// The most nodes of a path.
const LONGEST_PATH: usize = 4096;

/// What is asked for. A time that is 0 is `now` for `from`, and none for the others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lx_request {
    /// `sizeof(lx_request)`.
    pub size: u32,
    /// How many nodes `path` has; 0 on one link.
    pub path_length: u32,
    /// The name of the class.
    pub name: *const c_char,
    /// Its keys, as lines of a plan: `deadline = "5ms"`, `arrival = { ... }`.
    pub keys: *const c_char,
    /// In a network, the names of the nodes of its path, or of its two ends.
    pub path: *const *const c_char,
    /// When its first packet may come.
    pub from: u64,
    /// When no packet may come any more; 0 or `LX_NEVER` if it lasts until it is released.
    pub until: u64,
    /// Until when it has to be committed; 0 or `LX_NEVER` if it is granted at once.
    pub commit_by: u64,
}

/// What is granted.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_grant {
    /// `sizeof(lx_grant)`.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// No packet that conforms takes longer, in ns, whatever is granted later. `LX_NEVER` if no
    /// delay was asked for.
    pub bound: u64,
    /// When its first packet may come.
    pub from: u64,
    /// When no packet may come any more; `LX_NEVER` if it lasts until it is released.
    pub until: u64,
}

/// What of a request would fit, each with all else as requested. Zero where nothing would, or
/// nobody knows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_offer {
    /// `sizeof(lx_offer)`.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// The first time at which the request does not fit.
    pub at: u64,
    /// The shortest deadline, in ns.
    pub deadline: u64,
    /// The highest rate of its slowest token bucket, in bits per second.
    pub bits_per_second: u64,
    /// The largest size of its slowest token bucket, in bytes.
    pub bucket: u64,
}

sized! {
    lx_request = 56, "request";
    lx_grant = 32, "grant";
    lx_offer = 40, "offer";
}

/// No offer.
pub(super) const NO_OFFER: lx_offer =
    lx_offer { size: 0, reserved: 0, at: 0, deadline: 0, bits_per_second: 0, bucket: 0 };

impl lx_request {
    /// The request that comes at a time.
    ///
    /// # Safety
    /// Its texts are NULL or end, and its path has as many as it says.
    pub(super) unsafe fn checked(&self, now: u64) -> Result<Request, Failure> {
        // SAFETY: as the caller promises.
        let (name, keys, path) =
            unsafe { (text(self.name, "name")?, text(self.keys, "keys")?, self.path()?) };
        let from = if self.from == 0 { now } else { self.from };
        if from > LX_TIME_MAX {
            let message = format!("the time {from} is above LX_TIME_MAX, {LX_TIME_MAX}");
            return Err(Failure::new(LX_ERR_TIME, message));
        }
        let period = Period { from: Nanos(from), until: optional(self.until)? };
        let commit_by = optional(self.commit_by)?;
        Ok(Request { name: name.to_string(), keys: keys.parse()?, path, period, commit_by })
    }

    /// # Safety
    /// As for [`checked`](Self::checked).
    unsafe fn path(&self) -> Result<Vec<String>, Failure> {
        let length = self.path_length as usize;
        if length > LONGEST_PATH {
            let message = format!("a path has up to {LONGEST_PATH} nodes, not {length}");
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        if length == 0 {
            return Ok(Vec::new());
        }
        if self.path.is_null() || !self.path.is_aligned() {
            return Err(Failure::new(LX_ERR_NULL, "the path is NULL"));
        }
        // SAFETY: as the caller promises, as many pointers are there.
        let nodes = unsafe { &*ptr::slice_from_raw_parts(self.path, length) };
        // SAFETY: as the caller promises, each is NULL or ends.
        let node = |node: &*const c_char| unsafe { text(*node, "node of the path") };
        nodes.iter().map(|name| node(name).map(str::to_string)).collect()
    }
}

/// A time of a request, where 0 is none, too.
fn optional(given: u64) -> Result<Option<Nanos>, Failure> {
    if given == 0 { Ok(None) } else { time(given) }
}

/// A time, or none.
pub(super) fn time(time: u64) -> Result<Option<Nanos>, Failure> {
    match time {
        LX_NEVER => Ok(None),
        time if time > LX_TIME_MAX => {
            let message = format!("the time {time} is above LX_TIME_MAX, {LX_TIME_MAX}");
            Err(Failure::new(LX_ERR_TIME, message))
        }
        time => Ok(Some(Nanos(time))),
    }
}

impl From<&Granted> for lx_grant {
    fn from(of: &Granted) -> lx_grant {
        lx_grant {
            size: size_of::<lx_grant>() as u32,
            reserved: 0,
            bound: of.bound_ns.unwrap_or(LX_NEVER),
            from: of.from_ns,
            until: of.until_ns.unwrap_or(LX_NEVER),
        }
    }
}

impl From<&NoRoom> for lx_offer {
    fn from(of: &NoRoom) -> lx_offer {
        let offer = &of.offer;
        lx_offer {
            at: of.at_ns,
            deadline: offer.deadline_ns.unwrap_or(0),
            bits_per_second: offer.rate_bps.unwrap_or(0),
            bucket: offer.bucket_bytes.unwrap_or(0),
            ..NO_OFFER
        }
    }
}
