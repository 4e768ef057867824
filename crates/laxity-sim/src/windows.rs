//! The windows of every stream of a run, whatever schedules it: which packets were late or lost,
//! and in how many windows that were too many.

use std::collections::VecDeque;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity::window::{Consecutive, Counts, Monitor};
use laxity_plan::Plan;
use laxity_plan::model::Class;

/// Watches the streams of the classes that have a loss tolerance.
///
/// With a gap T, packet n of a stream, which arrives at a, is due to be begun at
/// `D(n) = max(D', a) + T`, where D' is the deadline with which packet n - 1 left, or at `a + T` if
/// it is the first. A packet that is begun after that has missed k = ceil((start - D(n)) / T)
/// deadlines, is lost if there are any, and leaves with the deadline D(n) + k T. Without a gap a
/// packet is lost if it is delayed for longer than its class's deadline, unless it is demoted. A
/// packet that is dropped is lost; it has missed one deadline if it was dropped for being late.
///
/// Outcomes count in the order in which a stream's packets arrived. Packets that arrive before the
/// measured time are not counted, but move deadlines on and are part of windows: a window counts if
/// the packet that completes it does.
#[derive(Debug)]
pub struct Windows {
    /// By class number; none at all if no class has a tolerance.
    classes: Vec<Option<ClassMonitor>>,
    measured_from: Nanos,
    step: Step,
}

/// Whether all streams are in step, as the proof of DWCS needs them.
#[derive(Debug)]
enum Step {
    /// There was no packet yet.
    Unknown,
    /// All deadlines have been this far from a multiple of their gap.
    Kept(u64),
    /// Deadlines fell apart, or a stream had no packet when its last one was due.
    Lost,
}

/// A class of alike streams.
#[derive(Debug)]
struct ClassMonitor {
    limit: Limit,
    streams: Vec<Stream>,
}

/// When a packet is late.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Gap(Nanos),
    Delay(Nanos),
}

#[derive(Clone, Debug)]
struct Stream {
    monitor: Monitor,
    /// What the monitor counted before the measured time.
    uncounted: (Counts, Consecutive),
    /// Packets lost since the last one that was not, and the most that ever were; measured ones.
    run: u64,
    longest_run: u64,
    /// D', zero before the first packet.
    due: Nanos,
    deadline_misses: u64,
    /// The packets whose outcome does not count yet, in the order of their arrival.
    pending: VecDeque<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    handle: u64,
    arrival: Nanos,
    fate: Option<Fate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Dropped {
        /// Because its deadline had passed.
        late: bool,
    },
    Begun {
        at: Nanos,
        /// Delayed for longer than the class's deadline, where that counts.
        late: bool,
    },
}

/// What became of a class's streams in the measured time: sums, and the longest of their runs of
/// losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassWindows {
    /// Packets, losses, windows and violations.
    pub counts: Counts,
    /// Windows that do not overlap, from a stream's first packet on.
    pub consecutive: Consecutive,
    /// Deadlines that passed before their packet was begun.
    pub deadline_misses: u64,
}

impl Windows {
    /// The streams of a plan.
    pub fn new(plan: &Plan) -> Self {
        let mut classes = Vec::new();
        if plan.classes.iter().any(|class| class.loss.is_some()) {
            classes = plan.classes.iter().map(ClassMonitor::new).collect();
        }
        Windows { classes, measured_from: plan.run.warm_up, step: Step::Unknown }
    }

    /// A packet arrives. Handles grow from packet to packet.
    pub fn arrived(&mut self, packet: &Packet) {
        if let Some((_, stream)) = stream(&mut self.classes, packet) {
            let Packet { handle, arrival, .. } = *packet;
            stream.pending.push_back(Pending { handle, arrival, fate: None });
        }
    }

    /// A packet that arrived is dropped.
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.settle(packet, |_| Fate::Dropped { late: reason == DropReason::Late });
    }

    /// A packet that arrived is sent.
    pub fn sent(&mut self, packet: &Packet, start: Nanos, departure: Nanos) {
        self.settle(packet, |limit| {
            let late = match limit {
                Limit::Gap(_) => false,
                Limit::Delay(limit) => !packet.demoted && departure - packet.arrival > limit,
            };
            Fate::Begun { at: start, late }
        });
    }

    /// Whether the deadlines of all streams with a gap have fallen together or whole gaps apart,
    /// every packet coming before its predecessor was due.
    pub fn are_in_step(&self) -> bool {
        matches!(self.step, Step::Kept(_))
    }

    /// What was counted of a class; `None` without a tolerance.
    pub fn class(&self, class: ClassId) -> Option<ClassWindows> {
        let watched = self.classes.get(class.index())?.as_ref()?;
        let mut all = ClassWindows::default();
        for stream in &watched.streams {
            let (counts, (before, consecutive_before)) =
                (stream.monitor.counts(), stream.uncounted);
            all.counts = Counts {
                packets: all.counts.packets + counts.packets - before.packets,
                lost: all.counts.lost + counts.lost - before.lost,
                windows: all.counts.windows + counts.windows - before.windows,
                violations: all.counts.violations + counts.violations - before.violations,
                longest_run: all.counts.longest_run.max(stream.longest_run),
            };
            let (counts, before) = (stream.monitor.consecutive(), consecutive_before);
            all.consecutive.windows += counts.windows - before.windows;
            all.consecutive.violations += counts.violations - before.violations;
            all.deadline_misses = all.deadline_misses.saturating_add(stream.deadline_misses);
        }
        Some(all)
    }

    fn settle(&mut self, packet: &Packet, fate: impl FnOnce(Limit) -> Fate) {
        let (measured_from, step) = (self.measured_from, &mut self.step);
        let Some((limit, stream)) = stream(&mut self.classes, packet) else { return };
        let handle = packet.handle;
        let Some(place) = stream.place(handle) else { return };
        stream.pending[place].fate = Some(fate(limit));
        while let Some(&Pending { arrival, fate: Some(fate), .. }) = stream.pending.front() {
            stream.pending.pop_front();
            if let Limit::Gap(gap) = limit {
                let is_first = stream.monitor.counts().packets == 0;
                step.take((!is_first).then_some(stream.due), arrival, gap);
            }
            let (is_lost, missed) = stream.judge(arrival, fate, limit);
            stream.monitor.record(is_lost);
            if arrival >= measured_from {
                stream.run = if is_lost { stream.run + 1 } else { 0 };
                stream.longest_run = stream.longest_run.max(stream.run);
                stream.deadline_misses = stream.deadline_misses.saturating_add(missed);
            } else {
                stream.uncounted = (stream.monitor.counts(), stream.monitor.consecutive());
            }
        }
    }
}

fn stream<'a>(
    classes: &'a mut [Option<ClassMonitor>],
    packet: &Packet,
) -> Option<(Limit, &'a mut Stream)> {
    let watched = classes.get_mut(packet.class.index())?.as_mut()?;
    let count = watched.streams.len();
    Some((watched.limit, &mut watched.streams[packet.flow.0 as usize % count]))
}

impl Step {
    /// A packet of a stream whose last one was due at `due`, if it had one.
    fn take(&mut self, due: Option<Nanos>, arrival: Nanos, gap: Nanos) {
        let is_kept = match (&*self, due) {
            (Step::Lost, _) => return,
            (_, Some(due)) => arrival <= due,
            (Step::Kept(offset), None) => arrival.0 % gap.0 == *offset,
            (Step::Unknown, None) => {
                *self = Step::Kept(arrival.0 % gap.0);
                return;
            }
        };
        if !is_kept {
            *self = Step::Lost;
        }
    }
}

impl ClassMonitor {
    fn new(class: &Class) -> Option<ClassMonitor> {
        let loss = class.loss?;
        let limit = class.gap.map(Limit::Gap).or(class.deadline.map(Limit::Delay))?;
        let stream = Stream {
            monitor: Monitor::new(loss),
            uncounted: Default::default(),
            run: 0,
            longest_run: 0,
            due: Nanos::ZERO,
            deadline_misses: 0,
            pending: VecDeque::new(),
        };
        Some(ClassMonitor { limit, streams: vec![stream; class.count as usize] })
    }
}

impl Stream {
    /// Where a packet waits for its outcome: as a rule it is the first.
    fn place(&self, handle: u64) -> Option<usize> {
        if self.pending.front()?.handle == handle {
            Some(0)
        } else {
            self.pending.binary_search_by_key(&handle, |packet| packet.handle).ok()
        }
    }

    /// Whether a packet was lost and how many deadlines it missed, all before it being judged.
    fn judge(&mut self, arrival: Nanos, fate: Fate, limit: Limit) -> (bool, u64) {
        if let Limit::Gap(gap) = limit {
            self.due = self.due.max(arrival).saturating_add(gap);
        }
        match (fate, limit) {
            (Fate::Begun { at, .. }, Limit::Gap(gap)) => {
                let missed = at.saturating_sub(self.due).0.div_ceil(gap.0);
                self.due = self.due.saturating_add(Nanos(missed.saturating_mul(gap.0)));
                (missed > 0, missed)
            }
            (Fate::Begun { late, .. }, Limit::Delay(_)) => (late, u64::from(late)),
            (Fate::Dropped { late }, _) => (true, u64::from(late)),
        }
    }
}

#[cfg(test)]
mod tests;
