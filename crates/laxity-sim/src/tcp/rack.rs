//! RACK (RFC 8985 section 6): what was sent well before something that has arrived is lost.

use laxity::units::Nanos;

use super::flight::{Flight, Transmission};

/// The state of RACK: the latest arrivals. Times are `None` before there are any.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: of all that has arrived, what was sent last.
    latest: Option<(Nanos, u64)>,
    /// RACK.rtt: its round trip.
    rtt: Nanos,
    /// RACK.min_RTT and when it was measured.
    min_rtt: Option<(Nanos, Nanos)>,
    /// RACK.fack: everything that has arrived is below.
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u32,
    /// How many recoveries it takes until the window is as small again as it was.
    reo_wnd_persist: u32,
    /// SND.NXT at the duplicate that last widened the window; none once that is acknowledged.
    dsack_round: Option<u64>,
}

/// The state of a connection when losses are detected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub now: Nanos,
    /// Whether losses are being recovered from.
    pub recovering: bool,
    /// SRTT.
    pub smoothed: Nanos,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            latest: None,
            rtt: Nanos::ZERO,
            min_rtt: None,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }
}

impl Rack {
    /// DupThresh.
    const DUPLICATES: u64 = 3;
    /// Recoveries without a duplicate until the reordering window is narrow again.
    const PERSIST: u32 = 16;
    /// How long a least round trip counts; common systems'.
    const MIN_RTT_WINDOW: Nanos = Nanos(300_000_000_000);

    /// A segment has arrived (section 6.2, steps 1 to 3).
    pub(super) fn arrived(&mut self, now: Nanos, segment: Transmission) {
        let rtt = now.saturating_sub(segment.at);
        if !segment.again {
            self.note_round_trip(now, rtt);
        }
        if segment.number + 1 > self.fack {
            self.fack = segment.number + 1;
        } else if !segment.again {
            self.reordering_seen = true;
        }
        // An answer that is too early is to a transmission before.
        if segment.again && self.min_rtt.is_some_and(|(least, _)| rtt < least) {
            return;
        }
        self.rtt = rtt;
        self.latest = self.latest.max(Some((segment.at, segment.number)));
    }

    fn note_round_trip(&mut self, now: Nanos, rtt: Nanos) {
        let old = |at: Nanos| now.saturating_sub(at) > Self::MIN_RTT_WINDOW;
        if self.min_rtt.is_none_or(|(least, at)| rtt <= least || old(at)) {
            self.min_rtt = Some((rtt, now));
        }
    }

    /// A duplicate arrived somewhere, or a recovery ends (step 4): the reordering window widens
    /// with each round that sees one, and is narrow again after 16 recoveries without.
    pub(super) fn adapt(&mut self, flight: &Flight, duplicate: bool, recovered: bool) {
        if self.dsack_round.is_some_and(|round| flight.first() >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && duplicate {
            self.dsack_round = Some(flight.next());
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = Self::PERSIST;
        } else if recovered {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// RACK.reo_wnd (step 4).
    fn reordering_window(&self, flight: &Flight, moment: Moment) -> Nanos {
        let duplicates = flight.sacked() >= Self::DUPLICATES;
        if !self.reordering_seen && (moment.recovering || duplicates) {
            return Nanos::ZERO;
        }
        let least = self.min_rtt.map_or(0, |(least, _)| least.0);
        Nanos(least.saturating_mul(self.reo_wnd_mult.into()) / 4).min(moment.smoothed)
    }

    /// Detects losses (step 5). Returns when to look again, if more may be lost later.
    pub(super) fn find_losses(
        &self,
        flight: &mut Flight,
        moment: Moment,
        mut lost: impl FnMut(u64),
    ) -> Option<Nanos> {
        let latest = self.latest?;
        let patience = self.rtt.saturating_add(self.reordering_window(flight, moment));
        let mut look_again = None;
        while let Some(oldest) = flight.oldest()
            && (oldest.at, oldest.number) < latest
            && oldest.at.saturating_add(patience) <= moment.now
        {
            flight.lose(oldest.number);
            lost(oldest.number);
        }
        for waiting in flight.oldest_first() {
            if (waiting.at, waiting.number) >= latest {
                break;
            }
            look_again = Some(waiting.at.saturating_add(patience));
        }
        look_again
    }

    /// The retransmission timer expires (section 6.3): the first segment is lost, and all that were
    /// sent too long ago.
    pub(super) fn give_up(&self, flight: &mut Flight, moment: Moment, mut lost: impl FnMut(u64)) {
        let patience = self.rtt.saturating_add(self.reordering_window(flight, moment));
        let first = flight.first();
        let late = |one: &Transmission| {
            one.number == first || one.at.saturating_add(patience) <= moment.now
        };
        let late: Vec<u64> = flight.oldest_first().filter(late).map(|one| one.number).collect();
        for number in late {
            flight.lose(number);
            lost(number);
        }
    }
}
