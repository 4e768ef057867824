//! What a link was like in the last hour, for who comes to see it now: what charts draw, and no
//! more.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::status::{ClassStatus, DelayStatus, Status, WayStatus};

/// How far back charts go.
pub(super) const SPAN: Duration = Duration::from_secs(3600);
/// How far back every moment is kept.
pub(super) const FINE: Duration = Duration::from_secs(300);
/// The time between those that are kept of what was before.
pub(super) const SPARSE: Duration = Duration::from_secs(10);
/// So often it is noted.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// As many classes of a way have a line: those whose colours everybody tells apart.
pub(super) const LINES: usize = 7;

/// The last hour, oldest first.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Past {
    moments: VecDeque<Moment>,
    /// How many of the first are those that are left of what was before the last minutes.
    #[serde(skip)]
    sparse: usize,
}

/// A part of a [`Status`], under the same names.
#[derive(Serialize)]
struct Moment {
    uptime_ns: u64,
    ways: Vec<Way>,
}

#[derive(Serialize)]
struct Way {
    way: String,
    classes: Vec<Class>,
}

#[derive(Serialize)]
struct Class {
    name: String,
    sent: u64,
    bytes_sent: u64,
    delay_ns: Option<Delay>,
}

#[derive(Serialize)]
struct Delay {
    count: u64,
    max: u64,
    at_most: Vec<u64>,
}

impl Past {
    /// Adds a moment later than the last one. Before a start there is nothing.
    pub(super) fn note(&mut self, status: &Status) {
        let last = self.moments.back().map_or(0, |last| last.uptime_ns);
        if status.uptime_ns < last {
            (self.moments, self.sparse) = Default::default();
        } else if status.uptime_ns == last && !self.moments.is_empty() {
            return;
        }
        self.moments.push_back(Moment::new(status));
        let is_older = |then: &Moment, span: Duration| {
            status.uptime_ns - then.uptime_ns > span.as_nanos() as u64
        };
        while self.moments.front().is_some_and(|first| is_older(first, SPAN)) {
            self.moments.pop_front();
            self.sparse = self.sparse.saturating_sub(1);
        }
        let most = (FINE.as_secs() / EVERY.as_secs()) as usize;
        while let Some(next) = self.moments.get(self.sparse)
            && (self.moments.len() - self.sparse > most || is_older(next, FINE))
        {
            let before = self.sparse.checked_sub(1).map(|last| &self.moments[last]);
            let gap = |before: &Moment| next.uptime_ns - before.uptime_ns;
            if before.is_none_or(|before| gap(before) >= SPARSE.as_nanos() as u64) {
                self.sparse += 1;
            } else {
                self.moments.remove(self.sparse);
            }
        }
    }
}

impl Moment {
    fn new(status: &Status) -> Moment {
        let delay = |delay: &DelayStatus| {
            let &DelayStatus { count, max, ref at_most, .. } = delay;
            // Behind the edge below which all are, nothing is new.
            let all = at_most.partition_point(|below| *below < count);
            let at_most = at_most.iter().take(all + 1).copied().collect();
            Delay { count, max, at_most }
        };
        let class = |class: &ClassStatus| Class {
            name: class.name.clone(),
            sent: class.sent,
            bytes_sent: class.bytes_sent,
            delay_ns: class.delay_ns.as_ref().map(delay),
        };
        let way = |way: &WayStatus| Way {
            way: way.way.clone(),
            classes: way.classes.iter().take(LINES).map(class).collect(),
        };
        Moment { uptime_ns: status.uptime_ns, ways: status.ways.iter().map(way).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(uptime_ns: u64) -> Status {
        let class = |at: usize| ClassStatus {
            name: format!("class-{at}"),
            arrived: 1,
            sent: 1,
            dropped: Default::default(),
            nonconforming: 0,
            demoted: None,
            queued: None,
            bytes_sent: 100,
            delay_ns: None,
            deadline_ns: None,
            deadline_misses: 0,
            bound_ns: None,
            bound_misses: 0,
            broken: 0,
            forfeit: false,
            waits: None,
            second: None,
            watched: None,
        };
        Status {
            orders: Default::default(),
            promised: None,
            version: String::new(),
            uptime_ns,
            real_time: None,
            reloads: None,
            reloads_refused: None,
            events_lost: None,
            connections_unheard: None,
            interfaces: Vec::new(),
            ways: vec![WayStatus {
                way: "out".into(),
                title: None,
                scheduler: "edf".into(),
                rate_bps: 1,
                found: None,
                late: None,
                held_ns: None,
                held_up: false,
                wire: None,
                broken: 0,
                watched: None,
                talkers: None,
                advice: None,
                moments: Vec::new(),
                classes: (0..1000).map(class).collect(),
            }],
            network: None,
        }
    }

    #[test]
    fn it_has_an_end_however_long_and_of_whatever_is_noted() {
        let mut past = Past::default();
        let second = 1_000_000_000;
        (1..=8000).for_each(|now| past.note(&at(now * second)));
        let times: Vec<u64> = past.moments.iter().map(|then| then.uptime_ns / second).collect();
        let most = FINE.as_secs() + (SPAN - FINE).as_secs() / SPARSE.as_secs();
        assert!(times.len() as u64 <= most + 1, "{}", times.len());
        assert!(times[0] - (8000 - SPAN.as_secs()) < SPARSE.as_secs(), "{times:?}");
        let (before, last) = times.split_at(past.sparse);
        assert!(before.windows(2).all(|two| two[1] - two[0] == SPARSE.as_secs()), "{before:?}");
        assert!(last.windows(2).all(|two| two[1] - two[0] == 1) && last.len() as u64 == 300);
        assert!(last[0] - before[before.len() - 1] <= SPARSE.as_secs());
        assert!(past.moments.iter().all(|then| then.ways[0].classes.len() == LINES));
        past.note(&at(8000 * second));
        assert_eq!(past.moments.len(), times.len(), "the same once more");
        past.note(&at(12_000 * second));
        assert_eq!((past.moments.len(), past.sparse), (1, 0), "all else is too old");
        past.note(&at(second));
        assert_eq!(past.moments[0].uptime_ns, second, "it was started anew");
    }
}
