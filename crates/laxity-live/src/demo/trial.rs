//! A scenario with a forwarder between the hosts, for some time.

use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_forward::Forwarder;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::packet::{self, Ring};
use serde::Serialize;

use super::laboratory::Laboratory;
use super::listener::{Listener, Reception};
use super::scenario::Scenario;
use super::traffic::Traffic;
use crate::bridge::{Bridge, Forwarding, Recorder, Way, WayMeasurement};
use crate::error::LiveError;
use crate::process::{frames_for, settings};
use crate::status::WayStatus;
use crate::worker::Options;

/// A scenario with a forwarder between the hosts, for some time.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever tries something")]
pub struct Trial {
    /// The link and the traffic.
    pub scenario: Scenario,
    /// How the thread runs that forwards.
    pub options: Options,
    /// How long is listened, once queues are full.
    pub time: Duration,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// What came to the receiving host.
    pub heard: Reception,
    /// The forwarder's own books.
    pub way: WayStatus,
    /// Events that are missing in these books.
    pub events_lost: u64,
    /// What it costs that the thread has no real-time priority, if it has none.
    pub not_real_time: Option<String>,
}

/// How long queues have to fill.
const FILLS: Duration = Duration::from_secs(1);
/// So often what happened is read.
const LOOK: Duration = Duration::from_millis(20);
/// How long what is queued may take at the end.
const PATIENCE: Nanos = Nanos(10_000_000_000);

impl Trial {
    /// Makes a laboratory, lets traffic pass, and clears everything away. `at` hears now and then
    /// how long it has been listened.
    ///
    /// # Errors
    /// Where no laboratory can be had, or the forwarder or a host fails.
    ///
    /// # Panics
    /// If the plan is none for a link.
    pub fn run(&self, at: &mut dyn FnMut(Duration)) -> Result<Outcome, LiveError> {
        let plan = &self.scenario.plan;
        let laboratory = Laboratory::new()?;
        let (forwarding, mut recorder) = self.forward(&laboratory)?;
        let mut measured = WayMeasurement::new(plan.promises()).policed(plan);
        let mut look = || read(&mut recorder, &mut measured);
        let traffic = Traffic::start(&laboratory, &self.scenario).map_err(LiveError::Hosts)?;
        wait(FILLS, |_| look());
        let listener = Listener::open(&laboratory, &self.scenario)?;
        wait(self.time, |listened| {
            look();
            at(listened);
        });
        let heard = listener.finish().map_err(LiveError::Hosts)?;
        drop(traffic);
        let not_real_time = forwarding.cost_of_no_priority();
        forwarding.drain(PATIENCE)?;
        look();
        let way = WayStatus::new("out", plan, &measured);
        Ok(Outcome { heard, way, events_lost: recorder.lost, not_real_time })
    }

    fn forward(&self, laboratory: &Laboratory) -> Result<(Forwarding, Recorder), LiveError> {
        let [a, b] = laboratory.ends()?;
        let plan = &self.scenario.plan;
        let frames = frames_for(plan.link.wire.is_some());
        let options = packet::Options { frames, ..packet::Options::default() };
        let ring = laboratory.between.run(|| Ring::open([&a, &b], &options))??;
        let settings = settings(plan, ring.pool(), Side::A);
        let forwarder = Forwarder::new(plan.clone(), settings).expect("a plan of a link");
        let ways = [Way::Scheduled(Box::new(forwarder)), Way::Plain];
        Ok(Forwarding::start(Bridge::new(ring, ways), self.options)?)
    }
}

/// Waits for so long, and looks now and then.
fn wait(time: Duration, mut look: impl FnMut(Duration)) {
    let begun = Instant::now();
    while let Some(left) = time.checked_sub(begun.elapsed()) {
        thread::sleep(left.min(LOOK));
        look(begun.elapsed());
    }
}

fn read(recorder: &mut Recorder, measured: &mut WayMeasurement) {
    recorder.read(|report| {
        if report.event.at == Side::A {
            measured.add(&report.event.event);
        }
    });
}
