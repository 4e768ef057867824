//! The tracks of an output.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laxity::units::Nanos;

use super::writer::{NamedEvent, TraceWriter, TrackId};

/// The tracks of an output, a group. A track begins with the first event on it.
pub(super) struct Tracks {
    group: TrackId,
    /// By kind.
    instants: [Option<TrackId>; InstantKind::ALL.len()],
    lanes: Lanes,
}

/// A kind of instants, which have a track of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstantKind {
    Arrivals,
    Received,
    Deadlines,
    Missed,
    Drops,
    Marks,
}

impl InstantKind {
    const ALL: [(InstantKind, &str); 6] = [
        (InstantKind::Arrivals, "arrivals"),
        (InstantKind::Received, "received"),
        (InstantKind::Deadlines, "deadlines"),
        (InstantKind::Missed, "missed deadlines"),
        (InstantKind::Drops, "drops"),
        (InstantKind::Marks, "congestion marks"),
    ];
}

/// Tracks of slices that do not overlap. There is one, unless every flow has such a link to itself.
#[derive(Default)]
struct Lanes {
    tracks: Vec<TrackId>,
    /// When the last slice of a track ends, and the place of that track.
    ends: BinaryHeap<Reverse<(Nanos, usize)>>,
}

impl Tracks {
    pub(super) fn new(name: String, writer: &mut TraceWriter<'_>) -> Self {
        let group = writer.group(name);
        Tracks { group, instants: Default::default(), lanes: Lanes::default() }
    }

    /// The group.
    pub(super) fn group(&self) -> TrackId {
        self.group
    }

    /// Writes a transmission.
    pub(super) fn transmission(
        &mut self,
        times: [Nanos; 2],
        event: NamedEvent,
        writer: &mut TraceWriter<'_>,
    ) {
        let track = self.lanes.track(times, |lanes| {
            let number = if lanes == 0 { String::new() } else { format!(" {}", lanes + 1) };
            writer.track(self.group, 0, format!("transmissions{number}"))
        });
        writer.slice(track, times, event);
    }

    /// Writes an instant.
    pub(super) fn instant(
        &mut self,
        kind: InstantKind,
        time: Nanos,
        event: NamedEvent,
        writer: &mut TraceWriter<'_>,
    ) {
        let (_, name) = InstantKind::ALL[kind as usize];
        let track = *self.instants[kind as usize]
            .get_or_insert_with(|| writer.track(self.group, kind as u32 + 1, name.to_owned()));
        writer.instant(track, time, event);
    }
}

impl Lanes {
    /// The track that is free first, or a new one if none is free.
    fn track(&mut self, [start, end]: [Nanos; 2], begin: impl FnOnce(usize) -> TrackId) -> TrackId {
        let lane = match self.ends.peek() {
            Some(&Reverse((free_at, lane))) if free_at <= start => {
                self.ends.pop();
                lane
            }
            _ => {
                self.tracks.push(begin(self.tracks.len()));
                self.tracks.len() - 1
            }
        };
        self.ends.push(Reverse((end, lane)));
        self.tracks[lane]
    }
}
