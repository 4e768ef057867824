//! The gap between the frames reserved for a stream, short enough for its deadline.
//!
//! tsnkit chooses when a stream sends, and counts its deadline from then. A plan counts from the
//! arrival of a packet at any time: the packet may have just missed a frame of its stream, and the
//! next one is a `gap` away.

use laxity::units::Nanos;
use laxity_plan::Plan;

use super::read::Stream;

/// The most frames that are reserved in a period.
const MOST: u64 = 4096;

/// Shortens the gap of each stream whose deadline requires it, to a divisor of its period. Returns
/// notes.
pub(super) fn shorten(plan: &Plan, streams: &mut [Stream], frame: u64) -> Vec<String> {
    let transits = transits(plan, frame);
    let (mut shortened, mut hopeless) = (Vec::new(), Vec::new());
    for (stream, transit) in streams.iter_mut().zip(transits) {
        let period = stream.period.0;
        let fits = |packets: &u64| {
            let wait = (period / packets).div_ceil(frame).saturating_add(1).saturating_mul(frame);
            wait.saturating_add(transit) <= stream.deadline.0
        };
        let mut all =
            (1..=(period / frame).clamp(1, MOST)).filter(|packets| period.is_multiple_of(*packets));
        match all.find(fits) {
            Some(1) => {}
            Some(packets) => {
                stream.gap = Nanos(period / packets);
                shortened.push((stream.name.clone(), packets, stream.gap));
            }
            None => hopeless.push((stream.name.clone(), transit)),
        }
    }
    let more =
        |count: usize| if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let mut notes = Vec::new();
    if let Some((name, packets, gap)) = shortened.first() {
        notes.push(format!(
            "`{name}`{} has frames reserved more often than it sends, every {gap}, {packets} in a period: a plan counts a \
             deadline from when a packet is there, and that it may wait a `gap` and a time frame of {} for a frame of its \
             own; tsnkit chooses when streams send and counts from then",
            more(shortened.len()),
            Nanos(frame)
        ));
    }
    if let Some((name, transit)) = hopeless.first() {
        notes.push(format!(
            "the deadline of `{name}`{} is too short for any `gap`: its path alone takes {}, and a packet waits for a frame \
             of its own, at least two time frames of {}",
            more(hopeless.len()),
            Nanos(*transit),
            Nanos(frame)
        ));
    }
    notes
}

/// Time of each class from the beginning of its first frame to the end of its path, in ns.
fn transits(plan: &Plan, frame: u64) -> Vec<u64> {
    let Some(framed) = plan.framed_network() else { return Vec::new() };
    let transit = |path: &[laxity_plan::model::Hop]| {
        let Some((last, before)) = path.split_last() else { return 0 };
        let frames: u64 = before.iter().map(|hop| u64::from(framed.shortest_delay(*hop))).sum();
        frames
            .saturating_add(1)
            .saturating_mul(frame)
            .saturating_add(framed.network.link(*last).delay.0)
    };
    plan.class_paths().into_iter().map(transit).collect()
}
