//! Control parameters from the model: the pacing rate and the window (section 5.6).

use laxity::units::Nanos;

use super::probe_rtt;
use super::state::{Bbr, Delivery, INFINITE, MIN_PIPE, State, percent};
use crate::tcp::pacing::quantum;
use crate::tcp::segment::ONE;

/// BBR.StartupPacingGain in percent.
const STARTUP_PACING_GAIN: u64 = 277;
/// What BBR.PacingMarginPercent leaves.
const PACING_MARGIN: u64 = 99;

/// No volume that a rate makes is larger: four times the widest window.
const LARGEST: u64 = 1 << 48;

impl State {
    /// BBR.pacing_gain in percent (section 5.6.1).
    fn pacing_gain(self) -> u64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 50,
            State::Down => 90,
            State::Cruise | State::Refill | State::ProbeRtt => 100,
            State::Up => 125,
        }
    }

    /// BBR.cwnd_gain in percent.
    fn cwnd_gain(self) -> u64 {
        match self {
            State::Startup | State::Drain | State::Down | State::Cruise | State::Refill => 200,
            State::Up => 225,
            State::ProbeRtt => probe_rtt::CWND_GAIN,
        }
    }
}

impl Bbr {
    /// InitPacingRate for a round trip.
    pub(super) fn init_pacing_rate(&mut self, round_trip: Nanos) {
        let nominal =
            u128::from(self.initial_cwnd) * 1_000_000_000 / u128::from(round_trip.0.max(1));
        self.pacing_rate = percent(nominal as u64, STARTUP_PACING_GAIN);
    }

    pub(super) fn update_control_parameters(&mut self, delivery: &Delivery) {
        if let Some(rtt) = delivery.sample.rtt.filter(|_| !self.has_seen_rtt) {
            self.has_seen_rtt = true;
            self.init_pacing_rate(rtt);
        }
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
        self.set_cwnd(delivery);
    }

    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: u64) {
        let rate = percent(percent(self.bw(), gain), PACING_MARGIN);
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// A rate over a time.
    pub(super) fn volume(&self, rate: u64, time: Nanos) -> u64 {
        let volume = u128::from(rate) * u128::from(time.0) / 1_000_000_000;
        u64::try_from(volume).unwrap_or(INFINITE).min(LARGEST)
    }

    /// BBR.bdp; the initial window while no round trip is known.
    pub(super) fn bdp(&self) -> u64 {
        self.bdp_multiple(self.bw(), 100)
    }

    pub(super) fn bdp_multiple(&self, bw: u64, gain: u64) -> u64 {
        match self.rtt.min {
            Nanos::MAX => self.initial_cwnd,
            min_rtt => percent(self.volume(bw, min_rtt), gain),
        }
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.cwnd)
    }

    /// Inflight.
    pub(super) fn inflight(&self, bw: u64, gain: u64) -> u64 {
        self.quantized(self.bdp_multiple(bw, gain))
    }

    /// QuantizationBudget: three quanta, which hosts hold back.
    fn quantized(&self, inflight: u64) -> u64 {
        let quantum = quantum(self.rate(), self.length) * ONE / u64::from(self.length.max(1));
        let more = if self.state == State::Up { 2 * ONE } else { 0 };
        inflight.max(3 * quantum).max(MIN_PIPE) + more
    }

    fn set_cwnd(&mut self, delivery: &Delivery) {
        let inflight = self.bdp_multiple(self.bw(), self.state.cwnd_gain());
        let max_inflight = self.quantized(inflight + self.extra_acked.filter.get());
        let grown = self.cwnd + delivery.sample.newly_acked * ONE;
        if self.full.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || self.sampler.delivered * ONE < self.initial_cwnd {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => INFINITE,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(MIN_PIPE));
    }
}
