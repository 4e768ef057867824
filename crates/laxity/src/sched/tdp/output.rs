//! One output of a router (Baldi et al. 2006, section III.C).

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use super::settings::bytes_within;
use super::{CommonTime, Mark, TdpSettings};
use crate::error::{SetupError, check};
use crate::explain::Explain;
use crate::memory::{self, FirstHalf, SecondHalf};
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::sched::pace::{Moment, Pace};
use crate::sched::{Fifo, Late};
use crate::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink, Scheduler, turn_away};
use crate::units::Nanos;

/// An output of a TDP router.
///
/// As in the paper there is a queue for each of the frames from the current one to d + 1 frames
/// ahead (section III.C). A packet that is given a frame with [`enqueue_in`](Self::enqueue_in) is
/// sent in that frame; others are best effort. In its frame a reserved packet goes before best
/// effort. A best-effort packet is sent only if it ends, at the latest, `guard` after the beginning
/// of the next reserved frame, whether or not anything has come for that frame yet. So everything
/// that is accepted leaves within its frame, if the link is asked as soon as it is free. Best
/// effort is ordered by a scheduler of its own, first come, first served unless it is put
/// [over](Self::over) another; the packet that this chooses is held until there is time for it, and
/// dropped for [`DropReason::Frame`] if there was none for a super cycle: it fits only where
/// reserved packets fail to come.
///
/// A packet that is given a frame which has begun comes too late (section II.B, rule i), one that
/// is given a frame more than d + 1 ahead has no queue, and a best-effort packet that is longer
/// than what lies between reserved frames can never be sent: these are dropped for
/// [`DropReason::Frame`]. Late packets that are not to be dropped, up to one frame's capacity of
/// them, go before best effort, under the same condition, so that they make no other late. What
/// does not fit into the capacity of a frame is dropped for [`DropReason::QueueFull`].
///
/// Every operation takes constant time, and a frame's beginning the time of one look at each of the
/// frames that have gone by, at d + 2 at most.
#[derive(Clone, Debug)]
pub struct Tdp<B = Fifo> {
    pub(super) settings: TdpSettings,
    pace: Pace,
    capacity: u64,
    /// The longest best-effort packet that can be sent.
    longest: u64,
    /// From each frame of the cycle on to the next one that is reserved; none if none is.
    until_reserved: Vec<Option<u32>>,
    now: Current,
    /// Packets to be sent in the current frame; the first `sent` have been.
    due: Vec<Packet>,
    sent: usize,
    /// Queues of later frames, a power of two of them: that of a frame is at its number's low bits.
    pub(super) queues: Vec<Queue>,
    /// Memory of frames that have ended, the last one first to be used again.
    spare: Vec<Vec<Packet>>,
    overdue: VecDeque<Overdue>,
    overdue_bytes: u64,
    pub(super) best_effort: B,
    /// The next best-effort packet, and the time until which it waits for room.
    chosen: Option<(Dispatch, Nanos)>,
    /// Without best effort.
    backlog: Backlog,
}

/// The frame in which the last operation was.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    frame: u64,
    /// Its number within the cycle.
    number: u32,
    end: Nanos,
    mark: Mark,
    /// When the next reserved frame begins.
    reserved_from: Nanos,
    /// When best effort must have ended.
    best_effort_until: Nanos,
    /// Whether a marked packet has been sent in it.
    has_mark: bool,
}

/// Packets accepted for a frame that has not begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    packets: Vec<Packet>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Overdue {
    packet: Packet,
    /// When its frame ended.
    deadline: Nanos,
}

impl Tdp {
    /// An output at which any frame may be reserved.
    ///
    /// # Errors
    /// If there is no frame, no rate, or a guard longer than a frame.
    pub fn new(settings: TdpSettings) -> Result<Self, SetupError> {
        Tdp::reserving(settings, |_| true)
    }

    /// An output at which these frames of the cycle are reserved; best effort ignores all others.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn reserving(
        settings: TdpSettings,
        is_reserved: impl Fn(u32) -> bool,
    ) -> Result<Self, SetupError> {
        let TdpSettings { time, rate, guard, .. } = settings;
        time.check(1)?;
        check("the rate in bit/s", rate.0, 1..=u64::MAX)?;
        check("the guard in ns", guard.0, 0..=time.frame.0)?;
        let until_reserved = until_reserved(time.frames, is_reserved);
        let mut output = Tdp::empty(settings, until_reserved, Current::default(), Fifo::new());
        output.begin(0);
        Ok(output)
    }

    /// The same with best effort ordered by this scheduler, before anything is queued.
    pub fn over<B: Scheduler>(self, best_effort: B) -> Tdp<B> {
        debug_assert!(Scheduler::backlog(&self).packets == 0, "packets are queued already");
        Tdp::empty(self.settings, self.until_reserved, self.now, best_effort)
    }
}

impl<B: Scheduler> Tdp<B> {
    /// An output with nothing queued.
    fn empty(
        settings: TdpSettings,
        until_reserved: Vec<Option<u32>>,
        now: Current,
        best_effort: B,
    ) -> Self {
        let TdpSettings { time, rate, guard, delay, .. } = settings;
        let open = until_reserved.iter().map(|until| match until {
            Some(frames) => {
                bytes_within(rate, time.start((*frames).into()).saturating_add(guard)).0
            }
            None => u64::MAX,
        });
        Tdp {
            pace: Pace::new(rate),
            capacity: settings.capacity().0,
            longest: open.max().unwrap_or_default(),
            now,
            due: Vec::new(),
            sent: 0,
            queues: alloc::vec![Queue::default(); (delay as usize + 2).next_power_of_two()],
            spare: Vec::new(),
            overdue: VecDeque::new(),
            overdue_bytes: 0,
            best_effort,
            chosen: None,
            backlog: Backlog::default(),
            settings,
            until_reserved,
        }
    }

    /// Takes in a packet that is to be sent in this frame, counted from time zero.
    #[inline(always)]
    pub fn enqueue_in(&mut self, now: Nanos, packet: Packet, frame: u64, drops: &mut dyn DropSink) {
        self.advance(now, drops);
        let ahead = frame.wrapping_sub(self.now.frame);
        if ahead.wrapping_sub(1) >= self.reach() {
            let (first, second) = memory::split(packet);
            return self.enqueue_elsewhere(first, second, frame, drops);
        }
        let place = self.place(frame);
        let queue = &mut self.queues[place];
        let bytes = queue.bytes + u64::from(packet.length);
        if bytes > self.capacity {
            turn_away(packet, DropReason::no_room(&packet), drops);
            return;
        }
        queue.bytes = bytes;
        if queue.packets.capacity() == 0 {
            queue.packets = self.spare.pop().unwrap_or_default();
        }
        queue.packets.push(packet);
        self.backlog.add(packet.length);
    }

    /// A packet for a frame without a queue.
    #[cold]
    #[inline(never)]
    fn enqueue_elsewhere(
        &mut self,
        first: FirstHalf,
        second: SecondHalf,
        frame: u64,
        drops: &mut dyn DropSink,
    ) {
        let packet = memory::join(first, second);
        if frame <= self.now.frame {
            self.overdue(packet, frame, drops);
        } else {
            drops.dropped(packet, DropReason::Frame);
        }
    }

    /// Whether to send a padding packet of `length` bytes now that the link is free; if so, it
    /// counts as sent. That is the case if no marked packet has been sent in this frame or waits to
    /// be, and the padding does not delay reserved packets.
    ///
    /// The paper pads frames in which no packet is sent. A frame with only best effort leaves the
    /// next node without a mark, too, and so is also padded here.
    pub fn pad(&mut self, now: Nanos, length: u32, drops: &mut dyn DropSink) -> bool {
        self.advance(now, drops);
        let is_due = !self.now.has_mark && !self.has_reserved(now) && self.is_open(now, length);
        self.now.has_mark |= is_due;
        is_due
    }

    /// The length of the reserved packet that is to be sent next in this frame.
    pub fn due(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<u32> {
        self.advance(now, drops);
        self.due.get(self.sent).map(|packet| packet.length)
    }

    /// The reserved packet that follows in this frame when the link is free at `later`, dequeued
    /// ahead of that time. Packets may still be enqueued at earlier times: the packets of a frame
    /// have arrived before it begins, and none goes before them.
    #[inline]
    pub fn dequeue_ahead(&mut self, later: Nanos) -> Option<Dispatch> {
        if later >= self.now.end {
            return None;
        }
        self.next_due()
    }

    /// Whether nothing is left to send in this frame that has come.
    pub fn is_done(&self) -> bool {
        let is_sent = self.sent == self.due.len() && self.overdue.is_empty();
        is_sent && self.chosen.is_none() && self.best_effort.backlog().packets == 0
    }

    /// The frame in which the last operation was.
    pub fn frame(&self) -> u64 {
        self.now.frame
    }

    /// The mark of reserved and padding packets that were sent last: that of the frame in which the
    /// last operation was.
    pub fn mark(&self) -> Mark {
        self.now.mark
    }

    /// When the frame ends in which the last operation was.
    pub fn frame_end(&self) -> Nanos {
        self.now.end
    }

    /// d + 1: the frames that have queues beside the current one.
    fn reach(&self) -> u64 {
        u64::from(self.settings.delay) + 1
    }

    pub(super) fn place(&self, frame: u64) -> usize {
        frame as usize & (self.queues.len() - 1)
    }

    /// Lets frames end, if `now` is in a later one.
    #[inline]
    fn advance(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        if now >= self.now.end {
            self.turn(now, drops);
        }
    }

    #[inline(never)]
    fn turn(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        let time = self.settings.time;
        let is_next = now < self.now.end.saturating_add(time.frame);
        let frame = if is_next { self.now.frame + 1 } else { time.frame_at(now) };
        let ended = (frame - self.now.frame).min(self.reach() + 1);
        for ended in self.now.frame..self.now.frame + ended {
            self.end(ended, drops);
            self.take_up(ended + 1);
        }
        self.begin(frame);
    }

    /// Makes the queue of a frame the current one; the frame before has ended.
    fn take_up(&mut self, frame: u64) {
        let place = self.place(frame);
        let queue = &mut self.queues[place];
        queue.bytes = 0;
        let ended = mem::replace(&mut self.due, mem::take(&mut queue.packets));
        if ended.capacity() > 0 {
            self.spare.push(ended);
        }
    }

    /// Empties the queue that was sent from until its frame ended.
    fn end(&mut self, frame: u64, drops: &mut dyn DropSink) {
        while let Some(Dispatch { packet, .. }) = self.next_due() {
            self.overdue(packet, frame, drops);
        }
        self.due.clear();
        self.sent = 0;
    }

    fn begin(&mut self, frame: u64) {
        let TdpSettings { time, guard, .. } = self.settings;
        let Mark { odd_cycle, .. } = self.now.mark;
        // As a rule the next one: nothing is divided then.
        let (number, odd_cycle) = match self.now.number + 1 {
            _ if frame != self.now.frame.wrapping_add(1) => {
                (time.frame_of_cycle(frame), time.mark(frame).odd_cycle)
            }
            number if number == time.frames => (0, !odd_cycle),
            number => (number, odd_cycle),
        };
        let until_reserved = self.until_reserved[number as usize];
        let reserved_from = until_reserved
            .map_or(Nanos::MAX, |until| time.start(frame.saturating_add(until.into())));
        self.now = Current {
            frame,
            number,
            end: time.start(frame.saturating_add(1)),
            mark: Mark { odd_frame: number % 2 == 1, odd_cycle },
            reserved_from,
            best_effort_until: reserved_from.saturating_add(guard),
            has_mark: false,
        };
    }

    /// Sends another packet if no reserved one is due.
    #[inline(never)]
    fn dequeue_other(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if !self.overdue.is_empty()
            && let Some(late) = self.next_overdue(now, drops)
        {
            return Some(late);
        }
        self.next_best_effort(now, drops)
    }

    /// A packet that has missed its frame.
    fn overdue(&mut self, packet: Packet, frame: u64, drops: &mut dyn DropSink) {
        let bytes = self.overdue_bytes + u64::from(packet.length);
        if self.settings.late == Late::Drop || bytes > self.capacity {
            return drops.dropped(packet, DropReason::Frame);
        }
        let deadline = self.settings.time.start(frame + 1);
        self.overdue_bytes = bytes;
        self.overdue.push_back(Overdue { packet, deadline });
        self.backlog.add(packet.length);
    }

    /// Whether anything reserved is to be sent in the current frame.
    fn has_reserved(&self, now: Nanos) -> bool {
        let late = self.overdue.front();
        self.sent < self.due.len() || late.is_some_and(|late| self.is_open(now, late.packet.length))
    }

    /// The next of the packets that are due in the current frame.
    #[inline(always)]
    fn next_due(&mut self) -> Option<Dispatch> {
        let packet = self.due.get(self.sent)?;
        self.sent += 1;
        self.now.has_mark = true;
        self.backlog.remove(packet.length);
        let criterion = Criterion::ReservedFrame;
        Some(Dispatch { packet: *packet, deadline: Some(self.now.end), criterion })
    }

    /// The first of the late packets that are not too old, if there is time for it.
    #[cold]
    fn next_overdue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let super_cycle = self.super_cycle();
        while let Some(&Overdue { packet, deadline }) = self.overdue.front() {
            let is_open = self.is_open(now, packet.length);
            let is_old = now >= deadline.saturating_add(super_cycle);
            if !is_open && !is_old {
                break;
            }
            self.overdue.pop_front();
            self.overdue_bytes -= u64::from(packet.length);
            self.backlog.remove(packet.length);
            if is_open {
                self.now.has_mark = true;
                let (deadline, criterion) = (Some(deadline), Criterion::ReservedFrame);
                return Some(Dispatch { packet, deadline, criterion });
            }
            drops.dropped(packet, DropReason::Frame);
        }
        None
    }

    fn super_cycle(&self) -> Nanos {
        let CommonTime { frame, frames, cycles } = self.settings.time;
        Nanos(frame.0.saturating_mul(u64::from(frames) * u64::from(cycles)))
    }

    /// Whether best effort that begins now ends in time.
    fn is_open(&self, now: Nanos, length: u32) -> bool {
        let end = self.pace.after(Moment::at(now.0.into()), length).ceil();
        end <= self.now.best_effort_until.0.into()
    }

    fn next_best_effort(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.choose_best_effort(now, drops);
        let (chosen, until) = self.chosen?;
        if !self.is_open(now, chosen.packet.length) {
            if now < until {
                return None;
            }
            self.chosen = None;
            drops.dropped(chosen.packet, DropReason::Frame);
            self.choose_best_effort(now, drops);
        }
        let (Dispatch { packet, deadline, .. }, _) = self.chosen?;
        if !self.is_open(now, packet.length) {
            return None;
        }
        self.chosen = None;
        Some(Dispatch { packet, deadline, criterion: Criterion::Background })
    }

    /// Lets best effort choose, if it has not and there is time for anything at all.
    fn choose_best_effort(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        let is_waiting = self.chosen.is_none() && self.best_effort.backlog().packets > 0;
        if is_waiting && now < self.now.best_effort_until {
            let until = now.saturating_add(self.super_cycle());
            self.chosen = self.best_effort.dequeue(now, drops).map(|chosen| (chosen, until));
        }
    }

    /// When best effort may have a packet to send.
    fn best_effort_ready(&self, now: Nanos) -> Option<Nanos> {
        match &self.chosen {
            Some((chosen, _)) if self.is_open(now, chosen.packet.length) => Some(now),
            Some((_, until)) => Some(now.max(self.now.reserved_from.min(*until))),
            None if now < self.now.best_effort_until => self.best_effort.next_ready(now),
            None => Some(self.best_effort.next_ready(now)?.max(self.now.reserved_from)),
        }
    }
}

impl<B: Scheduler> Scheduler for Tdp<B> {
    /// A packet without a frame: best effort.
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.advance(now, drops);
        if u64::from(packet.length) > self.longest {
            return drops.dropped(packet, DropReason::Frame);
        }
        self.best_effort.enqueue(now, packet, drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.advance(now, drops);
        if u64::from(packet.length) > self.longest {
            return drops.dropped(packet, DropReason::Frame);
        }
        self.best_effort.take_over(now, packet, drops);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.best_effort.introduce(class, flow, hosts);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.advance(now, drops);
        if let due @ Some(_) = self.next_due() {
            return due;
        }
        let Dispatch { packet, deadline, criterion } = self.dequeue_other(now, drops)?;
        let (first, second) = memory::split(packet);
        Some(Dispatch { packet: memory::join(first, second), deadline, criterion })
    }

    /// Also at once if a frame has begun since the last operation: the rest of earlier frames has
    /// to be dropped.
    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let has_late = now >= self.now.end && self.backlog.packets > 0;
        if has_late || self.has_reserved(now) {
            return Some(now);
        }
        let too_old = |late: &Overdue| late.deadline.saturating_add(self.super_cycle());
        let late =
            self.overdue.front().map(|late| too_old(late).min(self.now.reserved_from).max(now));
        let best_effort = late.into_iter().chain(self.best_effort_ready(now)).min();
        if best_effort == Some(now) || self.backlog.packets == 0 {
            return best_effort;
        }
        let frames = self.now.frame + 1..=self.now.frame + self.reach();
        let mut reserved =
            frames.filter(|frame| !self.queues[self.place(*frame)].packets.is_empty());
        let reserved = reserved.next().map(|frame| self.settings.time.start(frame));
        best_effort.into_iter().chain(reserved).min()
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.best_effort.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.best_effort.backlog();
        let chosen = self.chosen.map_or(0, |(chosen, _)| u64::from(chosen.packet.length));
        Backlog {
            packets: self.backlog.packets + packets + usize::from(self.chosen.is_some()),
            bytes: self.backlog.bytes + bytes + chosen,
        }
    }

    fn footprint(&self) -> usize {
        let queues = self.queues.iter().map(|queue| &queue.packets).chain(&self.spare);
        let queued: usize = queues.map(Vec::capacity).sum();
        (queued + self.due.capacity()) * size_of::<Packet>()
            + self.best_effort.footprint()
            + self.overdue.capacity() * size_of::<Overdue>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.spare.capacity() * size_of::<Vec<Packet>>()
            + self.until_reserved.capacity() * size_of::<Option<u32>>()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

/// For each frame of a cycle, how many frames later the next reserved one begins.
fn until_reserved(frames: u32, is_reserved: impl Fn(u32) -> bool) -> Vec<Option<u32>> {
    let mut until = alloc::vec![None; frames as usize];
    let mut next = (0..frames).find(|&frame| is_reserved(frame)).map(|first| first + frames);
    for frame in (0..frames).rev() {
        until[frame as usize] = next.map(|next| next - frame);
        if is_reserved(frame) {
            next = Some(frame);
        }
    }
    until
}
