//! The way into the library: handles, panics, threads.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Failure, Outcome, lx_error};
use crate::pointer::Out;
use crate::status::lx_status::{self, *};

/// A type that C points to: a [`Handle`] of a value.
pub trait Held {
    /// What it holds.
    type Value: Send;
    /// A number that no other kind of handle has, to tell a handle from another one.
    const KIND: u32;
    /// What messages call it.
    const NAME: &'static str;

    /// The type of this handle.
    fn of(handle: Handle<Self::Value>) -> Self;

    /// The handle.
    fn handle(&self) -> &Handle<Self::Value>;
}

/// Implements [`Held`] for a struct whose only field is a handle, with the four letters of its
/// kind and what messages call it.
macro_rules! held {
    ($kind:ident($value:ty), $letters:literal, $name:literal) => {
        impl $crate::entry::Held for $kind {
            type Value = $value;
            const KIND: u32 = u32::from_be_bytes(*$letters);
            const NAME: &'static str = $name;

            #[inline(always)]
            fn of(handle: $crate::entry::Handle<$value>) -> Self {
                $kind(handle)
            }

            #[inline(always)]
            fn handle(&self) -> &$crate::entry::Handle<$value> {
                &self.0
            }
        }
    };
}
pub(crate) use held;

/// A value behind a pointer that C holds.
#[repr(C)]
pub struct Handle<T> {
    /// [`Held::KIND`] until it is freed.
    kind: AtomicU32,
    is_poisoned: AtomicBool,
    /// Whether a thread is in a call, in builds that look.
    is_in_use: AtomicBool,
    value: UnsafeCell<T>,
}

impl<T> Handle<T> {
    /// A new handle for C.
    pub(crate) fn give<H: Held<Value = T>>(value: T) -> *mut H {
        let handle = Handle {
            kind: AtomicU32::new(H::KIND),
            is_poisoned: AtomicBool::new(false),
            is_in_use: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        };
        Box::into_raw(Box::new(H::of(handle)))
    }

    /// Whether it can be called, as far as that can be seen.
    #[inline(always)]
    fn check<H: Held<Value = T>>(&self) -> Result<(), Failure> {
        if self.kind.load(Ordering::Relaxed) != H::KIND {
            return Err(Failure::new(LX_ERR_HANDLE, format_args!("this is no {}", H::NAME)));
        }
        if self.is_poisoned.load(Ordering::Relaxed) {
            let message = format!("a call with this {} ended in a panic before: free it", H::NAME);
            return Err(Failure::new(LX_ERR_POISONED, message));
        }
        Ok(())
    }

    fn panicked(&self, panic: &(dyn Any + Send)) -> Failure {
        self.is_poisoned.store(true, Ordering::Relaxed);
        caught(panic)
    }
}

/// That a thread is in a call with a handle.
struct Use<'a>(&'a AtomicBool);

impl<'a> Use<'a> {
    /// Refuses a second thread. A locked instruction costs as much as a call does, so only builds
    /// with debug assertions have it.
    #[inline(always)]
    fn begin(is_in_use: &'a AtomicBool, name: &str) -> Result<Self, Failure> {
        if cfg!(debug_assertions) && is_in_use.swap(true, Ordering::Acquire) {
            let message = format!("another thread is in a call with this {name}");
            return Err(Failure::new(LX_ERR_THREAD, message));
        }
        Ok(Use(is_in_use))
    }
}

impl Drop for Use<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            self.0.store(false, Ordering::Release);
        }
    }
}

/// Runs the body of an entry point without a handle: panics and errors become a status and a text.
#[inline(always)]
pub(crate) fn enter(error: *mut *mut lx_error, body: impl FnOnce() -> Outcome) -> lx_status {
    clear(error);
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failure.report(error),
        Err(panic) => caught(&*panic).report(error),
    }
}

/// Runs the body of an entry point with a handle that one thread uses at a time.
///
/// # Safety
/// `handle` is NULL or points to a handle that is not freed.
#[inline(always)]
pub(crate) unsafe fn enter_with<H: Held>(
    handle: *const H,
    error: *mut *mut lx_error,
    body: impl FnOnce(&mut H::Value) -> Outcome,
) -> lx_status {
    clear(error);
    // SAFETY: as the caller promises.
    let handle = match unsafe { reached(handle) } {
        Ok(handle) => handle.handle(),
        Err(failure) => return failure.report(error),
    };
    let in_use = match Use::begin(&handle.is_in_use, H::NAME) {
        Ok(in_use) => in_use,
        Err(failure) => return failure.report(error),
    };
    // SAFETY: one thread at a time uses the handle, which builds with debug assertions check, and
    // no body enters again.
    let value = unsafe { &mut *handle.value.get() };
    let ended = catch_unwind(AssertUnwindSafe(|| body(value)));
    drop(in_use);
    match ended {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failure.report(error),
        Err(panic) => handle.panicked(&*panic).report(error),
    }
}

/// Runs the body of an entry point with a handle that any number of threads use.
///
/// # Safety
/// `handle` is NULL or points to a handle that is not freed, and no other thread enters with it
/// except through this function.
#[inline(always)]
pub(crate) unsafe fn enter_shared<H: Held<Value: Sync>>(
    handle: *const H,
    error: *mut *mut lx_error,
    body: impl FnOnce(&H::Value) -> Outcome,
) -> lx_status {
    clear(error);
    // SAFETY: as the caller promises.
    let handle = match unsafe { reached(handle) } {
        Ok(handle) => handle.handle(),
        Err(failure) => return failure.report(error),
    };
    // SAFETY: every call with a handle of this kind is shared.
    let value = unsafe { &*handle.value.get() };
    match catch_unwind(AssertUnwindSafe(|| body(value))) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failure.report(error),
        Err(panic) => handle.panicked(&*panic).report(error),
    }
}

/// Makes a handle of what the body returns, and gives it out.
pub(crate) fn make<H: Held>(
    made: *mut *mut H,
    error: *mut *mut lx_error,
    body: impl FnOnce() -> Result<H::Value, Failure>,
) -> lx_status {
    enter(error, || {
        // SAFETY: the caller gives NULL or a pointer that can be written.
        let made = unsafe { Out::new(made) }?;
        made.write(std::ptr::null_mut());
        made.write(Handle::give(body()?));
        Ok(LX_OK)
    })
}

/// Frees a handle. A second time, and a handle of another kind, are nothing as far as that can be
/// seen.
///
/// # Safety
/// `handle` is NULL or points to a handle that is not freed, and that no thread uses.
pub(crate) unsafe fn free<H: Held>(handle: *mut H) {
    // SAFETY: as the caller promises.
    let Some(known) = (unsafe { handle.as_ref() }) else { return };
    let kind = &known.handle().kind;
    if kind.compare_exchange(H::KIND, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        // What drops may panic as any code may. There is nobody left to tell.
        // SAFETY: it was given out by `give`, and is taken back once.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(handle) })));
    }
}

/// The handle behind a pointer of C.
///
/// # Safety
/// `handle` is NULL or points to a handle that is not freed.
#[inline(always)]
unsafe fn reached<'a, H: Held>(handle: *const H) -> Result<&'a H, Failure> {
    if handle.is_null() || !handle.is_aligned() {
        return Err(Failure::new(LX_ERR_NULL, format_args!("the {} is NULL", H::NAME)));
    }
    // SAFETY: as the caller promises.
    let handle = unsafe { &*handle };
    handle.handle().check::<H>()?;
    Ok(handle)
}

/// The value of a handle that is only read, by any number of threads.
///
/// # Safety
/// As for [`enter_shared`].
pub(crate) unsafe fn shared<'a, H: Held<Value: Sync>>(
    handle: *const H,
) -> Result<&'a H::Value, Failure> {
    // SAFETY: as the caller promises.
    unsafe { Ok(&*reached(handle)?.handle().value.get()) }
}

/// There is no error yet.
#[inline(always)]
fn clear(error: *mut *mut lx_error) {
    if !error.is_null() && error.is_aligned() {
        // SAFETY: the caller gives NULL or a pointer that can be written.
        unsafe { error.write(std::ptr::null_mut()) };
    }
}

fn caught(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    Failure::new(LX_ERR_PANIC, format_args!("a fault of the library: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(Handle<u32>);
    held!(Number(u32), b"numb", "number");

    #[test]
    fn a_handle_whose_call_panicked_says_so_from_then_on() {
        let number = Handle::give::<Number>(7);
        let mut error = std::ptr::null_mut();
        // SAFETY: the handle is there until it is freed below, on one thread.
        unsafe {
            let panics = enter_with(number, &mut error, |number| panic!("seven is {number}"));
            assert_eq!(panics, LX_ERR_PANIC);
            let message = std::ffi::CStr::from_ptr(crate::error::lx_error_message(error));
            assert_eq!(message, c"a fault of the library: seven is 7");
            crate::error::lx_error_free(error);
            let after = enter_with(number, std::ptr::null_mut(), |_| Ok(LX_OK));
            assert_eq!(after, LX_ERR_POISONED);
            free(number);
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_second_thread_is_seen() {
        let number = Handle::give::<Number>(7);
        let address = number as usize;
        // SAFETY: the handle is there until it is freed below; the second call does not get in.
        unsafe {
            let first = enter_with(number, std::ptr::null_mut(), |_| {
                let second = std::thread::spawn(move || {
                    let number = address as *const Number;
                    enter_with(number, std::ptr::null_mut(), |_| Ok(LX_OK))
                });
                Ok(second.join().expect("it does not panic"))
            });
            assert_eq!(first, LX_ERR_THREAD);
            assert_eq!(enter_with(number, std::ptr::null_mut(), |_| Ok(LX_OK)), LX_OK);
            free(number);
        }
    }
}
