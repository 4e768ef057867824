//! One direction of a bridge under its plans.

use laxity::units::Nanos;
use laxity_forward::{DroppedPacket, Event, PreparedPlan, SentPacket};
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use super::measurement::SideEvent;
use super::period::Period;
use crate::autorate::FoundRate;
use crate::file::{Capture, CaptureAt, Ledger};
use crate::process::Keeper;
use crate::workers::Workers;

/// One direction, and its plans.
pub(super) struct Direction {
    pub(super) present: Period,
    /// The plan that is followed next, until something is heard that happened under it.
    next: Option<Plan>,
    /// Whether what is measured goes on then.
    keeps_books: bool,
    /// The text of that plan, until the event of its reload is heard.
    text: Option<String>,
    pub(super) ledger: Option<Ledger>,
    /// When a scheduler began anew for the ledger's sake.
    mended_at: Nanos,
    /// For how long none does after that.
    mending: Nanos,
    /// What finds the rate, if anything does.
    found: Option<FoundRate>,
}

/// The time until a ledger goes on after a gap. It doubles from gap to gap up to the longest: a
/// scheduler that begins anew tells of all that is queued.
const SHORTEST_GAP: Nanos = Nanos(1_000_000_000);
const LONGEST_GAP: Nanos = Nanos(60 * SHORTEST_GAP.0);

impl Direction {
    /// One that follows a plan from now on.
    pub(super) fn new(present: Period, ledger: Option<Ledger>, found: Option<FoundRate>) -> Self {
        let (next, keeps_books, text) = (None, false, None);
        let (mended_at, mending) = (Nanos::ZERO, SHORTEST_GAP);
        Direction { present, next, keeps_books, text, ledger, mended_at, mending, found }
    }

    /// A plan of this text is followed next, in the books of the present one if it `keeps_books`.
    pub(super) fn expect(&mut self, next: Option<Plan>, text: String, keeps_books: bool) {
        (self.next, self.text, self.keeps_books) = (next, Some(text), keeps_books);
    }

    /// The plan that was to follow does not.
    pub(super) fn expect_nothing(&mut self) {
        (self.next, self.text) = (None, None);
    }

    /// Counts and writes what happened on a thread, and goes on with the next plan if it happened
    /// under that. What happened under a plan that is over is left out.
    pub(super) fn add(
        &mut self,
        thread: usize,
        told: &SideEvent,
        frame: Option<&[u8]>,
        capture: Option<&mut Capture>,
        now: Nanos,
        keeper: &mut dyn Keeper,
    ) {
        let SideEvent { plan, event, .. } = told;
        if *plan > self.present.number {
            self.go_on(now, keeper);
        }
        if *plan < self.present.number {
            return;
        }
        self.present.add(thread, event);
        // Where events are lost, the first that is told of a plan may be that the ledger goes on.
        let is_begun = matches!(event, Event::Reloaded { .. } | Event::Resumed { .. });
        let text = self.text.take_if(|_| is_begun);
        if let Some(ledger) = &mut self.ledger {
            text.iter().for_each(|text| ledger.plan(text, &self.present.plan));
            ledger.event(event);
        }
        if let Some(capture) = capture {
            capture_event(capture, told, frame, &self.present.plan);
        }
    }

    /// What follows happened under the next plan, if there is one.
    pub(super) fn go_on(&mut self, now: Nanos, keeper: &mut dyn Keeper) {
        let Some(plan) = self.next.take() else { return };
        self.present.note(now);
        let (direction, number) = ((self.present.at, self.present.way), self.present.number + 1);
        if let (Some(found), Some(spec)) = (&self.found, &plan.link.autorate) {
            found.set_settings(spec.settings);
        }
        let next = Period::new(direction, number, plan, now, self.found.as_ref());
        let mut last = std::mem::replace(&mut self.present, next);
        if !self.keeps_books {
            keeper.ended(&last.results());
            return;
        }
        let before = last.status();
        for class in self.present.go_on(&mut last) {
            let name = &last.plan.classes[class.index()].name;
            if let Some(class) = before.classes.iter().find(|class| class.name == *name) {
                keeper.say(&class.farewell());
            }
        }
    }

    /// Has the scheduler begin anew where the ledger has a gap, so that the ledger goes on.
    pub(super) fn mend(
        &mut self,
        workers: &Workers<(Side, PreparedPlan)>,
        now: Nanos,
        keeper: &mut dyn Keeper,
    ) {
        let Some(ledger) = &mut self.ledger else { return };
        let Some(settings) = ledger.mends() else { return };
        let since = now.saturating_sub(self.mended_at);
        if since < self.mending {
            return;
        }
        let is_soon = since < LONGEST_GAP;
        self.mending =
            if is_soon { (self.mending + self.mending).min(LONGEST_GAP) } else { SHORTEST_GAP };
        self.mended_at = now;
        if self.present.plan.link.wire.is_some() {
            return ledger.end(keeper);
        }
        // The same plan could be followed before. If it cannot be now, it is tried again.
        if let Ok(prepared) = PreparedPlan::new(self.present.plan.clone(), settings) {
            let _ = workers.reload([(self.present.at, prepared.anew())]);
        }
    }
}

/// Captures what was sent or dropped, where and when the capture [says](CaptureAt).
fn capture_event(capture: &mut Capture, event: &SideEvent, frame: Option<&[u8]>, plan: &Plan) {
    let at = event.at;
    match &event.event {
        Event::Sent(sent) => {
            let (place, time) = match capture.at {
                CaptureAt::Departure => (at.other(), sent.start),
                CaptureAt::Arrival => (at, sent.arrived),
            };
            capture.frame(place.index(), time, frame, &comment_sent(sent, plan));
        }
        Event::Dropped(dropped) => {
            let time = match capture.at {
                CaptureAt::Departure => dropped.time,
                CaptureAt::Arrival => dropped.packet.arrival,
            };
            capture.frame(at.index(), time, frame, &comment_dropped(dropped, plan));
        }
        Event::Arrived(_)
        | Event::Delivered(_)
        | Event::Lost(_)
        | Event::Nonconforming { .. }
        | Event::Idle { .. }
        | Event::Rate { .. }
        | Event::Reloaded { .. }
        | Event::Introduced { .. }
        | Event::Resumed { .. }
        | Event::Queued { .. }
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
