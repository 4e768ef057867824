//! What a link carried, beside its rate.

use laxity::link::Link;
use laxity::units::Nanos;
use laxity_plan::model::LinkSpec;
use serde::Serialize;

/// What a link carried, seen behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkLoad {
    /// Bits a second, as the plan's link counts bytes.
    pub rate_bps: f64,
    /// The longest queue that frames would have met behind it at the plan's rate: so far ahead of
    /// that rate it was at most.
    pub ahead_ns: u64,
}

/// Measures it.
pub(super) struct LoadMeter {
    link: LinkSpec,
    behind: Link,
    /// The first and the last frame.
    times: Option<[Nanos; 2]>,
    /// Without the last frame.
    bytes: u64,
    last: u32,
    ahead: Nanos,
}

impl LoadMeter {
    pub(super) fn new(link: &LinkSpec) -> Self {
        let behind = Link::new(link.rate);
        let (times, ahead) = (None, Nanos::ZERO);
        LoadMeter { link: link.clone(), behind, times, bytes: 0, last: 0, ahead }
    }

    /// Counts a frame of `length` bytes that comes at the time `at`.
    pub(super) fn add(&mut self, at: Nanos, length: usize) {
        let length = self.link.accounted(u32::try_from(length).unwrap_or(u32::MAX));
        let starts = at.max(self.behind.free_at());
        self.behind.transmit(starts, length);
        self.ahead = self.ahead.max(starts.saturating_sub(at));
        self.bytes += u64::from(self.last);
        self.last = length;
        self.times = Some([self.times.map_or(at, |[first, _]| first), at]);
    }

    /// All of it; none of less than two frames.
    pub(super) fn carried(&self) -> Option<LinkLoad> {
        let [first, last] = self.times?;
        let time = last.saturating_sub(first).0;
        let rate_bps = self.bytes as f64 * 8e9 / time as f64;
        (time > 0).then_some(LinkLoad { rate_bps, ahead_ns: self.ahead.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::Scenario;

    /// At 20 Mbit/s a frame of 1 226 bytes, with the 24 that Ethernet adds, takes half a
    /// millisecond.
    #[test]
    fn frames_at_the_rate_are_not_ahead_of_it_and_those_at_once_are() {
        let mut carrying = LoadMeter::new(&Scenario::full().plan.link);
        assert_eq!(carrying.carried(), None);
        for at in 0..100 {
            carrying.add(Nanos(1_000_000 + at * 500_000), 1226);
        }
        assert_eq!(carrying.carried(), Some(LinkLoad { rate_bps: 20e6, ahead_ns: 0 }));
        carrying.add(Nanos(50_800_000), 1226);
        carrying.add(Nanos(50_800_000), 1226);
        assert_eq!(carrying.carried().map(|carried| carried.ahead_ns), Some(700_000));
    }
}
