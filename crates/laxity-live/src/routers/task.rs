//! What a process does with routers: keeps books, writes files, follows plans.

use laxity::units::Nanos;
use laxity_forward::Settings;
use laxity_forward::router::{Router, agree};
use laxity_linux::clock::Clock;
use laxity_plan::Plan;
use laxity_plan::model::NodeId;
use laxity_plan::tdp::NetworkAnalysis;

use super::measurement::{FrameRecord, HostEvent, NetworkMeasurement};
use crate::archive::PastAnswer;
use crate::error::LiveError;
use crate::file::Capture;
use crate::process::{Keeper, PlanText, Results, Task};
use crate::status::history::{History, OverTime};
use crate::status::{NetworkStatus, PastSpan, WayStatus};
use crate::worker::{Counts, Reports};
use crate::workers::Workers;

/// The books and files of routers.
pub(crate) struct RouterTask {
    /// The nodes that are run here.
    nodes: Vec<String>,
    reports: Reports<HostEvent>,
    capture: Option<Capture>,
    period: Period,
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
    /// Routers at these nodes, by their places in the network.
    pub(crate) fn new(
        read: Result<PlanText, String>,
        nodes: &[NodeId],
        settings: Settings,
    ) -> Result<Next, String> {
        let plan = read?.plan;
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
        RouterTask { nodes, reports, capture, period }
    }

    fn count(&mut self) {
        let RouterTask { reports, period, capture, .. } = self;
        reports.read(|report| {
            period.measured.add(report.event);
            if let (HostEvent::Frame(record), Some(capture)) = (report.event, &mut *capture) {
                let (port, comment) = (record.port.index(), comment(record, &period.plan));
                capture.frame(port, record.time, report.frame, &comment);
            }
        });
        period.note();
    }

    fn hand_over(&self, counts: &Counts, keeper: &mut dyn Keeper) {
        let Period { plan, measured, sent, .. } = &self.period;
        keeper.ended(&Results {
            plan,
            way: self.period.way(counts),
            network: Some(self.period.network(counts, self.nodes.clone())),
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

    /// Reloads the plan, if every change in it is local to this host.
    fn reload(
        &mut self,
        Next { plan, routers, measured }: Next,
        workers: &Workers<Self::Plan>,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String> {
        agree(&self.period.plan, &plan).map_err(|why| {
            format!("{why}, which all routers change at once: start them again with the new plan")
        })?;
        workers.reload([routers]).map_err(|error| error.to_string())?;
        let counts = workers.counts().map_err(|stopped| stopped.to_string())?;
        self.count();
        self.hand_over(&counts, keeper);
        self.period = Period::new(plan, measured);
        Ok(())
    }

    fn past(&mut self, _: PastSpan, _: u64, answer: PastAnswer) {
        // Routers have no history. Who asked may have gone.
        let _ = answer.send(None);
    }

    fn end(self, counts: &Counts, keeper: &mut dyn Keeper) {
        self.hand_over(counts, keeper);
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
