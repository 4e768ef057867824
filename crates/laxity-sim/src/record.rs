//! The fates of packets, and their observers.

use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::model::{Hop, Plan};

/// The fate of one packet at a link, told once it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The packet. Its handle is its number in the order of arrival, from 0; in a network it is the
    /// same at every hop, and another packet's once it has come to its receiver or is dropped.
    pub packet: Packet,
    /// When it set out on its path; on one link when it arrived. With its handle, this tells the
    /// packets of a network apart.
    pub set_out: Nanos,
    /// The link of a network, and in which direction.
    pub hop: Option<Hop>,
    /// When it is due: what its class is promised, or the deadline that best effort was given; in a
    /// network the one that it was given.
    pub deadline: Option<Nanos>,
    /// Sent, dropped or neither.
    pub fate: Fate,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was sent.
    Sent {
        /// When its first bit left.
        start: Nanos,
        /// When its last bit left.
        departure: Nanos,
    },
    /// It was dropped.
    Dropped(DropReason),
    /// It was still waiting when the run ended, as in a network; that of a link lasts until all
    /// have left.
    Queued,
}

/// What became of a packet, or of a copy of it, on the wire behind a live link that is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFate {
    /// It was lost by chance.
    Lost,
    /// It was lost because too much was under way.
    NoRoom,
    /// It came out.
    Delivered {
        /// When it was due by the plan.
        due: Nanos,
        /// Whether it is a copy.
        is_copy: bool,
    },
}

/// An observer of packets: a trace file, a recorder of series.
pub trait Observer {
    /// Called once for every packet that arrives at a link, in the order in which fates are
    /// decided: drops when they happen, transmissions when they are certain, and packets still
    /// queued at the end.
    fn record(&mut self, record: &Record);

    /// Whether it listens. If it does not, a simulation may take short cuts.
    fn listens(&self) -> bool {
        true
    }

    /// Called before anything else happens at this time. Times never decrease. Runs on several
    /// threads do not call it.
    fn advance(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Called when a packet comes to a link, at its `arrival`; its [record](Self::record) follows.
    /// `hop` is `None` on one link. Runs on several threads do not call it.
    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        let _ = (packet, hop);
    }

    /// Called when a live link that is replayed follows another plan. Packets that wait then
    /// [arrive](Self::arrived) again, in the classes that they have under it.
    fn reloaded(&mut self, plan: &Plan) {
        let _ = plan;
    }

    /// Called when the fate of a packet on the wire behind a live link that is replayed is decided:
    /// losses when it is sent, deliveries when they happen.
    fn crossed(&mut self, number: u64, fate: WireFate) {
        let _ = (number, fate);
    }

    /// Called in a network when a packet has come to its receiver, which got `bytes` new bytes by
    /// it. The `arrival` of the packet is when it set out; its handle is that of its
    /// [records](Record::packet).
    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        let _ = (packet, bytes, now);
    }
}

/// Passes a packet of one link on to an observer. It is due when its class is promised it, else at
/// the deadline that it was `given`.
pub(crate) fn tell(
    observer: &mut dyn Observer,
    plan: &Plan,
    packet: Packet,
    given: Option<Nanos>,
    fate: Fate,
) {
    let promised = plan.classes[packet.class.index()].deadline;
    let deadline = promised.map(|delay| packet.arrival.saturating_add(delay)).or(given);
    let set_out = packet.arrival;
    observer.record(&Record { packet, set_out, hop: None, deadline, fate });
}

/// No observer.
impl Observer for () {
    fn record(&mut self, _: &Record) {}

    fn listens(&self) -> bool {
        false
    }
}

/// Two observers, told in turn.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn record(&mut self, record: &Record) {
        self.0.record(record);
        self.1.record(record);
    }

    fn listens(&self) -> bool {
        self.0.listens() || self.1.listens()
    }

    fn advance(&mut self, now: Nanos) {
        self.0.advance(now);
        self.1.advance(now);
    }

    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        self.0.arrived(packet, hop);
        self.1.arrived(packet, hop);
    }

    fn reloaded(&mut self, plan: &Plan) {
        self.0.reloaded(plan);
        self.1.reloaded(plan);
    }

    fn crossed(&mut self, number: u64, fate: WireFate) {
        self.0.crossed(number, fate);
        self.1.crossed(number, fate);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.0.delivered(packet, bytes, now);
        self.1.delivered(packet, bytes, now);
    }
}

/// Observes for somebody else.
impl<O: Observer + ?Sized> Observer for &mut O {
    fn record(&mut self, record: &Record) {
        (**self).record(record);
    }

    fn listens(&self) -> bool {
        (**self).listens()
    }

    fn advance(&mut self, now: Nanos) {
        (**self).advance(now);
    }

    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        (**self).arrived(packet, hop);
    }

    fn reloaded(&mut self, plan: &Plan) {
        (**self).reloaded(plan);
    }

    fn crossed(&mut self, number: u64, fate: WireFate) {
        (**self).crossed(number, fate);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        (**self).delivered(packet, bytes, now);
    }
}

/// Observes if it is there.
impl<O: Observer> Observer for Option<O> {
    fn record(&mut self, record: &Record) {
        if let Some(observer) = self {
            observer.record(record);
        }
    }

    fn listens(&self) -> bool {
        self.as_ref().is_some_and(O::listens)
    }

    fn advance(&mut self, now: Nanos) {
        if let Some(observer) = self {
            observer.advance(now);
        }
    }

    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        if let Some(observer) = self {
            observer.arrived(packet, hop);
        }
    }

    fn reloaded(&mut self, plan: &Plan) {
        if let Some(observer) = self {
            observer.reloaded(plan);
        }
    }

    fn crossed(&mut self, number: u64, fate: WireFate) {
        if let Some(observer) = self {
            observer.crossed(number, fate);
        }
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        if let Some(observer) = self {
            observer.delivered(packet, bytes, now);
        }
    }
}
