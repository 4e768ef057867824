//! Traffic that keeps every leaf's queue full, and what of it arrives.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;

use crate::traffic::HEADERS;

/// After which queues are full and the first bursts are gone.
const SETTLE: Duration = Duration::from_millis(800);
/// How long nobody waits for a packet that does not go.
const PATIENCE: Duration = Duration::from_millis(50);

/// Sends frames of a length to a port behind an interface, as fast as it takes them; at which rate
/// each arrives within this time, in kbit/s.
pub(super) fn flood(ends: &[(usize, u16, u64)], time: Duration) -> Vec<f64> {
    let host = Namespace::named("b").expect("the receiver");
    let ends_at = AtomicBool::new(false);
    let received: Vec<AtomicU64> = ends.iter().map(|_| AtomicU64::new(0)).collect();
    let read = || received.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect::<Vec<_>>();
    thread::scope(|scope| {
        for ((interface, port, length), received) in ends.iter().copied().zip(&received) {
            let to = (format!("10.9.{interface}.2"), port);
            let bind = || UdpSocket::bind((to.0.as_str(), port)).expect("a port");
            let receiver = host.run(bind).expect("the receiver");
            receiver.set_read_timeout(Some(PATIENCE)).expect("a time");
            let ends_at = &ends_at;
            scope.spawn(move || {
                let mut packet = [0; 2048];
                while !ends_at.load(Ordering::Relaxed) {
                    if let Ok(length) = receiver.recv(&mut packet) {
                        received.fetch_add(length as u64 + HEADERS, Ordering::Relaxed);
                    }
                }
            });
            let sender = UdpSocket::bind("0.0.0.0:0").expect("a socket");
            sender.set_write_timeout(Some(PATIENCE)).expect("a time");
            sender.connect((to.0.as_str(), port)).expect("a route");
            scope.spawn(move || {
                let packet = vec![0; (length - HEADERS) as usize];
                while !ends_at.load(Ordering::Relaxed) {
                    let _full = sender.send(&packet);
                }
            });
        }
        thread::sleep(SETTLE);
        let (since, before) = (Instant::now(), read());
        thread::sleep(time);
        let (passed, after) = (since.elapsed(), read());
        ends_at.store(true, Ordering::Relaxed);
        let rate = |(after, before)| kbit(after - before, passed);
        after.into_iter().zip(before).map(rate).collect()
    })
}

/// Of bytes in a time, in kbit/s.
pub(super) fn kbit(bytes: u64, time: Duration) -> f64 {
    bytes as f64 * 8e-3 / time.as_secs_f64()
}
