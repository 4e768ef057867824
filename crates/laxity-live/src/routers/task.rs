//! What a process does with routers: keeps books, writes files, follows plans.

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::Settings;
use laxity_forward::router::{Renumbering, Router};
use laxity_linux::clock::Clock;
use laxity_plan::Plan;
use laxity_plan::model::NodeId;
use laxity_plan::tdp::NetworkAnalysis;

use super::measurement::{FrameRecord, HostEvent, NetworkMeasurement};
use crate::archive::PastAnswer;
use crate::error::LiveError;
use crate::file::Capture;
use crate::process::{Keeper, Results, Task};
use crate::status::history::{History, OverTime};
use crate::status::{NetworkStatus, PastSpan, WayStatus};
use crate::worker::{Counts, Reports};
use crate::workers::Workers;

#[cfg(test)]
mod tests;

/// The books and files of routers.
pub(crate) struct RouterTask {
    /// The nodes that are run here.
    nodes: Vec<String>,
    reports: Reports<HostEvent>,
    capture: Option<Capture>,
    period: Period,
    /// What follows, until it is heard that the routers follow its plan.
    next: Option<Period>,
    /// Whether what is measured goes on then.
    keeps_books: bool,
    /// Whether that may have been among events that were lost.
    is_lost: bool,
}

/// What is measured while a plan is followed.
pub(super) struct Period {
    pub(super) plan: Plan,
    pub(super) measured: NetworkMeasurement,
    pub(super) since: Nanos,
    sent: OverTime,
}

/// A plan that was read again and proved, with the routers that follow it.
pub(crate) struct Next {
    plan: Plan,
    routers: Vec<Router>,
    measured: NetworkMeasurement,
}

impl Next {
    /// Routers at these nodes, by their places in the network, that follow a plan.
    pub(crate) fn new(plan: Plan, nodes: &[NodeId], settings: Settings) -> Result<Next, String> {
        let on = plan.network_plan().ok_or_else(|| LiveError::OneLink.to_string())?.analysis();
        let routers = nodes.iter().map(|node| Router::new(&on, *node, settings));
        let routers = routers.collect::<Result<_, _>>().map_err(|why| why.to_string())?;
        let measured = NetworkMeasurement::new(&on);
        Ok(Next { routers, measured, plan })
    }
}

impl RouterTask {
    /// Empty books of routers at these nodes.
    pub(crate) fn new(
        on: &NetworkAnalysis<'_>,
        nodes: Vec<String>,
        reports: Reports<HostEvent>,
        capture: Option<Capture>,
    ) -> Self {
        let period = Period::new(on.plan.clone(), NetworkMeasurement::new(on));
        let (next, keeps_books, is_lost) = (None, false, false);
        RouterTask { nodes, reports, capture, period, next, keeps_books, is_lost }
    }

    /// Counts what has happened since the last call. Returns the period that is over, if one is.
    fn count(&mut self) -> Option<Period> {
        let RouterTask { reports, period, next, keeps_books, is_lost, capture, .. } = self;
        let mut last = None;
        reports.read(|report| {
            *is_lost |= report.lost_before > 0 && next.is_some();
            if *report.event == HostEvent::Reloaded {
                last = period.give_way(next, *keeps_books);
                *is_lost = false;
            }
            // Nobody knows which plan's numbers these are.
            if *is_lost {
                return;
            }
            period.measured.add(report.event);
            if let (HostEvent::Frame(record), Some(capture)) = (report.event, &mut *capture) {
                let (port, comment) = (record.port.index(), comment(record, &period.plan));
                capture.frame(port, record.time, report.frame, &comment);
            }
        });
        period.note();
        last
    }

    fn hand_over(&self, period: &Period, counts: &Counts, keeper: &mut dyn Keeper) {
        let Period { plan, measured, sent, .. } = period;
        keeper.ended(&Results {
            plan,
            way: period.way(counts),
            network: Some(period.network(counts, self.nodes.clone())),
            history: History::new(plan, sent, |id| &measured.classes[id.index()].delay),
        });
    }
}

impl Task for RouterTask {
    type Next = Next;
    type Plan = Vec<Router>;

    const PATIENCE: Nanos = Nanos(1_000_000_000);

    fn read(&mut self, keeper: &mut dyn Keeper) {
        self.count();
        if let Some(capture) = &mut self.capture {
            capture.hand_over(keeper);
        }
    }

    fn status(&mut self, counts: &Counts) -> (Vec<WayStatus>, Option<NetworkStatus>) {
        let network = self.period.network(counts, self.nodes.clone());
        (vec![self.period.way(counts)], Some(network))
    }

    fn lost(&self) -> u64 {
        self.reports.lost
    }

    fn reload(
        &mut self,
        Next { plan, routers, measured }: Next,
        workers: &Workers<Self::Plan>,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String> {
        let keeps_books = std::mem::take(&mut self.keeps_books);
        // The results of the plan that ends now show what is queued.
        let counts = workers.counts().map_err(|stopped| stopped.to_string())?;
        self.count();
        self.keeps_books = keeps_books;
        self.next = Some(Period::new(plan, measured));
        let followed = workers.reload([routers]).map_err(|error| error.to_string());
        let last = self.count();
        let mut next = self.next.take().filter(|_| followed.is_ok());
        // Unless that was lost.
        let last = last.or_else(|| self.period.give_way(&mut next, keeps_books));
        (self.keeps_books, self.is_lost) = (false, false);
        match last {
            Some(last) if keeps_books => last.farewells(&self.period, keeper),
            Some(last) => self.hand_over(&last, &counts, keeper),
            None => {}
        }
        followed
    }

    fn keep_books(&mut self) {
        self.keeps_books = true;
    }

    fn past(&mut self, _: PastSpan, _: u64, answer: PastAnswer) {
        // Routers have no history. Who asked may have gone.
        let _ = answer.send(None);
    }

    fn end(self, counts: &Counts, keeper: &mut dyn Keeper) {
        self.hand_over(&self.period, counts, keeper);
        if let Some(capture) = self.capture {
            capture.finish(keeper);
        }
    }
}

impl Period {
    fn new(plan: Plan, measured: NetworkMeasurement) -> Self {
        let since = Clock::Monotonic.now();
        Period { plan, measured, since, sent: OverTime::new(since) }
    }

    /// Gives way to the next period, if there is one, and returns the last one. What was measured
    /// of classes that stay goes on if books are kept.
    fn give_way(&mut self, next: &mut Option<Period>, keeps_books: bool) -> Option<Period> {
        let next = next.take()?;
        self.note();
        let last = std::mem::replace(self, next);
        if keeps_books {
            self.go_on(&last);
        }
        Some(last)
    }

    /// Goes on with what was measured in the last period of classes of the same names.
    fn go_on(&mut self, last: &Period) {
        let numbers = Renumbering::new(&last.plan, &self.plan);
        self.measured.go_on(&last.measured, &numbers);
        let before: HashMap<ClassId, ClassId> =
            numbers.stay().map(|[before, now]| (now, before)).collect();
        let leaves: HashMap<ClassId, usize> =
            last.plan.leaves().map(|(id, _)| id).zip(0..).collect();
        let place = |id| leaves.get(before.get(&id)?).copied();
        let places: Vec<_> = self.plan.leaves().map(|(id, _)| place(id)).collect();
        self.sent = last.sent.of_classes(&places);
        self.since = last.since;
    }

    /// Says what became of classes that are not in the next period.
    fn farewells(&self, next: &Period, keeper: &mut dyn Keeper) {
        let status = self.way(&Counts::default());
        for class in Renumbering::new(&self.plan, &next.plan).leave() {
            let name = &self.plan.classes[class.index()].name;
            if let Some(class) = status.classes.iter().find(|class| class.name == *name) {
                keeper.say(&class.farewell());
            }
        }
    }

    fn note(&mut self) {
        let bytes = self.plan.leaves().map(|(id, _)| self.measured.classes[id.index()].bytes);
        self.sent.note(Clock::Monotonic.now(), bytes);
    }
}

fn comment(record: &FrameRecord, plan: &Plan) -> String {
    let FrameRecord { class, delay, dropped, is_demoted, is_late, .. } = *record;
    let class = &plan.classes[class.index()].name;
    if let Some(reason) = dropped {
        return format!("class {class}, dropped after {delay}: {}", reason.name());
    }
    let more = [(is_late, ", after its frame"), (is_demoted, ", demoted")];
    let more = more.into_iter().filter(|(is, _)| *is).map(|(_, what)| what);
    format!("class {class}, delay {delay}") + &more.collect::<String>()
}
