//! From state to state: Startup, Drain, and the cycle of ProbeBW (sections 5.3.1 to 5.3.3).

use laxity::units::Nanos;

use super::model::is_inflight_too_high;
use super::state::{AckPhase, Bbr, Cycle, Delivery, INFINITE, MIN_PIPE, State, percent};
use crate::source::random::{GOLDEN, mix};
use crate::tcp::segment::ONE;

/// BBR.Headroom in percent.
const HEADROOM: u64 = 15;
/// The most rounds between two probes, so that Reno and CUBIC have their time.
const RENO_ROUNDS: u64 = 63;
/// Rounds after which Drain ends with any amount in flight.
const DRAIN_ROUNDS: u64 = 3;

impl Cycle {
    pub(super) fn stop_probing(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }

    /// PickProbeWait: none or one round less, and two to three seconds.
    fn pick_wait(&mut self) {
        self.rounds_since_probe_up = self.draw() % 2;
        self.wait = Nanos(2_000_000_000 + self.draw() % 1_000_000_000);
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> u64 {
        let drawn = mix(self.seed);
        self.seed = self.seed.wrapping_add(GOLDEN);
        drawn
    }
}

impl Bbr {
    pub(super) fn check_startup_done(&mut self, delivery: &Delivery) {
        self.check_startup_high_loss(delivery);
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
            self.cycle.drain_start_round = self.round.count;
        }
    }

    pub(super) fn check_drain_done(&mut self, delivery: &Delivery) {
        if self.state == State::Drain
            && (delivery.in_flight <= self.inflight(self.bw(), 100)
                || self.round.count > self.cycle.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_probe_bw_down(delivery.now);
        }
    }

    pub(super) fn start_probe_bw_down(&mut self, now: Nanos) {
        self.reset_congestion_signals();
        self.cycle.acked_per_increase = INFINITE;
        self.cycle.pick_wait();
        self.cycle.stamp = now;
        self.cycle.stop_probing();
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = State::Cruise;
    }

    fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        (self.cycle.up_rounds, self.cycle.acked) = (0, 0);
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_probe_bw_up(&mut self, delivery: &Delivery) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full.reset(delivery.sample.rate);
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, delivery: &Delivery) {
        if !self.full.reached || self.adapt_long_term_model(delivery) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe_bw(delivery.now) => self.start_probe_bw_refill(),
            State::Down if self.is_time_to_cruise(delivery) => self.start_probe_bw_cruise(),
            State::Cruise if self.is_time_to_probe_bw(delivery.now) => self.start_probe_bw_refill(),
            State::Refill if self.round.started => {
                self.cycle.is_bw_probe_sample = true;
                self.start_probe_bw_up(delivery);
            }
            State::Up if self.is_time_to_go_down(delivery) => {
                self.cycle.prev_probe_too_high = false;
                self.start_probe_bw_down(delivery.now);
            }
            _ => {}
        }
    }

    fn is_time_to_cruise(&self, delivery: &Delivery) -> bool {
        delivery.in_flight <= self.inflight_with_headroom()
            && delivery.in_flight <= self.inflight(self.max_bw(), 100)
    }

    fn is_time_to_go_down(&mut self, delivery: &Delivery) -> bool {
        if self.cycle.prev_probe_too_high && delivery.in_flight >= self.inflight_longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.full.reset(delivery.sample.rate);
            return false;
        }
        self.full.now
    }

    fn is_time_to_probe_bw(&self, now: Nanos) -> bool {
        let rounds = (self.target_inflight() / ONE).min(RENO_ROUNDS);
        now > self.cycle.stamp.saturating_add(self.cycle.wait)
            || self.cycle.rounds_since_probe_up >= rounds
    }

    fn is_cwnd_limited(&self) -> bool {
        self.round.limited != [false; 2]
    }

    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == INFINITE {
            return INFINITE;
        }
        let headroom = percent(self.inflight_longterm, HEADROOM).max(ONE);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE)
    }

    fn raise_inflight_longterm_slope(&mut self) {
        let growth = 1_u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_increase = (self.cwnd / growth).max(ONE);
    }

    fn probe_inflight_longterm_upward(&mut self, delivery: &Delivery) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.cycle.acked += delivery.sample.newly_acked * ONE;
        let increases = self.cycle.acked / self.cycle.acked_per_increase;
        self.cycle.acked -= increases * self.cycle.acked_per_increase;
        self.inflight_longterm += increases * ONE;
        if self.round.started {
            self.raise_inflight_longterm_slope();
        }
    }

    /// AdaptLongTermModel: whether it has decided on a state.
    fn adapt_long_term_model(&mut self, delivery: &Delivery) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.round.started {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.round.started {
            self.cycle.is_bw_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !delivery.sample.app_limited {
                self.advance_max_bw_filter();
            }
            if self.state.is_probe_bw()
                && self.cycle.prev_probe_precautionary
                && !self.cycle.prev_probe_too_high
            {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if !is_inflight_too_high(&delivery.sample) && self.inflight_longterm != INFINITE {
            self.inflight_longterm = self.inflight_longterm.max(delivery.sample.in_flight * ONE);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(delivery);
            }
        }
        false
    }
}
