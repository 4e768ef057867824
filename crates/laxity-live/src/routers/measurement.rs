//! What was measured of the packets of a network, by class.

use laxity::histogram::Delays;
use laxity::packet::ClassId;
use laxity::police::Police;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::verdict::live::FramedClass;
use laxity_forward::router::Renumbering;
use laxity_linux::frames::Port;
use laxity_plan::tdp::{Framing, NetworkAnalysis};

use super::passage::Passage;

/// Something that happened at the routers of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostEvent {
    /// A packet is at its end here.
    Ended(Passage, Fate),
    /// A packet that came from a host breaks its class's arrival curve.
    Nonconforming(ClassId),
    /// Number of newly skipped frames: nothing ran in time to send what was due at some port.
    Skipped(u64),
    /// A frame was sent or dropped; told if frames are captured.
    Frame(FrameRecord),
    /// Another plan is followed: what is told from here on has the numbers of its classes.
    Reloaded,
}

/// What became of a frame at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameRecord {
    /// Where it was sent, or where it had arrived if it was dropped.
    pub port: Port,
    /// Its packet's class.
    pub class: ClassId,
    /// When its transmission began, or when it was dropped.
    pub time: Nanos,
    /// From the packet's arrival at the first router here to its last bit out, or to its drop.
    pub delay: Nanos,
    /// Why it was dropped, if it was.
    pub dropped: Option<DropReason>,
    /// Whether the packet was demoted to best effort.
    pub is_demoted: bool,
    /// Whether it left after its frame.
    pub is_late: bool,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "packets end in no other way")]
pub enum Fate {
    /// It left for a host, or a router elsewhere, at this time.
    Left(Nanos),
    /// It was dropped.
    Dropped(DropReason),
    /// It was for nobody.
    Taken,
    /// It did not come to the next router.
    Lost,
}

/// The books of a network's classes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NetworkMeasurement {
    /// By number.
    pub classes: Vec<ClassBooks>,
    /// Frames in which nobody sent at some port what was to be sent.
    pub skipped: u64,
    /// What becomes of packets that break their class's arrival curve, by class number.
    police: Vec<Police>,
}

/// The books of one class.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClassBooks {
    /// Packets that came to their end here; copies for several ports count each.
    pub arrived: u64,
    /// Packets that left the routers of this host.
    pub left: u64,
    /// Their bytes, as links count them.
    pub bytes: u64,
    /// Packets that were dropped, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets that broke the class's arrival curve, whatever became of them.
    pub nonconforming: u64,
    /// Packets that were demoted to best effort, of those that left or were dropped.
    pub demoted: u64,
    /// Packets that left one router and did not come to the next.
    pub lost: u64,
    /// Packets that left after their frame somewhere, or without one, and were not demoted.
    pub disturbed: u64,
    /// From the arrival at the first router to the last bit out of the last.
    pub delay: Delays,
    /// From the beginning of the first transmission to the last bit out, in frames where there are
    /// any.
    pub transit: Delays,
    /// The same of packets that were in their frames everywhere.
    pub kept: Delays,
    /// The longest time from the arrival to the end of the last frame of such packets.
    pub longest: Nanos,
    /// Such packets that took longer than is promised, before the class lost that.
    pub broken: u64,
    /// Packets that took longer, whether they were in their frames or not, without those demoted.
    pub beyond: u64,
    /// What the class is promised.
    pub bound: Option<Nanos>,
    /// The delay from end to end that the plan asks for.
    pub end_to_end: Option<Nanos>,
    /// Packets that took longer than that through the routers of this host alone, without those
    /// demoted.
    pub late: u64,
    /// Whether it has lost that: packets that break its arrival curve travel with the others, and
    /// one did.
    pub is_forfeit: bool,
}

impl NetworkMeasurement {
    /// Nothing yet.
    pub fn new(on: &NetworkAnalysis<'_>) -> Self {
        let mut classes = vec![ClassBooks::default(); on.plan.classes.len()];
        let bounds = on.framing.iter().flat_map(Framing::bounds);
        for (class, bound) in bounds {
            classes[class.index()].bound = bound.ok().map(|bound| bound.delay());
        }
        for (books, class) in classes.iter_mut().zip(&on.plan.classes) {
            books.end_to_end = class.end_to_end;
        }
        let police = on.plan.classes.iter().map(|class| class.police).collect();
        NetworkMeasurement { classes, skipped: 0, police }
    }

    /// Goes on with what was measured under a plan whose classes had other numbers.
    pub(super) fn go_on(&mut self, last: &NetworkMeasurement, numbers: &Renumbering<'_>) {
        for [before, now] in numbers.stay() {
            let known = last.classes.get(before.index());
            if let (Some(books), Some(known)) = (self.classes.get_mut(now.index()), known) {
                let ClassBooks { bound, end_to_end, .. } = *books;
                *books = ClassBooks { bound, end_to_end, ..known.clone() };
            }
        }
        self.skipped = last.skipped;
    }

    /// Counts an event.
    pub fn add(&mut self, event: &HostEvent) {
        match event {
            HostEvent::Ended(_, Fate::Taken) => {}
            HostEvent::Ended(passage, fate) => {
                if let Some(class) = self.classes.get_mut(passage.class.index()) {
                    class.add(passage, *fate);
                }
            }
            HostEvent::Nonconforming(id) => {
                if let Some(class) = self.classes.get_mut(id.index()) {
                    class.nonconforming += 1;
                    class.is_forfeit |= self.police[id.index()] == Police::Count;
                }
            }
            HostEvent::Skipped(frames) => self.skipped += frames,
            HostEvent::Frame(_) | HostEvent::Reloaded => {}
        }
    }

    /// What verdicts on time frames are made from: the classes that are promised something.
    pub fn framed(&self) -> impl Iterator<Item = FramedClass> {
        self.classes.iter().filter_map(|class| {
            let (longest, jitter, is_forfeit) = (class.longest, class.jitter(), class.is_forfeit);
            Some(FramedClass { bound: class.bound?, longest, jitter, is_forfeit })
        })
    }

    /// Packets that were in their frames everywhere and took longer than their class was promised
    /// then.
    pub fn broken(&self) -> u64 {
        self.classes.iter().map(|class| class.broken).sum()
    }
}

impl ClassBooks {
    fn add(&mut self, passage: &Passage, fate: Fate) {
        let Passage { is_demoted, .. } = *passage;
        self.arrived += 1;
        self.demoted += u64::from(is_demoted && matches!(fate, Fate::Left(_) | Fate::Dropped(_)));
        match fate {
            Fate::Left(departure) => {
                let delay = departure.saturating_sub(passage.arrival);
                self.left += 1;
                self.bytes += u64::from(passage.length);
                self.delay.record(delay);
                let is_beyond = self.bound.is_some_and(|bound| delay > bound);
                self.beyond += u64::from(is_beyond && !is_demoted);
                let is_late = self.end_to_end.is_some_and(|promised| delay > promised);
                self.late += u64::from(is_late && !is_demoted);
            }
            Fate::Dropped(reason) => return self.dropped[reason as usize] += 1,
            Fate::Lost => return self.lost += 1,
            Fate::Taken => return,
        }
        if is_demoted {
            return;
        }
        self.disturbed += u64::from(passage.is_disturbed);
        let Some(began) = passage.began else { return };
        let transit = passage.last.saturating_sub(began);
        self.transit.record(transit);
        if !passage.is_disturbed {
            let took = passage.last.saturating_sub(passage.arrival);
            self.kept.record(transit);
            self.longest = self.longest.max(took);
            let is_beyond = self.bound.is_some_and(|bound| took > bound);
            self.broken += u64::from(is_beyond && !self.is_forfeit);
        }
    }

    /// The jitter of packets that were in their frames everywhere.
    pub fn jitter(&self) -> Nanos {
        self.kept.max() - self.kept.min()
    }

    /// The jitter that the fraction `parts / of` of all packets does not exceed.
    ///
    /// It counts from the shortest transit time of the packets that were in their frames.
    pub fn jitter_of(&self, parts: u64, of: u64) -> Nanos {
        self.transit.quantile(parts, of).saturating_sub(self.kept.min())
    }
}
