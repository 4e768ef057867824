//! Who hears of what happens at a bridge.

use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::frames::{Pool, Side};

/// Hears of what happens to the frames that arrive at a side.
pub trait Observer {
    /// Something happened. A frame that is sent or dropped is still in the pool.
    fn observe(&mut self, at: Side, event: &Event, pool: &Pool);

    /// All that was sent so far of what arrived at a side was handed over by `time`, to an
    /// interface that is expected to hold it for a while.
    fn handed_over(&mut self, at: Side, time: Nanos, holding: Nanos);
}

/// Nobody hears.
impl Observer for () {
    fn observe(&mut self, _: Side, _: &Event, _: &Pool) {}

    fn handed_over(&mut self, _: Side, _: Nanos, _: Nanos) {}
}
