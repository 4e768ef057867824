//! Everything that was measured, plan after plan.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::clock::Clock;
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use super::measured::Measured;
use super::thread::Recorder;
use crate::process::Results;
use crate::status::WayStatus;
use crate::status::history::{History, OverTime};

/// What is measured of one direction while it follows a plan.
struct Period {
    /// Where the frames arrive.
    at: Side,
    /// Number of plans that were followed there before.
    number: u32,
    plan: Plan,
    measured: Measured,
    sent: OverTime,
}

impl Period {
    fn new(at: Side, number: u32, plan: Plan, begin: Nanos) -> Self {
        let measured = Measured::new(plan.promises());
        Period { at, number, measured, plan, sent: OverTime::new(begin) }
    }

    fn note(&mut self, now: Nanos) {
        let accounts = self.measured.accounts();
        self.sent.note(now, self.plan.leaves().map(|(id, _)| accounts[id.index()].bytes_sent));
    }

    fn status(&self) -> WayStatus {
        let way = match self.at {
            Side::A => "out",
            Side::B => "back",
        };
        WayStatus::new(way, &self.plan, &self.measured)
    }

    fn results(&self) -> Results<'_> {
        let accounts = self.measured.accounts();
        let delays = |id: ClassId| accounts[id.index()].delay.buckets().collect();
        let delays = self.plan.leaves().map(|(id, _)| delays(id)).collect();
        let history = History { delays, sent: self.sent.clone() };
        Results { plan: &self.plan, way: self.status(), network: None, history }
    }
}

/// What is measured of both directions.
pub struct Log {
    recorder: Recorder,
    ways: [Option<Way>; 2],
}

struct Way {
    present: Period,
    /// The plan that is followed next, until something is heard that happened under it.
    next: Option<Plan>,
}

/// An event of a direction, with the plan that it happened under.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SideReport<'a> {
    /// Where the frames arrive.
    pub at: Side,
    /// The plan that is followed.
    pub plan: &'a Plan,
    /// What happened.
    pub event: &'a Event,
    /// The frame that was sent or dropped, if frames are captured and there was room for it.
    pub frame: Option<&'a [u8]>,
}

/// Receives everything that happens, and the results of a plan once another is followed.
pub trait Reader {
    /// Something happened.
    fn event(&mut self, report: SideReport<'_>);

    /// Events were lost before the next one.
    fn gap(&mut self, at: Side);

    /// A plan is no longer followed.
    fn ended(&mut self, results: &Results<'_>);
}

impl Log {
    /// Nothing yet, of directions that follow these plans from now on.
    pub fn new(plans: [Option<Plan>; 2], recorder: Recorder) -> Self {
        let now = Clock::Monotonic.now();
        let [there, back] = plans;
        let way = |at, plan: Option<Plan>| {
            Some(Way { present: Period::new(at, 0, plan?, now), next: None })
        };
        Log { recorder, ways: [way(Side::A, there), way(Side::B, back)] }
    }

    /// Counts what has happened since the last call.
    pub fn read(&mut self, reader: &mut impl Reader) {
        let now = Clock::Monotonic.now();
        let Log { recorder, ways } = self;
        recorder.read(|report| {
            let Some(way) = &mut ways[report.event.at.index()] else { return };
            if report.event.plan > way.present.number {
                way.go_on(now, reader);
            }
            if report.lost_before > 0 {
                Side::BOTH.into_iter().for_each(|at| reader.gap(at));
            }
            let (at, event) = (report.event.at, &report.event.event);
            way.present.measured.add(event);
            let (plan, frame) = (&way.present.plan, report.frame);
            reader.event(SideReport { at, plan, event, frame });
        });
        self.ways.iter_mut().flatten().for_each(|way| way.present.note(now));
    }

    /// Has another plan followed by `follow`. What happens under it is counted apart.
    pub fn reload<E>(
        &mut self,
        at: Side,
        plan: Plan,
        reader: &mut impl Reader,
        follow: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.read(reader);
        let way = self.ways[at.index()].as_mut();
        let way = way.map(|way| way.next.insert(plan));
        debug_assert!(way.is_some(), "a direction that follows a plan");
        let followed = follow();
        self.read(reader);
        if let Some(way) = &mut self.ways[at.index()] {
            match followed {
                // Unless all that happened under it so far was lost.
                Ok(()) => way.go_on(Clock::Monotonic.now(), reader),
                Err(_) => way.next = None,
            }
        }
        followed
    }

    /// The longest that frames were seen to wait in the queues of the interfaces where they leave,
    /// by the side at which they arrived.
    pub fn held(&mut self, held: [Option<Nanos>; 2]) {
        for (way, held) in self.ways.iter_mut().zip(held) {
            if let Some(way) = way {
                way.present.measured.held = held;
            }
        }
    }

    /// The directions that follow a plan, under the present plans.
    pub fn status(&self) -> Vec<WayStatus> {
        self.present().map(Period::status).collect()
    }

    /// Calls `each` with the results of the present plans.
    pub fn results(&self, mut each: impl FnMut(&Results<'_>)) {
        self.present().for_each(|period| each(&period.results()));
    }

    fn present(&self) -> impl Iterator<Item = &Period> {
        self.ways.iter().flatten().map(|way| &way.present)
    }

    /// Events that came too fast to be counted.
    pub fn lost(&self) -> u64 {
        self.recorder.lost
    }
}

impl Way {
    /// What follows happened under the next plan, if there is one.
    fn go_on(&mut self, now: Nanos, reader: &mut impl Reader) {
        let Some(plan) = self.next.take() else { return };
        self.present.note(now);
        let next = Period::new(self.present.at, self.present.number + 1, plan, now);
        let last = std::mem::replace(&mut self.present, next);
        reader.ended(&last.results());
    }
}
