//! The shortest round trip, and the state that makes it visible (section 5.3.4).

use laxity::units::Nanos;

use super::state::{Bbr, Delivery, MIN_PIPE, State};

/// BBR.MinRTTFilterLen.
const MIN_RTT_WINDOW: Nanos = Nanos(10_000_000_000);
/// BBR.ProbeRTTInterval.
const INTERVAL: Nanos = Nanos(5_000_000_000);
/// BBR.ProbeRTTDuration.
const DURATION: Nanos = Nanos(200_000_000);
/// BBR.ProbeRTTCwndGain in percent.
pub(super) const CWND_GAIN: u64 = 50;

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, delivery: &Delivery) {
        let (now, rtt) = (delivery.now, &mut self.rtt);
        rtt.expired = now > rtt.probe_stamp.saturating_add(INTERVAL);
        if let Some(sample) = delivery.sample.rtt
            && (sample < rtt.probe_min || rtt.expired)
        {
            (rtt.probe_min, rtt.probe_stamp) = (sample, now);
        }
        if rtt.probe_min < rtt.min || now > rtt.stamp.saturating_add(MIN_RTT_WINDOW) {
            (rtt.min, rtt.stamp) = (rtt.probe_min, rtt.probe_stamp);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, delivery: &Delivery) {
        if self.state != State::ProbeRtt && self.rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.rtt.done = None;
            self.cycle.stop_probing();
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(delivery);
        }
        if delivery.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, delivery: &Delivery) {
        self.sampler.limit(delivery.in_flight / super::ONE);
        match self.rtt.done {
            None if delivery.in_flight <= self.probe_rtt_cwnd() => {
                self.rtt.done = Some(delivery.now.saturating_add(DURATION));
                self.rtt.round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.rtt.round_done |= self.round.started;
                if self.rtt.round_done {
                    self.check_probe_rtt_done(delivery.now);
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Nanos) {
        if self.rtt.done.is_some_and(|done| now > done) {
            self.rtt.probe_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    fn exit_probe_rtt(&mut self, now: Nanos) {
        self.reset_short_term_model();
        if self.full.reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw(), CWND_GAIN).max(MIN_PIPE)
    }
}
