//! EDF that admits streams while it runs.
//!
//! A newcomer is granted if the [test](crate::admit::edf) of the whole link admits it beside all
//! streams that have not ended. But it may not always send at once: streams that have ended are
//! still queued, and best effort with exact deadlines has already used the slack that the newcomer
//! counts on. So a grant says from when on it may send.
//!
//! **Rules.** While a *round* runs, best effort has no deadlines, neither what comes nor what is
//! queued. Let W be the [settling time](super::settling) of all streams that are granted and have
//! not ended, just before the event that begins a round; the round lasts for W.
//!
//! 1. The end of a stream begins a round. If a round runs already, the next one follows it, with
//!    the W of the first end in the present round.
//! 2. A grant begins a round if none runs and best effort is served by deadlines.
//! 3. A newcomer may send from the end of the round that follows the present one, if a stream has
//!    ended in this, else from the end of the present one; at once if no round runs.
//! 4. After the last round best effort has deadlines by the effective residual capacity of all
//!    streams that are granted then. They count from that time on, also those of queued packets.
//!
//! Without best effort, or if it never has deadlines, rule 2 never applies: a newcomer begins at
//! once unless a stream has just ended.
//!
//! **Theorem.** No packet of a stream is late that keeps to its contract and sends nothing before
//! its time or after its end, if the link is as the test assumes.
//!
//! *Proof.* Consider the first packet that is late; until then all deadlines are kept. Call a time
//! quiet when no packet of a stream is queued or on the link.
//!
//! *Every round has a quiet time.* One that ends at once has its own end, which is behind all
//! streams that have ended. Else let a round run from S to S', and let Y be the event whose W it
//! lasts for: the one at S, or the first end in the round before. What is queued at S is no older
//! than its deadline, and streams go before best effort until S'. So by
//! [settling](super::settling) there is a quiet time, if W counts all streams that are queued at S
//! or send before S'. Such a stream has not ended before the round before, since it would have left
//! by the quiet time of that. So it had not ended just before Y. It was granted before Y, since
//! newcomers that are granted later send from S' on or later. So W counts it. All of these were
//! granted together just before Y. If they may fill the link for ever, there is no W, and the round
//! ends only when the link is seen to be quiet.
//!
//! *The streams that a packet waits for were tested together.* Let the late packet be due at D,
//! and let t be the last time before it is sent at which nothing is queued that is due by D. From
//! t on the link sends only what is due by D, after one packet that may be on it. Of the streams
//! that send from t on, let j be the one granted last, at X, to send from F on. By rule 3 there is
//! a quiet time u <= F behind all ends before X: in the round that ends at F, or, where none does,
//! in the last round before X. Best effort has no deadlines at u. So nothing due by D is queued at
//! u, and t >= u. A stream that sends from t on had therefore not ended by X, and was granted by
//! X. The test at X had all of them, and what they send from t on keeps to their arrival curves.
//!
//! *Best effort.* If a packet of best effort that is due by D is queued from t on, it got this
//! deadline in a time without a round, from R to the next event at B. The last round before R has a
//! quiet time behind all ends before R, and t is not before it, as above. Streams granted at B or
//! later send after the quiet time of a round behind B, when no packet has such a deadline: they
//! send nothing in the time from t on. So those that do are among those granted at R. The deadlines
//! since R demand no more than the residual capacity that these leave (Chakraborty, Gries, Thiele
//! 2002), and the test holds with it. So the packet is in time. ∎

mod residual;
mod scheduler;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};

pub use self::residual::{PreparedDeadlines, Residual};
pub use self::scheduler::StreamScheduler;
use super::demand::Demand;
use super::edf::{EdfBook, Refusal};
use crate::admit::edf::{RealTime, System};
use crate::packet::ClassId;
use crate::sched::Edf;
use crate::sched::edf::{Assign, BestEffort, Deadlines};
use crate::units::{Bytes, Nanos, Rate};

/// A link for streams that come and go.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what a test has to know of a link")]
pub struct Link {
    /// Its rate.
    pub rate: Rate,
    /// How late its service may be.
    pub latency: Nanos,
    /// The longest packet of any stream and of best effort.
    pub max_packet: Bytes,
}

/// How packets without a promise are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are some or none, with deadlines or without")]
pub enum Unpromised {
    /// There are none: every packet is of a stream.
    None,
    /// When no packet of a stream is queued. They are class 0.
    Background,
    /// By exact deadlines out of what the streams leave. They are class 0.
    Exact,
}

/// EDF that admits streams while packets are queued.
///
/// Streams begin, and best effort changes its deadlines, with the first packet that comes or leaves
/// at that time or later. The deadlines of best effort take a while to compute where contracts are
/// many: [`residual`](Self::residual) gives what is needed to do it elsewhere.
pub struct EdfStreams {
    edf: Edf,
    book: EdfBook,
    link: Link,
    unpromised: Unpromised,
    streams: BTreeMap<ClassId, Stream>,
    /// Those that may not send yet, by the time from which on they may.
    ahead: BTreeSet<(Nanos, ClassId)>,
    demand: Demand,
    round: Option<Round>,
    /// How often streams have come or gone.
    changes: u64,
    /// Deadlines of best effort for after the last round.
    prepared: Option<Deadlines>,
    /// Whether best effort goes without the deadlines that it should have.
    is_in_background: bool,
    #[cfg(test)]
    fault: Option<Fault>,
}

#[derive(Clone, Debug)]
struct Stream {
    contract: RealTime,
    from: Nanos,
}

/// A rule that is left out, for tests to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Newcomers begin at the grant.
    BeginsAtOnce,
    /// The end of a stream begins no round.
    EndsUnfelt,
    /// Rounds last for all of W.
    NeverLooks,
    /// Best effort has deadlines in a round.
    KeepsDeadlines,
    /// Best effort gets the deadlines that it has beside no stream.
    KeepsResidual,
}

/// What is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an answer has these parts")]
pub struct Grant {
    /// The class of the stream's packets.
    pub class: ClassId,
    /// The stream may send from then on at the latest; [`Nanos::MAX`] if only the link can tell,
    /// because streams may fill it for ever. As long as it may not, its packets are dropped as
    /// those of no class.
    pub from: Nanos,
}

/// A time in which best effort waits until what was promised before is sent.
#[derive(Clone, Copy, Debug)]
struct Round {
    until: Nanos,
    /// When the next one ends, if there is to be one.
    next: Option<Nanos>,
}

impl EdfStreams {
    /// A link without streams.
    pub fn new(link: Link, unpromised: Unpromised) -> Self {
        let Link { rate, latency, max_packet } = link;
        let (classes, packet): (&[_], _) = match unpromised {
            Unpromised::None => (&[], None),
            Unpromised::Background | Unpromised::Exact => (&[None], Some(max_packet)),
        };
        let mut streams = EdfStreams {
            edf: Edf::new(classes, BestEffort::by_arrival(Assign::Background)),
            book: EdfBook::new(rate, latency, packet),
            link,
            unpromised,
            streams: BTreeMap::new(),
            ahead: BTreeSet::new(),
            demand: Demand::default(),
            round: None,
            changes: 0,
            prepared: None,
            is_in_background: unpromised == Unpromised::Exact,
            #[cfg(test)]
            fault: None,
        };
        if let Some(prepared) = streams.residual().and_then(Residual::prepare) {
            streams.adopt(Nanos::ZERO, prepared);
        }
        streams
    }

    /// Asks whether one more stream may come, and lets it come.
    ///
    /// # Errors
    /// If a deadline would be missed, with what would fit; if the contract says too little or too
    /// much. Nothing has changed then.
    pub fn admit(&mut self, now: Nanos, contract: &RealTime) -> Result<Grant, Refusal> {
        self.advance(now);
        let length = self.settling_time();
        self.enter(contract)?;
        if self.unpromised == Unpromised::Exact && self.round.is_none() {
            self.settle(now, length);
        }
        self.grant(now, contract)
    }

    /// Ends a stream: nothing of it comes from now on. What is queued of it is still sent in time.
    /// Returns whether there was one of this class.
    ///
    /// Its place may be promised again at once, to newcomers that send from the end of a round on.
    /// The number of its class goes to a later stream when nothing of it is queued.
    pub fn end(&mut self, now: Nanos, class: ClassId) -> bool {
        self.advance(now);
        let length = self.settling_time();
        let Some(Stream { contract, from }) = self.streams.remove(&class) else { return false };
        self.withdraw(&contract);
        self.close(now, class, from, length);
        self.has_changed(now);
        true
    }

    /// Gives a stream another contract: it ends now, and a stream with the new contract comes.
    /// There need not be room for both together.
    ///
    /// # Errors
    /// As those of [`admit`](Self::admit); [`NoStream`](Refusal::NoStream) if there is none of this
    /// class. Nothing has changed then.
    pub fn change(
        &mut self,
        now: Nanos,
        class: ClassId,
        contract: &RealTime,
    ) -> Result<Grant, Refusal> {
        self.advance(now);
        let length = self.settling_time();
        let Stream { contract: old, from } =
            self.streams.get(&class).cloned().ok_or(Refusal::NoStream)?;
        self.withdraw(&old);
        if let Err(refusal) = self.enter(contract) {
            self.enter(&old)?;
            return Err(refusal);
        }
        self.streams.remove(&class);
        self.close(now, class, from, length);
        self.grant(now, contract)
    }

    /// A stream that is not in the book any more sends nothing more.
    fn close(&mut self, now: Nanos, class: ClassId, from: Nanos, length: Nanos) {
        self.ahead.remove(&(from, class));
        self.edf.remove(now, class);
        if !self.has_fault(Fault::EndsUnfelt) {
            self.settle(now, length);
        }
    }

    /// Time has come to `now`: streams begin, and best effort has deadlines again. Packets do this
    /// by themselves.
    #[inline(never)]
    pub fn advance(&mut self, now: Nanos) {
        while let Some(&(from, class)) = self.ahead.first()
            && from <= now
        {
            self.ahead.pop_first();
            self.edf.open(class);
        }
        while let Some(Round { until, next }) = self.round
            && until <= now
        {
            self.round = next.map(|until| Round { until, next: None });
        }
        if self.round.is_none()
            && let Some(deadlines) = self.prepared.take()
        {
            self.edf.exchange(now, Assign::Curve(deadlines));
            self.is_in_background = false;
        }
    }

    /// The link is free. If no packet of a stream waits, it is a quiet time behind all ends.
    #[inline(never)]
    fn look(&mut self, now: Nanos) {
        if !self.edf.has_promised() && !self.has_fault(Fault::NeverLooks) {
            self.round = None;
            while let Some((_, class)) = self.ahead.pop_first() {
                self.edf.open(class);
            }
        }
        self.advance(now);
    }

    /// When something changes by itself, at the latest: a round ends, and streams begin with it.
    pub fn next_change(&self) -> Option<Nanos> {
        self.round.map(|round| round.until)
    }

    /// Whether a stream may send.
    pub fn has_begun(&self, class: ClassId) -> bool {
        let stream = self.streams.get(&class);
        stream.is_some_and(|stream| !self.ahead.contains(&(stream.from, class)))
    }

    /// The streams for which best effort needs deadlines; `None` if it has them or never has any.
    pub fn residual(&self) -> Option<Residual> {
        let needs = self.is_in_background && self.prepared.is_none();
        needs.then(|| {
            let mut system = self.book.merged_system();
            system.max_packet = self.link.max_packet;
            if self.has_fault(Fault::KeepsResidual) {
                system.real_time.clear();
            }
            Residual { system, changes: self.changes }
        })
    }

    /// Takes deadlines for best effort, and uses them when no round runs. Those beside other
    /// streams than there are now are left.
    pub fn adopt(&mut self, now: Nanos, prepared: PreparedDeadlines) {
        if prepared.changes == self.changes {
            self.prepared = Some(prepared.deadlines);
        }
        self.advance(now);
    }

    /// How many streams there are.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether there is no stream.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// The link with all streams that have not ended, as the admission test takes it.
    pub fn system(&self) -> System {
        System { max_packet: self.link.max_packet, ..self.book.system() }
    }

    #[cfg(test)]
    fn has_fault(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    fn has_fault(&self, _: Fault) -> bool {
        false
    }

    /// W of all streams; [`Nanos::MAX`] if they may fill the link for ever.
    fn settling_time(&self) -> Nanos {
        let Link { rate, latency, max_packet } = self.link;
        self.demand.settling_time(rate, latency, max_packet).unwrap_or(Nanos::MAX)
    }

    /// Enters a contract in the book.
    fn enter(&mut self, contract: &RealTime) -> Result<(), Refusal> {
        let most = self.link.max_packet;
        if contract.packet > most {
            return Err(Refusal::LongPacket { packet: contract.packet, most });
        }
        self.book.admit(contract)?;
        self.demand.add(contract);
        Ok(())
    }

    /// Takes a contract out of the book.
    fn withdraw(&mut self, contract: &RealTime) {
        self.book.release(contract);
        self.demand.remove(contract);
    }

    /// Lets a stream come that is in the book.
    fn grant(&mut self, now: Nanos, contract: &RealTime) -> Result<Grant, Refusal> {
        let reserved = self.edf.reserve(contract.deadline);
        let class =
            reserved.map_err(|_| Refusal::TooMany).inspect_err(|_| self.withdraw(contract))?;
        let from = match self.round {
            _ if self.has_fault(Fault::BeginsAtOnce) => now,
            Some(Round { until, next }) => next.unwrap_or(until),
            None => now,
        };
        self.ahead.insert((from, class));
        self.streams.insert(class, Stream { contract: contract.clone(), from });
        self.has_changed(now);
        Ok(Grant { class, from })
    }

    /// Other streams are granted than before.
    fn has_changed(&mut self, now: Nanos) {
        self.changes += 1;
        self.prepared = None;
        self.advance(now);
    }

    /// A stream ends: a round begins, or is to follow the present one.
    fn settle(&mut self, now: Nanos, length: Nanos) {
        self.round = Some(match self.round {
            None => Round { until: now.saturating_add(length), next: None },
            Some(Round { until, next }) => {
                let next = next.unwrap_or_else(|| until.saturating_add(length));
                Round { until, next: Some(next) }
            }
        });
        if self.unpromised == Unpromised::Exact && !self.is_in_background {
            if !self.has_fault(Fault::KeepsDeadlines) {
                self.edf.exchange(now, Assign::Background);
            }
            self.is_in_background = true;
        }
    }
}
