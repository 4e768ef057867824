//! What a process does with a bridge: keeps books, writes files, follows plans.

use laxity::units::Nanos;
use laxity_forward::{DroppedPacket, Event, PreparedPlan, SentPacket};
use laxity_linux::clock::Clock;
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use super::measurement::{SideEvent, WayMeasurement};
use super::waits::Waits;
use super::{Forwarding, Recorder};
use crate::file::{Capture, Ledger};
use crate::process::{Keeper, Results, Task};
use crate::status::history::{History, OverTime};
use crate::status::{NetworkStatus, WayStatus};
use crate::worker::Counts;

/// The books and files of a bridge.
pub(crate) struct BridgeTask {
    recorder: Recorder,
    /// By the side at which frames arrive, if they follow a plan.
    directions: [Option<Direction>; 2],
    capture: Option<Capture>,
}

/// A plan of a side that was read again and proved.
pub(crate) struct Next {
    pub at: Side,
    pub text: String,
    pub prepared: PreparedPlan,
}

/// One direction, and its plans.
struct Direction {
    present: Period,
    /// The plan that is followed next, until something is heard that happened under it.
    next: Option<Plan>,
    /// The text of that plan, until the event of its reload is heard.
    text: Option<String>,
    ledger: Option<Ledger>,
}

/// What is measured of one direction while it follows a plan.
struct Period {
    /// Where the frames arrive.
    at: Side,
    /// What the direction is called.
    way: &'static str,
    /// Number of plans that were followed there before.
    number: u32,
    plan: Plan,
    measured: WayMeasurement,
    waits: Waits,
    sent: OverTime,
}

impl BridgeTask {
    /// Empty books of directions of these names that follow these plans from now on.
    pub(crate) fn new(
        ways: [&'static str; 2],
        plans: [Option<Plan>; 2],
        recorder: Recorder,
        ledgers: [Option<Ledger>; 2],
        capture: Option<Capture>,
    ) -> Self {
        let now = Clock::Monotonic.now();
        let ([there, back], [ledger, back_ledger]) = (plans, ledgers);
        let direction = |at: Side, plan: Option<Plan>, ledger| {
            let present = Period::new((at, ways[at.index()]), 0, plan?, now);
            Some(Direction { present, next: None, text: None, ledger })
        };
        let directions = [direction(Side::A, there, ledger), direction(Side::B, back, back_ledger)];
        BridgeTask { recorder, directions, capture }
    }

    /// Counts and writes what has happened since the last call.
    fn count(&mut self, keeper: &mut dyn Keeper) {
        let now = Clock::Monotonic.now();
        let BridgeTask { recorder, directions, capture } = self;
        recorder.read(|report| {
            let SideEvent { at, plan, event } = report.event;
            if report.lost_before > 0 {
                let ledgers = directions.iter_mut().flatten().filter_map(|it| it.ledger.as_mut());
                ledgers.for_each(|ledger| ledger.gap(keeper));
                directions.iter_mut().flatten().for_each(|it| it.present.forget_waits(now));
            }
            let Some(direction) = &mut directions[at.index()] else { return };
            if *plan > direction.present.number {
                direction.go_on(now, keeper);
            }
            direction.present.measured.add(event);
            direction.present.waits.add(event);
            let is_reloaded = matches!(event, Event::Reloaded { .. });
            let text = direction.text.take_if(|_| is_reloaded);
            if let Some(ledger) = &mut direction.ledger {
                text.iter().for_each(|text| ledger.plan(text));
                ledger.event(event);
            }
            if let Some(capture) = capture {
                capture_event(capture, report.event, report.frame, &direction.present.plan);
            }
        });
        directions.iter_mut().flatten().for_each(|direction| direction.present.note(now));
    }

    /// Notes the longest that frames were seen to wait in the queues of the interfaces where they
    /// leave.
    fn hold(&mut self, counts: &Counts) {
        for Direction { present, .. } in self.directions.iter_mut().flatten() {
            present.measured.held = counts.interfaces[present.at.other().index()].held;
        }
    }

    fn present(&self) -> impl Iterator<Item = &Period> {
        self.directions.iter().flatten().map(|direction| &direction.present)
    }
}

impl Task for BridgeTask {
    type Next = Next;
    type Plan = (Side, PreparedPlan);

    const PATIENCE: Nanos = Nanos(10_000_000_000);

    fn read(&mut self, keeper: &mut dyn Keeper) {
        self.count(keeper);
        let ledgers = self.directions.iter_mut().flatten().filter_map(|it| it.ledger.as_mut());
        ledgers.for_each(|ledger| ledger.hand_over(keeper));
        if let Some(capture) = &mut self.capture {
            capture.hand_over(keeper);
        }
    }

    fn status(&mut self, counts: &Counts) -> (Vec<WayStatus>, Option<NetworkStatus>) {
        self.hold(counts);
        let now = Clock::Monotonic.now();
        self.directions.iter_mut().flatten().for_each(|it| it.present.ask_waits(now));
        (self.present().map(Period::status).collect(), None)
    }

    fn lost(&self) -> u64 {
        self.recorder.lost
    }

    fn reload(
        &mut self,
        Next { at, text, prepared }: Next,
        worker: &Forwarding,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String> {
        // The results of the plan that ends now show it.
        if let Ok(counts) = worker.counts() {
            self.hold(&counts);
        }
        self.count(keeper);
        if let Some(direction) = &mut self.directions[at.index()] {
            direction.next = Some(prepared.plan().clone());
            direction.text = Some(text);
        }
        let followed = worker.reload((at, prepared)).map_err(|error| error.to_string());
        self.count(keeper);
        if let Some(direction) = &mut self.directions[at.index()] {
            match followed {
                // Unless all that happened under it so far was lost.
                Ok(()) => direction.go_on(Clock::Monotonic.now(), keeper),
                Err(_) => (direction.next, direction.text) = (None, None),
            }
        }
        followed
    }

    fn end(self, _: &Counts, keeper: &mut dyn Keeper) {
        self.present().for_each(|period| keeper.ended(&period.results()));
        let ledgers = self.directions.into_iter().flatten().filter_map(|it| it.ledger);
        ledgers.for_each(|ledger| ledger.finish(keeper));
        if let Some(capture) = self.capture {
            capture.finish(keeper);
        }
    }
}

impl Direction {
    /// What follows happened under the next plan, if there is one.
    fn go_on(&mut self, now: Nanos, keeper: &mut dyn Keeper) {
        let Some(plan) = self.next.take() else { return };
        self.present.note(now);
        let direction = (self.present.at, self.present.way);
        let next = Period::new(direction, self.present.number + 1, plan, now);
        let last = std::mem::replace(&mut self.present, next);
        keeper.ended(&last.results());
    }
}

impl Period {
    fn new((at, way): (Side, &'static str), number: u32, plan: Plan, begin: Nanos) -> Self {
        let measured = WayMeasurement::new(plan.promises());
        let waits = Waits::new(plan.classes.len());
        Period { at, way, number, measured, waits, plan, sent: OverTime::new(begin) }
    }

    /// Someone asks who delays whom.
    fn ask_waits(&mut self, now: Nanos) {
        self.waits.ask(now, self.measured.accounts().iter().map(|account| account.queued));
    }

    /// Events were lost: what waits is counted anew.
    fn forget_waits(&mut self, now: Nanos) {
        self.waits.begin(now, self.measured.accounts().iter().map(|account| account.queued));
    }

    fn note(&mut self, now: Nanos) {
        let accounts = self.measured.accounts();
        self.sent.note(now, self.plan.leaves().map(|(id, _)| accounts[id.index()].bytes_sent));
    }

    fn status(&self) -> WayStatus {
        let mut status = WayStatus::new(self.way, &self.plan, &self.measured);
        for ((id, _), class) in self.plan.leaves().zip(&mut status.classes) {
            class.waits = self.waits.status(&self.plan, id);
        }
        status
    }

    fn results(&self) -> Results<'_> {
        let Period { plan, measured, sent, .. } = self;
        let history = History::new(plan, sent, |id| &measured.accounts()[id.index()].delay);
        Results { plan, way: self.status(), network: None, history }
    }
}

/// Captures what was sent at the interface where it left, when it did; what was dropped at the one
/// where it arrived, when it was dropped.
fn capture_event(capture: &mut Capture, event: &SideEvent, frame: Option<&[u8]>, plan: &Plan) {
    let at = event.at;
    match &event.event {
        Event::Sent(sent) => {
            capture.frame(at.other().index(), sent.start, frame, &comment_sent(sent, plan));
        }
        Event::Dropped(dropped) => {
            capture.frame(at.index(), dropped.time, frame, &comment_dropped(dropped, plan));
        }
        Event::Arrived(_)
        | Event::Nonconforming { .. }
        | Event::Idle { .. }
        | Event::Reloaded { .. }
        | Event::Kept { .. } => {}
    }
}

fn comment_sent(sent: &SentPacket, plan: &Plan) -> String {
    let class = &plan.classes[sent.packet.class.index()];
    let mut comment = format!("class {}, delay {}", class.name, sent.delay());
    if let Some(deadline) = sent.deadline {
        let kept = if sent.departure <= deadline { "before" } else { "after" };
        let apart = Nanos(sent.departure.0.abs_diff(deadline.0));
        comment += &format!(", {apart} {kept} its deadline");
    }
    if sent.packet.demoted {
        comment += ", demoted";
    }
    if sent.lateness > Nanos::ZERO {
        comment += &format!(", begun {} late", sent.lateness);
    }
    comment
}

fn comment_dropped(dropped: &DroppedPacket, plan: &Plan) -> String {
    let class = &plan.classes[dropped.packet.class.index()];
    let waited = dropped.time.saturating_sub(dropped.packet.arrival);
    format!("class {}, dropped after {waited}: {}", class.name, dropped.reason.name())
}
