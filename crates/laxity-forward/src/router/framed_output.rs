//! An output that divides time into frames.

use std::mem;

use laxity::link::Link;
use laxity::packet::{ClassId, FlowId, Hosts, Packet};
use laxity::sched::tdp::CommonTime;
use laxity::sched::{Late, Tdp};
use laxity::scheduler::{Criterion, Dispatch, DropReason, Scheduler};
use laxity::units::{Nanos, Rate};

use super::event::{Departure, Marking, RouterEvent};
use super::output::{Tell, Waiting, in_order, sent};
use crate::queued::PacketList;

/// An output with frames, and the link as its sender keeps it.
///
/// What is due in a frame is handed over when the frame begins, all at once, for nothing goes
/// before it: the link takes one packet after another. Who is woken late sends only what ends
/// within the frame. The rest is late and leaves in a later frame with the mark of that, so that
/// whatever carries the mark of a frame comes within a frame's time and a link's delay, and the
/// next node takes it for nothing else.
pub(super) struct FramedOutput {
    port: usize,
    tdp: Tdp<Box<dyn Scheduler + Send>>,
    time: CommonTime,
    late: Late,
    /// The length of padding, if there is anyone at the other end to be kept in step.
    padding: Option<u32>,
    line: Link,
    held: PacketList<Waiting>,
    /// When there is something to do.
    wake: Nanos,
    /// The first frame that is not accounted for, and whether all was sent that was to be sent in
    /// it.
    frame: u64,
    is_met: bool,
    /// What was just dropped; kept for its memory.
    dropped: Vec<(Packet, DropReason)>,
}

impl FramedOutput {
    /// With nothing queued; `late` says what becomes of packets that miss their frames.
    pub(super) fn new(
        port: usize,
        tdp: Tdp<Box<dyn Scheduler + Send>>,
        time: CommonTime,
        rate: Rate,
        late: Late,
        padding: Option<u32>,
    ) -> Self {
        FramedOutput {
            port,
            tdp,
            time,
            late,
            padding,
            line: Link::new(rate),
            held: PacketList::new(0),
            wake: if padding.is_some() { Nanos::ZERO } else { Nanos::MAX },
            frame: 0,
            is_met: true,
            dropped: Vec::new(),
        }
    }

    /// The first frame that counts is that of this time.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.frame = self.time.frame_at(now);
    }

    pub(super) fn enqueue(&mut self, now: Nanos, waiting: Waiting, tell: Tell<'_>) {
        let frame = waiting.frame;
        let handle = self.held.insert(waiting);
        let packet = Packet { handle, ..waiting.packet };
        let dropped = &mut self.dropped;
        let mut drops = |packet, reason| dropped.push((packet, reason));
        match frame {
            Some(frame) => self.tdp.enqueue_in(now, packet, frame, &mut drops),
            None => self.tdp.enqueue(now, packet, &mut drops),
        }
        // A packet that has come too early for all frames within reach is not late.
        let is_early = frame.is_some_and(|frame| frame > self.tdp.frame());
        self.let_go(now, is_early.then_some(handle), tell);
        let looks_before = self.padding.is_some() && is_early;
        if !looks_before {
            self.wake = self.wake.min(now.max(self.line.free_at()));
        }
    }

    pub(super) fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.tdp.introduce(class, flow, hosts);
    }

    /// Changes everything that is queued, in that order.
    pub(super) fn update(&mut self, change: impl FnMut(&mut Waiting)) {
        self.held.update(change);
    }

    /// Sends what is due in the frame that has begun: no other output could take it over.
    pub(super) fn send_due(&mut self, now: Nanos, tell: Tell<'_>) {
        self.account(now, tell);
        // What is dropped is still held, and goes on under the next output.
        let is_due = self.tdp.due(now, &mut |_, _| {}).is_some();
        self.is_met |= self.send_ahead(now, tell) && is_due;
    }

    /// What is queued and [not due](Self::send_due) goes on in the queues of another output with
    /// the same frames.
    pub(super) fn change(&mut self, now: Nanos, next: &mut FramedOutput, tell: Tell<'_>) {
        mem::swap(&mut self.tdp, &mut next.tdp);
        self.late = next.late;
        let dropped = &mut self.dropped;
        let mut drops = |packet, reason| dropped.push((packet, reason));
        for packet in in_order(&self.held) {
            match self.held.get(packet.handle).and_then(|waiting| waiting.frame) {
                Some(frame) => self.tdp.enqueue_in(now, packet, frame, &mut drops),
                None => self.tdp.take_over(now, packet, &mut drops),
            }
        }
        self.let_go(now, None, tell);
        self.wake = now.max(self.line.free_at());
    }

    pub(super) fn poll(&mut self, now: Nanos, tell: Tell<'_>) -> Option<Nanos> {
        while self.wake <= now {
            let free = self.line.free_at();
            self.wake = if free > now { free } else { self.next(now, tell) };
        }
        (self.wake < Nanos::MAX).then_some(self.wake)
    }

    /// What the free link does now; tells when to look again.
    fn next(&mut self, now: Nanos, tell: Tell<'_>) -> Nanos {
        self.account(now, tell);
        let dropped = &mut self.dropped;
        let mut drops = |packet, reason| dropped.push((packet, reason));
        let due = self.tdp.due(now, &mut drops);
        let end = self.tdp.frame_end();
        if let Some(length) = self.padding {
            let fits = ends(&self.line, now, length) <= end;
            if fits && self.tdp.pad(now, length, &mut drops) {
                self.is_met = true;
                self.line.transmit(now, length);
                let (mark, frame) = (self.tdp.mark(), self.tdp.frame());
                let port = self.port;
                tell(None, RouterEvent::Padded { port, mark, start: now, frame, due: end });
                return self.resumes();
            }
            // Best effort leaves no room for it.
            let begin = self.line.free_at().max(self.time.start(self.frame));
            self.is_met |= due.is_none() && (fits || ends(&self.line, begin, length) > end);
        }
        if self.padding.is_some() && self.tdp.is_done() {
            self.let_go(now, None, tell);
            return end;
        }
        if due.is_some_and(|length| ends(&self.line, now, length) > end) {
            self.let_go(now, None, tell);
            return end;
        }
        let chosen = self.tdp.dequeue(now, &mut drops);
        let next = match chosen {
            Some(dispatch) => {
                let is_reserved = dispatch.criterion == Criterion::ReservedFrame;
                self.send(now, dispatch, tell);
                self.is_met |= self.send_ahead(now, tell) && is_reserved;
                self.resumes()
            }
            None => self.ready(now),
        };
        self.let_go(now, None, tell);
        next
    }

    /// What follows in the frame is handed over, too; tells whether that is all.
    fn send_ahead(&mut self, now: Nanos, tell: Tell<'_>) -> bool {
        let mut none = |_, _| {};
        while let Some(length) = self.tdp.due(now, &mut none) {
            let start = self.line.free_at();
            if ends(&self.line, start, length) > self.tdp.frame_end() {
                return false;
            }
            let Some(dispatch) = self.tdp.dequeue_ahead(start) else { return false };
            self.send(start, dispatch, tell);
        }
        true
    }

    fn send(&mut self, start: Nanos, dispatch: Dispatch, tell: Tell<'_>) {
        let Dispatch { packet, deadline, criterion } = dispatch;
        let departure = self.line.transmit(start, packet.length);
        let waiting = sent(self.held.remove(packet.handle), &packet);
        let is_reserved = criterion == Criterion::ReservedFrame;
        let event = RouterEvent::Sent(Departure {
            port: self.port,
            packet: waiting.packet,
            // Nothing leaves with a mark that is not ours.
            mark: match waiting.is_marked {
                _ if is_reserved => Marking::Write(self.tdp.mark()),
                true => Marking::Clear,
                false => Marking::Leave,
            },
            is_framed: true,
            start,
            departure,
            frame: is_reserved.then(|| self.tdp.frame()),
            due: deadline.filter(|_| is_reserved),
        });
        tell(Some(&waiting), event);
    }

    /// When there is something to do again for who has just sent: in the next frame, if this one is
    /// done with and the next is to be padded.
    fn resumes(&self) -> Nanos {
        let free = self.line.free_at();
        if self.padding.is_some() && self.tdp.is_done() {
            free.max(self.tdp.frame_end())
        } else {
            free
        }
    }

    /// When there is something to send again; with padding in the next frame at the latest.
    fn ready(&self, now: Nanos) -> Nanos {
        let frame = self.padding.map(|_| self.tdp.frame_end());
        let ready = self.tdp.next_ready(now).filter(|&ready| ready > now);
        ready.into_iter().chain(frame).min().unwrap_or(Nanos::MAX)
    }

    /// Counts the frames that have ended since it was last here.
    fn account(&mut self, now: Nanos, tell: Tell<'_>) {
        let frame = self.time.frame_at(now);
        if frame == self.frame {
            return;
        }
        // As long as the link was taken nobody could have sent anything.
        let taken = self.time.frame_at(self.line.free_at());
        let first = (self.frame + u64::from(self.is_met)).max(taken);
        if self.padding.is_some() && first < frame {
            tell(None, RouterEvent::Skipped { port: self.port, frames: first..frame });
        }
        (self.frame, self.is_met) = (frame, false);
    }

    /// Reports dropped packets, or sends them on as best effort.
    ///
    /// A reserved packet travels on as best effort if it missed its frame and finds no room as a
    /// late one, or if late packets took its frame. Exceptions are plans that have late packets
    /// dropped, and a packet that came too `early` for any frame.
    fn let_go(&mut self, now: Nanos, early: Option<u64>, tell: Tell<'_>) {
        while let Some((packet, reason)) = self.dropped.pop() {
            let waiting = self.held.remove(packet.handle);
            let is_early = early == Some(packet.handle) && reason == DropReason::Frame;
            if waiting.frame.is_none() || is_early || self.late == Late::Drop {
                tell(Some(&waiting), RouterEvent::Dropped { packet: waiting.packet, reason });
                continue;
            }
            let handle = self.held.insert(Waiting { frame: None, ..waiting });
            let dropped = &mut self.dropped;
            let mut drops = |packet, reason| dropped.push((packet, reason));
            self.tdp.enqueue(now, Packet { handle, ..packet }, &mut drops);
        }
    }
}

/// When a packet ends that begins then.
fn ends(line: &Link, start: Nanos, length: u32) -> Nanos {
    line.clone().transmit(start, length)
}
