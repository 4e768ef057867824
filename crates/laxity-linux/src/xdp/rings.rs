//! Rings of memory shared with the kernel: one side writes, the other reads.

use std::ffi::c_int;
use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sys::{Mapping, Plain, get_option, plain, set_option};

plain!(libc::xdp_desc, libc::xdp_ring_offset);

/// Which of a socket's four rings.
#[derive(Clone, Copy, Debug)]
pub(super) enum RingKind {
    Receive,
    Transmit,
    Fill,
    Completion,
}

impl RingKind {
    /// The option that makes it, and where it is mapped.
    fn place(self) -> (c_int, i64) {
        match self {
            RingKind::Receive => (libc::XDP_RX_RING, 0),
            RingKind::Transmit => (libc::XDP_TX_RING, 0x8000_0000),
            RingKind::Fill => (libc::XDP_UMEM_FILL_RING, 0x1_0000_0000),
            RingKind::Completion => (libc::XDP_UMEM_COMPLETION_RING, 0x1_8000_0000),
        }
    }

    fn offsets(self, all: &libc::xdp_mmap_offsets) -> libc::xdp_ring_offset {
        match self {
            RingKind::Receive => all.rx,
            RingKind::Transmit => all.tx,
            RingKind::Fill => all.fr,
            RingKind::Completion => all.cr,
        }
    }
}

/// A ring of `T`.
#[derive(Debug)]
pub(super) struct Ring<T> {
    memory: Mapping,
    size: u32,
    producer: usize,
    consumer: usize,
    entries: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Ring<T> {
    /// Makes the ring and maps it. Its size is a power of two.
    pub(super) fn new(socket: BorrowedFd<'_>, which: RingKind, size: u32) -> io::Result<Self> {
        let (option, place) = which.place();
        set_option(socket, libc::SOL_XDP, option, &size)?;
        let all: libc::xdp_mmap_offsets =
            get_option(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let offsets = which.offsets(&all);
        let entries = offsets.desc as usize;
        let memory = Mapping::shared(socket, entries + size as usize * size_of::<T>(), place)?;
        let (producer, consumer) = (offsets.producer as usize, offsets.consumer as usize);
        Ok(Ring { memory, size, producer, consumer, entries, kind: PhantomData })
    }

    /// How far the side that writes is.
    pub(super) fn written(&self) -> u32 {
        self.counter(self.producer).load(Ordering::Acquire)
    }

    /// How far the side that reads is.
    pub(super) fn read(&self) -> u32 {
        self.counter(self.consumer).load(Ordering::Acquire)
    }

    /// How many entries are written and not yet read.
    pub(super) fn used(&self) -> u32 {
        self.written().wrapping_sub(self.read())
    }

    /// How many more may be written.
    pub(super) fn free(&self) -> u32 {
        self.size - self.used().min(self.size)
    }

    /// The side that writes is this far.
    pub(super) fn set_written(&mut self, count: u32) {
        self.counter(self.producer).store(count, Ordering::Release);
    }

    /// The side that reads is this far.
    pub(super) fn set_read(&mut self, count: u32) {
        self.counter(self.consumer).store(count, Ordering::Release);
    }

    /// The entry that is written as this one, counted from the start.
    pub(super) fn get(&self, count: u32) -> T {
        // SAFETY: the entry lies within the mapping, aligned; `T` is plain data.
        unsafe { self.entry(count).read() }
    }

    /// Writes an entry, which counts when [`set_written`](Ring::set_written) says so.
    pub(super) fn put(&mut self, count: u32, value: T) {
        // SAFETY: as for `get`; the kernel does not look at what is not yet said to be written.
        unsafe { self.entry(count).write(value) }
    }

    fn entry(&self, count: u32) -> *mut T {
        let place = (count & (self.size - 1)) as usize;
        self.memory.at(self.entries + place * size_of::<T>(), size_of::<T>()).cast()
    }

    fn counter(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the kernel keeps an aligned counter there as long as the ring is mapped, and
        // accesses it atomically, too.
        unsafe { AtomicU32::from_ptr(self.memory.at(offset, 4).cast()) }
    }
}
