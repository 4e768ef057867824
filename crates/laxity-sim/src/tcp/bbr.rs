//! BBR, version 3, after draft-ietf-ccwg-bbr of August 2026: a model of the path, its bandwidth and
//! its round trip, says how fast to send and how much may be in flight.
//!
//! Names are the draft's where it has them. Volumes are in 1/2^16 segments, rates in 1/2^16
//! segments a second, gains in percent; [`INFINITE`] is what is not set. Nothing declares a
//! recovery spurious here, so nothing is undone.

mod control;
mod cycle;
mod filter;
mod model;
mod probe_rtt;
mod state;

use laxity::units::Nanos;

use super::config::Config;
use super::flight::Transmission;
use super::segment::ONE;
pub(super) use state::{Bbr, State};
use state::{Cycle, Delivery, INFINITE, MinRtt};

impl Bbr {
    pub(super) fn new(config: &Config) -> Self {
        let initial_cwnd = u64::from(config.initial_window) * ONE;
        let mut bbr = Bbr {
            cwnd: initial_cwnd,
            bw_shortterm: INFINITE,
            inflight_shortterm: INFINITE,
            inflight_longterm: INFINITE,
            cycle: Cycle { acked_per_increase: INFINITE, seed: config.seed, ..Cycle::default() },
            rtt: MinRtt { min: Nanos::MAX, probe_min: Nanos::MAX, ..MinRtt::default() },
            initial_cwnd,
            length: config.length,
            ..Bbr::default()
        };
        bbr.init_pacing_rate(Nanos(1_000_000));
        bbr
    }

    /// C.cwnd in 1/2^16 segments.
    pub(super) fn window(&self) -> u64 {
        self.cwnd
    }

    /// C.pacing_rate in bytes a second.
    pub(super) fn rate(&self) -> u64 {
        (u128::from(self.pacing_rate) * u128::from(self.length) / u128::from(ONE)) as u64
    }

    /// A segment is sent with `in_flight` others in flight (OnTransmit, OnPacketSent).
    pub(super) fn sent(&mut self, number: u64, now: Nanos, in_flight: u64) {
        if in_flight == 0 && self.sampler.is_limited() {
            self.restart_from_idle(now);
        }
        self.sampler.sent(number, now, in_flight);
    }

    /// Nothing more may be sent: the window is full.
    pub(super) fn filled(&mut self) {
        self.round.limited[1] = true;
    }

    /// There is nothing to send, though the window had room (CheckIfApplicationLimited).
    pub(super) fn starved(&mut self, in_flight: u64) {
        self.sampler.limit(in_flight);
    }

    /// An acknowledgement reports a segment.
    pub(super) fn arrived(&mut self, now: Nanos, segment: Transmission) {
        self.sampler.arrived(&mut self.sample, now, segment);
    }

    /// Recovery begins.
    pub(super) fn begin_recovery(&mut self) {
        self.save_cwnd();
        self.recovering_since = Some(self.round.count);
    }

    /// Recovery ends.
    pub(super) fn end_recovery(&mut self) {
        self.recovering_since = None;
        self.restore_cwnd();
    }

    /// The retransmission timer has expired, with `in_flight` segments estimated to be in flight
    /// (OnEnterRTO).
    pub(super) fn timed_out(&mut self, in_flight: u64) {
        self.begin_recovery();
        self.cwnd = (in_flight + 1) * ONE;
    }

    /// An acknowledgement has been taken in, losses are detected, and everything below `first` has
    /// arrived (section 5.2.3).
    pub(super) fn heard(&mut self, now: Nanos, in_flight: u64, first: u64) {
        let mut sample = std::mem::take(&mut self.sample);
        if !self.sampler.finish(&mut sample, first) {
            return;
        }
        let delivery = &Delivery { now, in_flight: in_flight * ONE, sample };
        self.update_model_and_state(delivery);
        self.update_control_parameters(delivery);
    }

    fn update_model_and_state(&mut self, delivery: &Delivery) {
        self.update_latest_delivery_signals(delivery);
        self.update_congestion_signals(delivery);
        self.update_ack_aggregation(delivery);
        self.check_full_bw_reached(delivery);
        self.check_startup_done(delivery);
        self.check_drain_done(delivery);
        self.update_probe_bw_cycle_phase(delivery);
        self.update_min_rtt(delivery);
        self.check_probe_rtt(delivery);
        self.advance_latest_delivery_signals(delivery);
    }

    /// HandleRestartFromIdle (section 5.4.1).
    fn restart_from_idle(&mut self, now: Nanos) {
        self.idle_restart = true;
        self.extra_acked.since = now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// SaveCwnd (section 5.6.4.4).
    fn save_cwnd(&mut self) {
        let lowered = self.recovering_since.is_some() || self.state == State::ProbeRtt;
        self.prior_cwnd = if lowered { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// What BBR is doing, and its bandwidth in segments a second, for tests.
    #[cfg(test)]
    pub(super) fn state(&self) -> (State, f64) {
        (self.state, self.bw() as f64 / ONE as f64)
    }
}
