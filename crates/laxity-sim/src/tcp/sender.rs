//! The sender: what to send, and when.

use laxity::units::Nanos;

use super::config::{Config, Counts, Variant};
use super::scoreboard::Scoreboard;
use super::timing::Timeout;
use super::window::Window;
use super::{Ack, Ecn, ONE, Segment};

/// The sending end of a transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    board: Scoreboard,
    window: Window,
    timeout: Timeout,
    phase: Phase,
    /// Duplicate acknowledgements since the last that acknowledged anything.
    duplicates: u64,
    /// What was sent when the last recovery began or the timer last expired: its end ends the
    /// recovery; 0 before the first.
    recover: u64,
    /// RescueRxt of RFC 6675.
    rescued_below: u64,
    /// What was sent when the window last shrank for a loss or an echo.
    reduced_until: u64,
    /// The first unacknowledged segment is to be retransmitted whatever the window says.
    retransmit_first: bool,
    /// The next new segment says that the window was reduced.
    tell_reduced: bool,
    /// The segment that is timed and when it was sent.
    timed: Option<(u64, Nanos)>,
    /// When the retransmission timer expires.
    expiry: Option<Nanos>,
    /// The segment for which the timer expired last.
    expired_for: Option<u64>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Fast recovery. `advanced` once a partial acknowledgement has arrived.
    Recovery {
        advanced: bool,
    },
    /// After a timeout, until what was outstanding then is acknowledged.
    Lost,
}

impl Sender {
    /// A sender that has sent nothing.
    pub fn new(config: Config) -> Self {
        let receiver_window = config.receiver_window.clamp(1, Config::WIDEST);
        let initial = config.initial_window.clamp(1, Config::WIDEST);
        let config = Config { receiver_window, ..config };
        Sender {
            config,
            board: Scoreboard::default(),
            window: Window::new(initial, receiver_window, config.variant == Variant::Cubic),
            timeout: Timeout::new(config.timing),
            phase: Phase::Open,
            duplicates: 0,
            recover: 0,
            rescued_below: 0,
            reduced_until: 0,
            retransmit_first: false,
            tell_reduced: false,
            timed: None,
            expiry: None,
            expired_for: None,
            counts: Counts::default(),
        }
    }

    /// The next segment that leaves now, if one may. Call until there is none.
    // Inlined, so that the segment is built where the caller keeps it.
    #[inline]
    pub fn poll_send(&mut self, now: Nanos) -> Option<Segment> {
        let number = self.choose()?;
        let again = number < self.board.next();
        if again {
            self.timed = None;
            self.counts.retransmitted += 1;
        } else {
            self.board.send_next();
            self.timed.get_or_insert((number, now));
        }
        self.counts.sent += 1;
        if self.expiry.is_none() {
            self.restart_timer(now);
        }
        let capable = self.config.ecn && !again;
        Some(Segment {
            number,
            length: self.config.length,
            ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
            reduced: !again && std::mem::take(&mut self.tell_reduced),
        })
    }

    /// An acknowledgement arrives. One that acknowledges what was never sent is ignored.
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack) {
        if ack.next > self.board.next() || ack.next < self.board.first() {
            return;
        }
        let news = self.note_blocks(ack);
        if ack.next > self.board.first() {
            self.advance(now, ack);
        } else if self.board.outstanding() > 0 && (news || !self.selective()) {
            self.duplicate(now);
        }
        if ack.echo {
            self.congestion_echoed();
        }
    }

    /// The retransmission timer, if its time has come (RFC 6298, rules 5.4 to 5.6).
    pub fn on_timer(&mut self, now: Nanos) {
        if self.expiry.is_none_or(|expiry| now < expiry) {
            return;
        }
        let first = self.board.first();
        let again = self.expired_for.replace(first) == Some(first);
        self.window.collapse(self.board.outstanding(), again);
        self.board.give_up();
        self.phase = Phase::Lost;
        self.recover = self.board.next();
        self.note_reduction();
        self.duplicates = 0;
        self.retransmit_first = false;
        self.timed = None;
        self.counts.timeouts += 1;
        self.timeout.back_off();
        self.restart_timer(now);
    }

    /// When [`Sender::on_timer`] wants to be called. It moves with most acknowledgements; calling
    /// early does nothing.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.expiry
    }

    /// Whether everything there was to send is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.config.transfer == Some(self.board.first())
    }

    /// How many segments the receiver has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.board.first()
    }

    /// The congestion window in segments, for traces.
    pub fn congestion_window(&self) -> f64 {
        self.window.exact() as f64 / ONE as f64
    }

    /// The slow-start threshold in segments, for traces.
    pub fn threshold(&self) -> f64 {
        self.window.threshold() as f64 / ONE as f64
    }

    /// The present retransmission timeout.
    pub fn retransmission_timeout(&self) -> Nanos {
        self.timeout.current()
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn selective(&self) -> bool {
        self.config.variant != Variant::NewReno
    }

    fn choose(&mut self) -> Option<u64> {
        if std::mem::take(&mut self.retransmit_first) {
            return Some(self.board.retransmit_first());
        }
        match self.phase {
            Phase::Recovery { .. } if self.selective() => self.choose_by_scoreboard(),
            Phase::Lost if self.board.pipe() < self.window.segments() => {
                self.board.retransmit_lost().or_else(|| self.new_segment())
            }
            Phase::Lost => None,
            Phase::Open | Phase::Recovery { .. } => {
                let limited = match self.config.limited_transmit && self.phase == Phase::Open {
                    true => self.duplicates.min(2),
                    false => 0,
                };
                let window = self.window.segments() + limited;
                (self.board.outstanding() < window).then(|| self.new_segment())?
            }
        }
    }

    /// NextSeg of RFC 6675 section 4, while the pipe has room.
    fn choose_by_scoreboard(&mut self) -> Option<u64> {
        if self.board.pipe() >= self.window.segments() {
            return None;
        }
        let chosen = self
            .board
            .retransmit_lost()
            .or_else(|| self.new_segment())
            .or_else(|| self.board.retransmit_doubtful());
        if chosen.is_some() || self.board.first() <= self.rescued_below {
            return chosen;
        }
        self.rescued_below = self.recover;
        self.board.last_outstanding()
    }

    /// The first segment never sent, if there is one and the receiver has room for it.
    fn new_segment(&self) -> Option<u64> {
        let room = self.board.outstanding() < u64::from(self.config.receiver_window);
        let number = self.board.next();
        (room && self.config.transfer.is_none_or(|transfer| number < transfer)).then_some(number)
    }

    fn note_blocks(&mut self, ack: &Ack) -> bool {
        let mut news = false;
        if self.selective() {
            for block in ack.blocks.iter() {
                news |= self.board.sack(block);
            }
        }
        news
    }

    /// New segments are acknowledged. The window does not grow on an echo of congestion (RFC 3168
    /// section 6.1.2).
    fn advance(&mut self, now: Nanos, ack: &Ack) {
        let next = ack.next;
        if let Some((number, sent)) = self.timed
            && number < next
        {
            self.timeout.measured(sent, now);
            self.timed = None;
        }
        let acked = next - self.board.first();
        self.board.acknowledge(next);
        self.duplicates = 0;
        let recovered = next >= self.recover;
        let restart = self.phase != Phase::Recovery { advanced: true };
        match self.phase {
            Phase::Recovery { .. } if recovered => self.leave_recovery(),
            Phase::Recovery { .. } => self.advance_recovery(acked),
            Phase::Open | Phase::Lost => {
                if recovered {
                    self.phase = Phase::Open;
                }
                if !ack.echo {
                    let limit = self.config.receiver_window;
                    self.window.grow(now, self.timeout.smoothed(), acked, limit);
                }
            }
        }
        if self.board.outstanding() == 0 {
            self.expiry = None;
        } else if restart || recovered || self.selective() {
            self.restart_timer(now);
        }
    }

    /// RFC 6582 section 3.2, step 3; RFC 6675 has the window at the threshold already.
    fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        if !self.selective() {
            self.window.settle(self.board.outstanding());
        }
    }

    fn advance_recovery(&mut self, acked: u64) {
        self.phase = Phase::Recovery { advanced: true };
        if !self.selective() {
            self.retransmit_first = true;
            self.window.deflate(acked);
        }
    }

    fn duplicate(&mut self, now: Nanos) {
        match self.phase {
            Phase::Lost => {}
            Phase::Recovery { .. } if self.selective() => {}
            Phase::Recovery { .. } => self.window.inflate(),
            Phase::Open => {
                self.duplicates += 1;
                let lost = self.duplicates >= Scoreboard::DUPLICATES
                    || (self.selective() && self.board.first_is_lost());
                if lost && self.may_recover() {
                    self.begin_recovery(now);
                }
            }
        }
    }

    /// Duplicates below what was sent in the last recovery are its echo: RFC 6582 section 3.2,
    /// step 2, wants more acknowledged than that, RFC 6675 section 5.1 just that.
    fn may_recover(&self) -> bool {
        let first = self.board.first();
        self.recover == 0 || first > self.recover || (self.selective() && first == self.recover)
    }

    /// RFC 6582 section 3.2, step 2; RFC 6675 section 5, step 4. The timer starts anew with the
    /// retransmission, as it does in 4.3BSD and its heirs (RFC 6675 section 6 allows it): its answer
    /// is a round trip away, and the timer began with the last new acknowledgement.
    fn begin_recovery(&mut self, now: Nanos) {
        let first = self.board.first();
        // One reduction a window: what an echo has already answered is only retransmitted.
        if first >= self.reduced_until {
            self.window.reduce(self.board.outstanding());
        }
        self.phase = Phase::Recovery { advanced: false };
        self.recover = self.board.next();
        self.rescued_below = first + 1;
        self.retransmit_first = true;
        self.board.begin_recovery();
        self.note_reduction();
        self.restart_timer(now);
        self.counts.recoveries += 1;
        if !self.selective() {
            self.window.inflate_from_threshold(Scoreboard::DUPLICATES);
        }
    }

    /// RFC 3168 section 6.1.2: as for a loss, but nothing to retransmit, once a window.
    fn congestion_echoed(&mut self) {
        if self.phase == Phase::Open
            && (self.board.first() > self.reduced_until || self.reduced_until == 0)
        {
            self.window.reduce(self.board.outstanding());
            self.note_reduction();
            self.counts.echoes += 1;
        }
    }

    fn note_reduction(&mut self) {
        self.reduced_until = self.board.next();
        self.tell_reduced = self.config.ecn;
    }

    fn restart_timer(&mut self, now: Nanos) {
        self.expiry = Some(now.saturating_add(self.timeout.current()));
    }
}
