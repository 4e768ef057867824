//! What a process does with a bridge: keeps books, writes files, follows plans.

use laxity::units::Nanos;
use laxity_forward::PreparedPlan;
use laxity_linux::clock::Stopwatch;
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use super::Recorder;
use super::direction::Direction;
use super::measurement::SideEvent;
use super::period::Period;
use crate::archive::{Archive, PastAnswer, Subject};
use crate::autorate::FoundRate;
use crate::file::{Capture, Ledger};
use crate::process::{Adviser, Keeper, Names, Task, wall_clock};
use crate::status::{NetworkStatus, PastSpan, WayStatus};
use crate::worker::Counts;
use crate::workers::Workers;

/// The books and files of a bridge.
pub(crate) struct BridgeTask {
    time: Stopwatch,
    /// By thread.
    recorders: Vec<Recorder>,
    /// Events of plans that others do not follow yet, while threads follow one by one.
    early: Vec<Early>,
    /// By the side at which frames arrive, if they follow a plan.
    directions: [Option<Direction>; 2],
    capture: Option<Capture>,
    archive: Option<Archive>,
    helpers: Helpers,
    second: Second,
    /// Whether the next plan that is followed has the books of the present one.
    keeps_books: bool,
}

/// What is written while frames are forwarded.
pub(crate) struct Files {
    /// By the side at which frames arrive.
    pub(crate) ledgers: [Option<Ledger>; 2],
    pub(crate) capture: Option<Capture>,
    pub(crate) archive: Option<Archive>,
}

/// What else looks after a bridge.
pub(crate) struct Helpers {
    pub(crate) adviser: Adviser,
    /// None where names are not asked for.
    pub(crate) names: Option<Names>,
    /// Whether the thread that forwards has a real-time priority.
    pub(crate) is_real_time: bool,
}

/// A plan of a side that was read again and proved.
pub(crate) struct Next {
    pub at: Side,
    pub text: String,
    /// For each thread.
    pub prepared: Vec<PreparedPlan>,
}

/// An event of a thread that follows a plan before others do.
struct Early {
    thread: usize,
    event: SideEvent,
    frame: Option<Vec<u8>>,
}

/// The present second.
struct Second {
    /// When it began, of those that are all as long.
    begin: Nanos,
    /// When the last one was over.
    turned: Nanos,
}

const SECOND: Nanos = Nanos(1_000_000_000);
impl BridgeTask {
    /// Empty books of directions of these names that follow these plans from now on, on the time of
    /// a bridge.
    pub(crate) fn new(
        time: Stopwatch,
        ways: [&'static str; 2],
        plans: [Option<Plan>; 2],
        recorders: Vec<Recorder>,
        files: Files,
        helpers: Helpers,
        rates: [Option<FoundRate>; 2],
    ) -> Self {
        let Files { ledgers, capture, archive } = files;
        let now = time.elapsed();
        let ([there, back], [ledger, back_ledger]) = (plans, ledgers);
        let [rate, back_rate] = rates;
        let direction = |at: Side, plan: Option<Plan>, ledger, found: Option<FoundRate>| {
            let present = Period::new((at, ways[at.index()]), 0, plan?, now, found.as_ref());
            Some(Direction::new(present, ledger, found))
        };
        let directions = [
            direction(Side::A, there, ledger, rate),
            direction(Side::B, back, back_ledger, back_rate),
        ];
        let second = Second::new(now);
        let (early, keeps_books) = (Vec::new(), false);
        BridgeTask {
            time,
            recorders,
            early,
            directions,
            capture,
            archive,
            helpers,
            second,
            keeps_books,
        }
    }

    /// Counts and writes what has happened since the last call.
    fn count(&mut self, keeper: &mut dyn Keeper) {
        let now = self.time.elapsed();
        let BridgeTask { recorders, early, directions, capture, .. } = self;
        let are_several = recorders.len() > 1;
        for (thread, recorder) in recorders.iter_mut().enumerate() {
            recorder.read(|report| {
                let SideEvent { at, plan, .. } = report.event;
                if report.lost_before > 0 {
                    let ledgers =
                        directions.iter_mut().flatten().filter_map(|it| it.ledger.as_mut());
                    ledgers.for_each(|ledger| ledger.gap(report.lost_before, keeper));
                    let directions = directions.iter_mut().flatten();
                    directions.for_each(|it| it.present.forget_waits(thread, now));
                }
                let Some(direction) = &mut directions[at.index()] else { return };
                if *plan > direction.present.number && are_several {
                    let frame = report.frame.map(<[u8]>::to_vec);
                    early.push(Early { thread, event: *report.event, frame });
                    return;
                }
                direction.add(thread, report.event, report.frame, capture.as_mut(), now, keeper);
            });
        }
        // All threads had followed the plan when these were read.
        for Early { thread, event, frame } in early.drain(..) {
            if let Some(direction) = &mut directions[event.at.index()] {
                let frame = frame.as_deref();
                direction.add(thread, &event, frame, capture.as_mut(), now, keeper);
            }
        }
        directions.iter_mut().flatten().for_each(|direction| direction.present.note(now));
        if let Some(duration) = self.second.over(now) {
            self.turn(duration, keeper);
        }
        self.seek_advice(now);
    }

    /// A second is over, which took so long.
    fn turn(&mut self, duration: Nanos, keeper: &mut dyn Keeper) {
        let subject = self.subject();
        let BridgeTask { directions, archive, .. } = self;
        if let Some(archive) = archive {
            archive.follow(subject, keeper);
        }
        let clock = wall_clock().as_secs();
        let mut slots = Vec::new();
        for Direction { present, .. } in directions.iter_mut().flatten() {
            let way = present.way;
            present.turn(duration, clock, |moment, is_same| {
                if let Some(archive) = archive {
                    archive.moment(way, moment, is_same, keeper);
                }
            });
            slots.extend(present.slots());
        }
        if let Some(archive) = archive {
            archive.second(clock.saturating_sub(1), slots, keeper);
        }
    }

    /// The directions and classes that are recorded.
    fn subject(&self) -> Subject {
        Subject::of_plans(self.present().map(|period| (period.way, &period.plan)))
    }

    /// Takes note of advice that was worked out, and asks for advice where something else was
    /// measured since.
    fn seek_advice(&mut self, now: Nanos) {
        let BridgeTask { directions, helpers: Helpers { adviser, is_real_time, .. }, .. } = self;
        let mut periods = directions.iter_mut().flatten().map(|direction| &mut direction.present);
        if let Some(answer) = adviser.answer(now)
            && let Some(period) = periods.find(|it| (it.at, it.number) == answer.about)
        {
            period.advice = answer.sentence;
        }
        if !adviser.is_free(now) {
            return;
        }
        for Direction { present, .. } in directions.iter_mut().flatten() {
            let measured = present.advisable(*is_real_time);
            if present.asked.as_ref() != Some(&measured) {
                adviser.ask((present.at, present.number), present.plan.clone(), measured.clone());
                present.asked = Some(measured);
                return;
            }
        }
        adviser.pause(now);
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
        let now = self.time.elapsed();
        let mut ways: Vec<_> = self.present().map(Period::present).collect();
        if let Some(names) = &mut self.helpers.names {
            for talkers in ways.iter_mut().filter_map(|way| way.talkers.as_mut()) {
                talkers.names = names.names(talkers.addresses(), now);
            }
        }
        (ways, None)
    }

    fn lost(&self) -> u64 {
        self.recorders.iter().map(|recorder| recorder.lost).sum()
    }

    fn reload(
        &mut self,
        Next { at, text, prepared }: Next,
        workers: &Workers<Self::Plan>,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String> {
        // The results of the plan that ends now show it.
        if let Ok(counts) = workers.counts() {
            self.hold(&counts);
        }
        self.count(keeper);
        let keeps_books = std::mem::take(&mut self.keeps_books);
        if let Some(direction) = &mut self.directions[at.index()] {
            let next = prepared.first().map(|prepared| prepared.plan().clone());
            direction.expect(next, text, keeps_books);
        }
        let prepared = prepared.into_iter().map(|prepared| (at, prepared));
        let followed = workers.reload(prepared).map_err(|error| error.to_string());
        self.count(keeper);
        if let Some(direction) = &mut self.directions[at.index()] {
            match followed {
                // Unless all that happened under it so far was lost.
                Ok(()) => direction.go_on(self.time.elapsed(), keeper),
                Err(_) => direction.expect_nothing(),
            }
        }
        followed
    }

    fn mend(&mut self, workers: &Workers<Self::Plan>, keeper: &mut dyn Keeper) {
        let now = self.time.elapsed();
        for direction in self.directions.iter_mut().flatten() {
            direction.mend(workers, now, keeper);
        }
    }

    fn keep_books(&mut self) {
        self.keeps_books = true;
    }

    fn past(&mut self, span: PastSpan, most: u64, answer: PastAnswer) {
        match &mut self.archive {
            Some(archive) => archive.past(span, most, answer),
            // Who asked may have gone.
            None => drop(answer.send(None)),
        }
    }

    fn end(self, _: &Counts, keeper: &mut dyn Keeper) {
        self.present().for_each(|period| keeper.ended(&period.results()));
        let ledgers = self.directions.into_iter().flatten().filter_map(|it| it.ledger);
        ledgers.for_each(|ledger| ledger.finish(keeper));
        if let Some(capture) = self.capture {
            capture.finish(keeper);
        }
        if let Some(archive) = self.archive {
            archive.finish(keeper);
        }
    }
}

impl Second {
    /// Seconds are over in the middle of those of the clock, so that each of these has one.
    fn new(now: Nanos) -> Self {
        let since = (u64::from(wall_clock().subsec_nanos()) + SECOND.0 / 2) % SECOND.0;
        Second { begin: now.saturating_sub(Nanos(since)), turned: now }
    }

    /// How long the present second took if it is over by now. The next one begins when it was to be
    /// over, unless that is more than a second ago.
    fn over(&mut self, now: Nanos) -> Option<Nanos> {
        let next = self.begin.saturating_add(SECOND);
        if now < next {
            return None;
        }
        self.begin = if now < next.saturating_add(SECOND) { next } else { now };
        let duration = now.saturating_sub(self.turned);
        self.turned = now;
        Some(duration)
    }
}
