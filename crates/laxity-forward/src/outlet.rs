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
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    pacer: Pacer,
    line: Link,
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
    pub(crate) fn new(rate: Rate, catch_up: Nanos) -> Self {
        let (pacer, line) = (Pacer::new(rate, catch_up), Link::new(rate));
        Outlet { pacer, line, ready: None, lost: Nanos::ZERO }
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

    /// Sends a packet that could have been sent at `due`.
    pub(crate) fn start(&mut self, due: Nanos, now: Nanos, length: u32) -> Start {
        let counted = self.pacer.start(due, now, length);
        if counted.from > due {
            self.lost = self.lost.saturating_add(counted.from - due + ROUNDING);
        }
        let departure = self.line.transmit(now.max(self.line.free_at()), length);
        let behind = departure.saturating_sub(counted.until);
        Start { departure, late: self.lost.saturating_add(behind) }
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
        rate: Rate,
        now: Nanos,
        next_ready: Option<Nanos>,
        oldest: Option<Nanos>,
    ) {
        self.set_rate(rate);
        self.ready = None;
        self.goes_on(now, next_ready, oldest);
        let (begin, end) = (oldest.unwrap_or(now), self.pacer.free_at());
        self.lost = if end > begin { end - begin + ROUNDING } else { Nanos::ZERO };
    }
}
