//! When the link sends, and how late it was.

use laxity::link::Link;
use laxity::pacer::Pacer;
use laxity::units::{Nanos, Rate};
use laxity_engine::{Grant, RateShare};

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
///
/// Where other threads send over the same link, both send at a share of its rate, which changes
/// between packets. It is given back when the line has sent what was sent at it. The time in which
/// there is none counts as lost as far as it is more than the `patience` that bounds count on.
#[derive(Debug)]
pub(crate) struct Outlet {
    pacer: Pacer,
    line: Link,
    is_emulated: bool,
    /// Since when, or from when on, there is something to send; `None` if nothing is queued.
    ready: Option<Nanos>,
    /// How long the link could have sent and did not, since it was last idle.
    lost: Nanos,
    /// Until then it counts as lost that packets had arrived and were not known.
    known: Nanos,
    share: Option<RateShare>,
    patience: Nanos,
}

/// How a packet is sent.
pub(crate) struct Start {
    pub departure: Nanos,
    /// What was lost, and how far the line is behind.
    pub late: Nanos,
}

/// A time in which a link does not send ends up to so much before it is said to be free.
const ROUNDING: Nanos = Nanos(1);

/// Where a thread's share of the rate is short it looks again after this time. It is longer than
/// threads keep a core busy before they are due: the others may need that.
const LOOK_AGAIN: Nanos = Nanos(50_000);

impl Outlet {
    /// Of an idle link, behind which a line like it is, real or emulated.
    pub(crate) fn new(link: Link, catch_up: Nanos, is_emulated: bool) -> Self {
        let pacer = Pacer::over(link.clone(), catch_up);
        Outlet {
            pacer,
            line: link,
            is_emulated,
            ready: None,
            lost: Nanos::ZERO,
            known: Nanos::ZERO,
            share: None,
            patience: Nanos::ZERO,
        }
    }

    /// Sends at a share of a rate from now on. Bounds count on this time without it.
    pub(crate) fn share(&mut self, share: RateShare, patience: Nanos) {
        (self.share, self.patience) = (Some(share), patience);
    }

    /// When the link may start the next packet.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.ready.map(|ready| ready.max(self.pacer.free_at()))
    }

    /// When the packet starts that could at `due`, which is by now: then, or as soon as there is
    /// rate for it.
    ///
    /// # Errors
    /// If that is not yet: when to ask again.
    pub(crate) fn begin(&mut self, due: Nanos, now: Nanos) -> Result<Nanos, Nanos> {
        let ended = self.free_at();
        let Some(share) = &mut self.share else { return Ok(due) };
        let Some(Grant { rate, from }) = share.ask(due, ended) else {
            return Err(now + LOOK_AGAIN);
        };
        if from > now {
            return Err(from);
        }
        if rate != self.line.rate() {
            self.set_rate(rate);
        }
        let waited = from.saturating_sub(due);
        self.lost = self.lost.saturating_add(waited.saturating_sub(self.patience));
        Ok(from)
    }

    /// Nothing may be sent before `due`, if ever: others get its share of the rate if the line is
    /// free before, and as soon as it is. Until then says when that is.
    pub(crate) fn rest(&mut self, due: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        let ended = self.free_at();
        let share = self.share.as_mut().filter(|share| share.is_busy())?;
        if due.is_some_and(|due| due <= ended) {
            return None;
        }
        if ended > now {
            return Some(ended);
        }
        share.rest(ended);
        None
    }

    /// When the link is free as packets count, and when the line is.
    pub(crate) fn ends(&self) -> [Nanos; 2] {
        [self.pacer.free_at(), self.line.free_at()]
    }

    /// When all that was sent has left.
    fn free_at(&self) -> Nanos {
        self.pacer.free_at().max(self.line.free_at())
    }

    /// A packet arrived while nothing was queued: if nothing was on its way either, whatever was
    /// late is over.
    pub(crate) fn arrives_alone(&mut self, arrived: Nanos) {
        self.ready = None;
        if self.free_at() <= arrived {
            self.lost = Nanos::ZERO;
        }
    }

    /// A packet is known `now` that had arrived before. Whatever the link sent meanwhile,
    /// everything may come later by that time, as if it had sent nothing.
    pub(crate) fn learns(&mut self, arrived: Nanos, now: Nanos) {
        let from = arrived.max(self.known);
        if now > from {
            self.lost = self.lost.saturating_add(now - from + ROUNDING);
            self.known = now;
        }
    }

    /// A packet arrived, and the scheduler says when it has something to send.
    pub(crate) fn arrived(&mut self, now: Nanos, next_ready: impl FnOnce() -> Option<Nanos>) {
        if self.ready.is_none_or(|ready| ready > now) {
            self.ready = next_ready().map(|next| next.max(now));
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

    /// Goes on as another link, with a line behind it that is emulated or not. Where it is shared,
    /// the rate stays what it is.
    pub(crate) fn change_to(&mut self, link: Link, is_emulated: bool, patience: Nanos) {
        (self.is_emulated, self.patience) = (is_emulated, patience);
        if self.share.is_none() {
            self.pacer.change_to(link.clone());
            self.line.change_to(link);
        }
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

    /// Another scheduler has what is queued. The `oldest` of it arrived, and counts, since then: to
    /// that scheduler the link has been late ever since it arrived, or at least until it has sent
    /// what is on its way.
    pub(crate) fn changes_hands(
        &mut self,
        now: Nanos,
        next_ready: Option<Nanos>,
        oldest: Option<[Nanos; 2]>,
    ) {
        self.ready = None;
        let [arrived, counted] = oldest.unwrap_or([now; 2]);
        self.goes_on(now, next_ready, oldest.map(|_| counted));
        let (begin, end) = (arrived, self.pacer.free_at().max(counted));
        self.lost = if end > begin { end - begin + ROUNDING } else { Nanos::ZERO };
        self.known = Nanos::ZERO;
    }
}
