//! The receiver: what has arrived, and what it says about that.

use laxity::packet::Ecn;
use laxity::units::Nanos;

use super::Recovery;
use super::config::Variant;
use super::ranges::Ranges;
use super::segment::{Ack, Blocks, Segment};

/// When a receiver acknowledges a segment that arrives in order and leaves no gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledging {
    /// At once.
    Every,
    /// With every second segment, and no later than 200 ms after the first (RFC 5681 section 4.2,
    /// which allows 500 ms; 200 ms is common).
    Delayed,
}

/// A receiver that accepts every segment and delivers them in order.
#[derive(Clone, Debug)]
pub struct Receiver {
    acknowledging: Acknowledging,
    /// What both ends agreed on.
    variant: Variant,
    next: u64,
    /// Arrived beyond `next`.
    ahead: Ranges,
    /// How many segments have arrived, each counted once.
    distinct: u64,
    /// A segment of each of the last distinct blocks, the most recently changed first; 0 where
    /// there are no more.
    recent: [u64; Blocks::MAX],
    /// When the delayed acknowledgement is due; none if there is none.
    due: Option<Nanos>,
    /// Segments that arrived with a mark, modulo 2^32, and whether the last one did.
    marked: u32,
    last_marked: bool,
    /// Marks that no acknowledgement has reported.
    untold: u32,
    /// Congestion was experienced since the sender last reduced its window.
    echo: bool,
}

impl Receiver {
    /// The longest delay of an acknowledgement.
    const DELAY: Nanos = Nanos(200_000_000);

    /// A receiver that waits for segment 0 of a sender of this variant, which says what its
    /// acknowledgements carry.
    pub fn new(acknowledging: Acknowledging, variant: Variant) -> Self {
        Receiver {
            acknowledging,
            variant,
            next: 0,
            ahead: Ranges::default(),
            distinct: 0,
            recent: [0; Blocks::MAX],
            due: None,
            marked: 0,
            last_marked: false,
            untold: 0,
            echo: false,
        }
    }

    /// How many segments were delivered, in order and each once.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Distinct segments that have arrived, in any order; they are all delivered once no gap is
    /// left.
    pub fn received(&self) -> u64 {
        self.distinct
    }

    /// When [`Receiver::on_timer`] wants to be called.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.due
    }

    /// Looks at what a segment needs, in every line of memory.
    pub(crate) fn touch(&self) -> u64 {
        let due = self.due.map_or(0, |due| due.0);
        self.next ^ self.distinct ^ due ^ u64::from(self.marked) ^ u64::from(self.ahead.is_empty())
    }

    /// Takes a segment; returns the acknowledgement that leaves at once, if any. Segments that are
    /// out of order, fill a gap or are duplicates are acknowledged at once (RFC 5681 section 4.2).
    // Inlined, so that the acknowledgement is built where the caller keeps it.
    #[inline]
    pub fn on_segment(&mut self, now: Nanos, segment: &Segment) -> Option<Ack> {
        let at_once = self.note_congestion(segment);
        let in_order = segment.number == self.next && self.ahead.is_empty();
        if in_order {
            self.next += 1;
            self.distinct += 1;
            if self.acknowledging == Acknowledging::Delayed && self.due.is_none() && !at_once {
                self.due = Some(now.saturating_add(Self::DELAY));
                return None;
            }
        } else if segment.number == self.next {
            self.fill();
        } else if segment.number < self.next || self.ahead.around(segment.number).is_some() {
            return Some(self.acknowledge_again(segment.number));
        } else if segment.number < u64::MAX {
            self.hold(segment.number);
        }
        Some(self.acknowledge())
    }

    /// The acknowledgement whose delay is over, if one is.
    pub fn on_timer(&mut self, now: Nanos) -> Option<Ack> {
        (self.due? <= now).then(|| self.acknowledge())
    }

    /// The acknowledgement that is delayed, if one is, without more delay: nothing comes after what
    /// came, as behind the end of a connection.
    pub fn hurry(&mut self) -> Option<Ack> {
        self.due.map(|_| self.acknowledge())
    }

    /// RFC 3168 section 6.1.3: CWR ends the echo, unless its own segment was marked. Where marks
    /// are counted, whether the sender is to hear of it at once (RFC 9768 section 3.2.2.5.1): a
    /// mark after none, or the second that it has not heard of.
    fn note_congestion(&mut self, segment: &Segment) -> bool {
        let marked = segment.ecn == Ecn::Experienced;
        if !self.variant.counts_marks() {
            self.echo = marked || (self.echo && !segment.reduced);
            return false;
        }
        let changes = marked && !self.last_marked;
        self.last_marked = marked;
        self.marked = self.marked.wrapping_add(marked.into());
        self.untold += u32::from(marked);
        changes || self.untold >= 2
    }

    fn fill(&mut self) {
        self.distinct += 1;
        self.next = self.ahead.around(self.next + 1).map_or(self.next + 1, |range| range.end);
        self.ahead.remove_below(self.next, |_| {});
    }

    /// RFC 2018 section 4: the block of the segment that has just arrived comes first, then those
    /// that came first most recently.
    fn hold(&mut self, number: u64) {
        self.ahead.insert(number..number + 1, |_| self.distinct += 1);
        if !self.variant.is_selective() {
            return;
        }
        let block = self.ahead.around(number).unwrap_or(number..number + 1);
        let others = self.recent.into_iter().filter(|other| !block.contains(other));
        let mut recent = std::iter::once(number).chain(others);
        self.recent = [(); Blocks::MAX].map(|()| recent.next().unwrap_or_default());
    }

    /// A segment has arrived that was there before: its block is the most recent, and where both
    /// ends agreed so, the segment alone comes before all blocks, once (RFC 2883 section 4).
    fn acknowledge_again(&mut self, number: u64) -> Ack {
        if number > self.next {
            self.hold(number);
        }
        let mut ack = self.acknowledge();
        if self.variant.recovery == Recovery::RackTlp {
            let others = std::mem::take(&mut ack.blocks);
            ack.blocks.push(number..number + 1);
            others.iter().for_each(|block| ack.blocks.push(block));
        }
        ack
    }

    fn acknowledge(&mut self) -> Ack {
        (self.due, self.untold) = (None, 0);
        Ack { next: self.next, blocks: self.blocks(), echo: self.echo, marked: self.marked }
    }

    fn blocks(&self) -> Blocks {
        let mut blocks = Blocks::default();
        if self.variant.is_selective() && !self.ahead.is_empty() {
            let held = |segment: u64| self.ahead.around(segment);
            self.recent.into_iter().filter_map(held).for_each(|block| blocks.push(block));
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::tcp::Congestion;

    fn segment(number: u64) -> Segment {
        Segment { number, length: 1_000, ecn: Ecn::Capable, reduced: false }
    }

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// The acknowledgement and its blocks.
    type Reply = Option<(u64, Vec<(u64, u64)>)>;

    fn replies(receiver: &mut Receiver, numbers: &[u64]) -> Vec<Reply> {
        let reply = |&number| receiver.on_segment(Nanos::ZERO, &segment(number));
        let ends = |block: Range<u64>| (block.start, block.end);
        let told = |ack: Ack| (ack.next, ack.blocks.iter().map(ends).collect());
        numbers.iter().map(reply).map(|ack| ack.map(told)).collect()
    }

    #[test]
    fn blocks_are_the_most_recent_first() {
        let mut receiver = Receiver::new(Acknowledging::Every, Variant::SACK);
        for (number, next, blocks, why) in [
            (0, 1, vec![], "in order: nothing to report"),
            (2, 1, vec![(2, 3)], "a gap"),
            (
                4,
                1,
                vec![(4, 5), (2, 3)],
                "RFC 2018 section 4, rule 1: the segment's own block first",
            ),
            (6, 1, vec![(6, 7), (4, 5), (2, 3)], "rule 3: then the most recently reported"),
            (8, 1, vec![(8, 9), (6, 7), (4, 5)], "three at most; the oldest report is left out"),
            (5, 1, vec![(4, 7), (8, 9)], "two blocks become one"),
            (5, 1, vec![(4, 7), (8, 9)], "a duplicate is acknowledged at once"),
            (1, 3, vec![(4, 7), (8, 9)], "a gap is filled and acknowledged"),
            (3, 7, vec![(8, 9)], "the next one, too"),
            (7, 9, vec![], "nothing is missing"),
            (4, 9, vec![], "what was delivered before is only acknowledged"),
        ] {
            assert_eq!(
                replies(&mut receiver, &[number]),
                [Some((next, blocks))],
                "{number}: {why}"
            );
        }
        let mut cumulative = Receiver::new(Acknowledging::Every, Variant::NEWRENO);
        assert_eq!(replies(&mut cumulative, &[1, 0]), [Some((0, vec![])), Some((2, vec![]))]);
    }

    /// RFC 2883 section 4, and what the sender reads of it.
    #[test]
    fn duplicates_are_reported_once() {
        let variant = Variant::new(Recovery::RackTlp, Congestion::Reno);
        let mut receiver = Receiver::new(Acknowledging::Every, variant);
        for (number, next, blocks, duplicate, why) in [
            (0, 1, vec![], None, "in order"),
            (0, 1, vec![(0, 1)], Some(0..1), "below the cumulative acknowledgement"),
            (2, 1, vec![(2, 3)], None, "a gap, reported for the first time"),
            (4, 1, vec![(4, 5), (2, 3)], None, "another block, not the first one's"),
            (3, 1, vec![(2, 5)], None, "one block"),
            (3, 1, vec![(3, 4), (2, 5)], Some(3..4), "within a block, which comes second"),
            (6, 1, vec![(6, 7), (2, 5)], None, "reported once"),
            (0, 1, vec![(0, 1), (6, 7), (2, 5)], Some(0..1), "before the blocks"),
        ] {
            let ack = receiver.on_segment(Nanos::ZERO, &segment(number)).unwrap();
            let told: Vec<_> = ack.blocks.iter().map(|block| (block.start, block.end)).collect();
            assert_eq!((ack.next, told, ack.duplicate()), (next, blocks, duplicate), "{why}");
        }
    }

    #[test]
    fn segments_are_received_once_in_whatever_order() {
        let mut receiver = Receiver::new(Acknowledging::Every, Variant::SACK);
        for (number, received, delivered) in
            [(0, 1, 1), (2, 2, 1), (2, 2, 1), (3, 3, 1), (0, 3, 1), (1, 4, 4), (1, 4, 4), (4, 5, 5)]
        {
            replies(&mut receiver, &[number]);
            assert_eq!((receiver.received(), receiver.delivered()), (received, delivered));
        }
    }

    #[test]
    fn delayed_acknowledgements() {
        let mut receiver = Receiver::new(Acknowledging::Delayed, Variant::NEWRENO);
        let mut arrive = |at, number| {
            (receiver.on_segment(ms(at), &segment(number)).map(|ack| ack.next), receiver.due)
        };
        for (at, number, ack, due, why) in [
            (0, 0, None, Some(200), "the first full segment may wait, 200 ms at most"),
            (10, 1, Some(2), None, "at least every second full segment (RFC 5681 section 4.2)"),
            (20, 2, None, Some(220), "one that waits"),
            (30, 4, Some(3), None, "out of order: at once, for both"),
            (40, 3, Some(5), None, "the gap is filled: at once"),
            (50, 5, None, Some(250), "in order again"),
        ] {
            assert_eq!(arrive(at, number), (ack, due.map(ms)), "{why}");
        }
        assert_eq!(receiver.on_timer(ms(249)), None);
        assert_eq!(receiver.on_timer(ms(250)).map(|ack| ack.next), Some(6));
        assert_eq!((receiver.on_timer(ms(900)), receiver.next_timer()), (None, None));
    }

    /// RFC 3168 section 6.1.3.
    #[test]
    fn congestion_is_echoed_until_the_sender_answers() {
        let mut receiver = Receiver::new(Acknowledging::Every, Variant::NEWRENO);
        for (number, ecn, reduced, echo, why) in [
            (0, Ecn::Capable, false, false, "no congestion"),
            (1, Ecn::Experienced, false, true, "a mark"),
            (2, Ecn::Capable, false, true, "still unanswered"),
            (3, Ecn::Experienced, true, true, "answered, but marked again"),
            (4, Ecn::Capable, true, false, "answered"),
            (5, Ecn::Capable, false, false, "no further mark"),
        ] {
            let arriving = Segment { ecn, reduced, ..segment(number) };
            let ack = receiver.on_segment(Nanos::ZERO, &arriving).unwrap();
            assert_eq!(ack.echo, echo, "{number}: {why}");
        }
    }

    /// RFC 9768 section 3.2.2.5.1.
    #[test]
    fn marks_are_counted_and_told_in_time() {
        let variant = Variant::new(Recovery::Sack, Congestion::Dctcp);
        let mut receiver = Receiver::new(Acknowledging::Delayed, variant);
        for (number, marked, told, why) in [
            (0, false, None, "delayed"),
            (1, false, Some(0), "the second one"),
            (2, true, Some(1), "change-triggered: a mark after none"),
            (3, true, None, "one mark that is untold"),
            (4, true, Some(3), "increment-triggered, and the second segment"),
            (5, false, None, "delayed"),
            (6, true, Some(4), "a mark after none again"),
            (8, false, Some(4), "out of order"),
        ] {
            let ecn = if marked { Ecn::Experienced } else { Ecn::Capable };
            let ack = receiver.on_segment(Nanos::ZERO, &Segment { ecn, ..segment(number) });
            assert_eq!(ack.map(|ack| ack.marked), told, "{number}: {why}");
            assert!(ack.is_none_or(|ack| !ack.echo), "no echo beside the count");
        }
    }
}
