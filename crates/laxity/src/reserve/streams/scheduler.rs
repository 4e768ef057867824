//! The contract of schedulers that admit streams, and EDF under it.

use super::{EdfStreams, Grant, PreparedDeadlines, Residual};
use crate::admit::edf::RealTime;
use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::reserve::edf::Refusal;
use crate::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use crate::units::Nanos;

/// A scheduler that admits streams while it runs, each in a class of its own.
pub trait StreamScheduler: Scheduler {
    /// What a stream asks for.
    type Contract;
    /// Why it is refused, with what would fit.
    type Refusal;
    /// A computation that takes longer than there should be between two packets.
    type Work: Send;
    /// Its result.
    type Outcome: Send;

    /// Lets a stream come.
    ///
    /// # Errors
    /// If promises would not be kept with it. Nothing has changed then.
    fn admit(&mut self, now: Nanos, contract: &Self::Contract) -> Result<Grant, Self::Refusal>;

    /// Ends a stream, if there is one of this class: nothing of it comes from now on.
    fn end(&mut self, now: Nanos, class: ClassId) -> bool;

    /// Ends a stream, and lets one with another contract come in its place.
    ///
    /// # Errors
    /// As those of [`admit`](Self::admit), or if there is no stream of this class.
    fn change(
        &mut self,
        now: Nanos,
        class: ClassId,
        contract: &Self::Contract,
    ) -> Result<Grant, Self::Refusal>;

    /// What is to be computed since streams came or went.
    fn work(&self) -> Option<Self::Work>;

    /// Computes it, on any thread.
    fn perform(work: Self::Work) -> Option<Self::Outcome>;

    /// Takes the result. One that came too late is left.
    fn adopt(&mut self, now: Nanos, outcome: Self::Outcome);

    /// Whether the stream of this class may send.
    fn has_begun(&self, class: ClassId) -> bool;
}

impl StreamScheduler for EdfStreams {
    type Contract = RealTime;
    type Refusal = Refusal;
    type Work = Residual;
    type Outcome = PreparedDeadlines;

    fn admit(&mut self, now: Nanos, contract: &RealTime) -> Result<Grant, Refusal> {
        self.admit(now, contract)
    }

    fn end(&mut self, now: Nanos, class: ClassId) -> bool {
        self.end(now, class)
    }

    fn change(
        &mut self,
        now: Nanos,
        class: ClassId,
        contract: &RealTime,
    ) -> Result<Grant, Refusal> {
        self.change(now, class, contract)
    }

    fn work(&self) -> Option<Residual> {
        self.residual()
    }

    fn perform(work: Residual) -> Option<PreparedDeadlines> {
        work.prepare()
    }

    fn adopt(&mut self, now: Nanos, outcome: PreparedDeadlines) {
        self.adopt(now, outcome);
    }

    fn has_begun(&self, class: ClassId) -> bool {
        self.has_begun(class)
    }
}

impl Scheduler for EdfStreams {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if self.round.is_some() {
            self.advance(now);
        }
        self.edf.enqueue(now, packet, drops);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.round.is_some() {
            self.look(now);
        }
        self.edf.dequeue(now, drops)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.edf.next_ready(now)
    }

    #[inline(always)]
    fn backlog(&self) -> Backlog {
        self.edf.backlog()
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.edf.introduce(class, flow, hosts);
    }

    fn footprint(&self) -> usize {
        self.edf.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.edf.explain()
    }
}
