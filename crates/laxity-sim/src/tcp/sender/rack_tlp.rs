//! Loss detection by time: RACK-TLP (RFC 8985).

use laxity::units::Nanos;

use super::common::Common;
use crate::tcp::bbr::Bbr;
use crate::tcp::flight::{Flight, Transmission};
use crate::tcp::probe::Probe;
use crate::tcp::rack::{Moment, Rack};
use crate::tcp::segment::Ack;
use crate::tcp::window::Window;

/// The outstanding segments, and their state by time.
#[derive(Clone, Debug, Default)]
pub(super) struct RackTlp {
    flight: Flight,
    rack: Rack,
    probe: Probe,
    phase: Phase,
    /// What was sent when the last recovery began: its end ends the recovery.
    recover: u64,
    /// Whether the first segment is retransmitted, or a probe sent, without regard to the window.
    retransmit_first: bool,
    probing: bool,
    /// A round trip is measured with the next segment from this on.
    measure_from: u64,
    due: Due,
}

/// When which timer expires.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    retransmission: Option<Nanos>,
    /// To look again whether what was sent before is lost.
    reordering: Option<Nanos>,
    probe: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was outstanding then is acknowledged.
    Lost,
}

impl RackTlp {
    /// The first segment that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.flight.first()
    }

    /// The next segment that leaves now, and whether it was sent before.
    pub(super) fn send(&mut self, common: &mut Common, now: Nanos) -> Option<(u64, bool)> {
        let new = common.new_segment(self.flight.next(), self.flight.outstanding());
        if std::mem::take(&mut self.probing) && self.flight.outstanding() > 0 {
            return Some(self.send_probe(common, now, new));
        }
        let forced = std::mem::take(&mut self.retransmit_first);
        let in_flight = self.flight.pipe();
        if in_flight >= common.window.segments() && !forced {
            common.window.tell_bbr(Bbr::filled);
            return None;
        }
        let sent = match self.flight.first_lost() {
            Some(lost) => {
                self.flight.send_again(lost, now);
                (lost, true)
            }
            None => {
                new?;
                (self.flight.send_next(now), false)
            }
        };
        common.window.tell_bbr(|bbr| bbr.sent(sent.0, now, in_flight));
        self.due.retransmission.get_or_insert(now.saturating_add(common.timeout()));
        if !sent.1 {
            self.plan_probe(common, now);
        }
        self.arm(common);
        Some(sent)
    }

    /// TLP_send_probe (section 7.3): a new segment if there is one, else the last one again.
    fn send_probe(&mut self, common: &mut Common, now: Nanos, new: Option<u64>) -> (u64, bool) {
        let (last, in_flight) = (self.flight.next() - 1, self.flight.pipe());
        let sent = match new {
            Some(_) => (self.flight.send_next(now), false),
            None => {
                self.flight.send_again(last, now);
                (last, true)
            }
        };
        common.window.tell_bbr(|bbr| bbr.sent(sent.0, now, in_flight));
        self.probe.left(self.flight.next(), sent.1);
        self.due.retransmission = Some(now.saturating_add(common.timeout()));
        self.arm(common);
        sent
    }

    pub(super) fn on_ack(&mut self, common: &mut Common, now: Nanos, ack: &Ack) {
        if !(self.flight.first()..=self.flight.next()).contains(&ack.next) {
            return;
        }
        self.note_starvation(common);
        let acked = ack.next - self.flight.first();
        let echoed = common.hear_of_marks(ack, acked, self.flight.next());
        let latest = self.take_in(&mut common.window, now, ack);
        self.measure(common, now, latest);
        let recovered = self.phase != Phase::Open && self.flight.first() >= self.recover;
        self.rack.adapt(&self.flight, ack.duplicate().is_some(), recovered);
        if self.phase != Phase::Recovery && acked > 0 && !echoed {
            let sample = latest.map(|latest| now.saturating_sub(latest.at));
            common.grow(now, acked, self.flight.first()..self.flight.next(), sample);
        }
        if recovered {
            self.phase = Phase::Open;
            common.window.tell_bbr(Bbr::end_recovery);
        }
        if echoed && self.phase == Phase::Open {
            common.congestion_echoed(self.flight.first(), self.flight.next());
        }
        if self.probe.heard(ack, acked > 0) {
            common.reduce(self.flight.first(), self.flight.next());
        }
        self.find_losses(common, now);
        let (in_flight, first) = (self.flight.pipe(), self.flight.first());
        common.window.tell_bbr(|bbr| bbr.heard(now, in_flight, first));
        self.restart_timers(common, now, acked > 0);
    }

    /// Takes in arrived segments in the order of their numbers, so that only true reordering is
    /// seen. Returns the latest transmission of those that were sent once.
    fn take_in(&mut self, window: &mut Window, now: Nanos, ack: &Ack) -> Option<Transmission> {
        let RackTlp { flight, rack, .. } = self;
        let mut latest: Option<Transmission> = None;
        let mut arrived = |segment: Transmission| {
            rack.arrived(now, segment);
            window.tell_bbr(|bbr| bbr.arrived(now, segment));
            // Of segments that are sent once, the higher one was sent later.
            if !segment.again && latest.is_none_or(|latest| latest.number < segment.number) {
                latest = Some(segment);
            }
        };
        flight.acknowledge(ack.next, &mut arrived);
        let mut blocks: Vec<_> = ack.blocks.iter().collect();
        blocks.sort_by_key(|block| block.start);
        for block in blocks {
            flight.sack(block, &mut arrived);
        }
        latest
    }

    /// One measurement a round trip, of a segment that was sent once (RFC 6298 section 3).
    fn measure(&mut self, common: &mut Common, now: Nanos, latest: Option<Transmission>) {
        if let Some(segment) = latest
            && segment.number >= self.measure_from
        {
            common.measured(segment.at, now);
            self.probe.measured();
            self.measure_from = self.flight.next();
        }
    }

    fn find_losses(&mut self, common: &mut Common, now: Nanos) {
        let moment = self.moment(common, now);
        let window = &mut common.window;
        let lost = |number| window.tell_bbr(|bbr| bbr.lost(now, number));
        self.due.reordering = self.rack.find_losses(&mut self.flight, moment, lost);
        if self.phase == Phase::Open && self.flight.first_lost().is_some() {
            common.reduce(self.flight.first(), self.flight.next());
            common.window.tell_bbr(Bbr::begin_recovery);
            self.phase = Phase::Recovery;
            self.recover = self.flight.next();
            self.retransmit_first = true;
            common.counts.recoveries += 1;
            self.due.retransmission = Some(now.saturating_add(common.timeout()));
        }
    }

    fn moment(&self, common: &Common, now: Nanos) -> Moment {
        let recovering = self.phase != Phase::Open;
        Moment { now, recovering, smoothed: common.round_trip() }
    }

    /// Everything there was to send has left, and the window has room for more.
    fn note_starvation(&self, common: &mut Common) {
        let all = common.transfer.is_some_and(|transfer| self.flight.next() >= transfer);
        let in_flight = self.flight.pipe();
        if all && in_flight < common.window.segments() && self.flight.first_lost().is_none() {
            common.window.tell_bbr(|bbr| bbr.starved(in_flight));
        }
    }

    pub(super) fn on_timer(&mut self, common: &mut Common, now: Nanos) {
        self.note_starvation(common);
        if self.due.reordering.take_if(|due| *due <= now).is_some() {
            self.find_losses(common, now);
        }
        if self.due.probe.take_if(|due| *due <= now).is_some() && self.probe.may_leave() {
            self.probing = true;
            self.due.retransmission = Some(now.saturating_add(common.timeout()));
        }
        if self.due.retransmission.is_some_and(|due| due <= now) {
            self.give_up(common, now);
        }
        self.arm(common);
    }

    /// The retransmission timer expires (RFC 6298, rules 5.4 to 5.6; RFC 8985 section 6.3).
    fn give_up(&mut self, common: &mut Common, now: Nanos) {
        common.timed_out(self.flight.first(), self.flight.next());
        let moment = self.moment(common, now);
        if self.flight.first_is_sacked() {
            self.flight.forget_sacked();
        }
        let window = &mut common.window;
        let lost = |number| window.tell_bbr(|bbr| bbr.lost(now, number));
        self.rack.give_up(&mut self.flight, moment, lost);
        let in_flight = self.flight.pipe();
        common.window.tell_bbr(|bbr| bbr.timed_out(in_flight));
        self.phase = Phase::Lost;
        self.recover = self.flight.next();
        self.measure_from = self.flight.next();
        self.probe.give_up();
        self.retransmit_first = true;
        (self.probing, self.due.probe, self.due.reordering) = (false, None, None);
        self.due.retransmission = Some(now.saturating_add(common.timeout()));
    }

    /// After an acknowledgement that `advances` or does not.
    fn restart_timers(&mut self, common: &mut Common, now: Nanos, advances: bool) {
        if self.flight.outstanding() == 0 {
            self.due = Due::default();
            (self.probing, self.retransmit_first) = (false, false);
        } else if advances {
            self.due.retransmission = Some(now.saturating_add(common.timeout()));
            self.plan_probe(common, now);
        }
        if self.phase != Phase::Open || self.flight.sacked() > 0 {
            self.due.probe = None;
        }
        self.arm(common);
    }

    /// Section 7.2: where losses are recovered from or segments have arrived beyond a gap, other
    /// means are at work.
    fn plan_probe(&mut self, common: &Common, now: Nanos) {
        if self.phase == Phase::Open
            && self.flight.sacked() == 0
            && let Some(expiry) = self.due.retransmission
        {
            let (smoothed, outstanding) = (common.round_trip(), self.flight.outstanding());
            self.due.probe = Some(Probe::due(now, smoothed, outstanding, expiry));
        }
    }

    fn arm(&self, common: &mut Common) {
        let Due { retransmission, reordering, probe } = self.due;
        common.expiry = [retransmission, reordering, probe].into_iter().flatten().min();
    }
}
