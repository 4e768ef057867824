//! What delivery says about the path: its bandwidth, and what losses say about both bounds
//! (sections 5.3.1.2, 5.5.5 to 5.5.10).

use super::state::{Bbr, Delivery, FullBandwidth, INFINITE, Latest, State, percent};
use crate::tcp::rate::Sample;
use crate::tcp::segment::ONE;

/// BBR.Beta in percent.
pub(super) const BETA: u64 = 70;
/// One over BBR.LossThresh.
const LOSS_DIVISOR: u64 = 50;
/// BBRStartupFullLossCnt.
const STARTUP_LOSSES: u64 = 6;
/// BBR.ExtraAckedFilterLen in rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;

impl FullBandwidth {
    /// ResetFullBW, with a baseline.
    pub(super) fn reset(&mut self, bw: u64) {
        *self = FullBandwidth { reached: self.reached, bw, ..FullBandwidth::default() };
    }
}

impl Bbr {
    /// BBR.max_bw.
    pub(super) fn max_bw(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// BBR.bw (BoundBWForModel).
    pub(super) fn bw(&self) -> u64 {
        self.max_bw().min(self.bw_shortterm)
    }

    pub(super) fn start_round(&mut self) {
        self.round.next_delivered = self.sampler.delivered;
    }

    fn update_round(&mut self, sample: &Sample) {
        self.round.started = sample.prior_delivered >= self.round.next_delivered;
        if self.round.started {
            self.start_round();
            self.round.count += 1;
            self.round.limited = [self.round.limited[1], false];
            self.cycle.rounds_since_probe_up += 1;
        }
    }

    fn update_max_bw(&mut self, sample: &Sample) {
        self.update_round(sample);
        if sample.rate > 0 && (sample.rate >= self.max_bw() || !sample.app_limited) {
            self.max_bw[0] = self.max_bw[0].max(sample.rate);
        }
    }

    /// AdvanceMaxBwFilter. A cycle without a sample is none.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw[0] > 0 {
            self.max_bw = [0, self.max_bw[0]];
        }
    }

    pub(super) fn update_latest_delivery_signals(&mut self, delivery: &Delivery) {
        let Latest { bw, inflight, round_delivered, .. } = self.latest;
        self.latest.bw = bw.max(delivery.sample.rate);
        self.latest.inflight = inflight.max(delivery.sample.delivered);
        self.latest.round_starts = delivery.sample.prior_delivered >= round_delivered;
        if self.latest.round_starts {
            self.latest.round_delivered = self.sampler.delivered;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, delivery: &Delivery) {
        if self.latest.round_starts {
            self.latest.bw = delivery.sample.rate;
            self.latest.inflight = delivery.sample.delivered;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        let Latest { round_delivered, round_starts, ranges, lost_until, .. } = self.latest;
        self.latest = Latest {
            bw: 0,
            inflight: 0,
            loss: false,
            round_delivered,
            round_starts,
            ranges,
            lost_until,
        };
    }

    pub(super) fn update_congestion_signals(&mut self, delivery: &Delivery) {
        self.update_max_bw(&delivery.sample);
        if self.latest.round_starts {
            if self.latest.loss && !self.state.is_probing() {
                self.lower_bounds();
            }
            self.latest.loss = false;
        }
    }

    /// InitLowerBounds and LossLowerBounds.
    fn lower_bounds(&mut self) {
        if self.bw_shortterm == INFINITE {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == INFINITE {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.latest.bw.max(percent(self.bw_shortterm, BETA));
        let inflight = self.latest.inflight * ONE;
        self.inflight_shortterm = inflight.max(percent(self.inflight_shortterm, BETA));
    }

    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INFINITE, INFINITE);
    }

    /// A segment is lost (HandleLostPacket).
    pub(in crate::tcp) fn lost(&mut self, now: laxity::units::Nanos, number: u64) {
        if !self.latest.loss {
            self.latest.round_delivered = self.sampler.delivered;
            self.save_cwnd();
        }
        self.latest.loss = true;
        self.latest.ranges += u64::from(number != self.latest.lost_until);
        self.latest.lost_until = number + 1;
        let Some(mut sample) = self.sampler.lose(number) else { return };
        if self.cycle.is_bw_probe_sample && is_inflight_too_high(&sample) {
            sample.in_flight = inflight_at_loss(&sample);
            self.handle_inflight_too_high(now, &sample);
        }
    }

    fn handle_inflight_too_high(&mut self, now: laxity::units::Nanos, sample: &Sample) {
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_bw_probe_sample = false;
        if !sample.app_limited {
            let least = percent(self.target_inflight(), BETA);
            self.inflight_longterm = (sample.in_flight * ONE).max(least);
        }
        if self.state == State::Up {
            self.start_probe_bw_down(now);
        }
    }

    pub(super) fn check_full_bw_reached(&mut self, delivery: &Delivery) {
        let sample = &delivery.sample;
        if self.full.now || !self.round.started || sample.app_limited {
            return;
        }
        if sample.rate >= percent(self.full.bw, 125) {
            return self.full.reset(sample.rate);
        }
        self.full.count += 1;
        self.full.now = self.full.count >= 3;
        self.full.reached |= self.full.now;
    }

    /// CheckStartupHighLoss: a whole round of recovery, in which more than one segment in fifty was
    /// lost, in six places.
    pub(super) fn check_startup_high_loss(&mut self, delivery: &Delivery) {
        if !self.latest.round_starts {
            return;
        }
        let ranges = std::mem::take(&mut self.latest.ranges);
        let a_round = self.recovering_since.is_some_and(|began| self.round.count > began);
        if self.state == State::Startup
            && a_round
            && ranges >= STARTUP_LOSSES
            && is_inflight_too_high(&delivery.sample)
        {
            self.full.reached = true;
            self.inflight_longterm = self.bdp().max(self.latest.inflight * ONE);
        }
    }

    pub(super) fn update_ack_aggregation(&mut self, delivery: &Delivery) {
        let elapsed = delivery.now.saturating_sub(self.extra_acked.since);
        let mut expected = self.volume(self.bw(), elapsed);
        if self.extra_acked.delivered <= expected {
            (self.extra_acked.delivered, self.extra_acked.since) = (0, delivery.now);
            expected = 0;
        }
        self.extra_acked.delivered += delivery.sample.newly_acked * ONE;
        let extra = (self.extra_acked.delivered - expected).min(self.cwnd);
        let rounds = if self.full.reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.filter.update(rounds, self.round.count, extra);
    }
}

/// IsInflightTooHigh: more than one in fifty is lost.
pub(super) fn is_inflight_too_high(sample: &Sample) -> bool {
    sample.lost * LOSS_DIVISOR > sample.in_flight
}

/// InflightAtLoss in segments: where in the segment, if it were many, one in fifty was passed.
fn inflight_at_loss(sample: &Sample) -> u64 {
    let (before, lost) = (sample.in_flight.saturating_sub(1), sample.lost.saturating_sub(1));
    // (before / 50 - lost) / (1 - 1 / 50)
    before + before.saturating_sub(lost * LOSS_DIVISOR) / (LOSS_DIVISOR - 1)
}
