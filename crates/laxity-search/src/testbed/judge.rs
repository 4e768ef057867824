//! What is held against every packet: its delay, its turn, its class's books, its stream's windows.
//!
//! Nothing here is the schedulers' own accounting: delays, deadlines, windows and what is queued
//! are worked out anew from arrivals and dispatches.

use std::collections::VecDeque;
use std::fmt;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Dispatch, DropReason};
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};

use laxity_adversary::contract::share_of;

use crate::subject::{Output, Subject};

/// A promise or a rule that was broken, at an instant in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its time in ns.
    pub at: u64,
    /// Index of its class.
    pub class: usize,
    /// Its kind.
    pub what: ViolationKind,
}

/// What was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// A packet took longer at an output than proved.
    Bound {
        /// In ns.
        delay: u64,
        /// In ns.
        bound: u64,
    },
    /// A packet took longer over its path than proved.
    Path {
        /// In ns.
        delay: u64,
        /// In ns.
        bound: u64,
    },
    /// More of a window's packets were lost than proved.
    Window {
        /// Packets of a window that may be lost.
        lost: u32,
        /// Packets of a window.
        of: u32,
    },
    /// A packet left before one that comes first.
    Order,
    /// A packet was dropped where nothing may be.
    Dropped(DropReason),
    /// What left is not what came.
    Books,
    /// Packets waited and none was sent.
    Idle,
    /// `run` finds something else than was found here.
    Verdict(String),
}

impl Violation {
    /// A difference between `run` and what was found here, of no class and time.
    pub fn verdict(what: String) -> Violation {
        Violation { at: 0, class: 0, what: ViolationKind::Verdict(what) }
    }
}

impl ViolationKind {
    /// Whether it is the same sort of break, figures aside.
    pub fn is_like(&self, other: &ViolationKind) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViolationKind::Bound { delay, bound } => {
                write!(f, "a packet takes {delay} ns where {bound} ns are proved")
            }
            ViolationKind::Path { delay, bound } => {
                write!(f, "a packet takes {delay} ns over its path where {bound} ns are proved")
            }
            ViolationKind::Window { lost, of } => {
                write!(f, "{lost} packets are lost of a window of {of}, more than proved")
            }
            ViolationKind::Order => f.write_str("a packet leaves before one that comes first"),
            ViolationKind::Dropped(reason) => write!(f, "a packet is dropped ({})", reason.name()),
            ViolationKind::Books => f.write_str("what leaves is not what came"),
            ViolationKind::Idle => f.write_str("packets wait and none is sent"),
            ViolationKind::Verdict(what) => write!(f, "verdicts differ: {what}"),
        }
    }
}

/// A packet that waits at an output.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its number.
    pub handle: u64,
    /// In ns.
    pub arrival: u64,
    /// In bytes.
    pub length: u32,
}

/// The books of an output.
pub struct Books {
    /// Of each class, or of each of its streams, what waits, in the order of arrival.
    queues: Vec<VecDeque<Waiting>>,
    /// Where each class's queues begin.
    first: Vec<usize>,
    /// How many each class has.
    streams: Vec<usize>,
    packets: usize,
    bytes: u64,
    bounds: Vec<Option<u64>>,
    rules: Rules,
    windows: Vec<Option<Windows>>,
}

/// What is known of the order in which an output sends.
struct Rules {
    /// The delay by which each class's packets are due; `None` for best effort.
    due: Vec<Option<u64>>,
    /// The classes in whose scheduler earliest deadlines come first, each share's apart.
    edf_share: Vec<Option<usize>>,
    is_fifo: bool,
    /// The level of each class under static priority, which the judge reads off the plan itself.
    levels: Option<Vec<u64>>,
    /// Whether packets may be held back.
    may_idle: bool,
    may_drop: Vec<bool>,
}

/// The consecutive windows of a stream.
#[derive(Clone, Debug)]
struct Windows {
    gap: u64,
    most: u32,
    of: u32,
    due: u64,
    seen: u32,
    lost: u32,
}

impl Books {
    /// Of an output that holds nothing.
    pub fn new(subject: &Subject, output: &Output) -> Books {
        let plan = &subject.plan;
        let (mut first, mut streams, mut windows, mut queues) = (vec![], vec![], vec![], 0);
        for class in &plan.classes {
            let count = if subject.keeps_windows { class.count as usize } else { 1 };
            first.push(queues);
            streams.push(count);
            queues += count;
            let watched = class.gap.zip(class.loss).filter(|_| subject.keeps_windows);
            let watched = watched.map(|(gap, loss)| Windows {
                gap: gap.0,
                most: loss.lost(),
                of: loss.window(),
                due: 0,
                seen: 0,
                lost: 0,
            });
            windows.extend(std::iter::repeat_n(watched, count));
        }
        Books {
            queues: vec![VecDeque::new(); queues],
            first,
            streams,
            packets: 0,
            bytes: 0,
            bounds: output.bounds.clone(),
            rules: Rules::new(&output.plan, plan),
            windows,
        }
    }

    /// The queue of a flow; `None` if there is no such class.
    fn queue(&self, class: usize, flow: u32) -> Option<usize> {
        Some(self.first.get(class)? + flow as usize % self.streams[class])
    }

    /// A packet comes.
    pub fn arrived(&mut self, class: usize, flow: u32, waiting: Waiting) {
        let queue = self.queue(class, flow).expect("a class of the plan");
        self.queues[queue].push_back(waiting);
        self.packets += 1;
        self.bytes += u64::from(waiting.length);
    }

    /// How much waits.
    pub fn holds(&self) -> (usize, u64) {
        (self.packets, self.bytes)
    }

    /// Whether nothing may be sent although packets wait.
    pub fn may_idle(&self) -> bool {
        self.rules.may_idle
    }

    /// A packet is sent: the one that came first of its queue, in its class's turn. Gives when it
    /// came and what of its stream's window is used up.
    pub fn sent(&mut self, now: u64, dispatch: &Dispatch) -> Result<(Waiting, f64), ViolationKind> {
        let packet = &dispatch.packet;
        let class = packet.class.index();
        let queue = self.queue(class, packet.flow.0).ok_or(ViolationKind::Books)?;
        let first = *self.queues[queue].front().ok_or(ViolationKind::Books)?;
        if first.handle != packet.handle {
            let known = self.queues[queue].iter().any(|one| one.handle == packet.handle);
            return Err(if known { ViolationKind::Order } else { ViolationKind::Books });
        }
        if first.length != packet.length {
            return Err(ViolationKind::Books);
        }
        if !self.is_in_turn(class, first, dispatch) {
            return Err(ViolationKind::Order);
        }
        self.remove(queue, 0);
        let windows = self.windows[queue].as_mut();
        let used = windows.map_or(Ok(0.0), |windows| windows.begun(now, first.arrival))?;
        Ok((first, used))
    }

    /// A packet is dropped. Gives what of its stream's window is used up.
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) -> Result<f64, ViolationKind> {
        let class = packet.class.index();
        let queue = self.queue(class, packet.flow.0).ok_or(ViolationKind::Books)?;
        let place = self.queues[queue].iter().position(|one| one.handle == packet.handle);
        let place = place.ok_or(ViolationKind::Books)?;
        if !self.rules.may_drop[class] {
            return Err(ViolationKind::Dropped(reason));
        }
        let waiting = self.remove(queue, place);
        let windows = self.windows[queue].as_mut();
        windows.map_or(Ok(0.0), |windows| windows.dropped(waiting.arrival))
    }

    /// The bound of a class here.
    pub fn bound(&self, class: usize) -> Option<u64> {
        self.bounds[class]
    }

    fn remove(&mut self, queue: usize, place: usize) -> Waiting {
        let waiting = self.queues[queue].remove(place).expect("a packet that waits");
        self.packets -= 1;
        self.bytes -= u64::from(waiting.length);
        waiting
    }

    /// Whether no packet waits that comes before this one by the discipline's own rule.
    fn is_in_turn(&self, class: usize, first: Waiting, dispatch: &Dispatch) -> bool {
        let rules = &self.rules;
        if rules.is_fifo {
            let heads = self.queues.iter().filter_map(VecDeque::front);
            return heads.into_iter().all(|head| head.arrival >= first.arrival);
        }
        if let Some(levels) = &rules.levels {
            let heads = levels.iter().enumerate().filter_map(|(other, level)| {
                Some((*level, self.queues[self.first[other]].front()?.arrival))
            });
            return heads.into_iter().all(|head| head >= (levels[class], first.arrival));
        }
        let Some(share) = rules.edf_share[class] else { return true };
        // Of two that are due at once, what came first goes first; best effort knows its own
        // deadline only, and has none where it is served in the background.
        let mine = match rules.due[class] {
            Some(due) => (first.arrival + due, first.arrival),
            None => (dispatch.deadline.map_or(u64::MAX, |deadline| deadline.0), 0),
        };
        let others = (0..rules.due.len()).filter(|other| rules.edf_share[*other] == Some(share));
        others.into_iter().all(|other| {
            let Some(due) = rules.due[other] else { return true };
            let head = self.queues[self.first[other]].front();
            head.is_none_or(|head| (head.arrival + due, head.arrival) >= mine)
        })
    }
}

impl Rules {
    fn new(here: &Plan, whole: &Plan) -> Rules {
        let ids = || (0..whole.classes.len() as u32).map(ClassId);
        let nested = here.is_hierarchy_of_schedulers();
        let place = |id: ClassId| {
            let share = share_of(whole, id).filter(|_| nested);
            let spec = match share {
                Some(share) => whole.classes[share.index()].scheduling().scheduler,
                None => here.scheduler,
            };
            (share.map_or(usize::MAX, ClassId::index), spec)
        };
        let edf_share = |id| match place(id) {
            (share, SchedulerSpec::Edf(_)) => Some(share),
            _ => None,
        };
        let class = |id: ClassId| &whole.classes[id.index()];
        let may_drop = |id: ClassId| {
            matches!(place(id).1, SchedulerSpec::Dwcs(_)) && class(id).relative_deadline().is_some()
        };
        // H-FSC holds back what is above its limit, and what has no share in what others leave.
        let held_back = |class: &Class| {
            let curves = &class.curves;
            curves.upper_limit.is_some()
                || curves.real_time.is_some() && curves.link_share.is_none()
        };
        Rules {
            due: ids().map(|id| class(id).relative_deadline().map(|due| due.0)).collect(),
            edf_share: ids().map(edf_share).collect(),
            is_fifo: here.scheduler == SchedulerSpec::Fifo,
            levels: (here.scheduler == SchedulerSpec::Priority).then(|| {
                // The drafts give a level to all classes but a flood, which comes last, or to none:
                // then the shortest deadline goes first.
                let has_levels = whole.classes.iter().any(|class| class.level.is_some());
                let level = |class: &Class| {
                    if has_levels {
                        class.level.map(u64::from)
                    } else {
                        class.relative_deadline().map(|due| due.0)
                    }
                };
                ids().map(|id| level(class(id)).unwrap_or(u64::MAX)).collect()
            }),
            may_idle: here.scheduler == SchedulerSpec::Hfsc && whole.classes.iter().any(held_back),
            may_drop: ids().map(may_drop).collect(),
        }
    }
}

impl Windows {
    /// A packet that came at `arrival` is begun: how much of its window is used up.
    fn begun(&mut self, now: u64, arrival: u64) -> Result<f64, ViolationKind> {
        let due = self.due.max(arrival) + self.gap;
        let missed = now.saturating_sub(due).div_ceil(self.gap);
        self.due = due + missed * self.gap;
        let waited = (now + self.gap).saturating_sub(due) as f64 / self.gap as f64;
        self.count(missed > 0, waited)
    }

    fn dropped(&mut self, arrival: u64) -> Result<f64, ViolationKind> {
        self.due = self.due.max(arrival) + self.gap;
        self.count(true, 0.0)
    }

    fn count(&mut self, is_lost: bool, waited: f64) -> Result<f64, ViolationKind> {
        let Windows { most, of, .. } = *self;
        self.lost += u32::from(is_lost);
        self.seen += 1;
        if self.lost > most {
            return Err(ViolationKind::Window { lost: self.lost, of });
        }
        let waited = if is_lost { 0.0 } else { waited.min(0.999) };
        let used = (f64::from(self.lost) + waited) / f64::from(most + 1);
        if self.seen == of {
            (self.seen, self.lost) = (0, 0);
        }
        Ok(used)
    }
}
