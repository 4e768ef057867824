//! The delay of audio alone and beside video, in one queue.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use laxity::deadline_queue::{DeadlineQueue, Rank};
use laxity::packet::Packet;
use laxity::units::{Nanos, Rate};
use laxity_engine::{Deadlines, Engine, Pace, Producer, Settings, Spacing, Terms};
use laxity_linux::priority;
use laxity_udp::{Datagram, UdpSettings, UdpSink};

use crate::laboratory::Laboratory;
use crate::receiver::{AUDIO, Receiver, VIDEO, stamped};
use crate::video::{BETWEEN_FRAMES, LENGTH};

/// At which a datagram of video takes 164 µs.
const PACE: Rate = Rate(60_000_000);
/// 50 Mbit/s in 30 frames a second.
const DATAGRAMS: usize = 174;
const BETWEEN_AUDIO: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    Video,
    /// Video, in batches of half a millisecond.
    Batches,
}

type Sender = Producer<Datagram<Vec<u8>>>;

/// The 99th percentile of the delay of audio, in microseconds.
pub fn delay(
    laboratory: &Laboratory,
    beside: Beside,
    length: Duration,
) -> Result<f64, Box<dyn Error>> {
    let receiver = Receiver::start(laboratory.receiving()?)?;
    let sink = UdpSink::new([laboratory.sending()?], UdpSettings::default())?;
    let spacing = match beside {
        Beside::Nothing | Beside::Video => {
            Spacing { catch_up: Nanos(1_000_000), batch: Nanos::ZERO, lead: Nanos::ZERO }
        }
        Beside::Batches => Spacing::MILLISECOND,
    };
    let settings = Settings { pace: Pace::Link(PACE), spacing, ..Settings::default() };
    let queue = Deadlines::new(DeadlineQueue::new(10_000));
    let engine = Engine::start(queue, sink, settings)?;
    // Whatever else the machine does: its other programs are not what is measured.
    engine.handle().call(|_, _| priority::real_time(50))??;
    let (audio, video) = (engine.handle().producer()?, engine.handle().producer()?);
    let to = receiver.address();
    let send = |mut producer: Sender, kind: u8, bytes, count, gap: Duration| {
        move || {
            let rank = Rank { level: kind.into(), ..Rank::default() };
            let terms = Terms { rank, ..Terms::default() };
            let begun = Instant::now();
            let mut at = Duration::ZERO;
            while at < length {
                thread::sleep(at.saturating_sub(begun.elapsed()));
                for _ in 0..count {
                    let packet = Packet { length: bytes as u32 + 28, ..Packet::default() };
                    let datagram = Datagram { terms, ..Datagram::new(stamped(kind, bytes), to) };
                    producer.send_or_drop(packet, datagram);
                }
                at += gap;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(send(audio, AUDIO, 200, 1, BETWEEN_AUDIO));
        if beside != Beside::Nothing {
            scope.spawn(send(video, VIDEO, LENGTH, DATAGRAMS, BETWEEN_FRAMES));
        }
    });
    let result = engine.shutdown()?;
    let arrivals = receiver.finish();
    if arrivals.len() as u64 != result.statistics.received || result.statistics.ring_dropped > 0 {
        return Err("some are lost, so their delay is not known".into());
    }
    let audio = arrivals.iter().filter(|arrival| arrival.kind == AUDIO);
    let mut delays: Vec<u64> = audio.map(|arrival| arrival.delay).collect();
    delays.sort_unstable();
    Ok(delays[delays.len() * 99 / 100] as f64 / 1e3)
}
