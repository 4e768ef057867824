//! The packets of a class around which a timeline is kept.

use laxity::units::Nanos;

/// Drops around which a timeline is kept, of each class.
const DROPS: usize = 3;

/// The slowest packets of a class, and its first drops.
#[derive(Clone, Debug)]
pub(super) struct ClassHighlights {
    most: usize,
    /// The slowest packets, the slowest one first: their numbers, and from when to when they were
    /// under way.
    slowest: Vec<(u64, [Nanos; 2])>,
    /// From the arrivals of dropped packets to their drops.
    drops: Vec<[Nanos; 2]>,
}

impl ClassHighlights {
    /// No packet yet. At most `most` of the slowest packets are highlights.
    pub(super) fn new(most: usize) -> Self {
        ClassHighlights { most, slowest: Vec::new(), drops: Vec::new() }
    }

    /// A packet was under way at this time.
    pub(super) fn sent(&mut self, number: u64, time: [Nanos; 2]) {
        let delay = |[from, to]: [Nanos; 2]| to - from;
        let place = self.slowest.partition_point(|(_, other)| delay(*other) >= delay(time));
        if place < self.most {
            self.slowest.truncate(self.most - 1);
            self.slowest.insert(place, (number, time));
        }
    }

    /// A packet waited at this time, and was dropped.
    pub(super) fn dropped(&mut self, time: [Nanos; 2]) {
        if self.drops.len() < DROPS {
            self.drops.push(time);
        }
    }

    /// The numbers of the slowest packets, the slowest one first.
    pub(super) fn slowest(&self) -> Vec<u64> {
        self.slowest.iter().map(|(number, _)| *number).collect()
    }

    /// How important a stretch of time is: 0 if the slowest packet was under way in it, then 1.
    pub(super) fn rank(&self, [from, to]: [Nanos; 2]) -> Option<usize> {
        let overlaps = |time: &[Nanos; 2]| time[0] <= to && from <= time[1];
        let slow = self.slowest.iter().position(|(_, time)| overlaps(time));
        let drop = self.drops.iter().position(overlaps);
        slow.into_iter().chain(drop).min()
    }
}
