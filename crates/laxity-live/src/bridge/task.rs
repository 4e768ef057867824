//! What a process does with a bridge: keeps books, writes files, follows plans.

use laxity::units::Nanos;
use laxity_forward::{Dropped, Event, Prepared, Sent};
use laxity_linux::frames::{Side, Statistics};
use laxity_plan::Plan;

use super::log::{Log, Reader, SideReport};
use super::{Counts, Forwarding};
use crate::cut::Cut;
use crate::file::{Capture, Ledgers};
use crate::process::{Keeper, Results, Task};
use crate::status::{NetworkStatus, WayStatus};

/// The books and files of a bridge.
pub(crate) struct BridgeTask {
    pub log: Log,
    pub files: Files,
}

/// A plan of a side that was read again and proved.
pub(crate) struct Next {
    pub at: Side,
    pub text: String,
    pub prepared: Prepared,
}

/// The files that are written while a bridge forwards.
pub(crate) struct Files {
    pub ledgers: Ledgers,
    pub capture: Option<Capture>,
    /// The text of the plan that is followed from the next reload on.
    pub next: Option<String>,
}

impl Task for BridgeTask {
    type Next = Next;
    type Plan = (Side, Prepared);
    type Counts = Counts;

    const PATIENCE: Nanos = Nanos(10_000_000_000);

    fn read(&mut self, keeper: &mut dyn Keeper) {
        let BridgeTask { log, files } = self;
        log.read(&mut Listener { files, keeper });
        files.ledgers.hand_over(keeper);
        if let Some(capture) = &mut files.capture {
            capture.hand_over(keeper);
        }
    }

    fn status(&mut self, counts: &Counts) -> (Vec<WayStatus>, Option<NetworkStatus>) {
        self.log.held(counts.held());
        (self.log.status(), None)
    }

    fn ports(counts: &Counts) -> (&[Statistics], &[Cut]) {
        (&counts.interfaces, &counts.cut)
    }

    fn lost(&self) -> u64 {
        self.log.lost()
    }

    fn reload(
        &mut self,
        Next { at, text, prepared }: Next,
        worker: &Forwarding,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String> {
        let BridgeTask { log, files } = self;
        files.next = Some(text);
        // The results of the plan that ends now show it.
        if let Ok(counts) = worker.counts() {
            log.held(counts.held());
        }
        let plan = prepared.plan().clone();
        let reload = || worker.reload((at, prepared)).map_err(|error| error.to_string());
        log.reload(at, plan, &mut Listener { files, keeper }, reload)
    }

    fn end(self, _: &Counts, keeper: &mut dyn Keeper) {
        self.log.results(|results| keeper.ended(results));
        self.files.ledgers.finish(keeper);
        if let Some(capture) = self.files.capture {
            capture.finish(keeper);
        }
    }
}

/// Writes what happens into files, and hands results to the keeper.
struct Listener<'a> {
    files: &'a mut Files,
    keeper: &'a mut dyn Keeper,
}

impl Reader for Listener<'_> {
    fn event(&mut self, report: SideReport<'_>) {
        let Files { ledgers, capture, next } = &mut *self.files;
        if let Event::Reloaded { .. } = report.event
            && let Some(text) = next.take()
        {
            ledgers.plan(report.at, &text);
        }
        ledgers.event(report.at, report.event);
        if let Some(capture) = capture {
            capture_event(capture, &report);
        }
    }

    fn gap(&mut self, at: Side) {
        self.files.ledgers.gap(at, self.keeper);
    }

    fn ended(&mut self, results: &Results<'_>) {
        self.keeper.ended(results);
    }
}

/// Captures what was sent at the interface where it left, when it did; what was dropped at the one
/// where it arrived, when it was dropped.
fn capture_event(capture: &mut Capture, report: &SideReport<'_>) {
    let SideReport { at, plan, frame, .. } = *report;
    match report.event {
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

fn comment_sent(sent: &Sent, plan: &Plan) -> String {
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

fn comment_dropped(dropped: &Dropped, plan: &Plan) -> String {
    let class = &plan.classes[dropped.packet.class.index()];
    let waited = dropped.time.saturating_sub(dropped.packet.arrival);
    format!("class {}, dropped after {waited}: {}", class.name, dropped.reason.name())
}
