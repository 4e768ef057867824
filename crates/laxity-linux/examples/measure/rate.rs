//! Frames a second, in two ways: one core sends as much as it can and another forwards, which on a
//! busy machine says more of the sender; and a core forwards what already waits.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::priority;

use crate::place::{Place, smallest};
use crate::{OTHER_CORE, SENDERS_CORE, Way, forward};

const FOR: Nanos = Nanos(1_000_000_000);

pub fn measure(rounds: usize) -> Result<(), Error> {
    println!("64 B, million frames a second, {rounds} rounds:");
    // The kernel's bridge works on the sender's core: its rate is that of the sender.
    let ways = || Way::ALL.into_iter().filter(|way| *way != Way::KernelBridge);
    let mut rows: Vec<Vec<Round>> = ways().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (way, row) in ways().zip(&mut rows) {
            row.push(round(way)?);
        }
    }
    println!("{:>28}  {:>16}  {:>16}  {:>16}", "", "offered", "forwarded", "of what waits");
    for (way, row) in ways().zip(&rows) {
        let median = |of: fn(&Round) -> f64| {
            let mut all: Vec<f64> = row.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            format!("{:.2} ({:.2}-{:.2})", all[all.len() / 2], all[0], all[all.len() - 1])
        };
        let [offered, forwarded, waiting] =
            [median(|r| r.offered), median(|r| r.forwarded), median(|r| r.waiting)];
        println!("{:>28}  {offered:>16}  {forwarded:>16}  {waiting:>16}", way.name());
    }
    Ok(())
}

struct Round {
    offered: f64,
    forwarded: f64,
    waiting: f64,
}

fn round(way: Way) -> Result<Round, Error> {
    let place = Place::new()?;
    let host = Place::host(&place.sender)?;
    let (offered, arrived, took) = forward::during(way, OTHER_CORE, &place, || {
        let before = arrived(&place)?;
        let send = || {
            for prepared in [priority::pin(SENDERS_CORE), priority::real_time(40)] {
                prepared.unwrap_or_else(|error| println!("{error}"));
            }
            Flood::new(host.index).go_on()
        };
        let (offered, took) = place.sender.run(send)?;
        Ok((offered, arrived(&place)? - before, took))
    })?;
    let open = || Flood::new(host.index);
    let flood = place.sender.run(open)?;
    let (forwarded, busy) = forward::waiting(way, &place, flood)?;
    let millions = |frames: u64, time: Nanos| frames as f64 / time.0.max(1) as f64 * 1000.0;
    Ok(Round {
        offered: millions(offered, took),
        forwarded: millions(arrived, took),
        waiting: millions(forwarded, busy),
    })
}

/// Sends frames as fast as it can.
pub struct Flood(OwnedFd);

impl Flood {
    fn new(index: u32) -> Flood {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: takes integers only.
        let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        assert!(socket >= 0);
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let flood = Flood(unsafe { OwnedFd::from_raw_fd(socket) });
        // SAFETY: zeros are an address of no interface.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        (address.sll_family, address.sll_ifindex) = (libc::AF_PACKET as u16, index as i32);
        let (at, size) = (std::ptr::from_ref(&address).cast(), size_of_val(&address) as u32);
        // SAFETY: `at` points to `size` bytes.
        assert_eq!(unsafe { libc::bind(socket, at, size) }, 0);
        flood
    }

    /// Sends for a while and says how much that was, and how long it took.
    fn go_on(&self) -> (u64, Nanos) {
        let began = Clock::Monotonic.now();
        let mut sent = 0;
        loop {
            let took = Clock::Monotonic.now().saturating_sub(began);
            if took >= FOR {
                return (sent, took);
            }
            sent += self.send();
        }
    }

    /// Sends 64 frames and says how many were.
    pub fn send(&self) -> u64 {
        let mut frame = smallest();
        let mut buffer = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
        // SAFETY: zeros are a message of nothing.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (&mut buffer, 1);
        let mut messages = [message; 64];
        let (socket, first) = (self.0.as_raw_fd(), messages.as_mut_ptr());
        // SAFETY: every message points to the same frame, which is only read.
        unsafe { libc::sendmmsg(socket, first, 64, 0) }.max(0) as u64
    }
}

/// How many frames the receiver's interface has taken in.
fn arrived(place: &Place) -> Result<u64, Error> {
    let read = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let counters = place.receiver.run(read)?;
    let line = counters.lines().find_map(|line| line.trim().strip_prefix("eth:"));
    let packets = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(packets.unwrap_or(0))
}
