//! What is shown, and how.

use laxity_live::status::interval::{DelayQuantiles, Interval};
use laxity_live::status::{ClassStatus, Delayer, Status, WayStatus};

use super::columns::COLUMNS;
use super::poller::Reply;

/// What is shown, and how.
pub(super) struct State {
    now: Status,
    before: Option<Status>,
    /// Whether delays of all packets are shown, instead of those of the last interval.
    pub of_all: bool,
    /// The place of the column that classes are ordered by; without one they stand as in the plan.
    pub order: Option<usize>,
    /// The place in [`COUNTS`](super::talkers::COUNTS) of how many hosts and flows are shown.
    pub talkers: usize,
    /// How many lines have been scrolled past.
    pub scrolled: usize,
    /// Whether it asks if it is to reload.
    pub asks: bool,
    /// What there is to say.
    pub message: Option<String>,
    /// Whether nobody answers.
    pub gone: bool,
}

/// A class as it is shown.
pub(super) struct Row<'s> {
    pub class: &'s ClassStatus,
    pub rate_bps: f64,
    pub delay: Option<DelayQuantiles>,
    /// What delayed it since the status before.
    pub delayers: Vec<Delayer>,
}

impl State {
    /// As the link is now.
    pub(super) fn new(now: Status) -> Self {
        State {
            now,
            before: None,
            of_all: false,
            order: None,
            talkers: 0,
            scrolled: 0,
            asks: false,
            message: None,
            gone: false,
        }
    }

    /// Takes note of what was heard.
    pub(super) fn hear(&mut self, heard: Reply) {
        match heard {
            Reply::Status(status) => {
                if self.gone {
                    (self.gone, self.message) = (false, None);
                }
                self.before = Some(std::mem::replace(&mut self.now, *status));
            }
            Reply::Reloaded(Ok(())) => self.message = Some("The plan is reloaded.".into()),
            Reply::Reloaded(Err(why)) => {
                // Of what `laxity check` says the line that says why.
                let lines = || why.lines().filter(|line| !line.trim().is_empty());
                let why = lines().find(|line| line.contains("ADMITTED")).or(lines().next());
                self.message =
                    Some(format!("The plan is not reloaded: {}", why.unwrap_or_default()));
            }
            Reply::Gone(error) => {
                (self.gone, self.asks) = (true, false);
                self.message = Some(format!("{error}; this is what was last heard"));
            }
        }
    }

    /// What was heard last.
    pub(super) fn status(&self) -> &Status {
        &self.now
    }

    /// The classes of a direction, in order.
    pub(super) fn rows<'s>(&'s self, way: &'s WayStatus) -> Vec<Row<'s>> {
        let mut rows: Vec<Row<'_>> = way.classes.iter().map(|class| self.row(way, class)).collect();
        if let Some(order) = self.order {
            rows.sort_by(|a, b| COLUMNS[order].compare(a, b));
        }
        rows
    }

    fn row<'s>(&self, way: &WayStatus, class: &'s ClassStatus) -> Row<'s> {
        let before = self.before.as_ref().filter(|before| before.uptime_ns < self.now.uptime_ns);
        let since = before.map_or(0, |before| before.uptime_ns);
        let ways = before.into_iter().flat_map(|before| &before.ways);
        let classes =
            ways.filter(|before| before.way == way.way).flat_map(|before| &before.classes);
        let same = classes.into_iter().find(|before| before.name == class.name);
        let Interval { rate_bps, delay } =
            Interval::between(same, class, self.now.uptime_ns.saturating_sub(since));
        let all = class.delay_ns.as_ref().map(|all| DelayQuantiles {
            p50: all.p50,
            p99: all.p99,
            max: all.max,
        });
        // What has been counted before someone asked is of some other time.
        let waits = same.and_then(|same| same.waits.as_ref()).zip(class.waits.as_ref());
        let delayers = waits.map_or_else(Vec::new, |(before, now)| now.since(Some(before)));
        Row { class, rate_bps, delay: if self.of_all { all } else { delay }, delayers }
    }
}
