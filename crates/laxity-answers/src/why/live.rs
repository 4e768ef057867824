//! Gathers the delays of packets of a live link, which is replayed from its ledger.

use std::cell::RefCell;
use std::rc::Rc;

use laxity::explain::{self, Wait, Witness};
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use laxity_sim::record::{Fate, Observer, Record};

use super::{Cause, HopDelay, PacketDelay, Part, due};

/// The classes of plans that follow one another, by one numbering.
#[derive(Clone, Debug)]
pub struct JointClasses {
    /// The last plan, with the classes behind its own that only others have. It is for names: no
    /// link follows it.
    pub plan: Plan,
    /// The numbers of the classes of each plan.
    numbers: Vec<Vec<ClassId>>,
}

/// Observes the replay of a live link, and passes on the delay of each packet that was sent.
///
/// The schedulers of the replay are those that [`schedulers`](Self::schedulers) makes.
pub struct LiveGatherer<F> {
    state: Rc<RefCell<State>>,
    each: F,
}

/// The scheduler of a live link, with a witness.
pub type LiveScheduler = Witness<Box<dyn Scheduler + Send>, Box<dyn FnMut(Wait<'_>)>>;

/// What the schedulers and the observer share.
#[derive(Default)]
struct State {
    /// The numbers of the classes of the plan that is followed.
    numbers: Vec<ClassId>,
    /// What they are promised.
    promised: Vec<Option<Nanos>>,
    /// The wait of the packet that was chosen last.
    last: Option<LastWait>,
}

struct LastWait {
    handle: u64,
    /// When its first bit left.
    end: Nanos,
    parts: Vec<explain::Part>,
}

impl JointClasses {
    /// The classes of at least one plan. Classes of one name are the same.
    pub fn new(plans: &[Plan]) -> Option<JointClasses> {
        let mut plan = plans.last()?.clone();
        let mut numbers = Vec::new();
        for other in plans {
            let number = |class: &Class| number(&mut plan.classes, class);
            numbers.push(other.classes.iter().map(number).collect());
        }
        Some(JointClasses { plan, numbers })
    }
}

/// The number of a class among others, where it is added if it is new.
fn number(classes: &mut Vec<Class>, class: &Class) -> ClassId {
    let is_same = |other: &Class| other.name == class.name && other.is_leaf() == class.is_leaf();
    let known = classes.iter().position(is_same);
    let number = known.unwrap_or_else(|| {
        classes.push(class.clone());
        classes.len() - 1
    });
    ClassId::from_index(number)
}

impl<F: FnMut(PacketDelay)> LiveGatherer<F> {
    /// Passes the delay of each packet to `each`.
    pub fn new(each: F) -> Self {
        LiveGatherer { state: Rc::default(), each }
    }

    /// Makes the scheduler of each plan in turn, as
    /// [`replay_on`](laxity_sim::replay::replay_on) asks for it.
    pub fn schedulers(
        &self,
        classes: &JointClasses,
        seed: u64,
    ) -> impl FnMut(&Plan, Option<(Nanos, LiveScheduler)>) -> LiveScheduler + use<F> {
        let state = self.state.clone();
        let mut numbers = classes.numbers.clone().into_iter();
        move |plan, before| {
            let numbers = numbers.next().unwrap_or_default();
            let promised = plan.classes.iter().map(|class| class.deadline).collect();
            {
                let mut state = state.borrow_mut();
                state.numbers.clone_from(&numbers);
                state.promised = promised;
            }
            let (scheduler, rate) = (plan.build_scheduler(seed), plan.link.rate);
            let witness = match before {
                Some((now, before)) => return before.hand_over(scheduler, now, rate, numbers),
                None => Witness::new(scheduler, tell(state.clone())),
            };
            witness.with_late_choices(rate, numbers)
        }
    }

    /// What delayed a packet. Its class has the number that it has among those of all plans.
    fn delay(&self, record: &Record, departure: Nanos) -> Option<PacketDelay> {
        let mut state = self.state.borrow_mut();
        let wait = state.last.take().filter(|wait| wait.handle == record.packet.handle)?;
        let class = *state.numbers.get(record.packet.class.index())?;
        let packet = Packet { class, ..record.packet };
        let waited = |part: explain::Part| Part { cause: Cause::Wait(part.cause), time: part.time };
        let sends = Part { cause: Cause::Transmission, time: departure - wait.end };
        let parts = wait.parts.into_iter().map(waited).chain([sends]);
        let parts = parts.filter(|part| part.time > Nanos::ZERO).collect();
        let (arrival, start) = (packet.arrival, wait.end);
        let hops = vec![HopDelay { hop: None, arrival, start, departure, parts }];
        let due = due(&packet, state.promised[record.packet.class.index()]);
        Some(PacketDelay { packet, end: departure, due, hops })
    }
}

fn tell(state: Rc<RefCell<State>>) -> Box<dyn FnMut(Wait<'_>)> {
    Box::new(move |wait: Wait<'_>| {
        let (handle, end) = (wait.packet.handle, wait.end);
        state.borrow_mut().last = Some(LastWait { handle, end, parts: wait.parts.to_vec() });
    })
}

impl<F: FnMut(PacketDelay)> Observer for LiveGatherer<F> {
    fn record(&mut self, record: &Record) {
        if let Fate::Sent { departure, .. } = record.fate
            && let Some(delay) = self.delay(record, departure)
        {
            (self.each)(delay);
        }
    }
}
