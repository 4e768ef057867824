//! Structs that grow: each begins with the size that its user compiled.

use std::ptr;

use crate::error::Failure;
use crate::status::lx_status::*;

/// No struct is as large: what stands there was never set.
const ABSURD: usize = 4096;

/// A struct that crosses, whose first field is its size in bytes, a `u32`.
///
/// # Safety
/// It is `repr(C)` and begins with a `u32`. All its other fields may have any bits, zeros among
/// them.
pub unsafe trait Sized: Copy {
    /// Its size when it was first published.
    const FIRST: usize;
    /// What messages call it.
    const NAME: &'static str;

    /// The same with this size in front.
    fn with_size(self, size: u32) -> Self;
}

/// A struct that the caller has filled. What the caller does not know yet is zero.
///
/// Its fields are read one by one, as they were written: a copy of the whole would have to wait
/// until all these small writes are done.
///
/// # Safety
/// `from` is NULL or points to a struct of the size that stands in front.
#[inline(always)]
pub(crate) unsafe fn read_by<T: Sized, R>(
    from: *const T,
    read: impl FnOnce(&T) -> R,
) -> Result<R, Failure> {
    // SAFETY: as the caller promises.
    let size = unsafe { size_of_struct(from) }?;
    let other;
    let given = if size == size_of::<T>() {
        // SAFETY: all of it is there, and any bits will do.
        unsafe { &*from }
    } else {
        // SAFETY: it has this size.
        other = unsafe { resized(from, size) };
        &other
    };
    Ok(read(given))
}

/// The same, whole.
///
/// # Safety
/// As for [`read_by`].
pub(crate) unsafe fn read<T: Sized>(from: *const T) -> Result<T, Failure> {
    // SAFETY: as the caller promises.
    unsafe { read_by(from, |given| *given) }
}

/// # Safety
/// `from` points to a struct of this size.
#[cold]
#[inline(never)]
unsafe fn resized<T: Sized>(from: *const T, size: usize) -> T {
    // SAFETY: zeros will do, and as much is copied as both have.
    unsafe {
        let mut value = std::mem::zeroed::<T>();
        let common = size.min(size_of::<T>());
        ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast::<u8>(), common);
        value
    }
}

/// A struct of the caller's that is to be filled.
#[derive(Debug)]
pub(crate) struct SizedOut<T> {
    to: *mut T,
    size: usize,
}

impl<T: Sized> SizedOut<T> {
    /// Refuses NULL and sizes that cannot be.
    ///
    /// # Safety
    /// `to` is NULL or points to a struct of the size that stands in front, which can be written
    /// for as long as this lives.
    #[inline(always)]
    pub(crate) unsafe fn new(to: *mut T) -> Result<SizedOut<T>, Failure> {
        // SAFETY: as the caller promises.
        Ok(SizedOut { to, size: unsafe { size_of_struct(to) }? })
    }

    /// Nothing is written for NULL.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[inline(always)]
    pub(crate) unsafe fn optional(to: *mut T) -> Result<Option<SizedOut<T>>, Failure> {
        // SAFETY: as the caller promises.
        if to.is_null() { Ok(None) } else { unsafe { SizedOut::new(to) }.map(Some) }
    }

    /// A struct whose size was looked at before, as one of an array.
    ///
    /// # Safety
    /// `to` points to a struct of this size, which can be written for as long as this lives.
    pub(crate) unsafe fn sized(to: *mut T, size: usize) -> SizedOut<T> {
        SizedOut { to, size }
    }

    /// Fills as much of it as the caller has room for; what is not known here becomes zero.
    #[inline(always)]
    pub(crate) fn write(&self, value: T) {
        let value = value.with_size(self.size as u32);
        if self.size == size_of::<T>() {
            // SAFETY: it can be written, as `new` was promised.
            return unsafe { self.to.write(value) };
        }
        self.write_resized(value);
    }

    #[cold]
    #[inline(never)]
    fn write_resized(&self, value: T) {
        let common = self.size.min(size_of::<T>());
        // SAFETY: `size` bytes can be written, as `new` was promised.
        unsafe {
            ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), self.to.cast(), common);
            self.to.cast::<u8>().add(common).write_bytes(0, self.size - common);
        }
    }
}

/// The size in front of a struct.
///
/// # Safety
/// `of` is NULL or points to a struct that begins with its size.
#[inline(always)]
pub(crate) unsafe fn size_of_struct<T: Sized>(of: *const T) -> Result<usize, Failure> {
    if of.is_null() || !of.is_aligned() {
        return Err(Failure::new(LX_ERR_NULL, format_args!("the {} is NULL", T::NAME)));
    }
    // SAFETY: as the caller promises.
    let size = unsafe { of.cast::<u32>().read() } as usize;
    if !(T::FIRST..=ABSURD).contains(&size) {
        let (name, first) = (T::NAME, T::FIRST);
        let message = format!("the size of the {name} is {size}, and {first} to {ABSURD} can be");
        return Err(Failure::new(LX_ERR_SIZE, message));
    }
    Ok(size)
}

/// Implements [`Sized`] for structs whose first field is `size`, with the size of the first
/// version of each.
macro_rules! sized {
    ($($kind:ty = $first:literal, $name:literal;)+) => {$(
        // SAFETY: it is `repr(C)`, begins with `size`, and holds numbers and raw pointers only.
        unsafe impl $crate::sized::Sized for $kind {
            const FIRST: usize = $first;
            const NAME: &'static str = $name;

            #[inline(always)]
            fn with_size(self, size: u32) -> Self {
                Self { size, ..self }
            }
        }

        const _: () = assert!(std::mem::offset_of!($kind, size) == 0);
        const _: () = assert!(size_of::<$kind>() >= $first);
    )+};
}
pub(crate) use sized;
