//! When the link sends, and how late it was.

use laxity::link::Link;
use laxity::pacer::Pacer;
use laxity::units::{Nanos, Rate};

/// The link as its sender keeps it.
///
/// The pacer counts packets as if no start had been late, within its limit. The line models the
/// result: a queue behind the sender that is served at the link's rate. The guarantees of a
/// scheduler on a link that sends without pause hold for the times that the pacer counts, except
/// that everything comes later by `lost`: the time in which the link could have sent and did not.
/// The line is behind these times by its arrears. [`Start::late`] is the sum of `lost` and the
/// arrears.
///
/// Where the line is emulated, nothing real is behind the sender: a packet leaves the line at the
/// time that the pacer counts, but not before it could have if it had been sent when it arrived.
/// Arrears come about only by packets that arrived while the sender was late.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    pacer: Pacer,
    line: Link,
    is_emulated: bool,
    /// Since when, or from when on, there is something to send; `None` if nothing is queued.
    ready: Option<Nanos>,
    /// How long the link could have sent and did not, since it was last idle.
    lost: Nanos,
}

/// How a packet is sent.
pub(crate) struct Start {
    pub departure: Nanos,
    /// What was lost, and how far the line is behind.
    pub late: Nanos,
}

/// A time in which a link does not send ends up to so much before it is said to be free.
const ROUNDING: Nanos = Nanos(1);

impl Outlet {
    /// Of an idle link, behind which a line like it is, real or emulated.
    pub(crate) fn new(link: Link, catch_up: Nanos, is_emulated: bool) -> Self {
        let pacer = Pacer::over(link.clone(), catch_up);
        Outlet { pacer, line: link, is_emulated, ready: None, lost: Nanos::ZERO }
    }

    /// When the link may start the next packet.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.ready.map(|ready| ready.max(self.pacer.free_at()))
    }

    /// A packet arrives while nothing is queued: if nothing is on its way either, whatever was late
    /// is over.
    pub(crate) fn arrives_alone(&mut self, now: Nanos) {
        self.ready = None;
        if self.pacer.free_at().max(self.line.free_at()) <= now {
            self.lost = Nanos::ZERO;
        }
    }

    /// A packet arrived, and the scheduler says when it has something to send.
    pub(crate) fn arrived(&mut self, now: Nanos, next_ready: Option<Nanos>) {
        if self.ready.is_none_or(|ready| ready > now) {
            self.ready = next_ready.map(|next| next.max(now));
        }
    }

    /// The scheduler had nothing, and says when it has.
    pub(crate) fn idles(&mut self, now: Nanos, next_ready: Option<Nanos>) {
        self.ready = next_ready.map(|next| next.max(now + Nanos(1)));
    }

    /// A packet was sent, and the scheduler says when it has the next. The `oldest` that is queued
    /// arrived then.
    pub(crate) fn goes_on(&mut self, now: Nanos, next_ready: Option<Nanos>, oldest: Option<Nanos>) {
        self.ready = match (next_ready, oldest) {
            (Some(next), _) if next > now => Some(next),
            (Some(_), Some(oldest)) => Some(self.ready.unwrap_or_default().max(oldest)),
            (_, _) => None,
        };
    }

    /// Sends a packet that arrived at `arrival` and could have been sent at `due`.
    pub(crate) fn start(&mut self, arrival: Nanos, due: Nanos, now: Nanos, length: u32) -> Start {
        let counted = self.pacer.start(due, now, length);
        if counted.from > due {
            let lost = self.pacer.link().capacity(due, counted.from);
            self.lost = self.lost.saturating_add(lost.saturating_add(ROUNDING));
        }
        let begin = if self.is_emulated { counted.from.max(arrival) } else { now };
        let departure = self.line.transmit(begin.max(self.line.free_at()), length);
        let behind = departure.saturating_sub(counted.until);
        Start { departure, late: self.lost.saturating_add(behind) }
    }

    /// Goes on as another link, with a line behind it that is emulated or not.
    pub(crate) fn change_to(&mut self, link: Link, is_emulated: bool) {
        self.pacer.change_to(link.clone());
        self.line.change_to(link);
        self.is_emulated = is_emulated;
    }

    /// The link's rate.
    pub(crate) fn rate(&self) -> Rate {
        self.line.rate()
    }

    /// From the next packet on it sends at another rate.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.pacer.set_rate(rate);
        self.line.set_rate(rate);
    }

    /// Another scheduler has what is queued, the `oldest` of it as of then: to that scheduler the
    /// link has been late ever since, or at least until it has sent what is on its way.
    pub(crate) fn changes_hands(
        &mut self,
        now: Nanos,
        next_ready: Option<Nanos>,
        oldest: Option<Nanos>,
    ) {
        self.ready = None;
        self.goes_on(now, next_ready, oldest);
        let (begin, end) = (oldest.unwrap_or(now), self.pacer.free_at());
        self.lost = if end > begin { end - begin + ROUNDING } else { Nanos::ZERO };
    }
}
