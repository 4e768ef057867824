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
use serde::Serialize;

use super::laboratory::{HOSTS_END, Laboratory};
use super::load::{LinkLoad, LoadMeter};
use super::scenario::Scenario;
use super::traffic::STAMP;
use crate::status::{DelayStatus, FineDelays};

/// Listens until it is asked what came. When a datagram came is what the kernel stamped it with, so
/// that nothing depends on when the listener is woken.
#[derive(Debug)]
pub struct Listener {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Reception>>,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reception {
    /// What came of each stream.
    pub streams: Vec<StreamReception>,
    /// What the link carried; nothing if nothing came.
    pub carried: Option<LinkLoad>,
    /// Frames that came unseen, as they were not looked at fast enough: what is lost may have been
    /// unseen.
    pub missed: u64,
}

/// What came of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StreamReception {
    /// The stream.
    pub name: &'static str,
    /// From one host to the other; nothing if none came.
    pub delay_ns: Option<DelayStatus>,
    /// Those that did not come, of those sent between the first and the last that did.
    pub lost: u64,
}

/// Where the payload of a datagram begins in a frame.
const PAYLOAD: usize = 14 + 20 + 8;
const BUFFER: u32 = 16 << 20;
const REST: Nanos = Nanos(2_000_000);

impl Listener {
    /// Listens for the streams of a scenario.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW` in the laboratory.
    pub fn open(laboratory: &Laboratory, scenario: &Scenario) -> Result<Self, Error> {
        let open = || Tap::open(&Interface::named(HOSTS_END)?, Way::In, BUFFER);
        let mut tap = laboratory.receiver.run(open)??;
        let mut hearing = Tally::new(scenario);
        let stop: Arc<AtomicBool> = Arc::default();
        let told = stop.clone();
        let thread = thread::spawn(move || {
            loop {
                let is_last = told.load(Ordering::Relaxed);
                while tap.look(|passed| hearing.hear(passed.bytes, passed.at))? > 0 {}
                if is_last {
                    return Ok(hearing.heard(tap.missed()?));
                }
                Clock::Monotonic.sleep_until(Clock::Monotonic.now() + REST);
            }
        });
        Ok(Listener { stop, thread })
    }

    /// What came.
    ///
    /// # Errors
    /// If it could not listen to the end.
    pub fn finish(self) -> io::Result<Reception> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(heard) => heard,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// What has come so far.
struct Tally {
    streams: Vec<StreamTally>,
    carrying: LoadMeter,
}

/// What has come of a stream.
struct StreamTally {
    name: &'static str,
    port: u16,
    delays: FineDelays,
    /// The lowest and the highest number.
    numbers: Option<[u64; 2]>,
    count: u64,
}

impl Tally {
    fn new(scenario: &Scenario) -> Self {
        let streams = scenario.streams.iter().map(|stream| StreamTally {
            name: stream.name,
            port: stream.port,
            delays: FineDelays::default(),
            numbers: None,
            count: 0,
        });
        Tally { streams: streams.collect(), carrying: LoadMeter::new(&scenario.plan.link) }
    }

    fn hear(&mut self, frame: &[u8], at: Nanos) {
        self.carrying.add(at, frame.len());
        let Some((port, sent, number)) = stamp(frame) else { return };
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.port == port) else {
            return;
        };
        stream.delays.record(at.saturating_sub(sent));
        let [low, high] = stream.numbers.unwrap_or([number; 2]);
        stream.numbers = Some([low.min(number), high.max(number)]);
        stream.count += 1;
    }

    fn heard(&self, missed: u64) -> Reception {
        let streams = self.streams.iter().map(|stream| StreamReception {
            name: stream.name,
            delay_ns: stream.delays.status(),
            lost: match stream.numbers {
                Some([low, high]) => (high - low + 1).saturating_sub(stream.count),
                None => 0,
            },
        });
        Reception { streams: streams.collect(), carried: self.carrying.carried(), missed }
    }
}

/// The port that a datagram goes to, when it was sent, and how many before.
fn stamp(frame: &[u8]) -> Option<(u16, Nanos, u64)> {
    const IPV4: [u8; 2] = [8, 0];
    const UDP: u8 = 17;
    let is_udp = frame.get(12..14)? == IPV4 && *frame.get(23)? == UDP;
    let port = u16::from_be_bytes(*frame.get(36..)?.first_chunk()?);
    let stamp = frame.get(PAYLOAD..)?.first_chunk::<STAMP>()?;
    let [sent, number] =
        [0, 8].map(|at| stamp[at..].first_chunk().map(|it| u64::from_be_bytes(*it)));
    is_udp.then_some((port, Nanos(sent?), number?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_between_the_first_and_the_last_is_lost() {
        let scenario = Scenario::full();
        let mut hearing = Tally::new(&scenario);
        let mut frame = vec![0; PAYLOAD + 200];
        (frame[12], frame[23]) = (8, 17);
        frame[36..38].copy_from_slice(&scenario.streams[0].port.to_be_bytes());
        frame[PAYLOAD..PAYLOAD + 8].copy_from_slice(&1_000u64.to_be_bytes());
        for number in [5u64, 6, 9, 8] {
            frame[PAYLOAD + 8..PAYLOAD + STAMP].copy_from_slice(&number.to_be_bytes());
            hearing.hear(&frame, Nanos(number * 1_000));
        }
        let heard = hearing.heard(0);
        let [audio, video, _flood] = &heard.streams[..] else { panic!("three streams") };
        let delay = audio.delay_ns.as_ref().expect("four came");
        assert_eq!((delay.count, delay.min, delay.max, audio.lost), (4, 4_000, 8_000, 1));
        assert_eq!((&video.delay_ns, video.lost), (&None, 0));
    }
}
