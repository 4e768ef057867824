//! The rate of a link that nobody knows, found while frames are forwarded.
//!
//! The thread that forwards looks at one number before it sends, the rate, and leaves another
//! behind, how much it has sent. A thread beside it sends probes and hears of their answers and of
//! time stamps of TCP. It asks the [controller](laxity::autorate), and writes the rate.

mod prober;
mod record;
mod segment;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use laxity::autorate::Settings;
use laxity::autorate::timestamps::{Echo, Timestamps};
use laxity::units::{Nanos, Rate};
use laxity_linux::clock::Stopwatch;
use laxity_linux::ping::Pinger;
use laxity_plan::model::AutorateSpec;
use rtrb::{Consumer, Producer, RingBuffer};

use self::prober::Prober;
pub(crate) use self::record::RateRecord;
use crate::error::StartError;

/// Echoes that wait for the thread of the controller at most.
const ECHOES: usize = 1024;

/// A rate that is being found. The search ends with the last of these and the thread that forwards.
#[derive(Clone, Debug)]
pub struct FoundRate(Arc<Shared>);

/// What the threads tell one another.
#[derive(Debug)]
struct Shared {
    /// Bits a second; written by the controller.
    rate: AtomicU64,
    /// How long the last answer waited in queues, in ns; written by the controller.
    queueing: AtomicU64,
    /// Answers so far; written by the controller.
    answers: AtomicU64,
    /// Bytes sent so far; written by the thread that forwards.
    carried: AtomicU64,
    /// Settings that the controller has not taken over yet.
    settings: Mutex<Option<Settings>>,
}

impl FoundRate {
    fn new(start: Rate) -> Self {
        FoundRate(Arc::new(Shared {
            rate: AtomicU64::new(start.0),
            queueing: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            carried: AtomicU64::new(0),
            settings: Mutex::new(None),
        }))
    }

    /// Has the controller go on with other settings.
    pub(crate) fn set_settings(&self, settings: Settings) {
        *self.settings() = Some(settings);
    }

    fn settings(&self) -> MutexGuard<'_, Option<Settings>> {
        // Nothing fails while it is held.
        self.0.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rate to send at now.
    pub fn rate(&self) -> Rate {
        Rate(self.0.rate.load(Ordering::Relaxed))
    }

    /// How long the last answer waited in queues.
    pub fn queueing(&self) -> Nanos {
        Nanos(self.0.queueing.load(Ordering::Relaxed))
    }

    /// How many answers of reflectors and echoes of TCP came back.
    pub fn answers(&self) -> u64 {
        self.0.answers.load(Ordering::Relaxed)
    }
}

/// Starts to find a rate as a plan says, on a thread of its own. Returns what the thread that
/// forwards needs for it, too, whose time is `time`.
pub(crate) fn find(
    spec: &AutorateSpec,
    pinger: Pinger,
    time: Stopwatch,
) -> Result<(FoundRate, RateFollower), StartError> {
    let found = FoundRate::new(spec.settings.start);
    let spacing = Nanos(spec.settings.interval.0 / 2);
    let (follower, echoes) = RateFollower::new(found.clone(), spacing);
    Prober::new(spec, found.clone(), echoes, pinger, time).start()?;
    Ok((found, follower))
}

/// The end of the thread that forwards: how fast it is to send.
pub(crate) struct RateFollower {
    found: FoundRate,
    carried: u64,
    stamps: Timestamps,
    echoes: Producer<TimedEcho>,
}

/// An echo, and when it came back.
type TimedEcho = (Nanos, Echo);

impl RateFollower {
    /// The ends of the thread that forwards and of the controller. Of each connection a time stamp
    /// is watched at most once in a `spacing`.
    fn new(found: FoundRate, spacing: Nanos) -> (Self, Consumer<TimedEcho>) {
        let (echoes, heard) = RingBuffer::new(ECHOES);
        let stamps = Timestamps::new(spacing);
        (RateFollower { found, carried: 0, stamps, echoes }, heard)
    }

    /// The rate to send at now.
    pub(crate) fn rate(&self) -> Rate {
        self.found.rate()
    }

    /// A frame leaves that takes `length` bytes of the link.
    pub(crate) fn leaves(&mut self, now: Nanos, frame: &[u8], length: u32) {
        if let Some(segment) = segment::stamps(frame).filter(|segment| segment.has_data) {
            self.stamps.leaves(now, segment.key, segment.value, self.carried);
        }
        self.carried += u64::from(length);
    }

    /// A frame comes from where those of the link go.
    pub(crate) fn comes_back(&mut self, now: Nanos, frame: &[u8]) {
        if let Some(segment) = segment::stamps(frame)
            && let Some(echo) = self.stamps.comes_back(now, segment.key, segment.echo)
        {
            // If nobody reads them, there are more to come.
            let _ = self.echoes.push((now, echo));
        }
    }

    /// Tells how much was sent.
    pub(crate) fn publish(&self) {
        self.found.0.carried.store(self.carried, Ordering::Relaxed);
    }
}
