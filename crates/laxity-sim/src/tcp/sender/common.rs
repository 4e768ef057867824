//! The state of a sender that does not depend on its loss detection.

use std::ops::Range;
use std::sync::Arc;

use laxity::packet::Ecn;
use laxity::units::Nanos;

use crate::tcp::config::{Config, Counts};
use crate::tcp::pacing::Pacer;
use crate::tcp::segment::{Ack, Advance};
use crate::tcp::timing::Timeout;
use crate::tcp::window::Window;

/// The state of a sender without its outstanding segments.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub window: Window,
    /// When the timer expires.
    pub expiry: Option<Nanos>,
    /// What was sent when the window last shrank for a loss or an echo; 0 before.
    pub reduced_until: u64,
    /// The highest count of marks that was heard of.
    pub marked: u32,
    /// The segment for which the timer expired last.
    pub expired_for: Option<u64>,
    /// The next new segment says that the window was reduced.
    pub tell_reduced: bool,
    /// In memory of its own: most senders have none.
    pub pacer: Option<Box<Pacer>>,
    pub counts: Counts,
    pub timeout: Timeout,
    /// How many segments there are to send; none without end.
    pub transfer: Option<u64>,
    pub config: Arc<Config>,
}

impl Common {
    /// The first segment never sent, if there is one and the receiver has room for it.
    pub(super) fn new_segment(&self, next: u64, outstanding: u64) -> Option<u64> {
        let room = outstanding < u64::from(self.config.receiver_window);
        (room && self.transfer.is_none_or(|transfer| next < transfer)).then_some(next)
    }

    /// Lets the window grow for an acknowledgement of `acked` segments, which leaves these.
    pub(super) fn grow(&mut self, now: Nanos, acked: u64, left: Range<u64>, sample: Option<Nanos>) {
        let Range { start: first, end: next } = left;
        let (round_trip, limit) = (self.round_trip(), self.config.receiver_window);
        self.window.grow(&Advance { now, acked, first, next, round_trip, sample, limit });
    }

    /// A loss among the outstanding segments from `first` to `next`: one reduction a window, for
    /// what was answered already is only retransmitted.
    pub(super) fn reduce(&mut self, first: u64, next: u64) {
        if first >= self.reduced_until {
            self.window.reduce(next - first);
        }
        self.note_reduction(next);
    }

    /// Takes in what an acknowledgement of `acked` segments says about congestion, `first` and
    /// `next` as after it; whether it says any.
    pub(super) fn hear_of_marks(&mut self, ack: &Ack, acked: u64, next: u64) -> bool {
        if !self.config.variant.counts_marks() {
            return ack.echo;
        }
        // An acknowledgement that was overtaken counts fewer.
        let more = ack.marked.wrapping_sub(self.marked).cast_signed().max(0).cast_unsigned();
        self.marked = self.marked.wrapping_add(more);
        self.window.observe_marks(acked, more.into(), ack.next, next);
        more > 0
    }

    /// RFC 3168 section 6.1.2: as for a loss, but nothing to retransmit, once a window.
    pub(super) fn congestion_echoed(&mut self, first: u64, next: u64) {
        if first > self.reduced_until || self.reduced_until == 0 {
            self.window.answer_marks(next - first);
            self.note_reduction(next);
            self.counts.echoes += 1;
        }
    }

    pub(super) fn note_reduction(&mut self, next: u64) {
        self.reduced_until = next;
        self.tell_reduced = self.config.ecn != Ecn::NotCapable;
    }

    /// How long the retransmission timer runs.
    pub(super) fn timeout(&self) -> Nanos {
        self.timeout.current(self.config.timing)
    }

    /// The smoothed round trip; zero before the first measurement.
    pub(super) fn round_trip(&self) -> Nanos {
        self.timeout.smoothed(self.config.timing)
    }

    /// A segment was acknowledged that was sent once.
    pub(super) fn measured(&mut self, sent: Nanos, now: Nanos) {
        self.timeout.measured(self.config.timing, sent, now);
    }

    /// The retransmission timer expires with the segments outstanding from `first` to before
    /// `next`.
    pub(super) fn timed_out(&mut self, first: u64, next: u64) {
        let again = self.expired_for.replace(first) == Some(first);
        self.window.collapse(next - first, again);
        self.note_reduction(next);
        self.counts.timeouts += 1;
        self.timeout.back_off(self.config.timing);
    }

    pub(super) fn set_rate(&mut self) {
        let round_trip = self.round_trip();
        if let Some(pacer) = &mut self.pacer
            && let Some(rate) = self.window.rate(self.config.length, round_trip)
        {
            pacer.set_rate(rate);
        }
    }

    pub(super) fn restart_timer(&mut self, now: Nanos) {
        self.expiry = Some(now.saturating_add(self.timeout()));
    }
}
