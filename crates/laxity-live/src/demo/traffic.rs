//! What the one host sends to the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use laxity_linux::clock::Clock;

use super::laboratory::{Laboratory, RECEIVER, SENDER};

/// Datagrams in bursts at a steady pace, each with the time at which it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever sends")]
pub struct Stream {
    /// The port that it is sent to.
    pub port: u16,
    /// The bytes of payload in a datagram: at least [`STAMP`].
    pub payload: usize,
    /// How many are sent at once.
    pub burst: u32,
    /// How often.
    pub every: Duration,
}

/// The bytes of a stamp: nanoseconds on [`Clock::Realtime`], most significant first. They come first.
pub const STAMP: usize = 8;

impl Stream {
    /// Audio: a small packet every 5 ms, 0.43 Mbit/s.
    pub const AUDIO: Stream =
        Stream { port: 5004, payload: 200, burst: 1, every: Duration::from_millis(5) };
    /// Video: 12 packets every 33 ms, 3.7 Mbit/s.
    pub const VIDEO: Stream =
        Stream { port: 5006, payload: 1200, burst: 12, every: Duration::from_millis(33) };
    /// A flood of 18 Mbit/s.
    pub const FLOOD: Stream =
        Stream { port: 6000, payload: 1200, burst: 8, every: Duration::from_micros(4_480) };
}

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
    /// Sends `streams`, and bytes without end over so many flows of TCP. Something must forward already.
    ///
    /// # Errors
    /// If a socket or a thread cannot be had.
    pub fn start(laboratory: &Laboratory, streams: &[Stream], flows: usize) -> io::Result<Self> {
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
        let connections: Vec<_> = (0..flows).map(connect).collect::<io::Result<_>>()?;
        for (stream, accepted) in connections {
            let bytes = vec![0x5a; 65_536];
            traffic.spawn(move |stop| go_on(stop, || (&stream).write(&bytes)))?;
            let mut bytes = vec![0; 65_536];
            traffic.spawn(move |stop| go_on(stop, || (&accepted).read(&mut bytes)))?;
        }
        for stream in streams.iter().copied() {
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
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..stream.burst {
            payload[..STAMP].copy_from_slice(&Clock::Realtime.now().0.to_be_bytes());
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
