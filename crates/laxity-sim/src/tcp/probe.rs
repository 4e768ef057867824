//! Tail loss probes (RFC 8985 section 7): the end of a flight is asked about before the
//! retransmission timer expires.

use laxity::units::Nanos;

use super::segment::Ack;

/// The probe that is under way, if one is.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    /// TLP.end_seq, and TLP.is_retrans.
    sent: Option<TailProbe>,
    /// Whether a round trip was measured since the last probe, or at all before the first.
    measured: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TailProbe {
    end: u64,
    again: bool,
}

impl Probe {
    /// TLP.max_ack_delay: how long a receiver may wait for a second segment.
    const MAX_ACK_DELAY: Nanos = Nanos(200_000_000);
    /// Before any measurement.
    const UNMEASURED: Nanos = Nanos(1_000_000_000);

    /// TLP_calc_PTO (section 7.2): when to probe. `expiry` is when the retransmission timer
    /// expires.
    pub(super) fn due(now: Nanos, smoothed: Nanos, outstanding: u64, expiry: Nanos) -> Nanos {
        let mut wait = match smoothed {
            Nanos::ZERO => Self::UNMEASURED,
            smoothed => smoothed.saturating_add(smoothed),
        };
        if smoothed > Nanos::ZERO && outstanding == 1 {
            wait = wait.saturating_add(Self::MAX_ACK_DELAY);
        }
        now.saturating_add(wait).min(expiry)
    }

    /// A round trip was measured.
    pub(super) fn measured(&mut self) {
        self.measured = true;
    }

    /// Whether a probe may leave now (section 7.3).
    pub(super) fn may_leave(&self) -> bool {
        self.sent.is_none() && self.measured
    }

    /// A probe has left: the next segment, or the last one `again`. `end` is SND.NXT behind it.
    pub(super) fn left(&mut self, end: u64, again: bool) {
        *self = Probe { sent: Some(TailProbe { end, again }), measured: false };
    }

    /// The retransmission timer expired, whose answers say nothing about a probe.
    pub(super) fn give_up(&mut self) {
        self.sent = None;
    }

    /// TLP_process_ack (section 7.4): whether the probe has repaired the loss of the last segment,
    /// which nothing else shows. `advances` says whether anything new is acknowledged.
    pub(super) fn heard(&mut self, ack: &Ack, advances: bool) -> bool {
        let Some(TailProbe { end, again }) = self.sent.filter(|sent| ack.next >= sent.end) else {
            return false;
        };
        let arrived_twice = ack.duplicate().is_some_and(|segment| segment.end == end);
        let bare = !advances && ack.blocks.is_empty();
        if !again || arrived_twice {
            self.sent = None;
        } else if ack.next > end {
            self.sent = None;
            return true;
        } else if bare {
            self.sent = None;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    #[test]
    fn times() {
        for (smoothed, outstanding, expiry, expected, why) in [
            (100, 5, 1_000, 700, "two round trips from 500 ms on"),
            (100, 1, 1_000, 900, "one segment may wait for another: 200 ms more"),
            (100, 1, 800, 800, "no later than the retransmission timer"),
            (0, 5, 9_000, 1_500, "a second before any measurement"),
        ] {
            let due = Probe::due(ms(500), ms(smoothed), outstanding, ms(expiry));
            assert_eq!(due, ms(expected), "{why}");
        }
    }

    #[test]
    fn one_probe_a_measurement() {
        let mut probe = Probe::default();
        assert!(!probe.may_leave(), "section 7.3: no round trip is known");
        probe.measured();
        assert!(probe.may_leave());
        probe.left(10, false);
        probe.measured();
        assert!(!probe.may_leave(), "one is under way");
        probe.heard(&Ack { next: 10, ..Ack::default() }, true);
        assert!(probe.may_leave());
        probe.left(12, true);
        probe.give_up();
        assert!(!probe.may_leave(), "no round trip since");
    }

    #[test]
    fn answers() {
        let ack = |next, blocks: &[(u64, u64)]| {
            let mut ack = Ack { next, ..Ack::default() };
            blocks.iter().for_each(|&(start, end)| ack.blocks.push(start..end));
            ack
        };
        for (again, ack, advances, repaired, over, why) in [
            (true, ack(9, &[]), true, false, false, "the last segment is not acknowledged yet"),
            (false, ack(10, &[]), true, false, true, "a new segment hides no loss"),
            (true, ack(10, &[]), true, false, false, "either may have arrived"),
            (true, ack(10, &[(9, 10)]), false, false, true, "case 1: both have arrived"),
            (true, ack(10, &[(3, 4)]), false, false, false, "a duplicate of something else"),
            (true, ack(11, &[]), true, true, true, "case 2: only one has arrived"),
            (true, ack(10, &[]), false, false, true, "case 3: a duplicate acknowledgement"),
        ] {
            let mut probe = Probe::default();
            probe.left(10, again);
            assert_eq!(probe.heard(&ack, advances), repaired, "{why}");
            assert_eq!(probe.sent.is_none(), over, "{why}");
        }
    }
}
