//! The frames of two interfaces.

use std::io;
use std::os::fd::AsFd;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::BATCH;
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Tap, TappedFrame, Way};
use laxity_linux::wait::Waiter;
use laxity_plan::Plan;

use super::measuring::{Measuring, Settings, TapFrame, TapPlace};
use crate::error::LiveError;
use crate::status::history::History;
use crate::status::{InterfaceStatus, Status};

/// Which frames of the second interface are taken for those that have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "frames go no third way")]
pub enum Behind {
    /// Those that this machine sends there, when its queueing discipline lets them go.
    Sent,
    /// Those that arrive there, as on a mirror port or a machine behind.
    Arriving,
}

/// What was seen in the end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchResult {
    /// What there is to show, of one direction.
    pub status: Status,
    /// The same over time, and how delays are spread.
    pub history: History,
}

/// Two taps and what is measured between them.
pub struct Taps {
    taps: [Tap; 2],
    names: [String; 2],
    behind: Behind,
    /// Frames that were looked at.
    seen: [u64; 2],
    measuring: Measuring,
    waiter: Waiter,
    /// Frames that passed unseen before anything was measured.
    missed_before: [u64; 2],
}

/// Memory for frames between two looks, in bytes.
const BUFFER: u32 = 32 << 20;
/// The kernel takes some milliseconds to begin with stamps.
const BEGIN: Nanos = Nanos(50_000_000);
/// As long as the kernel may take to hand over a frame that it has stamped.
const SETTLES: Nanos = Nanos(100_000_000);
/// Frames are looked at so often, not one by one.
const REST: Nanos = Nanos(2_000_000);
/// How long is waited for frames if none pass.
const IDLE: Nanos = Nanos(20_000_000);
/// The most that is looked at in one go, in batches.
const MOST: usize = 256;

impl Taps {
    /// Watches from now on, in the network namespace of the calling thread: what arrives at the
    /// first interface, and what is `behind` at the second.
    ///
    /// # Errors
    /// If the plan is not of a link; without `CAP_NET_RAW`.
    pub fn open(
        [before, after]: [&Interface; 2],
        behind: Behind,
        plan: Plan,
        settings: Settings,
    ) -> Result<Self, LiveError> {
        if plan.network.is_some() || plan.scheduler.room().is_of_networks {
            return Err(LiveError::Network);
        }
        let way = match behind {
            Behind::Sent => Way::Out,
            Behind::Arriving => Way::In,
        };
        let mut taps = [Tap::open(before, Way::In, BUFFER)?, Tap::open(after, way, BUFFER)?];
        Clock::Monotonic.sleep_until(Clock::Monotonic.now() + BEGIN);
        let mut unseen = || {
            for tap in &mut taps {
                while tap.look(|_| ())? == BATCH {}
            }
            missed(&mut taps)
        };
        let missed_before = unseen().map_err(LiveError::Frames)?;
        let measuring = Measuring::new(plan, settings, Clock::Realtime.now());
        let names = [before, after].map(|interface| interface.name.clone());
        let waiter = Waiter::default();
        Ok(Taps { taps, names, behind, seen: [0; 2], measuring, waiter, missed_before })
    }

    /// Waits a moment, and looks at what has passed meanwhile.
    ///
    /// # Errors
    /// What cannot be gone on after.
    pub fn look(&mut self) -> io::Result<()> {
        let idle = Clock::Monotonic.now() + IDLE;
        self.waiter.wait(self.taps.each_ref().map(AsFd::as_fd), Some(idle))?;
        Clock::Monotonic.sleep_until(Clock::Monotonic.now() + REST);
        let seen = self.take()?;
        self.measuring.settle(seen.saturating_sub(SETTLES));
        Ok(())
    }

    /// Takes what has passed; tells from before which time that is all.
    fn take(&mut self) -> io::Result<Nanos> {
        let Taps { taps, measuring, seen: counts, .. } = self;
        let mut seen = Clock::Realtime.now();
        let sides = [TapPlace::Before, TapPlace::Behind].into_iter().zip(counts);
        for (tap, (tapped, count)) in taps.iter_mut().zip(sides) {
            let (mut last, mut batches) = (seen, 0);
            let mut show = |passed: TappedFrame<'_>| {
                last = passed.at;
                *count += 1;
                let segments = passed.undone.segments().map(|segments| segments.size);
                measuring.see(TapFrame { tapped, at: last, frame: passed.bytes, segments });
            };
            while batches < MOST && tap.look(&mut show)? == BATCH {
                batches += 1;
            }
            if batches == MOST {
                seen = seen.min(last);
            }
        }
        Ok(seen)
    }

    /// What was seen up to now.
    ///
    /// # Errors
    /// If the system does not say how many frames passed unseen.
    pub fn status(&mut self) -> io::Result<Status> {
        let missed = missed(&mut self.taps)?;
        let interface = |at: usize, are_sent: bool| InterfaceStatus {
            name: self.names[at].clone(),
            received: (!are_sent).then_some(self.seen[at]),
            sent: are_sent.then_some(self.seen[at]),
            unseen: Some(missed[at] - self.missed_before[at]),
            ..InterfaceStatus::default()
        };
        Ok(Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            uptime_ns: self.measuring.duration().0,
            interfaces: vec![interface(0, false), interface(1, self.behind == Behind::Sent)],
            ways: vec![self.measuring.status()],
            ..Status::default()
        })
    }

    /// Looks at the last frames; what was seen.
    ///
    /// # Errors
    /// As [`look`](Self::look) and [`status`](Self::status).
    pub fn finish(mut self) -> io::Result<WatchResult> {
        let end = Clock::Realtime.now();
        Clock::Monotonic.sleep_until(Clock::Monotonic.now() + SETTLES);
        self.take()?;
        self.measuring.settle(end);
        Ok(WatchResult { status: self.status()?, history: self.measuring.history() })
    }
}

fn missed(taps: &mut [Tap; 2]) -> io::Result<[u64; 2]> {
    let [before, behind] = taps;
    Ok([before.missed()?, behind.missed()?])
}
