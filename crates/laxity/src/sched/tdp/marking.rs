//! Which frame a packet was sent in, from two bits of its header and from what came before it
//! (Baldi et al. 2006, section III.B).

use super::{CommonTime, Mark};
use crate::error::SetupError;
use crate::units::Nanos;

/// One input of a node: recovers the frames in which the node before sent its packets.
///
/// The bits alone tell a frame from the next one: a frame of which every packet is lost is taken
/// for the one before the last, as they alternate, until the cycle turns too early. With the node's
/// own clock they tell more. The time from the beginning of a packet's frame to its arrival, the
/// lag, varies by less than a frame where a link's delay is constant, for a packet is sent whole
/// within its frame; frames of the same mark are two or more apart. So the one frame of this mark
/// with a lag near those before is the right one, however many frames are silent in between:
///
/// - If all lags are less than a frame apart, no frame is ever recovered wrongly, and none is
///   missed after up to n_TF - 1 silent frames. Lags may drift by any amount in time. If once in a
///   while one strays, up to half a frame beyond those before does no harm when these were nearly a
///   frame apart, and up to a frame when they were equal.
/// - After n_TF silent frames or more, the cycle may have turned twice, unseen: the input is out of
///   step. So it is when no frame of the mark has a lag within a frame of those before, or only one
///   earlier than that of the packet before: a link's delay or a clock has jumped.
/// - Who is out of step, as a [new](Self::new) input is, knows no frames until the cycle turns
///   from one packet to the next within less than two frames' time: that is frame 0 or, if that was
///   silent, frame 1. It is the one nearest to the node's own time, so a lag may be up to a cycle
///   either way. One that has listened [before](Self::in_step) frame 0 knows them at once.
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

/// What is known while in step.
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

    /// An input that has heard frames come to their end before frame 0, of which packets came so
    /// many ns after their frames had begun, or before that if it is negative.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_step(time: CommonTime, lag: i64) -> Result<Self, SetupError> {
        let mut upstream = Upstream::new(time)?;
        upstream.join(0, lag);
        Ok(upstream)
    }

    /// Is in step from now on, as if it had heard frames up to this one, of which packets came so
    /// many ns after their frames had begun: for who knows that by a clock which is the other
    /// node's, too.
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

    /// The frame of this mark whose lag is near those before.
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

    /// Whether what is sent in the frame that begins at `start` and arrives now has a lag near
    /// those before.
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
