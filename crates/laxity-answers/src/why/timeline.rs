//! A run as a picture shows it: which packet each link sent when, and what waited meanwhile.

mod highlights;

use std::collections::HashMap;
use std::mem;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

use super::{HopDelay, PacketDelay, Part, UnfinishedPacket};
use highlights::ClassHighlights;

/// Packets of a piece of the run that is kept or left out as one.
const PIECE: usize = 256;

/// The transmissions of a run, link by link. A long run is kept around the slowest packets of each
/// class and around drops, so that memory is bounded.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The outputs that sent a packet; `None` is the only link.
    pub outputs: Vec<Option<Hop>>,
    /// By output, and by the time when they were sent.
    pub passages: Vec<Passage>,
    /// The causes of all passages.
    pub parts: Vec<Part>,
    /// Packets that an output did not send, by output and arrival.
    pub unsent: Vec<UnsentPacket>,
    /// Stretches of time whose packets were left out, in their order, from beginning to end.
    pub gaps: Vec<[Nanos; 2]>,
    /// By class: the numbers of the slowest packets, the slowest one first.
    pub slowest: Vec<Vec<u64>>,
}

/// A packet at one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// The place of the output in [`Timeline::outputs`].
    pub output: u32,
    /// Its class.
    pub class: ClassId,
    /// The number of the packet: on one link that in the order of arrival. In a network the numbers
    /// tell packets apart.
    pub packet: u64,
    /// Its length in bytes.
    pub length: u32,
    /// When it arrived.
    pub arrival: Nanos,
    /// When its first bit left.
    pub start: Nanos,
    /// When its last bit left.
    pub departure: Nanos,
    /// When it is due; of a path at its last output only.
    pub due: Option<Nanos>,
    /// Whether the packet came to its end from here; else it went on, or was lost.
    pub is_last: bool,
    /// The place of its first cause in [`Timeline::parts`].
    pub first_part: u32,
    /// The number of its causes.
    pub parts: u32,
}

/// A packet that an output did not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsentPacket {
    /// The place of the output in [`Timeline::outputs`].
    pub output: u32,
    /// Its class.
    pub class: ClassId,
    /// The number of the packet.
    pub packet: u64,
    /// Its length in bytes.
    pub length: u32,
    /// When it arrived.
    pub arrival: Nanos,
    /// When it was dropped, and why; `None` if it still waited when the run ended.
    pub dropped: Option<(Nanos, DropReason)>,
}

impl Timeline {
    /// The numbers of packets, of those that are kept.
    pub fn numbers(&self, packets: &[PacketDelay]) -> Vec<u64> {
        let number = |packet: &PacketDelay| {
            let first = packet.hops.first()?;
            let output = self.outputs.iter().position(|output| *output == first.hop)? as u32;
            let place = |passage: &Passage| (passage.output, passage.start);
            let from = self.passages.partition_point(|it| place(it) < (output, first.start));
            let mut same = self.passages[from..].iter();
            let is_its =
                |it: &&Passage| it.class == packet.packet.class && it.arrival == first.arrival;
            same.by_ref().take_while(|it| place(it) == (output, first.start)).find(is_its)
        };
        packets.iter().filter_map(|packet| Some(number(packet)?.packet)).collect()
    }
}

/// Records a [`Timeline`] in bounded memory.
#[derive(Debug)]
pub struct TimelineRecorder {
    /// The most passages and unsent packets that are kept.
    budget: usize,
    /// Pieces that are kept, in their order.
    pieces: Vec<Piece>,
    /// The piece that is filled.
    open: Piece,
    /// Packets in `pieces` and `open`.
    size: usize,
    gaps: Vec<Gap>,
    highlights: Vec<ClassHighlights>,
    measured_from: Nanos,
    outputs: HashMap<Option<Hop>, u32>,
    /// Packets so far.
    packets: u64,
}

/// Consecutive packets of a run, by the time of their end.
#[derive(Clone, Debug, Default)]
struct Piece {
    number: u64,
    /// From the first transmission to the end of the last one.
    time: Option<[Nanos; 2]>,
    passages: Vec<Passage>,
    parts: Vec<Part>,
    unsent: Vec<UnsentPacket>,
}

/// Consecutive pieces that were left out.
#[derive(Clone, Copy, Debug)]
struct Gap {
    pieces: [u64; 2],
    time: [Nanos; 2],
}

impl TimelineRecorder {
    /// A recorder that keeps at most `budget` packets at outputs, for a run of as many classes. It
    /// keeps those around the `slowest` packets of each class longest. A packet that set out before
    /// `measured_from` is never one of these.
    pub fn new(budget: usize, slowest: usize, classes: usize, measured_from: Nanos) -> Self {
        TimelineRecorder {
            measured_from,
            budget: budget.max(2 * PIECE),
            pieces: Vec::new(),
            open: Piece::default(),
            size: 0,
            gaps: Vec::new(),
            highlights: vec![ClassHighlights::new(slowest); classes],
            outputs: HashMap::new(),
            packets: 0,
        }
    }

    /// Records a packet that came to its end.
    pub fn sent(&mut self, delay: &PacketDelay) {
        let PacketDelay { packet, end, due, hops } = delay;
        let number = self.number(hops.iter().map(|hop| hop.hop), packet.handle);
        for (place, hop) in (1..).zip(hops) {
            let is_last = place == hops.len();
            let due = due.filter(|_| is_last);
            self.passage(number, packet, hop, due, is_last);
        }
        if packet.arrival >= self.measured_from {
            self.highlights[packet.class.index()].sent(number, [packet.arrival, *end]);
        }
        self.close_full_piece();
    }

    /// Records a packet that did not come to its end.
    pub fn unfinished(&mut self, unfinished: &UnfinishedPacket) {
        let UnfinishedPacket { packet, hops, last } = unfinished;
        let ends = hops.iter().map(|hop| hop.hop).chain(last.iter().map(|last| last.hop));
        let number = self.number(ends, packet.handle);
        for hop in hops {
            self.passage(number, packet, hop, None, false);
        }
        if let Some(last) = last {
            let output = self.output(last.hop);
            let (class, length, arrival) = (packet.class, packet.length, last.arrival);
            let dropped = last.dropped;
            let unsent = UnsentPacket { output, class, packet: number, length, arrival, dropped };
            self.open.unsent.push(unsent);
            self.size += 1;
            if let Some((end, _)) = dropped {
                self.open.cover([end, end]);
                self.highlights[class.index()].dropped([arrival, end]);
            }
        }
        self.close_full_piece();
    }

    /// What was recorded.
    pub fn finish(mut self) -> Timeline {
        self.pieces.push(mem::take(&mut self.open));
        if self.size > self.budget {
            self.leave_out(self.budget, 0);
        }
        let mut outputs: Vec<_> = self.outputs.iter().map(|(hop, place)| (*place, *hop)).collect();
        outputs.sort_unstable_by_key(|(place, _)| *place);
        let mut timeline = Timeline {
            outputs: outputs.into_iter().map(|(_, hop)| hop).collect(),
            slowest: self.highlights.iter().map(ClassHighlights::slowest).collect(),
            ..Timeline::default()
        };
        for piece in self.pieces {
            let parts = timeline.parts.len() as u32;
            let moved =
                |passage: Passage| Passage { first_part: parts + passage.first_part, ..passage };
            timeline.passages.extend(piece.passages.into_iter().map(moved));
            timeline.parts.extend(piece.parts);
            timeline.unsent.extend(piece.unsent);
        }
        timeline.passages.sort_by_key(|passage| (passage.output, passage.start, passage.packet));
        timeline.unsent.sort_by_key(|unsent| (unsent.output, unsent.arrival, unsent.packet));
        timeline.gaps = joined(self.gaps.iter().map(|gap| gap.time).collect());
        timeline
    }

    /// The number of the next packet, which takes these outputs.
    fn number(&mut self, mut hops: impl Iterator<Item = Option<Hop>>, handle: u64) -> u64 {
        let number = if hops.any(|hop| hop.is_some()) { self.packets } else { handle };
        self.packets += 1;
        number
    }

    fn output(&mut self, hop: Option<Hop>) -> u32 {
        let next = self.outputs.len() as u32;
        *self.outputs.entry(hop).or_insert(next)
    }

    fn passage(
        &mut self,
        number: u64,
        packet: &Packet,
        delay: &HopDelay,
        due: Option<Nanos>,
        is_last: bool,
    ) {
        let output = self.output(delay.hop);
        let (first_part, parts) = (self.open.parts.len() as u32, delay.parts.len() as u32);
        let HopDelay { arrival, start, departure, .. } = *delay;
        self.open.parts.extend_from_slice(&delay.parts);
        self.open.cover([start, departure]);
        let passage = Passage {
            output,
            class: packet.class,
            packet: number,
            length: packet.length,
            arrival,
            start,
            departure,
            due,
            is_last,
            first_part,
            parts,
        };
        self.open.passages.push(passage);
        self.size += 1;
    }

    fn close_full_piece(&mut self) {
        if self.open.passages.len() + self.open.unsent.len() < PIECE {
            return;
        }
        let next = Piece { number: self.open.number + 1, ..Piece::default() };
        self.pieces.push(mem::replace(&mut self.open, next));
        if self.size > self.budget {
            // The latest pieces stay: a packet that ends soon may have waited all the while.
            let latest = self.pieces.len() / 4;
            self.leave_out(self.budget - self.budget / 8, latest);
        }
    }

    /// Leaves pieces out until at most `most` packets remain, but none of the `latest` ones. Those
    /// that no highlight needs go first, then those of the least important highlights; of equals
    /// the earliest.
    fn leave_out(&mut self, most: usize, latest: usize) {
        let candidates = &self.pieces[..self.pieces.len() - latest];
        let rank = |piece: &Piece| {
            let ranks = self.highlights.iter().filter_map(|class| class.rank(piece.time?));
            ranks.min().unwrap_or(usize::MAX)
        };
        let mut order: Vec<_> = candidates.iter().map(rank).zip(0..).collect();
        order.sort_by(|(a, first), (b, second)| b.cmp(a).then(first.cmp(second)));
        for (_, place) in order {
            if self.size <= most {
                break;
            }
            let piece = &mut self.pieces[place];
            self.size -= piece.size();
            if let Some(time) = piece.time {
                let pieces = [piece.number; 2];
                self.gaps.push(Gap { pieces, time });
            }
            *piece = Piece::default();
        }
        self.pieces.retain(|piece| piece.size() > 0);
        self.join_gaps();
    }

    /// Joins gaps between which no piece is kept, so that there are never more gaps than pieces.
    fn join_gaps(&mut self) {
        self.gaps.sort_unstable_by_key(|gap| gap.pieces);
        self.gaps.dedup_by(|next, gap| {
            let is_next = gap.pieces[1] + 1 >= next.pieces[0];
            if is_next {
                gap.pieces[1] = next.pieces[1];
                gap.time = [gap.time[0].min(next.time[0]), gap.time[1].max(next.time[1])];
            }
            is_next
        });
    }
}

impl Piece {
    fn size(&self) -> usize {
        self.passages.len() + self.unsent.len()
    }

    fn cover(&mut self, [from, to]: [Nanos; 2]) {
        let [first, last] = self.time.unwrap_or([from, to]);
        self.time = Some([first.min(from), last.max(to)]);
    }
}

/// Stretches of time in their order, those that overlap as one.
fn joined(mut gaps: Vec<[Nanos; 2]>) -> Vec<[Nanos; 2]> {
    gaps.sort_unstable();
    gaps.dedup_by(|next, gap| {
        let overlaps = next[0] <= gap[1];
        if overlaps {
            gap[1] = gap[1].max(next[1]);
        }
        overlaps
    });
    gaps
}

#[cfg(test)]
mod tests;
