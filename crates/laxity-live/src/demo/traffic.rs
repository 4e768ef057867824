//! What the one host sends to the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use laxity_linux::clock::Clock;

use super::laboratory::{Laboratory, RECEIVER, SENDER};
use super::scenario::Scenario;

/// Datagrams in bursts at a steady pace, each with a [stamp](STAMP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever sends")]
pub struct Stream {
    /// What it is called.
    pub name: &'static str,
    /// The port that it is sent to.
    pub port: u16,
    /// The bytes of payload in a datagram: at least [`STAMP`].
    pub payload: usize,
    /// How many are sent at once.
    pub burst: u32,
    /// How often.
    pub every: Duration,
}

/// The bytes of a stamp, which come first: nanoseconds on [`Clock::Realtime`], and how many
/// datagrams of the stream were sent before. Most significant bytes come first.
pub const STAMP: usize = 16;

/// Where bulk goes.
const BULK: u16 = 6001;
/// So long a thread that transfers goes without looking whether it is to end.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long a connection may take to come about.
const CONNECTS: Duration = Duration::from_secs(10);

/// Traffic that goes on until it is dropped.
#[derive(Debug)]
pub struct Traffic {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Traffic {
    /// Sends what a scenario says. Something must forward already.
    ///
    /// # Errors
    /// If a socket or a thread cannot be had.
    pub fn start(laboratory: &Laboratory, scenario: &Scenario) -> io::Result<Self> {
        let mut traffic = Traffic { stop: Arc::default(), threads: Vec::new() };
        let Laboratory { sender, receiver, .. } = laboratory;
        // Connections come first, for they take their time once the link is full.
        let listener = bound(receiver.run(|| TcpListener::bind((RECEIVER, BULK))))?;
        let connect = |_| {
            let address = SocketAddr::new(RECEIVER, BULK);
            let stream = bound(sender.run(|| TcpStream::connect_timeout(&address, CONNECTS)))?;
            let (accepted, _) = listener.accept()?;
            stream.set_write_timeout(Some(PATIENCE))?;
            accepted.set_read_timeout(Some(PATIENCE))?;
            Ok((stream, accepted))
        };
        let connections: Vec<_> = (0..scenario.flows).map(connect).collect::<io::Result<_>>()?;
        for (stream, accepted) in connections {
            let bytes = vec![0x5a; 65_536];
            traffic.spawn(move |stop| go_on(stop, || (&stream).write(&bytes)))?;
            let mut bytes = vec![0; 65_536];
            traffic.spawn(move |stop| go_on(stop, || (&accepted).read(&mut bytes)))?;
        }
        for stream in scenario.streams.iter().copied() {
            // Nobody reads it: what is not there to receive would be told of by ICMP.
            let sink = bound(receiver.run(|| UdpSocket::bind((RECEIVER, stream.port))))?;
            let socket = bound(sender.run(|| UdpSocket::bind((SENDER, 0))))?;
            traffic.spawn(move |stop| {
                send(&socket, stream, stop);
                drop(sink);
            })?;
        }
        Ok(traffic)
    }

    fn spawn(&mut self, work: impl FnOnce(&AtomicBool) + Send + 'static) -> io::Result<()> {
        let stop = self.stop.clone();
        let thread = thread::Builder::new().name("traffic".into());
        self.threads.push(thread.spawn(move || work(&stop))?);
        Ok(())
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that has panicked has said so.
            let _ = thread.join();
        }
    }
}

/// A socket, made in a namespace.
fn bound<T>(made: Result<io::Result<T>, laxity_linux::Error>) -> io::Result<T> {
    made.map_err(io::Error::other)?
}

fn send(socket: &UdpSocket, stream: Stream, stop: &AtomicBool) {
    let mut payload = vec![0; stream.payload.max(STAMP)];
    let mut next = Instant::now();
    let mut sent = 0u64;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..stream.burst {
            payload[8..STAMP].copy_from_slice(&sent.to_be_bytes());
            payload[..8].copy_from_slice(&Clock::Realtime.now().0.to_be_bytes());
            sent += 1;
            // What the host itself has no room for is lost like anything else.
            let _ = socket.send_to(&payload, (RECEIVER, stream.port));
        }
        // A thread that was kept waiting does not catch up, which would break its arrival curve.
        next = Instant::now().max(next + stream.every);
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// Transfers until the end, or until the other side is gone.
fn go_on(stop: &AtomicBool, mut transfer: impl FnMut() -> io::Result<usize>) {
    while !stop.load(Ordering::Relaxed) {
        match transfer() {
            Ok(1..) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
        }
    }
}
