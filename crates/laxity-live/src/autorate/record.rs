//! What is kept of a rate that is found, second by second.

use std::collections::VecDeque;
use std::sync::Arc;

use laxity::autorate::{Second, Seconds};
use laxity::units::{Nanos, Rate};
use laxity_forward::Event;
use laxity_plan::Plan;

use super::FoundRate;
use crate::status::{RateSecondStatus, RateStatus};

/// How many seconds are remembered.
const REMEMBERED: usize = 600;

/// The account of a direction whose rate is found.
pub(crate) struct RateRecord {
    found: FoundRate,
    seconds: Seconds,
    rate: Rate,
    rule: &'static str,
    range: [Rate; 2],
    last: VecDeque<Second>,
    kept: u64,
    missed: u64,
}

impl RateRecord {
    /// An account that begins now; `None` for a plan whose rate is known.
    pub(crate) fn new(plan: &Plan, found: FoundRate, now: Nanos) -> Option<RateRecord> {
        let settings = plan.link.autorate.as_ref()?.settings;
        let bounds = Arc::new(plan.bounds_by_rate()?);
        let rate = plan.link.rate;
        Some(RateRecord {
            found,
            seconds: Seconds::new(bounds, plan.classes.len(), settings.allowance(), rate, now),
            rate,
            rule: settings.rule.name(),
            range: [settings.from, settings.to],
            last: VecDeque::new(),
            kept: 0,
            missed: 0,
        })
    }

    /// Something happened.
    pub(crate) fn add(&mut self, event: &Event) {
        match event {
            Event::Sent(sent) => {
                self.go_on(sent.start);
                let queueing = self.found.queueing();
                self.seconds.queues(queueing);
                // What was late for other reasons is judged elsewhere.
                let delay = sent.delay().saturating_sub(sent.late());
                let delay = delay.saturating_add(queueing);
                self.seconds.sends(sent.packet.class, delay, sent.packet.length);
            }
            Event::Rate { time, rate } => {
                self.go_on(*time);
                self.seconds.set_rate(*time, *rate);
                self.rate = *rate;
            }
            Event::Arrived(_)
            | Event::Nonconforming { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Dropped(_)
            | Event::Idle { .. }
            | Event::Reloaded { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => {}
        }
    }

    /// Closes the seconds that are over.
    pub(crate) fn go_on(&mut self, now: Nanos) {
        while let Some(second) = self.seconds.next(now) {
            self.kept += u64::from(second.holds == Some(true));
            self.missed += u64::from(second.holds == Some(false));
            if self.last.len() == REMEMBERED {
                self.last.pop_front();
            }
            self.last.push_back(second);
        }
    }

    /// What is shown of it.
    pub(crate) fn status(&self) -> RateStatus {
        let [from, to] = self.range;
        let second = |second: &Second| RateSecondStatus {
            least_bps: second.least.0,
            mean_bps: second.mean.0,
            sent_bps: second.carried * 8,
            queueing_ns: second.queueing.0,
            holds: second.holds,
        };
        RateStatus {
            rule: self.rule.to_string(),
            from_bps: from.0,
            to_bps: to.0,
            rate_bps: self.rate.0,
            queueing_ns: self.found.queueing().0,
            answers: self.found.answers(),
            seconds_kept: self.kept,
            seconds_missed: self.missed,
            last: self.last.back().map(second),
        }
    }
}
