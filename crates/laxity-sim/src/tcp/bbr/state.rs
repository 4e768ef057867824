//! The state of BBR.

use laxity::units::Nanos;

use super::filter::WindowedMax;
use crate::tcp::rate::{Sample, Sampler};
use crate::tcp::segment::ONE;

/// A bound that is not set.
pub(super) const INFINITE: u64 = u64::MAX;
/// BBR.MinPipeCwnd.
pub(super) const MIN_PIPE: u64 = 4 * ONE;

/// All of BBR's state.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Bbr {
    /// C.cwnd.
    pub(super) cwnd: u64,
    /// C.pacing_rate.
    pub(super) pacing_rate: u64,
    pub(super) state: State,
    pub(super) round: Round,
    /// BBR.max_bw, in the present and the previous cycle.
    pub(super) max_bw: [u64; 2],
    pub(super) bw_shortterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    pub(super) latest: Latest,
    pub(super) full: FullBandwidth,
    pub(super) cycle: Cycle,
    pub(super) rtt: MinRtt,
    pub(super) extra_acked: ExtraAcked,
    /// BBR.prior_cwnd: the window that neither recovery nor ProbeRTT has lowered.
    pub(super) prior_cwnd: u64,
    /// The round in which the present recovery began.
    pub(super) recovering_since: Option<u64>,
    pub(super) idle_restart: bool,
    /// Whether a round trip is known.
    pub(super) has_seen_rtt: bool,
    pub(super) sampler: Sampler,
    /// What the acknowledgement says that is being taken in.
    pub(super) sample: Sample,
    pub(super) initial_cwnd: u64,
    pub(super) length: u32,
}

/// BBR.state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp) enum State {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Packet-timed round trips (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub next_delivered: u64,
    pub started: bool,
    pub count: u64,
    /// Whether the window was full in the last round and in this one.
    pub limited: [bool; 2],
}

/// How much more is acknowledged at once than the bandwidth explains (section 5.5.9).
#[derive(Clone, Debug, Default)]
pub(super) struct ExtraAcked {
    pub since: Nanos,
    pub delivered: u64,
    pub filter: WindowedMax,
}

/// An acknowledgement of segments that have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub now: Nanos,
    /// C.inflight after it.
    pub in_flight: u64,
    pub sample: Sample,
}

/// Where in the cycle of ProbeBW a connection is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub ack_phase: AckPhase,
    pub is_bw_probe_sample: bool,
    pub prev_probe_too_high: bool,
    pub prev_probe_precautionary: bool,
    pub rounds_since_probe_up: u64,
    /// BBR.cycle_stamp and BBR.bw_probe_wait.
    pub stamp: Nanos,
    pub wait: Nanos,
    /// BBR.probe_up_acked_per_inc, BBR.bw_probe_up_acked, BBR.bw_probe_up_rounds.
    pub acked_per_increase: u64,
    pub acked: u64,
    pub up_rounds: u32,
    pub drain_start_round: u64,
    pub seed: u64,
}

/// BBR.ack_phase: what acknowledgements tell of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The delivery of the last round (section 5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    /// BBR.bw_latest, and BBR.inflight_latest in segments.
    pub bw: u64,
    pub inflight: u64,
    /// BBR.loss_round_delivered and BBR.loss_round_start.
    pub round_delivered: u64,
    pub round_starts: bool,
    /// BBR.is_loss_in_round.
    pub loss: bool,
    /// Ranges of segments that were lost in this round without one between them, and the end of the
    /// last.
    pub ranges: u64,
    pub lost_until: u64,
}

/// Whether sending faster still helps (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// BBR.full_bw_reached and BBR.full_bw_now.
    pub reached: bool,
    pub now: bool,
    /// BBR.full_bw and BBR.full_bw_count.
    pub bw: u64,
    pub count: u32,
}

/// The shortest round trips. [`Nanos::MAX`] is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt and BBR.min_rtt_stamp.
    pub min: Nanos,
    pub stamp: Nanos,
    /// BBR.probe_rtt_min_delay and BBR.probe_rtt_min_stamp.
    pub probe_min: Nanos,
    pub probe_stamp: Nanos,
    pub expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    pub done: Option<Nanos>,
    pub round_done: bool,
}

impl State {
    /// IsInAProbeBWState.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// IsProbingBW.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// A share of a volume or rate, in percent.
pub(super) fn percent(value: u64, percent: u64) -> u64 {
    (u128::from(value) * u128::from(percent) / 100) as u64
}
