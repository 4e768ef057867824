//! A socket that receives, with what the IP headers say.

use std::mem::MaybeUninit;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{MaybeUninitSlice, MsgHdrMut, SockRef};

use crate::control::parse;

pub(super) struct Receiver(UdpSocket);

/// What came: its bytes, and the byte of the IP header with code point and ECN.
pub(super) struct Received {
    pub bytes: Vec<u8>,
    pub traffic_class: u8,
}

impl Received {
    /// The number of a datagram of [`send`](super::send).
    pub(super) fn number(&self) -> u64 {
        u64::from_ne_bytes(self.bytes[..8].try_into().expect("eight bytes"))
    }
}

impl Receiver {
    pub(super) fn bind(at: &str) -> Receiver {
        let socket = UdpSocket::bind(at).expect("bound");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a limit");
        let options = SockRef::from(&socket);
        options.set_recv_buffer_size(1 << 22).expect("room");
        options.set_recv_tos_v4(true).ok();
        options.set_recv_tclass_v6(true).ok();
        Receiver(socket)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("bound")
    }

    /// All that comes until nothing does for a while.
    pub(super) fn all(&self) -> Vec<Received> {
        std::iter::from_fn(|| self.next()).collect()
    }

    pub(super) fn numbers(&self) -> Vec<u64> {
        self.all().iter().map(Received::number).collect()
    }

    fn next(&self) -> Option<Received> {
        let mut bytes = vec![MaybeUninit::new(0); 70_000];
        let mut control = [MaybeUninit::new(0); 256];
        let mut slices = [MaybeUninitSlice::new(&mut bytes)];
        let mut header = MsgHdrMut::new().with_buffers(&mut slices).with_control(&mut control);
        let length = SockRef::from(&self.0).recvmsg(&mut header, 0).ok()?;
        let said = header.control_len();
        let control = written(&control[..said]);
        let is_class = |level, kind| {
            (level, kind) == (libc::SOL_IP, libc::IP_TOS)
                || (level, kind) == (libc::SOL_IPV6, libc::IPV6_TCLASS)
        };
        let mut classes = parse(&control).filter(|&(level, kind, _)| is_class(level, kind));
        let traffic_class = classes.next().map_or(0, |(_, _, data)| data[0]);
        Some(Received { bytes: written(&bytes[..length]), traffic_class })
    }
}

fn written(bytes: &[MaybeUninit<u8>]) -> Vec<u8> {
    // SAFETY: all of them were made with a value, and the kernel has written over some.
    bytes.iter().map(|byte| unsafe { byte.assume_init() }).collect()
}
