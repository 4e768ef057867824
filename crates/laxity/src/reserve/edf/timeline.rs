//! The slack of a link over the length of intervals, which changes by straight lines.
//!
//! The test of EDF looks at the times at which demand jumps or bends. They stand in blocks, in
//! order. A flow that comes or goes changes the slack of all later times by lines: a block that a
//! line changes as a whole only notes it, and only the blocks at the ends of a line are walked.
//! Whether slack remains beside another line is asked of the [hull](super::hull) of each block. A
//! block of n times has about the square root of n, so that an operation takes as many short
//! searches as there are times in the two blocks that it walks.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec;
use alloc::vec::Vec;

use super::hull::Hull;
use super::line::{Instant, Line, Segment};

/// The fewest and the most times for which a block is meant. In tests a few flows fill many blocks.
const BLOCK: [usize; 2] = if cfg!(test) { [3, 3] } else { [24, 512] };

/// A time at which the demand of contracts jumps or bends. No two points have the same time.
#[derive(Clone, Debug)]
struct Point {
    at: Instant,
    /// The slack here and up to the next point, beside that of the block. Blocking is not in it.
    slack: Line,
    /// How many contracts bend here.
    bends: u32,
    /// The largest packets of those that jump here, in nanobits, each with the number of contracts.
    packets: BTreeMap<i128, u32>,
    /// The largest packet that is due at this time, in nanobits; 0 where demand only bends.
    packet: i128,
}

impl Point {
    /// A contract jumps here by a packet, or bends without one.
    fn enter(&mut self, packet: Option<i128>) {
        *packet.map_or(&mut self.bends, |packet| self.packets.entry(packet).or_default()) += 1;
        self.packet = self.packet.max(packet.unwrap_or_default());
    }

    /// One that does so goes.
    fn leave(&mut self, packet: Option<i128>) {
        let Some(packet) = packet else { return self.bends -= 1 };
        if let Entry::Occupied(mut count) = self.packets.entry(packet) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        self.packet = self.packets.last_key_value().map_or(0, |(packet, _)| *packet);
    }

    fn is_empty(&self) -> bool {
        self.bends == 0 && self.packets.is_empty()
    }
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// By time.
    points: Vec<Point>,
    /// Is added to the slack of every point.
    common: Line,
    /// The least slack of any point without that, rounded down.
    least_slack: i128,
    /// The largest packet of all points, in nanobits.
    packet: i128,
    /// Whether times within are no whole nanoseconds.
    has_fractions: bool,
    /// Of the slack.
    hull: Hull,
    /// Of the slack less the packet of the block that may be on the link when an interval begins.
    hull_behind_own: Hull,
}

impl Block {
    fn rebuild(&mut self) {
        self.packet = self.points.iter().map(|point| point.packet).max().unwrap_or_default();
        self.has_fractions = self.points.iter().any(|point| !point.at.is_whole());
        let corner = |point: &Point| (point.at.whole, point.slack.floor(&point.at));
        let corners: Vec<_> = self.points.iter().map(corner).collect();
        self.least_slack = corners.iter().map(|(_, slack)| *slack).min().unwrap_or(i128::MAX);
        let blocking = later_packets(&self.points);
        let behind = corners.iter().zip(&blocking);
        self.hull_behind_own.rebuild(behind.map(|((time, slack), packet)| (*time, slack - packet)));
        self.hull.rebuild(corners.into_iter());
    }

    /// The first and the last time.
    fn ends(&self) -> Option<(&Instant, &Instant)> {
        Some((&self.points.first()?.at, &self.points.last()?.at))
    }

    /// Whether at all points at least `packet`, and what may be on the link of the block's own, is
    /// left of the slack beside another line.
    fn is_room(&self, line: Line, packet: i128) -> bool {
        let line = self.common + line;
        if self.is_ample(line, packet) {
            return true;
        }
        let is_room = |hull: &Hull, packet: i128| {
            let least = hull.least(line.rise).map_or(i128::MAX, |least| least + line.at_zero);
            let margin = self.margin(line.rise);
            match least.checked_sub(packet) {
                Some(left) if left < -margin => Some(false),
                Some(left) if left < margin => None,
                _ => Some(true),
            }
        };
        let behind_own =
            if self.packet > packet { is_room(&self.hull_behind_own, 0) } else { Some(true) };
        match (is_room(&self.hull, packet), behind_own) {
            (Some(true), Some(true)) => true,
            (Some(false), _) | (_, Some(false)) => false,
            _ => self.least(line, packet, |_| true) >= 0,
        }
    }

    /// Whether that holds already as the least slack of any point and the least of the line are
    /// enough, wherever they are.
    fn is_ample(&self, line: Line, packet: i128) -> bool {
        let Some((first, last)) = self.ends() else { return true };
        // Both are rounded down.
        let least = line.floor(first).min(line.floor(last)) - 1;
        self.least_slack.checked_add(least).is_some_and(|left| left >= packet.max(self.packet))
    }

    /// No less than the least of the slack beside the packet on the link, and hardly more.
    fn least_at_most(&self, packet: i128) -> i128 {
        let Line { at_zero, rise } = self.common;
        let [beside, behind_own] = [&self.hull, &self.hull_behind_own]
            .map(|hull| hull.least(rise).map_or(i128::MAX, |least| least + at_zero));
        beside.saturating_sub(packet).min(behind_own).saturating_add(self.margin(rise))
    }

    /// By how much slack and a line that rises like this may differ from what the hulls say: their
    /// corners are rounded down, in time and value.
    fn margin(&self, rise: i128) -> i128 {
        if self.has_fractions { rise.abs() + 1 } else { 0 }
    }

    /// The same beside a newcomer, from its deadline on.
    fn is_room_beside(&self, newcomer: &Demand, packet: i128) -> bool {
        let blocking = later_packets(&self.points);
        self.points.iter().zip(&blocking).all(|(point, own)| {
            newcomer.line(&point.at).is_none_or(|line| {
                (self.common + point.slack + -line).floor(&point.at) >= packet.max(*own)
            })
        })
    }

    /// The least that is left at some points of the slack and a line beside the packet on the link,
    /// rounded down. The line includes that of the block.
    fn least(&self, line: Line, packet: i128, is_meant: impl Fn(&Instant) -> bool) -> i128 {
        let blocking = later_packets(&self.points);
        let points = self.points.iter().zip(&blocking).filter(|(point, _)| is_meant(&point.at));
        let left =
            points.map(|(point, own)| (point.slack + line).floor(&point.at) - packet.max(*own));
        left.min().unwrap_or(i128::MAX)
    }
}

/// For each point the largest packet that is due at a later one.
fn later_packets(points: &[Point]) -> Vec<i128> {
    let mut packets = vec![0; points.len()];
    let mut later = 0;
    for (packet, point) in packets.iter_mut().zip(points).rev() {
        *packet = later;
        later = later.max(point.packet);
    }
    packets
}

/// A flow as the timeline sees it.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The work that may be due, from the deadline on.
    pub segments: Vec<Segment>,
    /// Its largest packet, in nanobits.
    pub packet: i128,
}

impl Demand {
    fn deadline(&self) -> &Instant {
        &self.segments[0].since
    }

    fn long_run(&self) -> &Line {
        &self.segments[self.segments.len() - 1].line
    }

    /// The times at which it changes, with its packet at the first one.
    fn changes(&self) -> impl Iterator<Item = (Instant, Option<i128>)> + '_ {
        let packets = core::iter::once(Some(self.packet)).chain(core::iter::repeat(None));
        self.segments.iter().map(|segment| segment.since).zip(packets)
    }

    /// The line at a time; none before the deadline.
    fn line(&self, at: &Instant) -> Option<Line> {
        let number = self.segments.partition_point(|segment| segment.since <= *at);
        Some(self.segments[number.checked_sub(1)?].line)
    }
}

/// The slack of a link, less what flows demand.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// The slack without any flow, in nanobits.
    link: Line,
    /// The packet of best effort that may always be on the link, in nanobits.
    blocking: i128,
    /// By time. None is empty.
    blocks: Vec<Block>,
    /// Of all blocks.
    points: usize,
}

impl Timeline {
    pub(super) fn new(link: Line, blocking: i128) -> Self {
        Timeline { link, blocking, blocks: Vec::new(), points: 0 }
    }

    /// Whether slack remains at all times beside one more flow.
    pub(super) fn is_room(&self, newcomer: &Demand) -> bool {
        (self.in_the_long_run() + -*newcomer.long_run()).rise >= 0
            && newcomer.segments.iter().all(|segment| {
                let (slack, packet) = self.at(&segment.since);
                (slack + -segment.line).floor(&segment.since) >= packet
            })
            && self.is_room_behind(newcomer)
            && self.is_room_before(newcomer)
    }

    /// The same at times from the newcomer's deadline on.
    fn is_room_behind(&self, newcomer: &Demand) -> bool {
        let mut packet = self.blocking;
        for block in self.blocks.iter().rev() {
            let Some((first, last)) = block.ends() else { continue };
            let is_room = match (newcomer.line(first), newcomer.line(last)) {
                (_, None) => break,
                (Some(line), Some(same)) if line == same => block.is_room(-line, packet),
                _ => block.is_room_beside(newcomer, packet),
            };
            if !is_room {
                return false;
            }
            packet = packet.max(block.packet);
        }
        true
    }

    /// The same before its deadline, where only its packet counts, which may be on the link.
    fn is_room_before(&self, newcomer: &Demand) -> bool {
        let mut packet = self.blocking;
        for block in self.blocks.iter().rev() {
            if packet >= newcomer.packet {
                return true;
            }
            let Some((first, last)) = block.ends() else { continue };
            let deadline = newcomer.deadline();
            let packets = packet.max(newcomer.packet);
            let is_room = if last < deadline {
                block.is_room(Line::default(), packets)
            } else if first < deadline {
                block.least(block.common, packets, |at| at < deadline) >= 0
            } else {
                true
            };
            if !is_room {
                return false;
            }
            packet = packet.max(block.packet);
        }
        true
    }

    /// The least slack at any time from this one on, in nanobits, rounded down.
    pub(super) fn least_from(&self, from: &Instant) -> Option<i128> {
        let blocks = || {
            let ends_before =
                |(block, _): &(&Block, i128)| block.ends().is_none_or(|(_, last)| last < from);
            self.with_later_packets().take_while(move |block| !ends_before(block))
        };
        let begins_later = |block: &Block| block.ends().is_some_and(|(first, _)| first >= from);
        let whole = blocks().filter(|(block, _)| begins_later(block));
        // Only blocks that may have less than this are walked.
        let mut least = whole.map(|(block, packet)| block.least_at_most(packet)).min();
        for (block, packet) in blocks() {
            let is_more = |least: i128| block.is_room(Line { at_zero: -least, rise: 0 }, packet);
            if !least.is_some_and(is_more) {
                let here = block.least(block.common, packet, |at| at >= from);
                least = Some(least.map_or(here, |least: i128| least.min(here)));
            }
        }
        least
    }

    /// The largest packet of any flow, or of best effort.
    pub(super) fn largest_packet(&self) -> i128 {
        self.with_later_packets()
            .last()
            .map_or(self.blocking, |(block, later)| later.max(block.packet))
    }

    /// The blocks from the last one back, each with the largest packet that is due behind it.
    fn with_later_packets(&self) -> impl Iterator<Item = (&Block, i128)> {
        self.blocks.iter().rev().scan(self.blocking, |packet, block| {
            let later = *packet;
            *packet = later.max(block.packet);
            Some((block, later))
        })
    }

    /// The slack at a time, and the largest packet that is due later.
    fn at(&self, at: &Instant) -> (Line, i128) {
        let number = self.block(at);
        let Some(block) = self.blocks.get(number) else { return (self.link, self.blocking) };
        let count = block.points.partition_point(|point| point.at <= *at);
        let later = block.points[count..].iter().map(|point| point.packet);
        let packets = self.blocks[number + 1..].iter().map(|block| block.packet);
        let packet = later.chain(packets).fold(self.blocking, i128::max);
        let slack = count.checked_sub(1).map(|last| block.points[last].slack + block.common);
        (slack.unwrap_or(self.link), packet)
    }

    /// The slack in the long run.
    fn in_the_long_run(&self) -> Line {
        let last =
            self.blocks.last().and_then(|block| Some(block.points.last()?.slack + block.common));
        last.unwrap_or(self.link)
    }

    /// A flow comes. If its contract `is_new`, no other has it.
    pub(super) fn add(&mut self, demand: &Demand, is_new: bool) {
        if is_new {
            for (at, packet) in demand.changes() {
                self.enter(at, packet);
            }
        }
        self.change(demand, |line| -line);
    }

    /// A flow goes. If its contract `is_last`, no other has it.
    pub(super) fn remove(&mut self, demand: &Demand, is_last: bool) {
        if is_last {
            for (at, packet) in demand.changes() {
                self.leave(&at, packet);
            }
            self.join();
        }
        self.change(demand, |line| line);
    }

    /// For how many times a block is meant. One of twice as many is split.
    fn block_size(&self) -> usize {
        let [least, most] = BLOCK;
        self.points.isqrt().clamp(least, most)
    }

    /// The number of the block for a time.
    fn block(&self, at: &Instant) -> usize {
        let begins = |block: &Block| block.points.first().is_some_and(|first| first.at <= *at);
        self.blocks.partition_point(begins).saturating_sub(1)
    }

    /// A contract jumps by a packet at a time, or bends without one.
    fn enter(&mut self, at: Instant, packet: Option<i128>) {
        let (slack, _) = self.at(&at);
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
        let (number, size) = (self.block(&at), self.block_size());
        let block = &mut self.blocks[number];
        let place = block.points.partition_point(|point| point.at < at);
        if block.points.get(place).is_none_or(|point| point.at != at) {
            let slack = slack + -block.common;
            block
                .points
                .insert(place, Point { at, slack, bends: 0, packets: BTreeMap::new(), packet: 0 });
            self.points += 1;
        }
        block.points[place].enter(packet);
        if block.points.len() >= 2 * size {
            let points = block.points.split_off(block.points.len() / 2);
            let mut second = Block { points, common: block.common, ..Block::default() };
            second.rebuild();
            self.blocks.insert(number + 1, second);
        }
        self.blocks[number].rebuild();
    }

    /// One that does so goes.
    fn leave(&mut self, at: &Instant, packet: Option<i128>) {
        let number = self.block(at);
        let Some(block) = self.blocks.get_mut(number) else { return };
        let Ok(place) = block.points.binary_search_by(|point| point.at.cmp(at)) else { return };
        block.points[place].leave(packet);
        if block.points[place].is_empty() {
            block.points.remove(place);
            self.points -= 1;
        }
        if block.points.is_empty() {
            self.blocks.remove(number);
        } else {
            block.rebuild();
        }
    }

    /// Joins neighbours that have become short.
    fn join(&mut self) {
        let size = self.block_size();
        let mut joined: Vec<Block> = Vec::with_capacity(self.blocks.len());
        for mut block in self.blocks.drain(..) {
            match joined.last_mut() {
                Some(last) if last.points.len() + block.points.len() <= size / 2 => {
                    let difference = block.common + -last.common;
                    block
                        .points
                        .iter_mut()
                        .for_each(|point| point.slack = point.slack + difference);
                    last.points.append(&mut block.points);
                    last.rebuild();
                }
                _ => joined.push(block),
            }
        }
        self.blocks = joined;
    }

    /// Changes the slack from the demand's deadline on.
    fn change(&mut self, demand: &Demand, change: impl Fn(Line) -> Line) {
        let first = self.blocks.partition_point(|block| {
            block.points.last().is_some_and(|last| last.at < *demand.deadline())
        });
        for block in &mut self.blocks[first..] {
            match block.ends().map(|(first, last)| (demand.line(first), demand.line(last))) {
                Some((Some(line), Some(same))) if line == same => {
                    block.common = block.common + change(line);
                }
                _ => {
                    for point in &mut block.points {
                        if let Some(line) = demand.line(&point.at) {
                            point.slack = point.slack + change(line);
                        }
                    }
                    block.rebuild();
                }
            }
        }
    }
}
