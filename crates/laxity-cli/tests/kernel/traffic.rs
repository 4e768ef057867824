//! Traffic that keeps to its contracts and otherwise does its worst: all classes send all that they
//! may at one instant, and go on as fast as they may; those without a contract flood.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;
use laxity_plan::Plan;

/// Headers of Ethernet, IPv4 and UDP.
pub(crate) const HEADERS: u64 = 14 + 20 + 8;
/// Where the first class's packets go, and those of the others above it.
pub(crate) const FIRST_PORT: u16 = 4_000;

/// A token bucket. Time passes for it between what was certainly sent and what is certainly not, so
/// that stamps that are taken in between keep to it.
struct Bucket {
    rate: f64,
    size: f64,
    tokens: f64,
}

struct Sender {
    socket: UdpSocket,
    buckets: Vec<Bucket>,
    /// Of the whole frame.
    lengths: [u64; 2],
    sent: u64,
    since: Instant,
}

impl Sender {
    fn length(&self) -> u64 {
        // A short one now and then.
        self.lengths[usize::from(self.sent % 5 == 4)]
    }

    /// Sends if it may; how long to wait if not.
    fn offer(&mut self) -> Result<(), Duration> {
        let passed = self.since.elapsed().as_secs_f64();
        let length = self.length() as f64;
        let missing = self.buckets.iter().map(|bucket| {
            let tokens = (bucket.tokens + passed * bucket.rate).min(bucket.size);
            (length - tokens) / bucket.rate
        });
        let missing = missing.fold(0.0, f64::max);
        if missing > 0.0 {
            return Err(Duration::from_secs_f64(missing));
        }
        for bucket in &mut self.buckets {
            bucket.tokens = (bucket.tokens + passed * bucket.rate).min(bucket.size) - length;
        }
        let payload = vec![self.sent as u8; (self.length() - HEADERS) as usize];
        let mut payload = payload;
        payload[..8].copy_from_slice(&self.sent.to_ne_bytes());
        let _sent = self.socket.send(&payload);
        self.sent += 1;
        self.since = Instant::now();
        Ok(())
    }

    /// Without anything sent for a while.
    fn rest(&mut self) {
        let passed = self.since.elapsed().as_secs_f64();
        for bucket in &mut self.buckets {
            bucket.tokens = (bucket.tokens + passed * bucket.rate).min(bucket.size);
        }
        self.since = Instant::now();
    }
}

/// Sends `bursts` bursts of `length` each from the host `a` to `to`; returns the packet count.
pub(crate) fn send(plan: &Plan, to: &str, bursts: u32, length: Duration) -> u64 {
    let host = Namespace::named("a").expect("the host");
    let largest = plan.link.max_packet.0;
    let mut senders: Vec<Sender> = plan
        .leaves()
        .enumerate()
        .map(|(number, (_, class))| {
            let lines: Vec<(f64, f64)> = match &class.arrival {
                Some(arrival) => {
                    let of = |line: &laxity::police::TokenBucket| {
                        (line.bucket.0 as f64, line.rate.0 as f64)
                    };
                    arrival.buckets.iter().map(of).collect()
                }
                None => vec![(4.0 * largest as f64, plan.link.rate.0 as f64 * 0.6)],
            };
            let buckets = lines.into_iter().map(|(size, rate)| Bucket {
                rate: rate / 8.0,
                size,
                tokens: size,
            });
            let longest = class
                .arrival
                .as_ref()
                .and_then(|arrival| arrival.packet)
                .map_or(largest, |it| it.0);
            let socket =
                host.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket")).expect("the host");
            socket.connect((to, FIRST_PORT + number as u16)).expect("a route");
            Sender {
                socket,
                buckets: buckets.collect(),
                lengths: [longest, longest.min(64.max(longest / 3))],
                sent: 0,
                since: Instant::now(),
            }
        })
        .collect();
    for _ in 0..bursts {
        let end = Instant::now() + length;
        while Instant::now() < end {
            let mut next = Duration::from_millis(5);
            for sender in &mut senders {
                // All that it may at once.
                loop {
                    match sender.offer() {
                        Ok(()) if Instant::now() < end => {}
                        Ok(()) => break,
                        Err(wait) => {
                            next = next.min(wait);
                            break;
                        }
                    }
                }
            }
            thread::sleep(next.max(Duration::from_micros(50)));
        }
        thread::sleep(Duration::from_millis(200));
        senders.iter_mut().for_each(Sender::rest);
    }
    senders.iter().map(|sender| sender.sent).sum()
}
