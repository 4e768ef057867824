//! How a call ended.

use std::ffi::{CStr, c_char};

/// The version of the binary interface. It changes when a program that was compiled before does
/// not work any more.
pub const LX_ABI_VERSION: u32 = 0;

/// How a call ended: zero and above without an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_status {
    /// It did what it was asked for.
    LX_OK = 0,
    /// There is nothing to return: no packet to be sent now, no bound, no drop, no such class.
    LX_NONE = 1,
    /// There is no room now: the packet was not taken.
    LX_FULL = 2,
    /// The engine has ended, and all that it sent and dropped has been received.
    LX_END = 3,
    /// A pointer is NULL or not aligned.
    LX_ERR_NULL = -1,
    /// A value is out of its range.
    LX_ERR_ARGUMENT = -2,
    /// The `size` of a struct is below that of its first version, or absurd.
    LX_ERR_SIZE = -3,
    /// A text is not UTF-8.
    LX_ERR_TEXT = -4,
    /// A plan or the keys of a class make no sense; the message points at the place.
    LX_ERR_PLAN = -5,
    /// A file cannot be read.
    LX_ERR_FILE = -6,
    /// A time is before that of an earlier call, or above `LX_TIME_MAX`.
    LX_ERR_TIME = -7,
    /// The handle is of another kind, or was freed.
    LX_ERR_HANDLE = -8,
    /// An earlier call with this handle ended in `LX_ERR_PANIC`. It can only be freed.
    LX_ERR_POISONED = -9,
    /// A fault of the library, which was caught.
    LX_ERR_PANIC = -10,
    /// Another thread is in a call with this handle. Builds without debug assertions do not look.
    LX_ERR_THREAD = -11,
    /// The plan's discipline or kind does not have this.
    LX_ERR_UNSUPPORTED = -12,
    /// Drops wait to be taken: more are not kept.
    LX_ERR_DROPS = -13,
    /// Producers of the engine are not freed yet.
    LX_ERR_BUSY = -14,
    /// The engine takes no more, or its thread has ended.
    LX_ERR_STOPPED = -15,
    /// A reservation does not fit; the offer says what would.
    LX_ERR_NO_ROOM = -16,
    /// No reservation has this name, another one has it, or its time is over.
    LX_ERR_RESERVATION = -17,
    /// The system gives no socket, or one does not take what is asked of it.
    LX_ERR_SOCKET = -18,
}
use lx_status::*;

/// Every status with its name.
pub const STATUSES: [(lx_status, &CStr); 22] = [
    (LX_OK, c"ok"),
    (LX_NONE, c"none"),
    (LX_FULL, c"full"),
    (LX_END, c"end"),
    (LX_ERR_NULL, c"null"),
    (LX_ERR_ARGUMENT, c"argument"),
    (LX_ERR_SIZE, c"size"),
    (LX_ERR_TEXT, c"text"),
    (LX_ERR_PLAN, c"plan"),
    (LX_ERR_FILE, c"file"),
    (LX_ERR_TIME, c"time"),
    (LX_ERR_HANDLE, c"handle"),
    (LX_ERR_POISONED, c"poisoned"),
    (LX_ERR_PANIC, c"panic"),
    (LX_ERR_THREAD, c"thread"),
    (LX_ERR_UNSUPPORTED, c"unsupported"),
    (LX_ERR_DROPS, c"drops"),
    (LX_ERR_BUSY, c"busy"),
    (LX_ERR_STOPPED, c"stopped"),
    (LX_ERR_NO_ROOM, c"no-room"),
    (LX_ERR_RESERVATION, c"reservation"),
    (LX_ERR_SOCKET, c"socket"),
];

/// The `LX_ABI_VERSION` of the library that is loaded. A program compares it with that of its
/// header.
#[unsafe(no_mangle)]
pub extern "C" fn lx_abi_version() -> u32 {
    LX_ABI_VERSION
}

/// The word for a status; "unknown" for any other number. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lx_status_name(status: i32) -> *const c_char {
    named(STATUSES.iter().find(|(known, _)| *known as i32 == status).map(|(_, name)| *name))
}

/// A name that lives as long as the library.
pub(crate) fn named(name: Option<&'static CStr>) -> *const c_char {
    name.unwrap_or(c"unknown").as_ptr()
}
