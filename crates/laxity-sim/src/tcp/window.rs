//! The congestion window: how it grows and how it shrinks.

use laxity::units::Nanos;

use super::bbr::Bbr;
use super::config::Config;
use super::cubic::Cubic;
use super::dctcp::Dctcp;
use super::hystart::HyStart;
use super::segment::{Advance, ONE};
use super::{Congestion, SlowStart};

/// Congestion window and slow-start threshold (RFC 5681; RFC 9438).
#[derive(Clone, Debug)]
pub(super) struct Window {
    cwnd: u64,
    ssthresh: u64,
    control: Control,
    /// While it watches over the first slow start.
    hystart: Option<Box<HyStart>>,
}

/// How the window grows beyond slow start, and shrinks.
#[derive(Clone, Debug)]
enum Control {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
    Bbr(Box<Bbr>),
}

impl Window {
    /// RFC 5681, equation 4.
    const LEAST_THRESHOLD: u64 = 2 * ONE;

    /// The first slow start ends at the receiver's window if nothing else ends it.
    pub(super) fn new(config: &Config) -> Self {
        Window {
            cwnd: u64::from(config.initial_window) * ONE,
            ssthresh: u64::from(config.receiver_window) * ONE,
            control: match config.variant.congestion {
                Congestion::Reno => Control::Reno,
                Congestion::Cubic => Control::Cubic(Cubic::default()),
                Congestion::Dctcp => Control::Dctcp(Dctcp::default()),
                Congestion::Bbr => Control::Bbr(Box::new(Bbr::new(config))),
            },
            hystart: match config.slow_start {
                SlowStart::Standard => None,
                SlowStart::Hystart => Some(Box::new(HyStart::new(config.pacing))),
            },
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

    /// A segment was sent for the first time.
    pub(super) fn sent(&mut self, now: Nanos) {
        if let Some(hystart) = &mut self.hystart {
            hystart.sent(now);
        }
    }

    /// The round trip of the last of the segments that are acknowledged now, as long as it wants to
    /// know.
    pub(super) fn sample(&mut self, now: Nanos, acked: u64) -> Option<Nanos> {
        self.hystart.as_mut()?.sample(now, acked)
    }

    /// Lets BBR handle an event, if it is in control, and takes over its window.
    pub(super) fn tell_bbr(&mut self, tell: impl FnOnce(&mut Bbr)) {
        if let Control::Bbr(bbr) = &mut self.control {
            tell(bbr);
            self.cwnd = bbr.window();
        }
    }

    /// The pacing rate in bytes per second; `None` before a round trip is known. Without BBR it is
    /// 1.2 windows per round trip, and 2 while the window is below half its threshold, as in Linux.
    pub(super) fn rate(&self, length: u32, round_trip: Nanos) -> Option<u64> {
        match &self.control {
            Control::Bbr(bbr) => Some(bbr.rate()),
            Control::Reno | Control::Cubic(_) | Control::Dctcp(_) => {
                let fifths = if self.cwnd < self.ssthresh / 2 { 10 } else { 6 };
                let bytes =
                    u128::from(self.cwnd) * u128::from(length) * fifths / 5 / u128::from(ONE);
                let rate = (bytes * 1_000_000_000).checked_div(round_trip.0.into())?;
                Some(u64::try_from(rate).unwrap_or(u64::MAX))
            }
        }
    }

    /// BBR, if it is in control, for tests.
    #[cfg(test)]
    pub(super) fn bbr(&self) -> Option<&Bbr> {
        match &self.control {
            Control::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    fn is_bbr(&self) -> bool {
        matches!(self.control, Control::Bbr(_))
    }

    /// New segments are acknowledged, outside recovery.
    pub(super) fn grow(&mut self, advance: &Advance) {
        if self.is_bbr() {
            return;
        }
        let Advance { now, acked, round_trip, limit, .. } = *advance;
        if self.cwnd >= u64::from(limit) * ONE {
            if let Control::Cubic(cubic) = &mut self.control {
                cubic.pause();
            }
        } else if self.cwnd < self.ssthresh {
            self.slow_start(advance);
        } else {
            match &mut self.control {
                Control::Cubic(cubic) => {
                    self.cwnd = cubic.grown(now, round_trip, self.cwnd, acked);
                }
                // RFC 5681, equation 3.
                Control::Reno | Control::Dctcp(_) => self.cwnd += ONE * ONE / self.cwnd,
                Control::Bbr(_) => {}
            }
        }
    }

    fn slow_start(&mut self, advance: &Advance) {
        let Some(hystart) = &mut self.hystart else {
            // RFC 5681, equation 2: one segment an acknowledgement, however many it covers.
            self.cwnd += ONE;
            return;
        };
        self.cwnd += hystart.growth(advance.acked);
        hystart.advance(advance);
        if hystart.is_over() {
            self.ssthresh = self.cwnd;
            self.hystart = None;
        }
    }

    /// A congestion event with this many segments outstanding: the threshold falls and the window
    /// with it. What limited transmit sent beyond the window does not count (RFC 5681 section
    /// 3.2).
    pub(super) fn reduce(&mut self, outstanding: u64) {
        if self.is_bbr() {
            return;
        }
        self.lower_threshold(outstanding);
        if let Control::Cubic(cubic) = &mut self.control {
            cubic.reduced(self.cwnd);
        }
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// An acknowledgement reports `marked` more marked segments, 0 or more.
    pub(super) fn observe_marks(&mut self, acked: u64, marked: u64, first: u64, next: u64) {
        if let Control::Dctcp(dctcp) = &mut self.control {
            dctcp.observe(acked, marked, first, next);
        }
    }

    /// Congestion is echoed: as for a loss, unless the control weighs marks.
    pub(super) fn answer_marks(&mut self, outstanding: u64) {
        if let Control::Dctcp(dctcp) = &self.control {
            self.ssthresh = dctcp.reduced(self.cwnd).max(Self::LEAST_THRESHOLD);
            self.cwnd = self.cwnd.min(self.ssthresh);
            self.hystart = None;
        } else {
            self.reduce(outstanding);
        }
    }

    /// A timeout: slow start from one segment. The threshold stays if the same segment has timed
    /// out before (RFC 5681 section 3.1).
    pub(super) fn collapse(&mut self, outstanding: u64, again: bool) {
        if self.is_bbr() {
            return;
        }
        if !again {
            self.lower_threshold(outstanding);
            if let Control::Cubic(cubic) = &mut self.control {
                cubic.timed_out(self.cwnd);
            }
        }
        self.cwnd = ONE;
    }

    /// RFC 5681, equation 4; RFC 9438 section 4.6.
    fn lower_threshold(&mut self, outstanding: u64) {
        let outstanding = (outstanding * ONE).min(self.cwnd);
        let kept = match self.control {
            Control::Cubic(_) => outstanding * 7 / 10,
            // RFC 8257 section 3.5: losses are answered as by any other.
            Control::Reno | Control::Dctcp(_) | Control::Bbr(_) => outstanding / 2,
        };
        self.hystart = None;
        self.ssthresh = kept.max(Self::LEAST_THRESHOLD);
    }

    /// Sets the window to the threshold and `segments` that have left the network.
    pub(super) fn inflate_from_threshold(&mut self, segments: u64) {
        self.cwnd = self.ssthresh + segments * ONE;
    }

    /// One more segment has left the network.
    pub(super) fn inflate(&mut self) {
        self.cwnd += ONE;
    }

    /// Handles a partial acknowledgement (RFC 6582 section 3.2, step 3): the window shrinks by the
    /// segments that it covers, and grows by the one that it lets go.
    pub(super) fn deflate(&mut self, acked: u64) {
        self.cwnd = self.cwnd.saturating_sub(acked * ONE) + ONE;
    }

    /// Ends fast recovery (RFC 6582 section 3.2, step 3, first choice). There is no burst, because
    /// the window is at most one segment above the outstanding ones.
    pub(super) fn settle(&mut self, outstanding: u64) {
        self.cwnd = self.ssthresh.min((outstanding.max(1) + 1) * ONE);
    }
}
