//! Loss detection by duplicate acknowledgements (RFC 6582, RFC 6675). On cumulative ones, only the
//! first partial acknowledgement of a recovery restarts the retransmission timer.

use laxity::units::Nanos;

use super::common::Common;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::segment::Ack;

/// The outstanding segments, and what duplicate acknowledgements say about them.
#[derive(Clone, Debug, Default)]
pub(super) struct DuplicateAcks {
    board: Scoreboard,
    phase: Phase,
    /// Duplicate acknowledgements since the last that acknowledged anything.
    duplicates: u64,
    /// What was sent when the last recovery began or the timer last expired: its end ends the
    /// recovery; 0 before the first.
    recover: u64,
    /// RescueRxt of RFC 6675.
    rescued_below: u64,
    /// Whether the first unacknowledged segment is retransmitted without regard to the window.
    retransmit_first: bool,
    /// The segment that is timed and when it was sent.
    timed: Option<(u64, Nanos)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery. `advanced` once a partial acknowledgement has arrived.
    Recovery { advanced: bool },
    /// After a timeout, until what was outstanding then is acknowledged.
    Lost,
}

impl DuplicateAcks {
    /// The next segment that leaves now, and whether it was sent before.
    #[inline]
    pub(super) fn send(&mut self, common: &mut Common, now: Nanos) -> Option<(u64, bool)> {
        let number = self.choose(common)?;
        let again = number < self.board.next();
        if again {
            self.timed = None;
        } else {
            self.board.send_next();
            self.timed.get_or_insert((number, now));
            common.window.sent(now);
        }
        if common.expiry.is_none() || (again && self.restarts_timer(common, number)) {
            common.restart_timer(now);
        }
        Some((number, again))
    }

    /// Whether a retransmission restarts the timer (RFC 6675 section 6), since acknowledgements
    /// keep a recovery going for longer than the timer runs. It does for what was outstanding when
    /// the recovery began, each once. If it did for what is lost later, a recovery whose first
    /// retransmission is lost would never end, and its window never shrink again.
    fn restarts_timer(&self, common: &Common, number: u64) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
            && selective(common)
            && number < self.recover
            && !common.config.precedes_rfc_6675()
    }

    /// The first segment that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.board.first()
    }

    pub(super) fn on_ack(&mut self, common: &mut Common, now: Nanos, ack: &Ack) {
        if !(self.board.first()..=self.board.next()).contains(&ack.next) {
            return;
        }
        let news = self.note_blocks(common, ack);
        let acked = ack.next - self.board.first();
        let echoed = common.hear_of_marks(ack, acked, self.board.next());
        if acked > 0 {
            self.advance(common, now, ack.next, echoed);
        } else if self.board.outstanding() > 0 && (news || !selective(common)) {
            self.duplicate(common, now);
        }
        if echoed && self.phase == Phase::Open {
            common.congestion_echoed(self.board.first(), self.board.next());
        }
    }

    /// The retransmission timer expires (RFC 6298, rules 5.4 to 5.6).
    pub(super) fn on_timer(&mut self, common: &mut Common, now: Nanos) {
        common.timed_out(self.board.first(), self.board.next());
        self.board.give_up(common.config.precedes_rfc_6675());
        self.phase = Phase::Lost;
        self.recover = self.board.next();
        self.duplicates = 0;
        self.retransmit_first = false;
        self.timed = None;
        common.restart_timer(now);
    }

    fn choose(&mut self, common: &Common) -> Option<u64> {
        if std::mem::take(&mut self.retransmit_first) {
            return Some(self.board.retransmit_first());
        }
        match self.phase {
            Phase::Recovery { .. } if selective(common) => self.choose_by_scoreboard(common),
            Phase::Lost if self.board.pipe() < common.window.segments() => {
                self.board.retransmit_lost().or_else(|| self.new_segment(common))
            }
            Phase::Lost => None,
            Phase::Open | Phase::Recovery { .. } => {
                let limited = if common.config.limited_transmit && self.phase == Phase::Open {
                    self.duplicates.min(2)
                } else {
                    0
                };
                let window = common.window.segments() + limited;
                (self.board.outstanding() < window).then(|| self.new_segment(common))?
            }
        }
    }

    /// NextSeg of RFC 6675 section 4, while the pipe has room.
    fn choose_by_scoreboard(&mut self, common: &Common) -> Option<u64> {
        if self.board.pipe() >= common.window.segments() {
            return None;
        }
        let chosen = self
            .board
            .retransmit_lost()
            .or_else(|| self.new_segment(common))
            .or_else(|| self.board.retransmit_doubtful());
        if chosen.is_some() || self.board.first() <= self.rescued_below {
            return chosen;
        }
        self.rescued_below = self.recover;
        self.board.last_outstanding()
    }

    fn new_segment(&self, common: &Common) -> Option<u64> {
        common.new_segment(self.board.next(), self.board.outstanding())
    }

    fn note_blocks(&mut self, common: &Common, ack: &Ack) -> bool {
        let mut news = false;
        if selective(common) {
            for block in ack.blocks.iter() {
                news |= self.board.sack(block);
            }
        }
        news
    }

    /// New segments are acknowledged. The window does not grow on an echo of congestion (RFC 3168
    /// section 6.1.2).
    fn advance(&mut self, common: &mut Common, now: Nanos, next: u64, echoed: bool) {
        if let Some((number, sent)) = self.timed
            && number < next
        {
            common.measured(sent, now);
            self.timed = None;
        }
        let acked = next - self.board.first();
        let sample = common.window.sample(now, acked);
        self.board.acknowledge(next);
        self.duplicates = 0;
        let recovered = next >= self.recover;
        let restart = self.phase != Phase::Recovery { advanced: true };
        match self.phase {
            Phase::Recovery { .. } if recovered => self.leave_recovery(common),
            Phase::Recovery { .. } => self.advance_recovery(common, acked),
            Phase::Open | Phase::Lost => {
                if recovered {
                    self.phase = Phase::Open;
                }
                if !echoed {
                    common.grow(now, acked, next..self.board.next(), sample);
                }
            }
        }
        if self.board.outstanding() == 0 {
            common.expiry = None;
        } else if restart || recovered || selective(common) {
            common.restart_timer(now);
        }
    }

    /// RFC 6582 section 3.2, step 3; RFC 6675 has the window at the threshold already.
    fn leave_recovery(&mut self, common: &mut Common) {
        self.phase = Phase::Open;
        if !selective(common) {
            common.window.settle(self.board.outstanding());
        }
    }

    fn advance_recovery(&mut self, common: &mut Common, acked: u64) {
        self.phase = Phase::Recovery { advanced: true };
        if !selective(common) {
            self.retransmit_first = true;
            common.window.deflate(acked);
        }
    }

    fn duplicate(&mut self, common: &mut Common, now: Nanos) {
        match self.phase {
            Phase::Lost => {}
            Phase::Recovery { .. } if selective(common) => {}
            Phase::Recovery { .. } => common.window.inflate(),
            Phase::Open => {
                self.duplicates += 1;
                let lost = self.duplicates >= Scoreboard::DUPLICATES
                    || (selective(common) && self.board.first_is_lost());
                if lost && self.may_recover(common) {
                    self.begin_recovery(common, now);
                }
            }
        }
    }

    /// Duplicates below what was sent in the last recovery are its echo: RFC 6582 section 3.2,
    /// step 2, wants more acknowledged than that, RFC 6675 section 5.1 just that.
    fn may_recover(&self, common: &Common) -> bool {
        let first = self.board.first();
        self.recover == 0 || first > self.recover || (selective(common) && first == self.recover)
    }

    /// RFC 6582 section 3.2, step 2; RFC 6675 section 5, step 4. The timer starts anew with the
    /// retransmission, as it does in 4.3BSD and its heirs (RFC 6675 section 6 allows it): its
    /// answer is a round trip away, and the timer began with the last new acknowledgement.
    fn begin_recovery(&mut self, common: &mut Common, now: Nanos) {
        let first = self.board.first();
        common.reduce(first, self.board.next());
        self.phase = Phase::Recovery { advanced: false };
        self.recover = self.board.next();
        self.rescued_below = first + 1;
        self.retransmit_first = true;
        self.board.begin_recovery();
        common.restart_timer(now);
        common.counts.recoveries += 1;
        if !selective(common) {
            common.window.inflate_from_threshold(Scoreboard::DUPLICATES);
        }
    }
}

fn selective(common: &Common) -> bool {
    common.config.variant.is_selective()
}
