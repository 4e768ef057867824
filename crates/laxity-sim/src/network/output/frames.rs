//! Time-driven priority in a network: outputs that divide time into frames, and inputs that recover
//! the frames of packets.

use laxity::sched::Tdp;
use laxity::sched::tdp::{Mark, Upstream};
use laxity::scheduler::{Criterion, Dispatch, DropSink, Scheduler};
use laxity::units::Nanos;

use crate::network::output::clock::NodeClock;
use crate::summary::FramesSummary;

/// An output of a node that has frames.
pub(crate) struct Frames {
    pub tdp: Tdp<Box<dyn Scheduler + Send>>,
    pub clock: NodeClock,
    /// The length of padding in bytes, if it keeps the other end in step.
    pub padding: Option<u32>,
    pub counts: FramesSummary,
}

/// The input of a node that has frames.
pub(crate) struct Input {
    upstream: Upstream,
    clock: NodeClock,
    /// The propagation delay. A node knows it from its forwarding delay: marks alone do not
    /// distinguish cycles that are two apart.
    delay: Nanos,
    unknown: u64,
}

/// The next action of a link.
pub(crate) enum Next {
    Padding {
        length: u32,
        ds: u8,
    },
    Packet {
        dispatch: Dispatch,
        ds: u8,
    },
    /// Nothing until this time.
    Wait(Nanos),
}

impl Frames {
    /// The action of the free link.
    pub(crate) fn next(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Next {
        let local = self.clock.at(now);
        if let Some(length) = self.padding {
            if self.tdp.pad(local, length, drops) {
                self.counts.padding += 1;
                return Next::Padding { length, ds: self.tdp.mark().encode() };
            }
            if self.tdp.is_done() {
                return Next::Wait(self.clock.when(now, self.tdp.frame_end()));
            }
        }
        match self.tdp.dequeue(local, drops) {
            Some(dispatch) => {
                let is_reserved = dispatch.criterion == Criterion::ReservedFrame;
                let ds = if is_reserved { self.tdp.mark().encode() } else { 0 };
                Next::Packet { dispatch, ds }
            }
            None => Next::Wait(self.ready(now, local)),
        }
    }

    /// The next packet of the frame, to be sent at `later`, with its DS field, if it is known
    /// already.
    #[inline]
    pub(crate) fn next_ahead(&mut self, later: Nanos) -> Option<(Dispatch, u8)> {
        let dispatch = self.tdp.dequeue_ahead(self.clock.at(later))?;
        Some((dispatch, self.tdp.mark().encode()))
    }

    /// Whether the output looks again before this frame begins without an event: with padding it
    /// does so at the beginning of every frame.
    pub(crate) fn looks_before(&self, frame: u64) -> bool {
        self.padding.is_some() && frame > self.tdp.frame()
    }

    /// When to look again after a transmission: in the next frame if the output pads and nothing is
    /// left in this one, else at once.
    pub(crate) fn resumes(&self, now: Nanos) -> Nanos {
        if self.padding.is_some() && self.tdp.is_done() {
            self.clock.when(now, self.tdp.frame_end())
        } else {
            now
        }
    }

    /// Counts a packet that was due by `deadline`, if it was late.
    #[inline]
    pub(crate) fn sent(&mut self, departure: Nanos, deadline: Option<Nanos>, ds: u8) {
        let is_late = ds != 0 && deadline.is_some_and(|due| self.clock.at(departure) > due);
        self.counts.late += u64::from(is_late);
    }

    /// When to look again: with padding in the next frame at the latest.
    fn ready(&self, now: Nanos, local: Nanos) -> Nanos {
        let frame = self.padding.map(|_| self.tdp.frame_end());
        let ready = self.tdp.next_ready(local).filter(|&ready| ready > local);
        let next = ready.into_iter().chain(frame).min();
        next.map_or(Nanos::MAX, |next| self.clock.when(now, next))
    }
}

impl Input {
    pub(crate) fn new(upstream: Upstream, clock: NodeClock, delay: Nanos) -> Self {
        Input { upstream, clock, delay, unknown: 0 }
    }

    /// The frame in which a packet or padding with this DS field was sent. `None` for best effort,
    /// and while out of step.
    #[inline]
    pub(crate) fn receive(&mut self, now: Nanos, ds: u8, is_padding: bool) -> Option<u64> {
        let mark = Mark::decode(ds)?;
        let sent = self.clock.at(now).saturating_sub(self.delay);
        let frame = self.upstream.receive(sent, mark);
        self.unknown += u64::from(frame.is_none() && !is_padding);
        frame
    }

    /// The counts of this input.
    pub(crate) fn counts(&self) -> FramesSummary {
        FramesSummary {
            silent: self.upstream.silent(),
            losses: self.upstream.losses(),
            unknown: self.unknown,
            ..FramesSummary::default()
        }
    }
}
