//! The congestion window: how it grows and how it shrinks.

use laxity::units::Nanos;

use super::ONE;
use super::cubic::Cubic;

/// Congestion window and slow-start threshold (RFC 5681; RFC 9438).
#[derive(Clone, Debug)]
pub(super) struct Window {
    cwnd: u64,
    ssthresh: u64,
    /// Growth is Reno's without it.
    cubic: Option<Cubic>,
}

impl Window {
    /// RFC 5681, equation 4.
    const LEAST_THRESHOLD: u64 = 2 * ONE;

    /// Windows in segments. The first slow start ends at the threshold if nothing is lost.
    pub(super) fn new(initial: u32, threshold: u32, cubic: bool) -> Self {
        Window {
            cwnd: u64::from(initial) * ONE,
            ssthresh: u64::from(threshold) * ONE,
            cubic: cubic.then(Cubic::default),
        }
    }

    /// The congestion window in whole segments.
    pub(super) fn segments(&self) -> u64 {
        self.cwnd / ONE
    }

    /// The congestion window in 1/2^16 segments.
    pub(super) fn exact(&self) -> u64 {
        self.cwnd
    }

    /// The slow-start threshold in 1/2^16 segments.
    pub(super) fn threshold(&self) -> u64 {
        self.ssthresh
    }

    /// An acknowledgement of `acked` new segments outside recovery. `limit` is the receiver's
    /// window in segments: a window that cannot be used does not grow.
    pub(super) fn grow(&mut self, now: Nanos, round_trip: Nanos, acked: u64, limit: u32) {
        if self.cwnd >= u64::from(limit) * ONE {
            if let Some(cubic) = &mut self.cubic {
                cubic.pause();
            }
        } else if self.cwnd < self.ssthresh {
            // RFC 5681, equation 2: one segment an acknowledgement, however many it covers.
            self.cwnd += ONE;
        } else if let Some(cubic) = &mut self.cubic {
            self.cwnd = cubic.grown(now, round_trip, self.cwnd, acked);
        } else {
            // RFC 5681, equation 3.
            self.cwnd += ONE * ONE / self.cwnd;
        }
    }

    /// A congestion event with this many segments outstanding: the threshold falls and the window
    /// with it. What limited transmit sent beyond the window does not count (RFC 5681 section
    /// 3.2).
    pub(super) fn reduce(&mut self, outstanding: u64) {
        self.lower_threshold(outstanding);
        if let Some(cubic) = &mut self.cubic {
            cubic.reduced(self.cwnd);
        }
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// A timeout: slow start from one segment. The threshold stays if the same segment has timed
    /// out before (RFC 5681 section 3.1).
    pub(super) fn collapse(&mut self, outstanding: u64, again: bool) {
        if !again {
            self.lower_threshold(outstanding);
            if let Some(cubic) = &mut self.cubic {
                cubic.timed_out(self.cwnd);
            }
        }
        self.cwnd = ONE;
    }

    /// RFC 5681, equation 4; RFC 9438 section 4.6.
    fn lower_threshold(&mut self, outstanding: u64) {
        let outstanding = (outstanding * ONE).min(self.cwnd);
        let kept = match self.cubic {
            Some(_) => outstanding * 7 / 10,
            None => outstanding / 2,
        };
        self.ssthresh = kept.max(Self::LEAST_THRESHOLD);
    }

    /// The window becomes the threshold and so many segments: those that have left the network.
    pub(super) fn inflate_from_threshold(&mut self, segments: u64) {
        self.cwnd = self.ssthresh + segments * ONE;
    }

    /// One more segment has left the network.
    pub(super) fn inflate(&mut self) {
        self.cwnd += ONE;
    }

    /// A partial acknowledgement (RFC 6582 section 3.2, step 3): less by what it covers, more by
    /// the segment it lets go.
    pub(super) fn deflate(&mut self, acked: u64) {
        self.cwnd = self.cwnd.saturating_sub(acked * ONE) + ONE;
    }

    /// The end of fast recovery (RFC 6582 section 3.2, step 3, first choice): no burst, because
    /// the window is at most one segment above what is outstanding.
    pub(super) fn settle(&mut self, outstanding: u64) {
        self.cwnd = self.ssthresh.min((outstanding.max(1) + 1) * ONE);
    }
}
