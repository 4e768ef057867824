//! Records the choices of schedulers that have virtual times.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use laxity::explain::{Explain, VirtualTimes};
use laxity::packet::{ClassId, FlowId, Hosts, Packet};
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropSink, QueueMemory, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::Hop;

use super::{Service, ServicePeriod, VirtualTimeCurve};

/// More classes than a figure can tell apart are left out, and so are more outputs.
const MOST_CLASSES: usize = 24;
const MOST_OUTPUTS: usize = 16;
/// Choices that are remembered of an output.
const MOST_CHOICES: usize = 4096;
/// Choices of a period up to its packet: what lies further back is left out. As this is less than
/// what is remembered, periods are not made anew at every choice, however long packets wait.
const MOST_SHOWN: usize = MOST_CHOICES / 4 * 3;
/// Points of a curve.
const MOST_POINTS: usize = 240;
/// The part of the wait that is shown before the packet arrives, and after it is chosen.
const MARGIN: u64 = 4;

/// Records the service of classes under schedulers that have virtual times. Its memory is bounded
/// for a run of any length.
#[derive(Clone)]
pub struct ServiceRecorder<'a> {
    plan: &'a Plan,
    logs: Arc<Mutex<Vec<Arc<Mutex<Log>>>>>,
}

impl<'a> ServiceRecorder<'a> {
    /// A recorder of a run of a plan.
    pub fn new(plan: &'a Plan) -> Self {
        ServiceRecorder { plan, logs: Arc::default() }
    }

    /// The scheduler at the output of a hop, or on the only link, with its choices recorded: the
    /// scheduler itself if it has no virtual times.
    pub fn watch(
        &self,
        hop: Option<Hop>,
        scheduler: Box<dyn Scheduler + Send>,
    ) -> Box<dyn Scheduler + Send> {
        let has_virtual_times = scheduler.explain().and_then(Explain::virtual_times).is_some();
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_virtual_times || logs.len() == MOST_OUTPUTS {
            return scheduler;
        }
        let log = Arc::new(Mutex::new(Log::new(self.plan, hop)));
        logs.push(Arc::clone(&log));
        Box::new(Watched { scheduler, log })
    }

    /// The period of each class and output that sent a packet of it, when the run is over.
    pub fn finish(self) -> Vec<ServicePeriod> {
        let logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let finish =
            |log: &Arc<Mutex<Log>>| log.lock().unwrap_or_else(PoisonError::into_inner).finish();
        logs.iter().flat_map(finish).collect()
    }
}

/// A scheduler whose choices are recorded.
struct Watched {
    scheduler: Box<dyn Scheduler + Send>,
    log: Arc<Mutex<Log>>,
}

/// The last choices of an output.
struct Log {
    hop: Option<Hop>,
    rate: Rate,
    /// Of each class that is recorded, the class above it.
    parents: Vec<Option<ClassId>>,
    choices: VecDeque<Choice>,
    /// The virtual times after each of them, of all classes that are recorded.
    virtual_times: VecDeque<Option<u64>>,
    /// The number of choices before those that are remembered.
    past: usize,
    slowest: Vec<Slowest>,
    /// The first choice that the period of some class needs.
    needed: usize,
}

#[derive(Clone, Copy)]
struct Choice {
    time: Nanos,
    class: ClassId,
    length: u32,
    is_real_time: bool,
    deadline: Option<Nanos>,
}

/// The packet of a class that waited longest so far.
#[derive(Clone, Default)]
struct Slowest {
    /// Its number, when it arrived and when it was chosen.
    packet: Option<(u64, Nanos, Nanos)>,
    /// The first choice of its period.
    first: usize,
    /// The period, once the first choice is forgotten.
    period: Option<ServicePeriod>,
}

impl Log {
    fn new(plan: &Plan, hop: Option<Hop>) -> Log {
        let link = hop.and_then(|hop| Some(plan.network.as_ref()?.link(hop)));
        let parents: Vec<_> =
            plan.classes.iter().take(MOST_CLASSES).map(|class| class.parent).collect();
        Log {
            hop,
            rate: link.map_or(plan.link.rate, |link| link.rate),
            slowest: vec![Slowest::default(); parents.len()],
            parents,
            choices: VecDeque::new(),
            virtual_times: VecDeque::new(),
            past: 0,
            needed: usize::MAX,
        }
    }

    fn note(&mut self, now: Nanos, sent: &Dispatch, times: Option<&dyn VirtualTimes>) {
        let Packet { class, length, arrival, handle, .. } = sent.packet;
        if self.choices.len() == MOST_CHOICES {
            self.forget();
        }
        let is_real_time = sent.criterion == Criterion::RealTime;
        let deadline = sent.deadline;
        self.choices.push_back(Choice { time: now, class, length, is_real_time, deadline });
        let virtual_time = |class: u32| {
            let time = times?.virtual_time(ClassId(class))?;
            Some(u64::try_from(time).unwrap_or(u64::MAX))
        };
        self.virtual_times.extend((0..self.parents.len() as u32).map(virtual_time));
        let Some(slowest) = self.slowest.get_mut(class.index()) else { return };
        let wait = now - arrival;
        if slowest.packet.is_none_or(|(_, arrival, start)| wait > start - arrival) {
            let from = arrival.saturating_sub(Nanos(wait.0 / MARGIN));
            let first = self.choices.partition_point(|choice| choice.time < from);
            let least = self.choices.len().saturating_sub(MOST_SHOWN);
            slowest.first = self.past + first.max(least);
            slowest.packet = Some((handle, arrival, now));
            slowest.period = None;
            self.needed = self.needed.min(slowest.first);
        }
    }

    /// Forgets the oldest choice, which a period may begin with.
    fn forget(&mut self) {
        if self.past >= self.needed {
            for class in 0..self.slowest.len() {
                if self.slowest[class].first <= self.past {
                    self.keep(class);
                }
            }
            let open = self.slowest.iter().filter(|it| it.packet.is_some() && it.period.is_none());
            self.needed = open.map(|slowest| slowest.first).min().unwrap_or(usize::MAX);
        }
        self.choices.pop_front();
        self.virtual_times.drain(..self.parents.len());
        self.past += 1;
    }

    /// Keeps the period of the packet of a class that waited longest, if it is not kept yet.
    fn keep(&mut self, class: usize) {
        let slowest = &self.slowest[class];
        let Some((packet, arrival, start)) = slowest.packet else { return };
        if slowest.period.is_some() {
            return;
        }
        let until = start.saturating_add(Nanos((start - arrival).0 / MARGIN));
        let first = slowest.first.saturating_sub(self.past);
        let last = self.choices.partition_point(|choice| choice.time <= until);
        let (class, hop) = (ClassId::from_index(class), self.hop);
        let service = self.service(class, first..last);
        let virtual_times = self.curves(class, first..last);
        let period = ServicePeriod { hop, class, packet, arrival, start, service, virtual_times };
        self.slowest[class.index()].period = Some(period);
    }

    /// The service of a class over these choices.
    fn service(&self, class: ClassId, choices: Range<usize>) -> Vec<Service> {
        let (mut received, mut real_time) = (0, 0);
        let own = self.choices.range(choices).filter(|choice| choice.class == class);
        let service = own.map(|choice| {
            let length = u64::from(choice.length);
            let deadline = choice.deadline.map(|deadline| (deadline, real_time + length));
            received += length;
            real_time += if choice.is_real_time { length } else { 0 };
            let end = choice.time.saturating_add(self.rate.time_for(Bytes(length)));
            Service { end, received, real_time, deadline }
        });
        let service: Vec<_> = service.collect();
        thinned(0..service.len()).map(|at| service[at]).collect()
    }

    /// The virtual times of a leaf and its siblings over these choices. A leaf without a sibling
    /// that competes has those of the lowest class above it that has one, and of its siblings.
    fn curves(&self, leaf: ClassId, choices: Range<usize>) -> Vec<VirtualTimeCurve> {
        let parent = |class: &ClassId| self.parents.get(class.index()).copied().flatten();
        let curve = |class: ClassId| {
            let point = |at: usize| {
                let time = self.virtual_times[at * self.parents.len() + class.index()];
                (self.choices[at].time, time)
            };
            let points: Vec<_> = thinned(choices.clone()).map(point).collect();
            let is_active = points.iter().any(|(_, time)| time.is_some());
            is_active.then_some(VirtualTimeCurve { class, points })
        };
        let siblings = |class: ClassId| {
            let all = (0..self.parents.len()).map(ClassId::from_index);
            let curves = all.filter(|other| parent(other) == parent(&class)).filter_map(curve);
            curves.collect::<Vec<_>>()
        };
        let levels = std::iter::successors(Some(leaf), parent).map(siblings);
        let mut levels = levels.collect::<Vec<_>>();
        let competing = levels.iter().position(|level| level.len() > 1).unwrap_or(0);
        levels.swap_remove(competing)
    }

    fn finish(&mut self) -> Vec<ServicePeriod> {
        (0..self.slowest.len()).for_each(|class| self.keep(class));
        self.slowest.iter_mut().filter_map(|slowest| slowest.period.take()).collect()
    }
}

/// At most [`MOST_POINTS`] of these in equal steps, the first and the last one included.
fn thinned(all: Range<usize>) -> impl Iterator<Item = usize> {
    let (count, points) = (all.len(), all.len().min(MOST_POINTS));
    (0..points).map(move |at| all.start + at * (count - 1) / (points - 1).max(1))
}

impl Scheduler for Watched {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.scheduler.enqueue(now, packet, drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.scheduler.take_over(now, packet, drops);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        self.scheduler.memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let sent = self.scheduler.dequeue(now, drops)?;
        let times = self.scheduler.explain().and_then(Explain::virtual_times);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).note(now, &sent, times);
        Some(sent)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.scheduler.explain()
    }
}
