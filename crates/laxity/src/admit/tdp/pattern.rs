//! The frames of a period in which a flow sends.

use alloc::vec::Vec;

use num_integer::gcd;

/// In which frames of a period a flow sends its packets, counted from the first one's. It repeats
/// within the period, if the packets and frames of that have a common divisor.
pub(super) struct Pattern {
    period: u32,
    /// The number of frames after which the pattern repeats.
    pub(super) repeat: u32,
    packets: u32,
    /// Frames below `repeat` that have packets, and how many.
    used: Vec<(u32, u64)>,
}

impl Pattern {
    pub(super) fn new(period: u32, packets: u32) -> Self {
        assert!(packets > 0, "a flow has no packets");
        let repeat = period / gcd(period, packets);
        let mut pattern = Pattern { period, repeat, packets, used: Vec::new() };
        let count = |frame| (frame, pattern.packets_at(frame));
        pattern.used = (0..repeat).map(count).filter(|&(_, packets)| packets > 0).collect();
        pattern
    }

    /// The number of packets that are `offset` frames after the first packet. Packet i is
    /// `floor(i n / k)` frames after it.
    pub(super) fn packets_at(&self, offset: u32) -> u64 {
        let before = |offset: u64| (offset * u64::from(self.packets)).div_ceil(self.period.into());
        before(u64::from(offset) + 1) - before(offset.into())
    }

    /// The frames, with how many packets, if the first is sent in this one; in the packets' order.
    pub(super) fn frames(&self, first: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..self.period / self.repeat).flat_map(move |turn| {
            let begin = u64::from(first) + u64::from(turn) * u64::from(self.repeat);
            let frame = move |offset: u32| (begin + u64::from(offset)) % u64::from(self.period);
            self.used.iter().map(move |&(offset, packets)| (frame(offset) as u32, packets))
        })
    }
}
