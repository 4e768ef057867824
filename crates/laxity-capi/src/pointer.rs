//! Values and texts behind the pointers of a caller.

use std::ffi::{CStr, CString, c_char};

use crate::error::Failure;
use crate::status::lx_status::*;

/// A place that the caller lets be written.
#[derive(Debug)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Refuses NULL.
    ///
    /// # Safety
    /// `to` is NULL or can be written for as long as this lives.
    #[inline(always)]
    pub(crate) unsafe fn new(to: *mut T) -> Result<Out<T>, Failure> {
        if to.is_null() || !to.is_aligned() {
            return Err(Failure::new(LX_ERR_NULL, "a place for a result is NULL"));
        }
        Ok(Out(to))
    }

    /// Nothing is written for NULL.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[inline(always)]
    pub(crate) unsafe fn optional(to: *mut T) -> Option<Out<T>> {
        (!to.is_null() && to.is_aligned()).then_some(Out(to))
    }

    #[inline(always)]
    pub(crate) fn write(&self, value: T) {
        // SAFETY: it is not NULL and can be written, as the maker of it promised.
        unsafe { self.0.write(value) };
    }
}

/// A text of the caller's, which `what` names in messages.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and stays as it is for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::new(LX_ERR_NULL, format_args!("the {what} is NULL")));
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|error| {
        let at = error.valid_up_to();
        Failure::new(LX_ERR_TEXT, format_args!("the {what} is not UTF-8: see its byte {at}"))
    })
}

/// The same, where NULL is the empty text.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn text_or_empty<'a>(
    from: *const c_char,
    what: &str,
) -> Result<&'a str, Failure> {
    if from.is_null() {
        return Ok("");
    }
    // SAFETY: as the caller promises.
    unsafe { text(from, what) }
}

/// A text for C. What it cannot hold is replaced.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Frees a text that a call gave out to be freed; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller gives a text that this library made, once.
        drop(unsafe { CString::from_raw(text) });
    }
}
