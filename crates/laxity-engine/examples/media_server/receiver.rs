//! Receives what the server sends, and measures how long it took.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What precedes the media in a datagram: who it is for, and when it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The client.
    pub client: u32,
    /// When it was sent, since the server started.
    pub sent: Duration,
}

/// The packets of a client that have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// How many.
    pub packets: u64,
    /// The longest time from the call that sent one until it was received.
    pub longest: Duration,
}

/// A thread that receives for all clients.
pub(crate) struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    is_drained: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<Received>>>,
}

impl Header {
    /// Its length in bytes.
    pub(crate) const LENGTH: usize = 12;

    /// Its bytes.
    pub(crate) fn write(self) -> [u8; Header::LENGTH] {
        let mut bytes = [0; Header::LENGTH];
        bytes[..4].copy_from_slice(&self.client.to_be_bytes());
        bytes[4..].copy_from_slice(&(self.sent.as_nanos() as u64).to_be_bytes());
        bytes
    }

    fn read(datagram: &[u8]) -> Option<Header> {
        let (client, rest) = datagram.split_first_chunk()?;
        let sent = Duration::from_nanos(u64::from_be_bytes(*rest.first_chunk()?));
        Some(Header { client: u32::from_be_bytes(*client), sent })
    }
}

impl Receiver {
    /// Starts to receive for this many clients of a server that started at `begin`.
    pub(crate) fn start(clients: usize, begin: Instant) -> io::Result<Receiver> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let address = socket.local_addr()?;
        let is_drained = Arc::new(AtomicBool::new(false));
        let drained = is_drained.clone();
        let received = vec![Received::default(); clients];
        let thread = thread::spawn(move || receive(&socket, received, begin, &drained));
        Ok(Receiver { address, is_drained, thread })
    }

    /// Waits for what is on its way. Returns what has come, by client.
    pub(crate) fn finish(self) -> io::Result<Vec<Received>> {
        self.is_drained.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| io::Error::other("the receiver panicked"))?
    }
}

fn receive(
    socket: &UdpSocket,
    mut clients: Vec<Received>,
    begin: Instant,
    is_drained: &AtomicBool,
) -> io::Result<Vec<Received>> {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    let mut datagram = [0; 2048];
    loop {
        match socket.recv(&mut datagram) {
            Ok(length) => {
                let Some(header) = Header::read(&datagram[..length]) else { continue };
                if let Some(client) = clients.get_mut(header.client as usize) {
                    client.packets += 1;
                    client.longest =
                        client.longest.max(begin.elapsed().saturating_sub(header.sent));
                }
            }
            Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {
                if is_drained.load(Ordering::Relaxed) {
                    return Ok(clients);
                }
            }
            Err(error) => return Err(error),
        }
    }
}
