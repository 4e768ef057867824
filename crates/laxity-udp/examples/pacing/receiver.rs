//! What arrives, with the kernel's own time of it.

use std::io;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use socket2::{MaybeUninitSlice, MsgHdrMut, SockRef};

/// The kind of a datagram, its first byte.
pub const AUDIO: u8 = 0;
pub const VIDEO: u8 = 1;

/// A datagram of this kind, with the time at which it was made.
pub fn stamped(kind: u8, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[0] = kind;
    bytes[1..9].copy_from_slice(&now().to_ne_bytes());
    bytes
}

/// Nanoseconds of the system's clock, which the kernel stamps what arrives with.
fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}

/// A thread that receives.
pub struct Receiver {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Arrival>>,
}

/// A datagram that has arrived.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub kind: u8,
    /// From its making to its arrival, in nanoseconds.
    pub delay: u64,
}

/// What is still under way when the sender has ended arrives within this time.
const LINGER: Duration = Duration::from_millis(200);

impl Receiver {
    pub fn start(socket: UdpSocket) -> io::Result<Receiver> {
        socket.set_read_timeout(Some(LINGER))?;
        // A thread that is late for its socket loses nothing of it.
        set_option(&socket, libc::SO_RCVBUFFORCE, 1 << 24)?;
        set_option(&socket, libc::SO_TIMESTAMPNS, 1)?;
        let (address, is_over) = (socket.local_addr()?, Arc::new(AtomicBool::new(false)));
        let ends = is_over.clone();
        let thread = thread::spawn(move || {
            let mut arrivals = Vec::new();
            loop {
                match receive(&socket) {
                    Some(arrival) => arrivals.push(arrival),
                    None if ends.load(Ordering::Relaxed) => return arrivals,
                    None => {}
                }
            }
        });
        Ok(Receiver { address, is_over, thread })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All that has arrived, when nothing more does.
    pub fn finish(self) -> Vec<Arrival> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic")
    }
}

fn receive(socket: &UdpSocket) -> Option<Arrival> {
    let mut bytes = [MaybeUninit::new(0); 9];
    let mut control = [MaybeUninit::new(0); 64];
    let mut slices = [MaybeUninitSlice::new(&mut bytes)];
    let mut header = MsgHdrMut::new().with_buffers(&mut slices).with_control(&mut control);
    SockRef::from(socket).recvmsg(&mut header, 0).ok()?;
    // SAFETY: both were made with values, and the kernel has written over some.
    let (bytes, control) =
        unsafe { (bytes.map(|byte| byte.assume_init()), control.map(|byte| byte.assume_init())) };
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    // One control message: its header of 16 bytes, then seconds and nanoseconds.
    let arrived = number(&control[16..24]) * 1_000_000_000 + number(&control[24..32]);
    Some(Arrival { kind: bytes[0], delay: arrived.saturating_sub(number(&bytes[1..9])) })
}

fn set_option(socket: &UdpSocket, name: i32, value: i32) -> io::Result<()> {
    let (fd, size) = (socket.as_raw_fd(), size_of::<i32>() as u32);
    let value = std::ptr::from_ref(&value).cast();
    // SAFETY: `value` points to `size` bytes that live as long as the call.
    match unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, name, value, size) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
