//! A plan of a forwarder, and what it does not say.

use std::path::PathBuf;

use laxity::units::Nanos;
use laxity_forward::Settings;
use laxity_linux::frames::{BATCH, Pool, Port};
use laxity_linux::packet;
use laxity_plan::Plan;
use laxity_plan::reader::PlanReader;
use laxity_plan::wire::MOST_UNDER_WAY;

/// What is made up for where the link is emulated: no queue is behind it that could build up.
const EMULATED_CATCH_UP: Nanos = Nanos(100_000_000);

/// Flows of each class that are remembered where there are many classes.
const FLOWS: usize = 8;

/// A plan with the text that it was read from.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever reads plans")]
pub struct PlanText {
    /// The file, `-` for standard input.
    pub path: PathBuf,
    /// The plan.
    pub plan: Plan,
    /// The text.
    pub text: String,
}

impl PlanText {
    /// What reads its file when that has changed.
    pub(crate) fn reader(&self) -> PlanReader {
        PlanReader::after(self.path.clone(), self.text.clone(), self.plan.clone())
    }
}

/// Frames for which there is memory at each interface of a link. If it is emulated, these are those
/// on the wire, twice as many in queues as otherwise, and those that are being taken in.
pub(crate) fn frames_for(is_emulated: bool) -> u32 {
    let plain = packet::Options::default().frames;
    if is_emulated { MOST_UNDER_WAY as u32 + 2 * plain + 4 * BATCH as u32 } else { plain }
}

/// Settings that a plan does not say, where a pool has room for the frames of a port.
pub(crate) fn settings(plan: &Plan, pool: &Pool, port: impl Into<Port>) -> Settings {
    let mut settings = Settings { seed: plan.run.seed, secret: secret(), ..Settings::default() };
    settings.flows = settings.flows.max(plan.classes.len() * FLOWS);
    // What is being taken in needs places, too, or the kernel drops frames whatever their class.
    let mut packets = pool.room(port).saturating_sub(4 * BATCH);
    if plan.link.wire.is_some() {
        packets = packets.saturating_sub(MOST_UNDER_WAY);
        settings.catch_up = EMULATED_CATCH_UP;
    }
    settings.backlog.packets = settings.backlog.packets.min(packets);
    settings
}

/// A number that no one can guess.
pub(crate) fn secret() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
