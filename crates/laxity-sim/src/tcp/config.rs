//! What a sender is made of, and what it has done.

use laxity::packet::Ecn;
use laxity::units::Nanos;

use super::timing::Timing;
use super::{Congestion, Recovery, SlowStart};

/// How a sender finds losses and how its window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// How losses are found.
    pub recovery: Recovery,
    /// How the window grows and shrinks.
    pub congestion: Congestion,
}

impl Variant {
    /// Fast recovery on cumulative acknowledgements, the window of RFC 5681.
    pub const NEWRENO: Variant = Variant::new(Recovery::Newreno, Congestion::Reno);
    /// Recovery by SACK blocks, the window of RFC 5681.
    pub const SACK: Variant = Variant::new(Recovery::Sack, Congestion::Reno);
    /// Recovery by SACK blocks, the window of RFC 9438.
    pub const CUBIC: Variant = Variant::new(Recovery::Sack, Congestion::Cubic);

    /// A variant with this loss recovery and this congestion control.
    pub const fn new(recovery: Recovery, congestion: Congestion) -> Self {
        Variant { recovery, congestion }
    }

    /// Whether acknowledgements count marks (RFC 9768) instead of echoing one (RFC 3168).
    pub(super) fn counts_marks(self) -> bool {
        self.congestion == Congestion::Dctcp
    }

    /// Whether acknowledgements carry SACK blocks.
    pub(super) fn is_selective(self) -> bool {
        self.recovery != Recovery::Newreno
    }
}

/// What a sender is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How losses are found and windows grow.
    pub variant: Variant,
    /// Length of every segment on the wire in bytes.
    pub length: u32,
    /// How many segments there are to send at first; none for a sender that always has one more.
    pub transfer: Option<u64>,
    /// The initial window in segments, at least 1.
    pub initial_window: u32,
    /// The receiver's window in segments, at least 1: no more are ever outstanding.
    pub receiver_window: u32,
    /// How the first slow start ends.
    pub slow_start: SlowStart,
    /// Whether segments leave one by one at a rate.
    pub pacing: bool,
    /// Whether the first two duplicate acknowledgements let a new segment go (RFC 3042).
    pub limited_transmit: bool,
    /// What segments say of ECN: nothing, ECT(0) (RFC 3168) or ECT(1) (RFC 9331); the reaction to
    /// an echo does not depend on it. Retransmissions say nothing.
    pub ecn: Ecn,
    /// The retransmission timer.
    pub timing: Timing,
    /// Seed of the waits that BBR draws.
    pub seed: u64,
}

impl Config {
    /// The widest window in segments; wider ones are taken as this.
    pub const WIDEST: u32 = 1 << 30;

    /// As a sender takes it: windows that are in bounds, and what BBR says of the rest. BBR is not
    /// capable of ECN, to which its draft has no answer.
    pub(super) fn settled(self) -> Self {
        let windows = [self.initial_window, self.receiver_window];
        let [initial_window, receiver_window] = windows.map(|window| window.clamp(1, Self::WIDEST));
        let config = Config { initial_window, receiver_window, ..self };
        match self.variant.congestion {
            Congestion::Bbr => Config {
                variant: Variant::new(Recovery::RackTlp, Congestion::Bbr),
                pacing: true,
                ecn: Ecn::NotCapable,
                ..config
            },
            Congestion::Reno | Congestion::Cubic | Congestion::Dctcp => config,
        }
    }

    /// Whether the sender is older than RFC 6675 and takes none of its liberties: SACK information
    /// that outlives a timeout (section 5.1) and a timer that starts anew with retransmissions of a
    /// recovery (section 6). Coarse timers are of that time.
    pub(super) fn precedes_rfc_6675(&self) -> bool {
        matches!(self.timing, Timing::Ticks { .. })
    }

    /// A greedy sender of 2001, as simulations of that time have it: NewReno, an initial window of
    /// one segment, no limited transmit, a timer in ticks of 0.1 s.
    pub const fn classic(length: u32, receiver_window: u32) -> Self {
        Config {
            variant: Variant::NEWRENO,
            initial_window: 1,
            receiver_window,
            limited_transmit: false,
            timing: Timing::Ticks { tick: Nanos(100_000_000), phase: Nanos::ZERO },
            ..Config::modern(length)
        }
    }

    /// A greedy sender as common systems have it: CUBIC, an initial window of ten segments
    /// (RFC 6928), limited transmit, a timer of at least 200 ms beyond the round trip, no limit of
    /// the receiver's that matters below 2^30 segments.
    pub const fn modern(length: u32) -> Self {
        Config {
            variant: Variant::CUBIC,
            length,
            transfer: None,
            initial_window: 10,
            receiver_window: Config::WIDEST,
            slow_start: SlowStart::Standard,
            pacing: false,
            limited_transmit: true,
            ecn: Ecn::NotCapable,
            timing: Timing::Rfc6298 { granularity: Nanos(1_000_000), min: Nanos(200_000_000) },
            seed: 0,
        }
    }
}

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Segments sent that had been sent before.
    pub retransmitted: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Windows reduced because congestion was echoed.
    pub echoes: u64,
}
