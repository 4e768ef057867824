//! Sums of rates over time.

use laxity::units::{Nanos, Rate};

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnItsWay {
    pub(super) rate: Rate,
    pub(super) from: Nanos,
    pub(super) until: Nanos,
}

/// The highest sum of the rates of packets that are on their way at one time, in bits a second.
pub(super) fn most_at_once(sent: &[OnItsWay]) -> u64 {
    let mut changes: Vec<(Nanos, i64)> = Vec::new();
    for packet in sent {
        changes.push((packet.from, packet.rate.0 as i64));
        changes.push((packet.until, -(packet.rate.0 as i64)));
    }
    // Who ends goes before who begins.
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0) as u64
}
