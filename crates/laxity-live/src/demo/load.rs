//! What a link carried, beside its rate.

use std::collections::VecDeque;

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
    /// The bits of the second in which it carried least, and of the one in which it carried most,
    /// of all seconds that end with a frame.
    pub seconds_bps: Option<[u64; 2]>,
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
    second: Second,
}

/// The frames of the last second.
#[derive(Default)]
struct Second {
    frames: VecDeque<(Nanos, u32)>,
    bytes: u64,
    /// The fewest and the most bytes of a second that was whole.
    extremes: Option<[u64; 2]>,
}

impl Second {
    const LENGTH: Nanos = Nanos(1_000_000_000);

    /// Counts a frame. The second is whole once a frame has left it.
    fn add(&mut self, at: Nanos, length: u32) {
        let has_left = |(came, _): &mut (Nanos, u32)| came.saturating_add(Self::LENGTH) <= at;
        let mut is_whole = self.extremes.is_some();
        self.frames.push_back((at, length));
        self.bytes += u64::from(length);
        while let Some((_, length)) = self.frames.pop_front_if(has_left) {
            self.bytes -= u64::from(length);
            is_whole = true;
        }
        if is_whole {
            let [least, most] = self.extremes.unwrap_or([self.bytes; 2]);
            self.extremes = Some([least.min(self.bytes), most.max(self.bytes)]);
        }
    }
}

impl LoadMeter {
    pub(super) fn new(link: &LinkSpec) -> Self {
        let behind = Link::new(link.rate);
        let (times, ahead, second) = (None, Nanos::ZERO, Second::default());
        LoadMeter { link: link.clone(), behind, times, bytes: 0, last: 0, ahead, second }
    }

    /// Counts a frame of `length` bytes that comes at the time `at`.
    pub(super) fn add(&mut self, at: Nanos, length: usize) {
        let length = self.link.accounted(u32::try_from(length).unwrap_or(u32::MAX));
        let starts = at.max(self.behind.free_at());
        self.behind.transmit(starts, length);
        self.ahead = self.ahead.max(starts.saturating_sub(at));
        self.bytes += u64::from(self.last);
        self.last = length;
        self.second.add(at, length);
        self.times = Some([self.times.map_or(at, |[first, _]| first), at]);
    }

    /// All of it; none of less than two frames.
    pub(super) fn carried(&self) -> Option<LinkLoad> {
        let [first, last] = self.times?;
        let time = last.saturating_sub(first).0;
        let rate_bps = self.bytes as f64 * 8e9 / time as f64;
        let seconds_bps = self.second.extremes.map(|bytes| bytes.map(|bytes| 8 * bytes));
        (time > 0).then_some(LinkLoad { rate_bps, ahead_ns: self.ahead.0, seconds_bps })
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
        let at_the_rate = LinkLoad { rate_bps: 20e6, ahead_ns: 0, seconds_bps: None };
        assert_eq!(carrying.carried(), Some(at_the_rate));
        carrying.add(Nanos(50_800_000), 1226);
        carrying.add(Nanos(50_800_000), 1226);
        assert_eq!(carrying.carried().map(|carried| carried.ahead_ns), Some(700_000));
    }

    /// The second frame comes with the end of a second, and 100 ms without any follow.
    #[test]
    fn seconds_are_those_that_end_with_a_frame() {
        let mut carrying = LoadMeter::new(&Scenario::full().plan.link);
        for at in (0..=1_200).chain(1_301..2_400).map(|millisecond| millisecond * 1_000_000) {
            carrying.add(Nanos(at), 1226);
        }
        let seconds = carrying.carried().and_then(|carried| carried.seconds_bps);
        assert_eq!(seconds, Some([900 * 10_000, 1_000 * 10_000]));
    }
}
