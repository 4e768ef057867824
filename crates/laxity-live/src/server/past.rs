//! What a link was like in the last minutes, for who comes to see it now: what charts draw, and no
//! more.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::status::{ClassStatus, DelayStatus, Status, WayStatus};

/// How far back charts go.
pub(super) const SPAN: Duration = Duration::from_secs(300);
/// So often it is noted.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// As many classes of a way have a line: those whose colours everybody tells apart.
pub(super) const LINES: usize = 7;

/// The last minutes, oldest first.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Past {
    moments: VecDeque<Moment>,
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
            self.moments.clear();
        } else if status.uptime_ns == last && !self.moments.is_empty() {
            return;
        }
        self.moments.push_back(Moment::new(status));
        let most = (SPAN.as_secs() / EVERY.as_secs()) as usize;
        let is_old = |then: &Moment| status.uptime_ns - then.uptime_ns > SPAN.as_nanos() as u64;
        while self.moments.len() > most || self.moments.front().is_some_and(is_old) {
            self.moments.pop_front();
        }
    }
}

impl Moment {
    fn new(status: &Status) -> Moment {
        let delay = |delay: &DelayStatus| {
            let DelayStatus { count, max, at_most, .. } = delay.clone();
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
        (1..=1000).for_each(|now| past.note(&at(now * second)));
        assert_eq!(past.moments.len() as u64, SPAN.as_secs());
        assert_eq!(past.moments[0].uptime_ns, 701 * second);
        assert!(past.moments.iter().all(|then| then.ways[0].classes.len() == LINES));
        past.note(&at(1000 * second));
        assert_eq!(past.moments.len() as u64, SPAN.as_secs(), "the same once more");
        past.note(&at(1400 * second));
        assert_eq!(past.moments.len(), 1, "all else is too old");
        past.note(&at(second));
        assert_eq!(past.moments[0].uptime_ns, second, "it was started anew");
    }
}
