//! The traffic of a simulation.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::encapsulation::Opaque;
use laxity_plan::model::{Police, Source, SourceId};
use laxity_plan::{Plan, aqm};
use laxity_report::quantity;
use laxity_sim::error::SimError;
use laxity_sim::source::{Arrivals, Remarks};
use laxity_sim::summary::HopSummary;

use crate::Error;

/// How long models send by default.
pub const DEFAULT_DURATION: Nanos = Nanos(10_000_000_000);

/// Opens a recording, anew for every run: of one link, or of what a source of a network sends.
pub type Opener<'a> =
    dyn Fn(&Plan, Option<SourceId>) -> Result<Box<dyn Arrivals>, SimError> + Sync + 'a;

/// The traffic of a simulation, where it is not what the plan says, and who simulates it.
#[derive(Clone, Copy, Default)]
pub struct Traffic<'a> {
    /// How long sources send.
    pub duration: Option<Nanos>,
    /// The seed of every random draw; the first of several.
    pub seed: Option<u64>,
    /// A recording in place of the plan's sources.
    pub arrivals: Option<&'a Opener<'a>>,
    /// How many threads simulate a network together, to the same outcome; one by default.
    pub threads: Option<NonZeroU32>,
    /// Whether it is to be told where the time of simulating a network goes.
    pub profile: bool,
    /// Classes whose packets do not arrive; all others arrive as they would. In a network only of
    /// recordings.
    pub without: &'a [ClassId],
}

impl Traffic<'_> {
    /// The seed that is asked for, or the plan's.
    pub fn seed(&self, plan: &Plan) -> u64 {
        self.seed.unwrap_or(plan.run.seed)
    }

    /// The range of `count` seeds that begins at [`seed`](Traffic::seed()).
    ///
    /// # Errors
    /// If nothing is drawn at random, so that all runs would be the same, or if the range goes
    /// beyond the largest seed.
    pub fn seeds(&self, plan: &Plan, count: u64) -> Result<RangeInclusive<u64>, Error> {
        let recorded = |source: &Source| matches!(source, Source::Recording(_));
        let is_recorded = self.arrivals.is_some()
            || !plan.sources.is_empty() && plan.sources.iter().all(recorded);
        let queues =
            plan.classes.iter().filter_map(|class| class.queue.as_deref()).chain(&plan.queue);
        let mut drawn = queues.filter(|queue| queue.kind().draws());
        if is_recorded && drawn.next().is_none() {
            let drawing = aqm::Kind::ALL.iter().filter(|kind| kind.draws());
            let drawing: Vec<_> = drawing.map(|kind| format!("`{}`", kind.word())).collect();
            return Err(Error::NothingDrawn { drawing: drawing.join(" or ") });
        }
        let first = self.seed(plan);
        match first.checked_add(count - 1) {
            Some(last) => Ok(first..=last),
            None => Err(Error::question(format!(
                "{count} seeds from {first} on go beyond the largest, {}: begin earlier",
                u64::MAX
            ))),
        }
    }

    /// How long traffic arrives, and a network is simulated: as is asked for, or as the plan says;
    /// by default [some seconds](DEFAULT_DURATION), and all of it, which is `None`, if it is
    /// recorded alone.
    ///
    /// # Errors
    /// If the plan's warm-up leaves nothing of it.
    pub fn duration(&self, plan: &Plan) -> Result<Option<Nanos>, Error> {
        let recorded = |source: &Source| matches!(source, Source::Recording(_));
        let is_recorded = self.arrivals.is_some() || plan.sources.iter().all(recorded);
        let by_default = (!is_recorded).then_some(DEFAULT_DURATION);
        let duration = self.duration.or(plan.run.duration).or(by_default);
        if duration.is_some_and(|duration| duration <= plan.run.warm_up) {
            Err(Error::question(format!(
                "the warm-up of {} leaves nothing to measure: make the duration longer than that",
                plan.run.warm_up
            )))
        } else {
            Ok(duration)
        }
    }
}

/// What is worth telling about a recording besides its packets.
pub fn remarks(remarks: &Remarks) -> Vec<String> {
    let unmatched = match remarks.unmatched {
        0 => None,
        1 => Some("1 frame matched no class and was left out".to_string()),
        frames => Some(format!("{frames} frames matched no class and were left out")),
    };
    let furthest = remarks.furthest;
    let reordered = match remarks.reordered {
        0 => None,
        1 => Some(format!("1 packet was recorded {furthest} out of order and put in order")),
        packets => Some(format!(
            "{packets} packets were recorded out of order, by {furthest} at most, and put in order"
        )),
    };
    let cut = match remarks.cut {
        0 => None,
        1 => Some(
            "the recording was cut off: its last frame is not whole and was left out".to_string(),
        ),
        cut => Some(format!(
            "{cut} recordings were cut off: the last frame of each is not whole and was left out"
        )),
    };
    unmatched.into_iter().chain(opaque(remarks)).chain(reordered).chain(cut).collect()
}

/// Frames that are not looked into, a sentence for each kind.
pub(crate) fn opaque(remarks: &Remarks) -> impl Iterator<Item = String> {
    let kinds = Opaque::ALL.into_iter().zip(remarks.opaque);
    kinds.filter(|(_, frames)| *frames > 0).map(|(kind, frames)| {
        let (s, were) = if frames == 1 { ("", "was") } else { ("s", "were") };
        let name = kind.name();
        format!("{frames} frame{s} of {name} {were} not looked into: a `match` sees outer headers")
    })
}

/// The packets that broke their class's contract, and what became of them.
pub(crate) fn nonconforming(plan: &Plan, link: &HopSummary) -> Vec<String> {
    let treated = |police| match police {
        Police::Count => "travelled with the others",
        Police::Demote => "travelled as best effort, without a promise",
        Police::Drop => "were dropped",
    };
    let classes = plan.leaves().map(|(_, class)| class).zip(&link.classes);
    let broke = classes.filter(|(_, measured)| measured.nonconforming > 0);
    let sentences = broke.map(|(class, measured)| {
        let (name, count) = (&class.name, quantity::count(measured.nonconforming));
        format!("{count} packets of {name} broke its arrival curve and {}", treated(class.police))
    });
    sentences.collect()
}
