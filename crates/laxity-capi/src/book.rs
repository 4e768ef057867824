//! Reservations: what a link has promised.

mod request;

use std::ffi::{CString, c_char};

use laxity::units::Nanos;
use laxity_answers::reservations::{Book, Granted, RequestError};
use laxity_plan::edit::ClassKeys;

use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::packet::advance;
use crate::plan::{NamedPlan, lx_plan};
use crate::pointer::{Out, c_text, text};
use crate::sized::{SizedOut, read};
use crate::status::lx_status::{self, *};

pub use request::{lx_grant, lx_offer, lx_request};

use request::{NO_OFFER, time};

/// The reservations of a plan. Each is one more class; it is granted exactly if the admission test
/// admits the plan with it, at every time of its period. One thread uses a book at a time. Times
/// are those of the caller and do not go back.
pub struct lx_book(Handle<Reservations>);
held!(lx_book(Reservations), b"book", "book");

/// A book, the plan it is of, and the time of the last call.
pub struct Reservations {
    book: Book,
    name: String,
    folder: std::path::PathBuf,
    now: Nanos,
}

impl Reservations {
    /// Tells what is granted, or what would be.
    fn answer(
        answered: Result<Granted, RequestError>,
        grant: Option<SizedOut<lx_grant>>,
        offer: Option<SizedOut<lx_offer>>,
    ) -> Result<lx_status, Failure> {
        let none = |offer: SizedOut<lx_offer>| offer.write(NO_OFFER);
        match answered {
            Ok(granted) => {
                offer.map(none);
                if let Some(grant) = grant {
                    grant.write((&granted).into());
                }
                Ok(LX_OK)
            }
            Err(RequestError::NoRoom(no_room)) => {
                if let Some(offer) = offer {
                    offer.write((&*no_room).into());
                }
                Err(RequestError::NoRoom(no_room).into())
            }
            Err(error) => {
                offer.map(none);
                Err(error.into())
            }
        }
    }
}

/// Makes the empty book of a plan, which has to be admitted by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_new(
    plan: *const lx_plan,
    book: *mut *mut lx_book,
    error: *mut *mut lx_error,
) -> lx_status {
    make(book, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let NamedPlan { text, name, folder, .. } = unsafe { shared(plan) }?;
        let book = Book::new(text, name, folder)?;
        let (name, folder) = (name.clone(), folder.clone());
        Ok(Reservations { book, name, folder, now: Nanos::ZERO })
    })
}

/// Frees a book; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_free(book: *mut lx_book) {
    // SAFETY: the caller gives NULL or a book that is not freed, and that no call uses.
    unsafe { free(book) };
}

/// Asks for a reservation. `grant` gets what is granted, and `offer` what would fit if the status
/// is `LX_ERR_NO_ROOM`; either may be NULL. After an error the book is as before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_admit(
    book: *mut lx_book,
    now: u64,
    request: *const lx_request,
    grant: *mut lx_grant,
    offer: *mut lx_offer,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL or structs of their sizes.
        let (request, grant, offer) =
            unsafe { (read(request)?, SizedOut::optional(grant)?, SizedOut::optional(offer)?) };
        // SAFETY: the caller gives NULL or texts that end, and as many of a path as it says.
        let request = unsafe { request.checked(now) }?;
        let now = advance(&mut of.now, now)?;
        Reservations::answer(of.book.request(now, request), grant, offer)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}

/// Gives a reservation other keys, from the `from` of the grant on: there has to be room for both
/// until the former are no longer felt. `grant` and `offer` are as for `lx_book_admit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_change(
    book: *mut lx_book,
    now: u64,
    name: *const c_char,
    keys: *const c_char,
    grant: *mut lx_grant,
    offer: *mut lx_offer,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL, or texts that end and structs of their sizes.
        let (name, keys, grant, offer) = unsafe {
            let (grant, offer) = (SizedOut::optional(grant)?, SizedOut::optional(offer)?);
            (text(name, "name")?, text(keys, "keys")?, grant, offer)
        };
        let keys: ClassKeys = keys.parse()?;
        let now = advance(&mut of.now, now)?;
        Reservations::answer(of.book.change(now, name, keys), grant, offer)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}

/// Changes the reservation of a name.
///
/// # Safety
/// `book` is NULL or a book that is not freed, on one thread at a time; `name` is NULL or a text
/// that ends.
unsafe fn change_named(
    book: *mut lx_book,
    now: u64,
    name: *const c_char,
    error: *mut *mut lx_error,
    change: impl FnOnce(&mut Book, Nanos, &str) -> Result<(), Failure>,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: as the caller promises.
        let name = unsafe { text(name, "name") }?;
        change(&mut of.book, advance(&mut of.now, now)?, name)?;
        Ok(LX_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { enter_with(book, error, body) }
}

/// Grants a reservation that was only held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_commit(
    book: *mut lx_book,
    now: u64,
    name: *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let commit = |book: &mut Book, now, name: &str| Ok(book.commit(now, name)?);
    // SAFETY: as the caller promises.
    unsafe { change_named(book, now, name, error, commit) }
}

/// Gives a reservation another end; `LX_NEVER` if it is to last until it is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_renew(
    book: *mut lx_book,
    now: u64,
    name: *const c_char,
    until: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let renew = |book: &mut Book, now, name: &str| Ok(book.renew(now, name, time(until)?)?);
    // SAFETY: as the caller promises.
    unsafe { change_named(book, now, name, error, renew) }
}

/// Ends a reservation. It keeps its place until it is no longer felt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_release(
    book: *mut lx_book,
    now: u64,
    name: *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let release = |book: &mut Book, now, name: &str| Ok(book.release(now, name)?);
    // SAFETY: as the caller promises.
    unsafe { change_named(book, now, name, error, release) }
}

/// Takes out what has ended and is no longer felt, and writes how many these are; `count` may be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_expire(
    book: *mut lx_book,
    now: u64,
    count: *mut usize,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::optional(count) };
        let gone = of.book.expire(advance(&mut of.now, now)?);
        if let Some(out) = out {
            out.write(gone.len());
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}

/// When the plan with its reservations changes next by itself. `LX_NONE` if it does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_next_change(
    book: *mut lx_book,
    now: u64,
    change: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(change) }?;
        let now = advance(&mut of.now, now)?;
        let Some(Nanos(next)) = of.book.next_change(now) else { return Ok(LX_NONE) };
        out.write(next);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}

/// All reservations, as a list in JSON: `name`, `state` ("ahead", "held", "active", "leaving"),
/// `start`, `end`, `commit_by` and `path` of each. The caller frees it by `lx_text_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_json(
    book: *mut lx_book,
    now: u64,
    json: *mut *mut c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(json) }?;
        let listed = of.book.list(advance(&mut of.now, now)?);
        let listed = serde_json::to_string_pretty(&listed);
        let listed = listed.map_err(|error| Failure::new(LX_ERR_UNSUPPORTED, error))?;
        out.write(CString::into_raw(c_text(&listed)));
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}

/// The plan with all that is promised at a time, for a scheduler that follows it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_book_plan(
    book: *mut lx_book,
    now: u64,
    plan: *mut *mut lx_plan,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Reservations| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(plan) }?;
        out.write(std::ptr::null_mut());
        let (plan, text) = of.book.plan(advance(&mut of.now, now)?)?;
        let named = NamedPlan::new(plan, text, of.name.clone(), of.folder.clone());
        out.write(Handle::give(named));
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a book that is not freed, on one thread at a time.
    unsafe { enter_with(book, error, body) }
}
