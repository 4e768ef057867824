//! How long frames take at 2000 a second, from just before they are sent until the kernel of the
//! receiver has them.

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::packet::{Tap, Way as Direction};
use laxity_linux::priority;

use crate::place::{Place, smallest};
use crate::{SENDERS_CORE, Way, forward};

const COUNT: u64 = 4000;
const EVERY: u64 = 500_000;

pub fn measure(rounds: usize, core: usize) -> Result<(), Error> {
    let which =
        if core == SENDERS_CORE { "the core at which frames arrive" } else { "another core" };
    println!("2000 frames a second, forwarded on {which}, p50 / p99 in us (medians of {rounds}):");
    let mut rows = Way::ALL.map(|_| Vec::new());
    for _ in 0..rounds {
        for (way, row) in Way::ALL.into_iter().zip(&mut rows) {
            row.push(round(way, core)?);
        }
    }
    for (way, row) in Way::ALL.into_iter().zip(&rows) {
        let median = |of: fn(&[f64; 3]) -> f64| {
            let mut all: Vec<f64> = row.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let [p50, p99, lost] = [median(|row| row[0]), median(|row| row[1]), median(|row| row[2])];
        println!("{:>28}  {p50:6.1} / {p99:6.1}   lost {lost}", way.name());
    }
    Ok(())
}

fn round(way: Way, core: usize) -> Result<[f64; 3], Error> {
    let place = Place::new()?;
    let (sender, receiver) = (Place::host(&place.sender)?, Place::host(&place.receiver)?);
    let mut tap = place.receiver.run(|| Tap::open(&receiver, Direction::In, 16 << 20))??;
    forward::during(way, core, &place, || {
        place.sender.run(|| {
            for prepared in [priority::pin(SENDERS_CORE), priority::real_time(40)] {
                prepared.unwrap_or_else(|error| println!("{error}"));
            }
            send(sender.index);
        })
    })?;
    let mut took = Vec::new();
    let mut note = |passed: laxity_linux::packet::Passed<'_>| {
        if let Some(sent) = passed.bytes.get(20..28).and_then(|sent| sent.try_into().ok()) {
            took.push(passed.at.0.saturating_sub(u64::from_ne_bytes(sent)) as f64 / 1000.0);
        }
    };
    while tap.look(&mut note).expect("looked") > 0 {}
    // Those that the kernel did not stamp yet have passed, too.
    let seen = took.len() as u64 + tap.missed().expect("counted");
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took.get((part * took.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    Ok([at(0.5), at(0.99), COUNT.saturating_sub(seen) as f64])
}

/// Sends frames that say when they were.
fn send(index: u32) {
    // SAFETY: takes integers only.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    assert!(socket >= 0);
    // SAFETY: zeros are an address of no interface.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    (address.sll_family, address.sll_ifindex) = (libc::AF_PACKET as u16, index as i32);
    let (at, size) = (std::ptr::from_ref(&address).cast(), size_of_val(&address) as u32);
    let start = Clock::Monotonic.now().0;
    for number in 0..COUNT {
        Clock::Monotonic.sleep_until(Nanos(start + (number + 1) * EVERY));
        let mut frame = smallest();
        frame[20..28].copy_from_slice(&Clock::Realtime.now().0.to_ne_bytes());
        let (first, length) = (frame.as_ptr().cast(), frame.len());
        // SAFETY: both pointers have that many bytes behind them.
        unsafe { libc::sendto(socket, first, length, 0, at, size) };
    }
    // SAFETY: the socket is this function's own.
    unsafe { libc::close(socket) };
}
