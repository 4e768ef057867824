//! Messages of `recvmmsg` and `sendmmsg`, and the memory that they point to.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use laxity::units::Nanos;

use crate::clock::nanos;
use crate::frames::BATCH;
use crate::sys::{Plain, check, zeroed};

crate::sys::plain!(libc::tpacket_auxdata, libc::timespec);

/// Where a message is sent: an interface, and the protocol of the packet.
pub(super) type Destination = libc::sockaddr_ll;

/// Room, in words, for what the kernel says beside a frame: three times and a VLAN tag, each behind
/// its header.
pub(super) const CONTROL: usize = 13;
/// That room.
pub(super) type Control = [u64; CONTROL];

/// Up to [`BATCH`] messages of one buffer each.
pub(super) struct Batch {
    messages: Box<[libc::mmsghdr; BATCH]>,
    buffers: Box<[libc::iovec; BATCH]>,
    control: Box<[Control; BATCH]>,
    destinations: Box<[Destination; BATCH]>,
}

// SAFETY: the pointers within are set anew before each call of the system and mean nothing after
// it.
unsafe impl Send for Batch {}

/// What the kernel says beside a received frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Auxiliary {
    /// A VLAN tag that was taken out of the frame: its protocol and its control information.
    pub(super) tag: Option<[u16; 2]>,
    /// When it arrived, or zero.
    pub(super) arrived: Nanos,
}

impl Batch {
    pub(super) fn new() -> Self {
        // SAFETY: zeros are lengths of zero and pointers to nothing.
        let message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        let buffer = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        Batch {
            messages: Box::new([message; BATCH]),
            buffers: Box::new([buffer; BATCH]),
            control: Box::new([[0; CONTROL]; BATCH]),
            destinations: Box::new([zeroed(); BATCH]),
        }
    }

    /// Sends a message there, and not where its socket is bound to.
    pub(super) fn direct(&mut self, message: usize, to: Destination) {
        self.destinations[message] = to;
        let header = &mut self.messages[message].msg_hdr;
        header.msg_name = ptr::from_mut(&mut self.destinations[message]).cast();
        header.msg_namelen = size_of::<Destination>() as u32;
    }

    /// Points a message to its buffer.
    pub(super) fn point(&mut self, message: usize, first: *mut u8, length: usize) {
        self.buffers[message] = libc::iovec { iov_base: first.cast(), iov_len: length };
    }

    /// Takes in up to `count` messages and says how many there were.
    ///
    /// # Safety
    /// The first `count` messages point to memory that may be written to.
    pub(super) unsafe fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        count: usize,
    ) -> io::Result<usize> {
        self.prepare(count, true);
        let (messages, flags) = (self.messages.as_mut_ptr(), libc::MSG_DONTWAIT);
        let count = count.min(BATCH) as u32;
        // SAFETY: `count` messages point to their buffers, as the caller promises, and to room for
        // what is said beside them; no time to wait is given.
        let received =
            unsafe { libc::recvmmsg(socket.as_raw_fd(), messages, count, flags, ptr::null_mut()) };
        check(received).map(|count| count as usize)
    }

    /// Sends the first `count` messages and says how many were; none of them only with an error.
    /// The kernel is to stamp the first of them or not.
    ///
    /// # Safety
    /// The first `count` messages point to memory that may be read.
    pub(super) unsafe fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        count: usize,
        stamps: bool,
    ) -> io::Result<usize> {
        self.prepare(count, false);
        self.stamp_first(stamps);
        let (messages, flags) = (self.messages.as_mut_ptr(), libc::MSG_DONTWAIT);
        let count = count.min(BATCH) as u32;
        // SAFETY: `count` messages point to their buffers, as the caller promises.
        let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), messages, count, flags) };
        check(sent).map(|count| count as usize)
    }

    /// Asks for a stamp as the kernel's queue takes the first message, and one as the interface
    /// does.
    fn stamp_first(&mut self, stamps: bool) {
        let header = &mut self.messages[0].msg_hdr;
        let size = size_of::<u32>() as u32;
        // SAFETY: takes an integer only.
        let room = unsafe { libc::CMSG_SPACE(size) } as usize;
        if !stamps {
            (header.msg_control, header.msg_controllen) = (ptr::null_mut(), 0);
            return;
        }
        (header.msg_control, header.msg_controllen) = (self.control[0].as_mut_ptr().cast(), room);
        let wanted = libc::SOF_TIMESTAMPING_TX_SCHED | libc::SOF_TIMESTAMPING_TX_SOFTWARE;
        // SAFETY: there is room for one header with this much behind it, which is aligned.
        unsafe {
            let control = libc::CMSG_FIRSTHDR(header);
            (*control).cmsg_level = libc::SOL_SOCKET;
            (*control).cmsg_type = libc::SO_TIMESTAMPING;
            (*control).cmsg_len = libc::CMSG_LEN(size) as usize;
            libc::CMSG_DATA(control).cast::<u32>().write_unaligned(wanted);
        }
    }

    fn prepare(&mut self, count: usize, control: bool) {
        for (place, message) in self.messages.iter_mut().enumerate().take(count) {
            message.msg_hdr.msg_iov = &mut self.buffers[place];
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_flags = 0;
            if control {
                message.msg_hdr.msg_control = self.control[place].as_mut_ptr().cast();
                message.msg_hdr.msg_controllen = size_of::<[u64; CONTROL]>();
            }
        }
    }

    /// How long a received message is; none if it did not fit its buffer.
    pub(super) fn length(&self, message: usize) -> Option<usize> {
        let message = &self.messages[message];
        let whole = message.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
        whole.then_some(message.msg_len as usize)
    }

    /// What the kernel said beside a received message.
    pub(super) fn beside(&self, message: usize) -> Auxiliary {
        let header = &self.messages[message].msg_hdr;
        let mut beside = Auxiliary::default();
        let hear = |level, kind, content: Content<'_>| match (level, kind) {
            (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                beside.tag = tag(&content.read::<libc::tpacket_auxdata>());
            }
            // Three stamps, the kernel's own first.
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => beside.arrived = nanos(content.read()),
            _ => {}
        };
        // SAFETY: the header is that of a message which was received, so it describes control
        // messages within `self.control`.
        unsafe { each_of(header, hear) };
        beside
    }
}

/// What a control message carries.
#[derive(Clone, Copy)]
pub(super) struct Content<'a> {
    header: *const libc::cmsghdr,
    /// It is read no longer than the room that it lies in is borrowed.
    room: PhantomData<&'a libc::cmsghdr>,
}

impl Content<'_> {
    /// Its first bytes as a value; zeros if it is too short for that.
    pub(super) fn read<T: Plain>(self) -> T {
        // SAFETY: `each_of` has a whole header.
        let length = unsafe { (*self.header).cmsg_len };
        // SAFETY: takes an integer only.
        if length < unsafe { libc::CMSG_LEN(size_of::<T>() as u32) } as usize {
            return zeroed();
        }
        // SAFETY: the message is long enough for a `T` behind its header.
        unsafe { libc::CMSG_DATA(self.header).cast::<T>().read_unaligned() }
    }
}

/// Goes through the control messages of a message that was received: their levels, kinds and
/// contents.
///
/// # Safety
/// The header is as the kernel left it when the message was received, and describes control
/// messages within the room that was given for them, which is still there.
pub(super) unsafe fn each_of(header: &libc::msghdr, mut hear: impl FnMut(i32, i32, Content<'_>)) {
    // SAFETY: the caller has such a header.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !control.is_null() {
        // SAFETY: `control` is not null, so it points to a whole header.
        let (level, kind) = unsafe { ((*control).cmsg_level, (*control).cmsg_type) };
        hear(level, kind, Content { header: control, room: PhantomData });
        // SAFETY: both come from the same message, as above.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
}

fn tag(beside: &libc::tpacket_auxdata) -> Option<[u16; 2]> {
    tag_of(beside.tp_status, beside.tp_vlan_tpid, beside.tp_vlan_tci)
}

/// The tag that the kernel took out of a frame, from the frame's auxiliary data.
pub(super) fn tag_of(status: u32, protocol: u16, control: u16) -> Option<[u16; 2]> {
    let known = status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if known { protocol } else { libc::ETH_P_8021Q as u16 };
    (status & libc::TP_STATUS_VLAN_VALID != 0).then_some([protocol, control])
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}
