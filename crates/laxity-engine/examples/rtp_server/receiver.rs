//! Receives a class's streams and counts what is missing in their windows.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use laxity::window::{Loss, Monitor};

use crate::rtp::Header;
use crate::{DATAGRAM, SAMPLES_PER_SECOND};

/// A thread that receives.
pub(crate) struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    is_drained: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<Stream>>>,
}

/// What a receiver knows of a stream.
pub(crate) struct Stream {
    monitor: Monitor,
    /// Packets received, in time or late.
    pub received: u64,
    /// Packets received later than they can be played.
    pub late: u64,
}

impl Stream {
    fn new(loss: Loss) -> Self {
        Stream { monitor: Monitor::new(loss), received: 0, late: 0 }
    }

    /// The next sequence number counts from the packets that have an outcome. A gap before a packet
    /// are losses; one from behind was counted as lost when its successor came.
    fn receive(&mut self, sequence: u16, is_late: bool) {
        let missing = sequence.wrapping_sub(self.monitor.counts().packets as u16);
        if missing > u16::MAX / 2 {
            return;
        }
        (0..missing).for_each(|_| self.monitor.record(true));
        self.monitor.record(is_late);
        self.received += 1;
        self.late += u64::from(is_late);
    }

    /// The monitor once all packets have an outcome: those missing after the last one that came
    /// are lost, which only the sender can tell.
    pub(crate) fn finish(mut self, packets: u64) -> Monitor {
        (self.monitor.counts().packets..packets).for_each(|_| self.monitor.record(true));
        self.monitor
    }
}

impl Receiver {
    /// Starts to receive streams, whose source numbers count from zero. A packet that comes more
    /// than `playout` after its timestamp, whose zero is at `begin`, is late.
    pub(crate) fn start(
        loss: Loss,
        streams: u32,
        playout: Duration,
        begin: Instant,
    ) -> io::Result<Receiver> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        // Long enough for what is on its way when the sender is done.
        socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        let address = socket.local_addr()?;
        let is_drained = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let is_drained = is_drained.clone();
            let streams = (0..streams).map(|_| Stream::new(loss)).collect();
            move || receive(&socket, streams, playout, begin, &is_drained)
        });
        Ok(Receiver { address, is_drained, thread })
    }

    /// Waits for what is on its way, and gives the streams.
    pub(crate) fn finish(self) -> io::Result<Vec<Stream>> {
        self.is_drained.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| io::Error::other("a receiver panicked"))?
    }
}

fn receive(
    socket: &UdpSocket,
    mut streams: Vec<Stream>,
    playout: Duration,
    begin: Instant,
    is_drained: &AtomicBool,
) -> io::Result<Vec<Stream>> {
    let mut datagram = [0; DATAGRAM];
    loop {
        match socket.recv(&mut datagram) {
            Ok(length) => {
                let Some(header) = Header::read(&datagram[..length]) else { continue };
                let samples = (begin.elapsed().as_secs_f64() * SAMPLES_PER_SECOND) as u32;
                let age = f64::from(samples.wrapping_sub(header.timestamp)) / SAMPLES_PER_SECOND;
                if let Some(stream) = streams.get_mut(header.ssrc as usize) {
                    stream.receive(header.sequence, age > playout.as_secs_f64());
                }
            }
            Err(error) if is_timeout(&error) => {
                if is_drained.load(Ordering::Relaxed) {
                    return Ok(streams);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}
