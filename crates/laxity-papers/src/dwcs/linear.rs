//! DWCS on linear lists: what the paper holds its two heaps against (Fig. 5a).

use std::cmp::{Ordering, Reverse};
use std::collections::VecDeque;

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity::window::Loss;

use super::streams::{CLASSES, Load, loss};

/// Streams in a list, in which both the next one and the late ones are looked for from end to end.
/// Late packets are sent, and streams that violate their tolerance are favoured (method 1).
pub(super) struct LinearList {
    gap: u64,
    streams: Vec<Stream>,
    arrivals: u64,
    backlog: Backlog,
}

struct Stream {
    loss: Loss,
    /// x' and y'.
    lost: u64,
    of: u64,
    deadline: u64,
    packets: VecDeque<(u64, Packet)>,
}

impl LinearList {
    /// The paper's streams.
    pub(super) fn new(load: Load) -> LinearList {
        let stream = |stream: u32| {
            let loss = loss((stream % CLASSES) as usize);
            let (lost, of) = (loss.lost().into(), loss.window().into());
            Stream { loss, lost, of, deadline: 0, packets: VecDeque::new() }
        };
        LinearList {
            gap: load.gap,
            streams: (0..load.streams).map(stream).collect(),
            arrivals: 0,
            backlog: Backlog::default(),
        }
    }
}

impl Scheduler for LinearList {
    fn enqueue(&mut self, now: Nanos, packet: Packet, _: &mut dyn DropSink) {
        let stream = &mut self.streams[(packet.flow.0 * CLASSES + packet.class.0) as usize];
        if stream.packets.is_empty() {
            stream.deadline = stream.deadline.max(now.0) + self.gap;
        }
        self.arrivals += 1;
        stream.packets.push_back((self.arrivals, packet));
        self.backlog.add(packet.length);
    }

    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        for stream in &mut self.streams {
            while !stream.packets.is_empty() && stream.deadline < now.0 {
                stream.miss();
                stream.deadline += self.gap;
            }
        }
        let backlogged = self.streams.iter_mut().filter(|stream| !stream.packets.is_empty());
        let stream = backlogged.min_by(|a, b| a.precedence(b))?;
        let deadline = Some(Nanos(stream.deadline));
        let (_, packet) = stream.packets.pop_front()?;
        stream.serve();
        if !stream.packets.is_empty() {
            stream.deadline += self.gap;
        }
        self.backlog.remove(packet.length);
        Some(Dispatch { packet, deadline, criterion: Criterion::WindowConstraint })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.streams.capacity() * size_of::<Stream>()
    }
}

impl Stream {
    /// Table 1.
    fn precedence(&self, other: &Stream) -> Ordering {
        let first_come = || self.arrival().cmp(&other.arrival());
        let earliest_deadline = || self.deadline.cmp(&other.deadline);
        match (self.lost, other.lost) {
            (0, 0) if self.of == 0 && other.of == 0 => earliest_deadline().then_with(first_come),
            // No tolerance and no packets left counts as the least of what is to come.
            (0, 0) => Reverse(self.of).cmp(&Reverse(other.of)).then_with(first_come),
            (0, _) => Ordering::Less,
            (_, 0) => Ordering::Greater,
            _ => (self.lost * other.of)
                .cmp(&(other.lost * self.of))
                .then_with(earliest_deadline)
                .then(self.lost.cmp(&other.lost))
                .then_with(first_come),
        }
    }

    fn arrival(&self) -> Option<u64> {
        self.packets.front().map(|(arrival, _)| *arrival)
    }

    /// Rule (A).
    fn serve(&mut self) {
        if self.of > self.lost {
            self.of -= 1;
        }
        self.renew();
    }

    /// Rules (B) and (C).
    fn miss(&mut self) {
        if self.lost > 0 {
            self.lost -= 1;
            self.of -= 1;
            self.renew();
        } else {
            self.lost = 2 * u64::from(self.loss.lost()) - 1;
            self.of += 2 * u64::from(self.loss.window()) - 1;
        }
    }

    fn renew(&mut self) {
        if (self.lost, self.of) == (0, 0) {
            (self.lost, self.of) = (self.loss.lost().into(), self.loss.window().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ordered_structures_serve_the_same() {
        for streams in [160, 480, 560] {
            let load = Load { streams, gap: 500 };
            let (mut by_list, mut fast) = (Vec::new(), Vec::new());
            load.serve(&mut LinearList::new(load), 1, 30_000, |served| by_list.push(served.stream));
            load.serve(&mut load.dwcs(1), 1, 30_000, |served| fast.push(served.stream));
            assert_eq!(by_list, fast, "{streams} streams");
        }
    }
}
