//! Frames of video as bursts, and the same frames through the sink.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use laxity::packet::Packet;
use laxity::sched::Fifo;
use laxity::units::Rate;
use laxity_engine::{Engine, Pace, Settings, Spacing};
use laxity_udp::{Datagram, UdpSettings, UdpSink};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::laboratory::Laboratory;
use crate::receiver::{Receiver, VIDEO, stamped};

/// The link behind the sender, in bits a second.
pub const BOTTLENECK: u64 = 25_000_000;
/// At which a frame of mean size takes 8 ms.
const PACE: u64 = 20_800_000;
pub const LENGTH: usize = 1_200;
pub const BETWEEN_FRAMES: Duration = Duration::from_nanos(33_333_333);
/// A key frame comes each three seconds and is larger than others by this.
const FRAMES_TO_KEY: usize = 90;
const KEY: f64 = 2.5;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Bursts,
    Paced,
}

pub struct Outcome {
    pub sent: u64,
    pub lost: u64,
}

impl Outcome {
    pub fn percent(&self) -> f64 {
        100.0 * self.lost as f64 / self.sent as f64
    }
}

/// Datagrams of each frame: 5 Mbit/s on average, others than key frames from half to one and a half
/// of their mean.
fn frames(seed: u64) -> impl Iterator<Item = usize> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mean = 5_000_000.0 / 30.0 / 8.0 / LENGTH as f64;
    let other = mean * FRAMES_TO_KEY as f64 / (FRAMES_TO_KEY as f64 - 1.0 + KEY);
    (0..).map(move |frame| {
        let factor = if frame % FRAMES_TO_KEY == FRAMES_TO_KEY / 2 {
            KEY
        } else {
            random.random_range(0.5..1.5)
        };
        (other * factor).round() as usize
    })
}

/// Sends video for this long.
pub fn send(
    laboratory: &Laboratory,
    way: Way,
    seed: u64,
    length: Duration,
) -> Result<Outcome, Box<dyn Error>> {
    let receiver = Receiver::start(laboratory.receiving()?)?;
    let sink = UdpSink::new([laboratory.sending()?], UdpSettings::default())?;
    let pace = match way {
        Way::Bursts => Pace::Sink,
        Way::Paced => Pace::Link(Rate(PACE)),
    };
    let settings = Settings { pace, spacing: Spacing::MILLISECOND, ..Settings::default() };
    let engine = Engine::start(Fifo::new(), sink, settings)?;
    let mut producer = engine.handle().producer()?;
    let (begun, to) = (Instant::now(), receiver.address());
    for (frame, datagrams) in (0..).zip(frames(seed)) {
        let at = BETWEEN_FRAMES * frame;
        if at > length {
            break;
        }
        thread::sleep(at.saturating_sub(begun.elapsed()));
        for _ in 0..datagrams {
            let packet = Packet { length: LENGTH as u32 + 28, ..Packet::default() };
            producer.send_or_wait(packet, Datagram::new(stamped(VIDEO, LENGTH), to))?;
        }
    }
    drop(producer);
    let sink = engine.shutdown()?.sink;
    let sent = sink.statistics().sent;
    if sink.statistics().all_lost() > 0 {
        return Err(format!("the sender itself has lost some: {:?}", sink.statistics()).into());
    }
    Ok(Outcome { sent, lost: sent - receiver.finish().len() as u64 })
}
