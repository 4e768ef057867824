//! One link whose packets the caller chooses, step by step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use laxity::packet::{ClassId, Packet};
use laxity::queue::Fifos;
use laxity::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw,
};
use laxity::units::Nanos;
use laxity_plan::model::{Network, Plan};
use self_cell::self_cell;

use super::{Run, Stage};
use crate::error::SimError;
use crate::network::{Simulation, SlotId};
use crate::record::{Observer, Record};

/// A simulation that stops whenever the link may send packets of several classes, and asks for the
/// class to send. Packets of a class leave in the order of their arrival.
pub struct Choices {
    simulation: OwnSimulation,
    chosen: Arc<Mutex<ClassQueues>>,
    now: Nanos,
    slot: SlotId,
}

/// A plan, and its link as a network.
struct Owner {
    plan: Arc<Plan>,
    network: Network,
}

self_cell!(
    /// The link of a plan that it owns.
    struct OwnStage {
        owner: Owner,
        #[covariant]
        dependent: Stage,
    }
);

type FatesOnLink<'a> = Simulation<'a, Fates>;

self_cell!(
    /// A simulation of a link that it owns.
    struct OwnSimulation {
        owner: OwnStage,
        #[not_covariant]
        dependent: FatesOnLink,
    }
);

/// Packets that wait, of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Packets and bytes.
    pub backlog: Backlog,
    /// The arrival of the first one.
    pub since: Option<Nanos>,
}

impl Choices {
    /// A plan's link with its sources, drawn with this seed, from the beginning to `duration`.
    ///
    /// # Errors
    /// If a source makes no sense or its recording cannot be opened.
    pub fn new(plan: Arc<Plan>, duration: Option<Nanos>, seed: u64) -> Result<Choices, SimError> {
        let feeds = Run { plan: &plan, duration, seed, feeds: Vec::new() }.with_sources()?.feeds;
        let chosen = Arc::new(Mutex::new(ClassQueues::new(plan.classes.len())));
        let scheduler = plan.behind_queues(Box::new(Behind(chosen.clone())), seed);
        let owner = Owner { network: Network::one_link(&plan.link), plan };
        let stage = OwnStage::new(owner, |owner| Stage::new(&owner.plan, &owner.network));
        let simulation = OwnSimulation::try_new(stage, |stage| {
            let run = Run { plan: &stage.borrow_owner().plan, duration, seed, feeds };
            run.simulation(stage.borrow_dependent(), scheduler, Fates::default())
        })?;
        Ok(Choices { simulation, chosen, now: Nanos::ZERO, slot: SlotId(0) })
    }

    /// Goes on until there is a choice, and says whether there is one: otherwise all has been sent.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn advance(&mut self) -> Result<bool, SimError> {
        let Choices { simulation, chosen, now, slot } = self;
        simulation.with_dependent_mut(|_, simulation| {
            while let Some(next) = simulation.next_step()? {
                (*slot, *now) = next;
                let is_choice = simulation.is_choice(*slot);
                let waits = |of: &&Waiting| of.since.is_some();
                if is_choice && lock(chosen).waiting.iter().filter(waits).count() > 1 {
                    return Ok(true);
                }
                simulation.step(*now, *slot)?;
            }
            Ok(false)
        })
    }

    /// Sends the first packet of a class now, where there is a choice. If none of it waits, the
    /// packet that arrived first goes.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn send(&mut self, class: ClassId) -> Result<(), SimError> {
        lock(&self.chosen).next = Some(class);
        let (now, slot) = (self.now, self.slot);
        self.simulation.with_dependent_mut(|_, simulation| simulation.step(now, slot))
    }

    /// The simulated time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Packets that wait, by class.
    pub fn waiting(&self) -> Vec<Waiting> {
        lock(&self.chosen).waiting.clone()
    }

    /// The fates of packets since the last call.
    pub fn take_fates(&mut self) -> Vec<Record> {
        self.simulation
            .with_dependent_mut(|_, simulation| std::mem::take(&mut simulation.observer().0))
    }
}

/// An observer that keeps fates.
#[derive(Default)]
struct Fates(Vec<Record>);

impl Observer for Fates {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

/// A queue a class, and the class that goes next.
struct ClassQueues {
    queues: Fifos<(), Packet>,
    waiting: Vec<Waiting>,
    next: Option<ClassId>,
    backlog: Backlog,
}

fn lock(chosen: &Mutex<ClassQueues>) -> MutexGuard<'_, ClassQueues> {
    chosen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClassQueues {
    fn new(classes: usize) -> ClassQueues {
        ClassQueues {
            queues: Fifos::new(classes),
            waiting: vec![Waiting::default(); classes],
            next: None,
            backlog: Backlog::default(),
        }
    }

    fn count_out(&mut self, packet: &Packet) {
        let class = packet.class.index();
        self.backlog.remove(packet.length);
        self.waiting[class].backlog.remove(packet.length);
        self.waiting[class].since = self.queues.front(class).map(|first| first.arrival);
    }

    fn insert(&mut self, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        let Some(waiting) = self.waiting.get_mut(class) else {
            drops.dropped(packet, DropReason::NoClass);
            return None;
        };
        waiting.backlog.add(packet.length);
        waiting.since.get_or_insert(packet.arrival);
        self.backlog.add(packet.length);
        Some(self.queues.push(class, (), packet))
    }

    fn dequeue(&mut self) -> Option<Dispatch> {
        let told = self.next.take().map(ClassId::index);
        let told =
            told.filter(|&class| self.waiting.get(class).is_some_and(|of| of.since.is_some()));
        let first = || (0..self.waiting.len()).filter(|&class| self.waiting[class].since.is_some());
        let class = told.or_else(|| first().min_by_key(|&class| self.waiting[class].since))?;
        let (packet, _) = self.queues.pop(class)?;
        self.count_out(&packet);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::Rank })
    }

    fn withdraw(&mut self, place: Place) -> Option<Packet> {
        let class = self.queues.get(place).class.index();
        let (packet, _) = self.queues.withdraw(class, place)?;
        self.count_out(&packet);
        Some(packet)
    }
}

/// The queues as a scheduler. Choosing the first takes time in the number of classes.
struct Behind(Arc<Mutex<ClassQueues>>);

impl Scheduler for Behind {
    fn enqueue(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        lock(&self.0).insert(packet, drops);
    }

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        lock(&self.0).dequeue()
    }

    fn backlog(&self) -> Backlog {
        lock(&self.0).backlog
    }

    fn footprint(&self) -> usize {
        let chosen = lock(&self.0);
        chosen.queues.footprint() + chosen.waiting.capacity() * size_of::<Waiting>()
    }
}

impl Withdraw for Behind {
    fn place(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        lock(&self.0).insert(packet, drops)
    }

    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        lock(&self.0).withdraw(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Fate;
    use proptest::prelude::*;

    const PLAN: &str = r#"
        version = 1
        link = { rate = "8mbit" }
        scheduler = { kind = "priority" }
        class.voice = { level = 0, deadline = "5ms", arrival = { bucket = "600b", rate = "80kB/s" } }
        class.web = { level = 1 }
        class.rest = { level = 2, queue = { kind = "droptail", limit = 5 } }
        source = [{ class = "voice", model = "poisson", packet = "200b", rate = "64kB/s" },
                  { class = "web", model = "poisson", packet = "1500b", rate = "500kB/s" },
                  { class = "rest", model = "poisson", packet = "900b", rate = "700kB/s" }]
    "#;

    fn plan() -> Arc<Plan> {
        Arc::new(Plan::parse(PLAN, "plan", std::path::Path::new(".")).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        /// Choosing always the first class that waits is static priority.
        #[test]
        fn choosing_by_level_is_static_priority(seed: u64) {
            let plan = plan();
            let (duration, mut expected) = (Some(Nanos(300_000_000)), Fates::default());
            let run = Run { plan: &plan, duration, seed, feeds: Vec::new() }.with_sources().unwrap();
            run.simulate(&mut expected, &mut crate::to_the_end).unwrap();
            let mut choices = Choices::new(plan.clone(), duration, seed).unwrap();
            let (mut fates, mut chosen) = (Vec::new(), 0);
            while choices.advance().unwrap() {
                let waiting = choices.waiting();
                let first = waiting.iter().position(|of| of.since.is_some()).unwrap();
                choices.send(ClassId(first as u32)).unwrap();
                fates.extend(choices.take_fates());
                chosen += 1;
            }
            fates.extend(choices.take_fates());
            prop_assert!(chosen > 20);
            let told = |fates: &[Record]| -> Vec<(u64, Fate)> {
                fates.iter().map(|record| (record.packet.handle, record.fate)).collect()
            };
            prop_assert_eq!(told(&fates), told(&expected.0));
        }

        /// With any choices, even of classes that do not exist, all packets that arrive are sent or
        /// dropped.
        #[test]
        fn nothing_is_lost(seed: u64, picks in prop::collection::vec(0..5u32, 1..50)) {
            let mut choices = Choices::new(plan(), Some(Nanos(300_000_000)), seed).unwrap();
            let (mut fates, mut picks) = (Vec::new(), picks.iter().cycle());
            while choices.advance().unwrap() {
                let (class, before) = (ClassId(*picks.next().unwrap()), choices.waiting());
                fates.extend(choices.take_fates());
                choices.send(class).unwrap();
                let sent = choices.take_fates();
                let next = sent.iter().find(|record| matches!(record.fate, Fate::Sent { .. })).unwrap();
                let waited = before.get(class.index()).is_some_and(|of| of.since.is_some());
                let oldest = before.iter().filter_map(|of| of.since).min();
                let is_told = if waited { next.packet.class == class } else { Some(next.packet.arrival) == oldest };
                prop_assert!(is_told);
                fates.extend(sent);
            }
            fates.extend(choices.take_fates());
            let mut handles: Vec<u64> = fates.iter().map(|record| record.packet.handle).collect();
            handles.sort_unstable();
            prop_assert!(handles.into_iter().eq(0..fates.len() as u64));
            prop_assert!(fates.iter().any(|record| matches!(record.fate, Fate::Dropped(_))));
        }
    }
}
