//! When the next packet may go to the sink.

use laxity::histogram::Delays;
use laxity::pacer::Pacer;
use laxity::units::{Nanos, Rate};

use crate::{Pace, Spacing};

/// Spaces packets by the rate of a link.
#[derive(Debug)]
pub(crate) struct Pacing {
    /// `None` if packets go as fast as the sink takes them.
    pacer: Option<Pacer>,
    spacing: Spacing,
    /// Whether nothing may go.
    is_held: bool,
    /// Whether the scheduler was empty when the link was last free: then no lost time is made up
    /// for.
    is_idle: bool,
    /// Packets of the batch start before then.
    batch_end: Nanos,
    /// What the link takes for the packets of the last turn.
    turn: Nanos,
}

impl Pacing {
    pub(crate) fn new(pace: Pace, spacing: Spacing) -> Self {
        let (batch_end, turn) = (Nanos::ZERO, Nanos::ZERO);
        let mut pacing =
            Pacing { pacer: None, spacing, is_held: false, is_idle: true, batch_end, turn };
        pacing.set_pace(pace);
        pacing
    }

    /// The rate of the link, if there is one.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.pacer.as_ref().map(|pacer| pacer.link().rate())
    }

    /// The link is free when it would have been with the old rate; packets from then on take their
    /// time at the new one. Time in which nothing may go is not made up for.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.is_held = pace == Pace::Hold;
        match (&mut self.pacer, pace) {
            (_, Pace::Hold) => self.is_idle = true,
            (changed, Pace::Sink) => *changed = None,
            (Some(pacer), Pace::Link(rate)) => pacer.set_rate(rate),
            (changed, Pace::Link(rate)) => {
                *changed = Some(Pacer::new(rate, self.spacing.catch_up));
            }
        }
    }

    /// A turn begins, right after the packets of the last one have left the sink: if that took
    /// long, they left together with what would be made up for now, so that is less.
    pub(crate) fn begin_turn(&mut self, now: Nanos) {
        let turn = std::mem::take(&mut self.turn);
        if let Some(pacer) = &mut self.pacer {
            let left = now.saturating_sub(self.spacing.catch_up).saturating_add(turn);
            if turn > Nanos::ZERO && left > pacer.free_at() {
                pacer.hold_until(left);
            }
        }
    }

    /// Whether a packet may go now.
    ///
    /// # Errors
    /// If not, with the time from which on it may, if that is known.
    pub(crate) fn may_send(&mut self, now: Nanos) -> Result<(), Option<Nanos>> {
        if self.is_held {
            return Err(None);
        }
        let Some(pacer) = &self.pacer else { return Ok(()) };
        let Spacing { batch, lead, .. } = self.spacing;
        let free_at = pacer.free_at();
        let from = now.saturating_add(lead);
        if free_at <= from {
            self.batch_end = from.saturating_add(batch);
        } else if free_at >= self.batch_end {
            return Err(Some(free_at.saturating_sub(lead)));
        }
        Ok(())
    }

    /// Sends a packet that may go; returns when it starts, and records by how much the thread is
    /// late for it.
    pub(crate) fn send(&mut self, now: Nanos, length: u32, late: &mut Delays) -> Nanos {
        let is_idle = std::mem::take(&mut self.is_idle);
        let Some(pacer) = &mut self.pacer else { return now };
        let ready = if is_idle { now } else { Nanos::ZERO };
        // The link forgives what lies too far back; a proof does not.
        let due = pacer.free_at().max(ready);
        late.record(now.saturating_sub(due));
        let occupied = pacer.start(ready, now.max(pacer.free_at()), length);
        self.turn = self.turn.saturating_add(occupied.until.saturating_sub(occupied.from));
        occupied.from
    }

    /// Nothing waits.
    pub(crate) fn rest(&mut self) {
        self.is_idle = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: Rate = Rate(80_000_000);
    const LONGEST: u32 = 1_500;

    /// What the link takes for bytes, in nanoseconds.
    fn time(bytes: u32) -> u64 {
        u64::from(bytes) * 100
    }

    /// A turn of the thread with as many packets as may go. Returns their starts.
    fn turn(pacing: &mut Pacing, now: Nanos, lengths: &[u32]) -> Vec<Nanos> {
        pacing.begin_turn(now);
        let mut starts = Vec::new();
        for &length in lengths {
            if pacing.may_send(now).is_err() {
                break;
            }
            starts.push(pacing.send(now, length, &mut Delays::default()));
        }
        starts
    }

    #[test]
    fn a_batch_goes_at_once_and_the_next_one_when_it_has_left() {
        let spacing =
            Spacing { catch_up: Nanos(1_000), batch: Nanos(300_000), lead: Nanos(50_000) };
        let mut pacing = Pacing::new(Pace::Link(RATE), spacing);
        let us = |us: u64| Nanos(us * 1_000);
        let first = turn(&mut pacing, us(1_000), &[1_000; 10]);
        assert_eq!(first, [1_000, 1_100, 1_200, 1_300].map(us));
        // It took the sink a microsecond.
        assert_eq!(turn(&mut pacing, us(1_001), &[1_000]), []);
        assert_eq!(pacing.may_send(us(1_001)), Err(Some(us(1_350))));
        let second = turn(&mut pacing, us(1_350), &[1_000; 10]);
        assert_eq!(second, [1_400, 1_500, 1_600].map(us));
    }

    #[test]
    fn nothing_goes_while_it_is_held_and_nothing_is_made_up_for() {
        let mut pacing = Pacing::new(Pace::Link(RATE), Spacing::EACH);
        assert_eq!(turn(&mut pacing, Nanos(0), &[1_000]), [Nanos(0)]);
        pacing.set_pace(Pace::Hold);
        assert_eq!(pacing.may_send(Nanos(1_000_000)), Err(None));
        pacing.set_pace(Pace::Link(RATE));
        assert_eq!(turn(&mut pacing, Nanos(5_000_000), &[1_000; 9]), [Nanos(5_000_000)]);
    }

    proptest! {
        /// Whatever the thread loses between its turns, and between its look at the clock and the
        /// end of its turn.
        #[test]
        fn no_more_goes_at_once_than_the_spacing_says(
            [catch_up, batch, lead] in prop::array::uniform3(0u64..1_000_000),
            turns in prop::collection::vec(
                (0u64..1_500_000, 0u64..1_500_000, any::<bool>(), any::<bool>()),
                1..60,
            ),
            lengths in prop::collection::vec(50..LONGEST, 64),
        ) {
            let [catch_up, batch, lead] = [catch_up, batch, lead].map(Nanos);
            let mut pacing = Pacing::new(Pace::Link(RATE), Spacing { catch_up, batch, lead });
            let (mut now, mut left) = (0, Vec::new());
            for (sleeps, sends, is_quick, rests) in turns {
                now += sleeps;
                let started = turn(&mut pacing, Nanos(now), &lengths).len();
                now += if is_quick { 1_000 } else { sends };
                left.extend(lengths[..started].iter().map(|&length| (now, time(length))));
                // The next turn begins when this one has ended.
                pacing.begin_turn(Nanos(now));
                if rests {
                    pacing.rest();
                }
            }
            let most = catch_up.0 + batch.0 + lead.0 + time(LONGEST);
            for (place, &(from, _)) in left.iter().enumerate() {
                let mut together = 0;
                for &(until, takes) in &left[place..] {
                    together += takes;
                    prop_assert!(together <= until - from + most, "{together} in {}", until - from);
                }
            }
        }
    }
}
