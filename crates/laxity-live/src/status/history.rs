//! What is kept for a report beside what is shown while a link is looked after.

use laxity::histogram::Histogram;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;

/// How delays are spread and what was sent over time, in a direction while it followed a plan; by
/// class, in the order of its [status](crate::status::WayStatus).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made from what is measured, and read by who reports"
)]
pub struct History {
    /// How many packets had a delay in each bucket that holds some: its upper edge in ns, packets.
    pub delays: Vec<Vec<(u64, u64)>>,
    /// What was sent.
    pub sent: OverTime,
}

impl History {
    /// The history of the classes of a plan, whose delays are these.
    pub(crate) fn new<'d, const PER_OCTAVE: usize>(
        plan: &Plan,
        sent: &OverTime,
        delays: impl Fn(ClassId) -> &'d Histogram<PER_OCTAVE>,
    ) -> History {
        let delays = plan.leaves().map(|(id, _)| delays(id).buckets().collect());
        History { delays: delays.collect(), sent: sent.clone() }
    }
}

/// Bytes that classes have sent, in intervals of one length. As time goes on they become longer, so
/// that there are never more than [`INTERVALS`], and fewer if there are many classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverTime {
    span: (Nanos, Nanos),
    width: Nanos,
    /// What each class had sent when it was noted last.
    totals: Vec<u64>,
    /// By class.
    bytes: Vec<Vec<u64>>,
}

/// Maximum number of intervals.
pub const INTERVALS: usize = 480;
/// How long they are at first.
const SHORTEST: Nanos = Nanos(50_000_000);

impl OverTime {
    /// From this time on, before anything is sent.
    pub fn new(begin: Nanos) -> Self {
        let (totals, bytes) = Default::default();
        OverTime { span: (begin, begin), width: SHORTEST, totals, bytes }
    }

    /// The same of other classes: each has the place that a number gives it among the former ones,
    /// if it was there.
    pub fn of_classes(&self, before: &[Option<usize>]) -> OverTime {
        let intervals = self.bytes.first().map_or(0, Vec::len);
        let bytes_of = |place: Option<usize>| {
            let bytes = place.and_then(|place| self.bytes.get(place).cloned());
            bytes.unwrap_or_else(|| vec![0; intervals])
        };
        let total_of = |place: Option<usize>| {
            place.and_then(|place| self.totals.get(place).copied()).unwrap_or_default()
        };
        OverTime {
            totals: before.iter().map(|place| total_of(*place)).collect(),
            bytes: before.iter().map(|place| bytes_of(*place)).collect(),
            ..*self
        }
    }

    /// Records the total bytes that each class has sent up to `now`.
    ///
    /// Bytes sent since the last call count as sent evenly over that time.
    pub fn note(&mut self, now: Nanos, totals: impl Iterator<Item = u64>) {
        let from = self.duration().0;
        self.span.1 = self.span.1.max(now);
        let to = self.duration().0;
        // What ends with an interval belongs to it.
        let last_of = |width: Nanos| (to.saturating_sub(1) / width.0) as usize;
        while last_of(self.width) >= most(self.totals.len()) {
            self.width = Nanos(2 * self.width.0);
            self.bytes.iter_mut().for_each(|bytes| *bytes = by_two(bytes));
        }
        let (width, last) = (self.width.0, last_of(self.width));
        let first = last.min((from / width) as usize);
        for (class, total) in totals.enumerate() {
            if class == self.totals.len() {
                self.totals.push(0);
                self.bytes.push(Vec::new());
            }
            let new = total.saturating_sub(self.totals[class]);
            self.totals[class] = total;
            let bytes = &mut self.bytes[class];
            bytes.resize(bytes.len().max(last + 1), 0);
            let mut placed = 0;
            for (at, bytes) in bytes.iter_mut().enumerate().take(last).skip(first) {
                let until = (at as u64 + 1) * width - from;
                let share = u128::from(new) * u128::from(until) / u128::from(to - from);
                *bytes += share as u64 - placed;
                placed = share as u64;
            }
            bytes[last] += new - placed;
        }
    }

    /// How long it has been noted.
    pub fn duration(&self) -> Nanos {
        self.span.1.saturating_sub(self.span.0)
    }

    /// How long an interval is; the last one may not be over.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// What each class sent in each interval, in bytes.
    pub fn bytes(&self) -> &[Vec<u64>] {
        &self.bytes
    }
}

/// How many intervals a number of classes has: a quarter of a million of all classes together, and
/// at least 24 of each.
fn most(classes: usize) -> usize {
    ((1 << 18) / classes.max(1)).clamp(24, INTERVALS)
}

fn by_two(bytes: &[u64]) -> Vec<u64> {
    bytes.chunks(2).map(|two| two.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_it_takes_bytes_stay_in_their_time() {
        let begin = Nanos(7_000_000_000);
        let mut sent = OverTime::new(begin);
        sent.note(begin, [0, 0].into_iter());
        // The first class sends all the time, the other in the second half.
        let steps: u64 = 100_000;
        for step in 1..=steps {
            let now = begin + Nanos(step * 20_000_000);
            sent.note(now, [10 * step, 3 * step.saturating_sub(steps / 2)].into_iter());
        }
        assert_eq!(sent.duration(), Nanos(steps * 20_000_000));
        let [all, half] = sent.bytes() else { panic!("two classes") };
        assert!(all.len() <= INTERVALS && 2 * all.len() > INTERVALS, "{}", all.len());
        let each = sent.width().0 / 20_000_000 * 10;
        assert!(all[..all.len() - 1].iter().all(|bytes| bytes.abs_diff(each) <= 10), "{all:?}");
        assert_eq!((all.iter().sum::<u64>(), half.iter().sum::<u64>()), (1_000_000, 150_000));
        let begins = half.iter().position(|bytes| *bytes > 0).expect("it sends");
        assert!(begins.abs_diff((sent.duration().0 / 2 / sent.width().0) as usize) <= 1);
    }

    #[test]
    fn what_ends_with_an_interval_belongs_to_it() {
        let mut sent = OverTime::new(Nanos::ZERO);
        sent.note(SHORTEST, [1].into_iter());
        sent.note(SHORTEST + Nanos(1), [3].into_iter());
        assert_eq!(sent.bytes(), [vec![1, 2]]);
        sent.note(SHORTEST + Nanos(1), [4].into_iter());
        assert_eq!(sent.bytes(), [vec![1, 3]], "no time has passed");
    }

    #[test]
    fn what_is_noted_late_was_sent_all_the_time() {
        let mut sent = OverTime::new(Nanos::ZERO);
        sent.note(Nanos(SHORTEST.0 / 2), [0].into_iter());
        sent.note(Nanos(3 * SHORTEST.0), [25].into_iter());
        assert_eq!(sent.bytes(), [vec![5, 10, 10]]);
    }
}
