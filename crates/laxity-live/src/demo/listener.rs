//! What comes to the receiving host, and how late.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Tap, Way};

use super::laboratory::{HOSTS_END, Laboratory};
use super::traffic::{STAMP, Stream};
use crate::delays::Delays;
use crate::status::DelayStatus;

/// Listens until it is asked what came. When a datagram came is what the kernel stamped it with, so that
/// nothing depends on when the listener is woken.
#[derive(Debug)]
pub struct Listener {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<Delays>>>,
}

/// What came of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Heard {
    /// The stream.
    pub stream: Stream,
    /// From one host to the other; nothing if none came.
    pub delay: Option<DelayStatus>,
}

/// Where the payload of a datagram begins in a frame.
const PAYLOAD: usize = 14 + 20 + 8;
const BUFFER: u32 = 16 << 20;
const REST: Nanos = Nanos(2_000_000);

impl Listener {
    /// Listens for streams.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW` in the laboratory.
    pub fn open(laboratory: &Laboratory, streams: &[Stream]) -> Result<Self, Error> {
        let open = || Tap::open(&Interface::named(HOSTS_END)?, Way::In, BUFFER);
        let mut tap = laboratory.receiver.run(open)??;
        let (stop, ports): (Arc<AtomicBool>, Vec<_>) =
            (Arc::default(), streams.iter().map(|stream| stream.port).collect());
        let told = stop.clone();
        let thread = thread::spawn(move || {
            let mut delays: Vec<_> = ports.iter().map(|_| Delays::new()).collect();
            loop {
                let is_last = told.load(Ordering::Relaxed);
                let mut hear = |frame: &[u8], at: Nanos| {
                    let Some((port, sent)) = stamp(frame) else { return };
                    if let Some(stream) = ports.iter().position(|wanted| *wanted == port) {
                        delays[stream].record(at.saturating_sub(sent).0);
                    }
                };
                while tap.look(|passed| hear(passed.bytes, passed.at))? > 0 {}
                if is_last {
                    return Ok(delays);
                }
                Clock::Monotonic.sleep_until(Clock::Monotonic.now() + REST);
            }
        });
        Ok(Listener { stop, thread })
    }

    /// What came of each stream.
    ///
    /// # Errors
    /// If it could not listen to the end.
    pub fn finish(self, streams: &[Stream]) -> io::Result<Vec<Heard>> {
        self.stop.store(true, Ordering::Relaxed);
        let delays = match self.thread.join() {
            Ok(delays) => delays?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let heard = streams.iter().zip(delays);
        Ok(heard.map(|(stream, of)| Heard { stream: *stream, delay: of.status() }).collect())
    }
}

/// The port that a datagram goes to, and when it was sent.
fn stamp(frame: &[u8]) -> Option<(u16, Nanos)> {
    const IPV4: [u8; 2] = [8, 0];
    const UDP: u8 = 17;
    let is_udp = frame.get(12..14)? == IPV4 && *frame.get(23)? == UDP;
    let port = u16::from_be_bytes(*frame.get(36..)?.first_chunk()?);
    let sent = frame.get(PAYLOAD..)?.first_chunk::<STAMP>()?;
    is_udp.then_some((port, Nanos(u64::from_be_bytes(*sent))))
}
