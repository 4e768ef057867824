//! The definition, with one list of all packets.

use std::vec::Vec;

use super::TdpSettings;
use crate::packet::Packet;
use crate::sched::Late;
use crate::scheduler::DropReason;
use crate::units::{Bytes, Nanos};

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    /// None for best effort.
    frame: Option<u64>,
    is_late: bool,
}

/// An output that looks at every packet every time.
pub(super) struct Reference {
    settings: TdpSettings,
    reserved: Vec<bool>,
    /// In the order in which they came, or became late.
    waiting: Vec<Waiting>,
    /// The best-effort packet that is to be sent next, by its handle, and until when it may wait.
    chosen: Option<(u64, Nanos)>,
}

pub(super) type Dropped = Vec<(u64, DropReason)>;

impl Reference {
    pub(super) fn new(settings: TdpSettings, reserved: &[bool]) -> Self {
        Reference { settings, reserved: reserved.to_vec(), waiting: Vec::new(), chosen: None }
    }

    fn capacity(&self) -> u64 {
        // The most bytes that take no longer than the frame without the guard.
        let TdpSettings { time, rate, guard, .. } = self.settings;
        (0..).take_while(|&bytes| rate.time_for(Bytes(bytes)) <= time.frame - guard).last().unwrap()
    }

    fn frame(&self, now: Nanos) -> u64 {
        now.0 / self.settings.time.frame.0
    }

    fn bytes(&self, is: impl Fn(&Waiting) -> bool) -> u64 {
        self.waiting.iter().filter(|one| is(one)).map(|one| u64::from(one.packet.length)).sum()
    }

    fn become_late(&mut self, packet: Packet, frame: u64, dropped: &mut Dropped) {
        let late = self.bytes(|one| one.is_late) + u64::from(packet.length);
        if self.settings.late == Late::Drop || late > self.capacity() {
            dropped.push((packet.handle, DropReason::Frame));
        } else {
            self.waiting.push(Waiting { packet, frame: Some(frame), is_late: true });
        }
    }

    fn end_frames(&mut self, now: Nanos, dropped: &mut Dropped) {
        let current = self.frame(now);
        let is_over =
            |one: &Waiting| !one.is_late && one.frame.is_some_and(|frame| frame < current);
        let mut over: Vec<_> = self.waiting.iter().copied().filter(is_over).collect();
        self.waiting.retain(|one| !is_over(one));
        over.sort_by_key(|one| one.frame);
        for one in over {
            self.become_late(one.packet, one.frame.unwrap(), dropped);
        }
    }

    /// How long after its beginning the next reserved frame after this one comes, in frames.
    fn until_reserved(&self, frame: u64) -> Option<u64> {
        let frames = self.reserved.len() as u64;
        (1..=frames).find(|more| self.reserved[((frame + more) % frames) as usize])
    }

    fn fits(&self, begin: Nanos, frame: u64, length: u32) -> bool {
        let TdpSettings { time, rate, guard, .. } = self.settings;
        let end = begin + rate.time_for(Bytes(length.into()));
        let next = self.until_reserved(frame).map(|more| Nanos((frame + more) * time.frame.0));
        next.is_none_or(|next| end <= next + guard)
    }

    pub(super) fn enqueue(&mut self, now: Nanos, packet: Packet, frame: Option<u64>) -> Dropped {
        let mut dropped = Vec::new();
        self.end_frames(now, &mut dropped);
        let current = self.frame(now);
        let one = Waiting { packet, frame, is_late: false };
        match frame {
            None => {
                // From the beginning of any frame.
                let frames = current..current + self.reserved.len() as u64;
                let start = |frame| Nanos(frame * self.settings.time.frame.0);
                if frames.clone().any(|frame| self.fits(start(frame), frame, packet.length)) {
                    self.waiting.push(one);
                } else {
                    dropped.push((packet.handle, DropReason::Frame));
                }
            }
            Some(frame) if frame <= current => self.become_late(packet, frame, &mut dropped),
            Some(frame) if frame > current + u64::from(self.settings.delay) + 1 => {
                dropped.push((packet.handle, DropReason::Frame));
            }
            Some(frame) => {
                let with = |one: &Waiting| one.frame == Some(frame) && !one.is_late;
                if self.bytes(with) + u64::from(packet.length) > self.capacity() {
                    dropped.push((packet.handle, DropReason::QueueFull));
                } else {
                    self.waiting.push(one);
                }
            }
        }
        dropped
    }

    /// The packet and its deadline.
    pub(super) fn dequeue(&mut self, now: Nanos) -> (Option<(u64, Option<Nanos>)>, Dropped) {
        let mut dropped = Vec::new();
        self.end_frames(now, &mut dropped);
        let current = self.frame(now);
        let is_due = |one: &Waiting| !one.is_late && one.frame == Some(current);
        let due = self.waiting.iter().position(is_due);
        let chosen = due.or_else(|| self.late(now, &mut dropped));
        let chosen = chosen.or_else(|| self.best_effort(now, &mut dropped));
        let chosen = chosen.map(|place| {
            let one = self.waiting.remove(place);
            let end = one.frame.map(|frame| Nanos((frame + 1) * self.settings.time.frame.0));
            (one.packet.handle, end)
        });
        (chosen, dropped)
    }

    fn super_cycle(&self) -> Nanos {
        let time = self.settings.time;
        Nanos(time.frame.0 * u64::from(time.frames * time.cycles))
    }

    /// The place of the late packet to be sent now.
    fn late(&mut self, now: Nanos, dropped: &mut Dropped) -> Option<usize> {
        loop {
            let first = self.waiting.iter().position(|one| one.is_late)?;
            let Waiting { packet, frame, .. } = self.waiting[first];
            if self.fits(now, self.frame(now), packet.length) {
                return Some(first);
            }
            let ended = Nanos((frame? + 1) * self.settings.time.frame.0);
            if now < ended + self.super_cycle() {
                return None;
            }
            self.waiting.remove(first);
            dropped.push((packet.handle, DropReason::Frame));
        }
    }

    /// The place of the best-effort packet to be sent now.
    fn best_effort(&mut self, now: Nanos, dropped: &mut Dropped) -> Option<usize> {
        let current = self.frame(now);
        loop {
            let first = self.waiting.iter().position(|one| one.frame.is_none())?;
            let packet = self.waiting[first].packet;
            let is_chosen = self.chosen.is_some_and(|(handle, _)| handle == packet.handle);
            if !is_chosen {
                // Nothing is chosen when nothing could be sent, not even a packet without length.
                if !self.fits(now + Nanos(1), current, 0) {
                    return None;
                }
                self.chosen = Some((packet.handle, now + self.super_cycle()));
            }
            if self.fits(now, current, packet.length) {
                return Some(first);
            }
            if self.chosen.is_some_and(|(_, until)| now < until) {
                return None;
            }
            self.waiting.remove(first);
            dropped.push((packet.handle, DropReason::Frame));
        }
    }

    /// Whether anything reserved is to be sent now.
    pub(super) fn has_reserved(&self, now: Nanos) -> bool {
        let late = self.waiting.iter().find(|one| one.is_late);
        let goes = |one: &Waiting| self.fits(now, self.frame(now), one.packet.length);
        self.has_due(now) || late.is_some_and(goes)
    }

    /// Whether anything is due in this frame.
    pub(super) fn has_due(&self, now: Nanos) -> bool {
        self.waiting.iter().any(|one| !one.is_late && one.frame == Some(self.frame(now)))
    }

    /// Whether nothing is left but what is to be sent in later frames.
    pub(super) fn is_done(&self, now: Nanos) -> bool {
        let current = self.frame(now);
        let is_later =
            |one: &Waiting| !one.is_late && one.frame.is_some_and(|frame| frame > current);
        self.waiting.iter().all(is_later)
    }

    pub(super) fn fits_now(&self, now: Nanos, length: u32) -> bool {
        self.fits(now, self.frame(now), length)
    }

    pub(super) fn packets(&self) -> (usize, u64) {
        (self.waiting.len(), self.bytes(|_| true))
    }
}
