//! Everything that was measured, plan after plan.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::clock::Clock;
use laxity_linux::frames::Side;
use laxity_plan::Plan;

use crate::history::{History, OverTime};
use crate::recorder::{Measured, Recorder};
use crate::status::WayStatus;

/// What was measured of one direction while it followed a plan.
pub struct Period {
    /// Where the frames arrived.
    pub at: Side,
    /// How many plans were followed there before.
    pub number: u32,
    /// The plan.
    pub plan: Plan,
    /// What was measured.
    pub measured: Measured,
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

    /// It as it is shown.
    pub fn status(&self) -> WayStatus {
        let way = match self.at {
            Side::A => "out",
            Side::B => "back",
        };
        WayStatus::of(way, &self.plan, &self.measured)
    }

    /// The same over time, and how delays are spread.
    pub fn history(&self) -> History {
        let accounts = self.measured.accounts();
        let delays = |id: ClassId| accounts[id.index()].delay.buckets().collect();
        let delays = self.plan.leaves().map(|(id, _)| delays(id)).collect();
        History { delays, sent: self.sent.clone() }
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

/// Something that happened to what arrived at a side.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// Where it arrived.
    pub at: Side,
    /// The plan that is followed.
    pub plan: &'a Plan,
    /// What happened.
    pub event: &'a Event,
    /// The frame that was sent or dropped, if frames are captured and there was room for it.
    pub frame: Option<&'a [u8]>,
}

/// Hears of everything that happens, and of what was measured under a plan once another is
/// followed.
pub trait Reader {
    /// Something happened.
    fn event(&mut self, told: Told<'_>);

    /// Before what comes next something happened that was not heard.
    fn gap(&mut self, at: Side);

    /// A plan is no longer followed.
    fn ended(&mut self, period: Period);
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

    /// Counts what has happened since it was last read.
    pub fn read(&mut self, reader: &mut impl Reader) {
        let now = Clock::Monotonic.now();
        let Log { recorder, ways } = self;
        recorder.read(|happened, frame| {
            let Some(way) = &mut ways[happened.at.index()] else { return };
            if happened.plan > way.present.number {
                way.go_on(now, reader);
            }
            if happened.lost_before > 0 {
                Side::BOTH.into_iter().for_each(|at| reader.gap(at));
            }
            way.present.measured.add(&happened.event);
            let (at, event, plan) = (happened.at, &happened.event, &way.present.plan);
            reader.event(Told { at, plan, event, frame });
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

    /// The directions that follow a plan.
    pub fn sides(&self) -> Vec<Side> {
        self.present().map(|period| period.at).collect()
    }

    /// What was measured under the present plans.
    pub fn present(&self) -> impl Iterator<Item = &Period> {
        self.ways.iter().flatten().map(|way| &way.present)
    }

    /// Events that came too fast to be counted.
    pub fn lost(&self) -> u64 {
        self.recorder.lost
    }

    /// What was measured under the last plans.
    pub fn end(self) -> Vec<Period> {
        self.ways.into_iter().flatten().map(|way| way.present).collect()
    }
}

impl Way {
    /// What follows happened under the next plan, if there is one.
    fn go_on(&mut self, now: Nanos, reader: &mut impl Reader) {
        let Some(plan) = self.next.take() else { return };
        self.present.note(now);
        let next = Period::new(self.present.at, self.present.number + 1, plan, now);
        reader.ended(std::mem::replace(&mut self.present, next));
    }
}
