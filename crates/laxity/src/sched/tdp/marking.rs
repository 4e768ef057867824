//! Recovers the frame in which a packet was sent, from two bits of its header and the packets
//! before it (Baldi et al. 2006, section III.B).

use super::{CommonTime, Mark};
use crate::error::SetupError;
use crate::units::Nanos;

/// One input of a node: recovers the frames in which the upstream node sent its packets.
///
/// The two bits only tell a frame from the next one. If every packet of a frame is lost, the bits
/// of its successor are those of its predecessor, so counting frames by the bits would lose count.
/// The node's own clock resolves that. The lag of a packet, from the beginning of its frame to its
/// arrival, varies by less than a frame if the link's delay is constant, as a packet is sent within
/// its frame. Frames with equal marks are at least two frames apart. So exactly one frame with the
/// mark has a lag near the earlier ones, after any number of silent frames in between:
///
/// - If all lags are less than a frame apart, no frame is ever recovered wrongly, and none is
///   missed after up to n_TF - 1 silent frames. Lags may drift without limit over time. A single
///   outlier of up to half a frame does no harm if the earlier lags were nearly a frame apart, and
///   one of up to a frame if they were equal.
/// - After n_TF silent frames or more, the cycle may have turned twice unseen: the input is out of
///   step. It also is if no frame with the mark has a lag within a frame of the earlier ones, or
///   only one before the last packet's frame: a link's delay or a clock has jumped.
/// - An input that is out of step, as a [new](Self::new) one is, knows no frames until the cycle
///   turns between two packets that are less than two frames apart. The second is then in frame 0,
///   or in frame 1 if frame 0 was silent, of the cycle nearest to the node's own time; so a lag may
///   be up to a cycle in either direction. An input that is [in step](Self::in_step) before frame 0
///   knows all frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    time: CommonTime,
    last: Option<Last>,
    step: Option<Step>,
    silent: u64,
    losses: u64,
}

/// The packet before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Last {
    mark: Mark,
    arrival: Nanos,
}

/// The state of an input that is in step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// The frame of the packet before.
    frame: u64,
    /// When that began, by the node's own clock.
    start: Nanos,
    /// The least and the greatest of the lags, those of long ago forgotten as far as they are more
    /// than a frame from later ones; so these are a frame apart at most.
    least: i64,
    greatest: i64,
}

impl Upstream {
    /// An input that has yet to find the cycle.
    ///
    /// # Errors
    /// If a cycle is shorter than three frames: nothing could tell them apart.
    pub fn new(time: CommonTime) -> Result<Self, SetupError> {
        time.check(3)?;
        Ok(Upstream { time, last: None, step: None, silent: 0, losses: 0 })
    }

    /// An input that is in step before frame 0, as if earlier packets had arrived `lag` ns after
    /// the beginning of their frames (before it, if negative).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_step(time: CommonTime, lag: i64) -> Result<Self, SetupError> {
        let mut upstream = Upstream::new(time)?;
        upstream.join(0, lag);
        Ok(upstream)
    }

    /// Brings the input in step at `frame`, as if its packets had arrived `lag` ns after the frame
    /// began. For callers that share a clock with the sender.
    pub fn join(&mut self, frame: u64, lag: i64) {
        let start = self.time.start(frame);
        self.step = Some(Step { frame, start, least: lag, greatest: lag });
        self.last = None;
    }

    /// The frame in which the node before sent this marked packet, which arrives `now`; packets are
    /// given in the order in which they arrive. `None` while out of step.
    #[inline]
    pub fn receive(&mut self, now: Nanos, mark: Mark) -> Option<u64> {
        if let (Some(step), Some(last)) = (&self.step, &mut self.last)
            && last.mark == mark
            && step.is_usual(now)
        {
            last.arrival = now;
            return Some(step.frame);
        }
        self.recover(now, mark)
    }

    /// The frame of any packet, such as the first of its frame or one with a lag like none before.
    #[inline(never)]
    pub(super) fn recover(&mut self, now: Nanos, mark: Mark) -> Option<u64> {
        let last = self.last.replace(Last { mark, arrival: now });
        if let Some(step) = &mut self.step
            && last.is_some_and(|last| last.mark == mark)
            && step.is_near(step.start, now, self.time.frame)
        {
            step.see(now, self.time.frame);
            return Some(step.frame);
        }
        let frame = match self.step.and_then(|step| self.follow(step, now, mark)) {
            Some(frame) => frame,
            None => {
                self.losses += u64::from(self.step.take().is_some());
                self.find(now, mark, last?)?
            }
        };
        let start = self.time.start(frame);
        let lag = lag(now, start);
        let step = self.step.get_or_insert(Step { frame, start, least: lag, greatest: lag });
        self.silent += (frame - step.frame).saturating_sub(1);
        (step.frame, step.start) = (frame, start);
        step.see(now, self.time.frame);
        Some(frame)
    }

    /// Frames that were silent while in step: all their packets were lost, for a node sends
    /// [padding](super::Tdp::pad) where it has none.
    pub fn silent(&self) -> u64 {
        self.silent
    }

    /// How often it got out of step.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Whether it knows the frames of packets.
    pub fn is_in_step(&self) -> bool {
        self.step.is_some()
    }

    /// The frame with this mark and a lag near the earlier ones.
    fn follow(&self, step: Step, now: Nanos, mark: Mark) -> Option<u64> {
        let sent = now.0.saturating_add_signed(step.middle().checked_neg()?);
        let sent = self.time.frame_at(Nanos(sent));
        let is_it = |frame: &u64| {
            let is_near = step.is_near(self.time.start(*frame), now, self.time.frame);
            is_near && self.time.mark(*frame) == mark
        };
        let frame = [sent, sent + 1].into_iter().find(is_it)?;
        let ahead = frame.checked_sub(step.frame)?;
        (ahead <= u64::from(self.time.frames)).then_some(frame)
    }

    /// The beginning of a cycle, if one lies between two packets that are close enough.
    fn find(&self, now: Nanos, mark: Mark, last: Last) -> Option<u64> {
        let close = now.saturating_sub(last.arrival).0 / 2 < self.time.frame.0;
        if last.mark.odd_cycle == mark.odd_cycle || !close {
            return None;
        }
        let frames = u64::from(self.time.frames);
        let here = self.time.frame_at(now);
        let cycles = [here / frames, here / frames + 1, (here / frames).saturating_sub(1)];
        let starts = cycles.map(|cycle| cycle * frames + u64::from(mark.odd_frame));
        let of_mark = starts.into_iter().filter(|&frame| self.time.mark(frame) == mark);
        of_mark.min_by_key(|&frame| now.0.abs_diff(self.time.start(frame).0))
    }
}

impl Step {
    fn middle(&self) -> i64 {
        self.least.midpoint(self.greatest)
    }

    /// Whether a packet sent in the frame that begins at `start` and arriving now has a lag near
    /// the earlier ones.
    fn is_near(&self, start: Nanos, now: Nanos, frame: Nanos) -> bool {
        lag(now, start).abs_diff(self.middle()) < frame.0
    }

    /// Whether a packet of its frame that arrives now tells nothing new: its lag is among those
    /// before.
    fn is_usual(&self, now: Nanos) -> bool {
        (self.least..=self.greatest).contains(&lag(now, self.start))
    }

    /// A packet of its frame arrives now.
    fn see(&mut self, now: Nanos, frame: Nanos) {
        let lag = lag(now, self.start);
        let frame = i64::try_from(frame.0).unwrap_or(i64::MAX);
        self.least = self.least.min(lag).max(lag.saturating_sub(frame));
        self.greatest = self.greatest.max(lag).min(lag.saturating_add(frame));
    }
}

/// From the beginning of a packet's frame to its arrival; negative if this node's clock is late.
fn lag(now: Nanos, start: Nanos) -> i64 {
    now.0.wrapping_sub(start.0) as i64
}
