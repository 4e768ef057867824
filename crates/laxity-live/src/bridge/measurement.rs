//! What was measured of a direction, by class.

use laxity::histogram::Delays;
use laxity::packet::{ClassId, Packet};
use laxity::port::{Account, Books, Promise};
use laxity::units::Nanos;
use laxity_forward::{DeliveredPacket, Event, LossCause, LostPacket};
use laxity_linux::frames::Side;
use laxity_plan::Plan;
use laxity_plan::model::Police;

/// An event of the frames that arrive at a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideEvent {
    /// Where they arrive.
    pub at: Side,
    /// Number of plans that were followed there before the present one.
    pub plan: u32,
    /// What happened.
    pub event: Event,
}

/// What became of packets on a wire that is emulated.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "counted from what is told")]
pub struct WireMeasurement {
    /// Packets and copies that came out.
    pub delivered: u64,
    /// Copies among them.
    pub copies: u64,
    /// Packets that were lost by chance.
    pub lost: u64,
    /// Packets that were lost because too much was under way.
    pub no_room: u64,
    /// How much later packets came out than by the plan.
    pub late: Delays,
}

impl WireMeasurement {
    fn delivered(&mut self, delivered: &DeliveredPacket) {
        self.delivered += 1;
        self.copies += u64::from(delivered.is_copy);
        self.late.record(delivered.lateness());
    }

    fn lost(&mut self, lost: &LostPacket) {
        match lost.cause {
            LossCause::Chance => self.lost += 1,
            LossCause::NoRoom => self.no_room += 1,
        }
    }
}

/// What was measured of one direction under one plan.
pub struct WayMeasurement {
    books: Books,
    /// How late the link chose what to send: after it could have.
    pub late: Delays,
    /// Packets that were sent later than their bound allows, with all that the thread was late, of
    /// classes that have not forfeited it.
    pub broken: u64,
    /// The longest that a frame was seen to wait in the queue of the interface where it left.
    pub held: Option<Nanos>,
    /// What became of packets on the wire, where that is emulated.
    pub wire: WireMeasurement,
    bounds: Vec<Option<Nanos>>,
    contracts: Vec<Contract>,
}

/// How a class keeps to its arrival curve, and what that is worth.
#[derive(Clone, Copy, Debug, Default)]
struct Contract {
    /// Whether packets that break it continue as if they had kept it.
    is_only_counted: bool,
    nonconforming: u64,
    /// Packets of those in [`WayMeasurement::broken`].
    broken: u64,
}

impl Contract {
    /// Whether the class is promised nothing any more: what broke its curve travels with the rest.
    fn is_forfeit(&self) -> bool {
        self.is_only_counted && self.nonconforming > 0
    }
}

impl WayMeasurement {
    /// Nothing yet, of classes that are promised this.
    pub fn new(promises: impl IntoIterator<Item = Promise>) -> Self {
        let promises: Vec<Promise> = promises.into_iter().collect();
        let bounds: Vec<_> = promises.iter().map(|promise| promise.bound).collect();
        WayMeasurement {
            books: Books::new(promises, Nanos::ZERO),
            late: Delays::default(),
            broken: 0,
            held: None,
            wire: WireMeasurement::default(),
            contracts: vec![Contract::default(); bounds.len()],
            bounds,
        }
    }

    /// Has the classes policed as by a plan. Those that break their arrival curve and are only
    /// counted forfeit their bound: nothing that is late then is a broken promise.
    pub fn policed(mut self, plan: &Plan) -> Self {
        for (contract, class) in self.contracts.iter_mut().zip(&plan.classes) {
            contract.is_only_counted = class.police == Police::Count;
        }
        self
    }

    /// Goes on with what was measured under a plan whose classes had other numbers: `before` gives
    /// the former number of a class, if it was there.
    pub(super) fn go_on(
        &mut self,
        last: WayMeasurement,
        before: impl Fn(ClassId) -> Option<ClassId>,
    ) {
        for class in (0..self.bounds.len() as u32).map(ClassId) {
            let Some(number) = before(class) else { continue };
            if let Some(account) = last.books.accounts().get(number.index()) {
                self.books.go_on(class, account.clone());
            }
            let Contract { is_only_counted, .. } = self.contracts[class.index()];
            let before = last.contracts.get(number.index()).copied().unwrap_or_default();
            self.contracts[class.index()] = Contract { is_only_counted, ..before };
        }
        let WayMeasurement { late, broken, held, wire, .. } = last;
        (self.late, self.broken, self.held, self.wire) = (late, broken, held, wire);
    }

    /// Counts an event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Arrived(arrived) => self.books.arrived(&Packet {
                class: arrived.class,
                flow: arrived.flow,
                length: arrived.length,
                arrival: arrived.time,
                ..Packet::default()
            }),
            Event::Nonconforming { class, .. } => {
                if let Some(contract) = self.contracts.get_mut(class.index()) {
                    contract.nonconforming += 1;
                }
            }
            Event::Dropped(dropped) => {
                self.has_arrived(&dropped.packet);
                self.books.dropped(&dropped.packet, dropped.reason);
            }
            Event::Sent(sent) => {
                self.has_arrived(&sent.packet);
                self.books.dispatched(&sent.packet);
                self.books.sent(&Packet { arrival: sent.arrived, ..sent.packet }, sent.end());
                self.late.record(sent.overdue());
                let bound = self.bounds.get(sent.packet.class.index()).copied().flatten();
                let keeps = sent.packet.demoted || bound.is_none_or(|bound| sent.keeps(bound));
                if !keeps && !self.is_forfeit(sent.packet.class) {
                    self.broken += 1;
                    self.contracts[sent.packet.class.index()].broken += 1;
                }
            }
            Event::Kept { class, flow, .. } => {
                let (class, flow) = (*class, *flow);
                self.books.arrived(&Packet { class, flow, ..Packet::default() });
            }
            Event::Delivered(delivered) => self.wire.delivered(delivered),
            Event::Lost(lost) => self.wire.lost(lost),
            Event::Idle { .. }
            | Event::Rate { .. }
            | Event::Reloaded { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. } => {}
        }
    }

    /// What is told of a packet whose arrival was lost stands for that, too.
    fn has_arrived(&mut self, packet: &Packet) {
        let account = self.books.accounts().get(packet.class.index());
        if account.unwrap_or(self.books.strays()).queued == 0 {
            self.books.arrived(packet);
        }
    }

    /// How many packets of a class broke its arrival curve.
    pub fn nonconforming(&self, class: ClassId) -> u64 {
        self.contract(class).nonconforming
    }

    /// Whether a class has broken its arrival curve, is only counted, and so has lost its bound.
    pub fn is_forfeit(&self, class: ClassId) -> bool {
        self.contract(class).is_forfeit()
    }

    /// How many of the packets of [`broken`](Self::broken) are of a class.
    pub fn broken_in(&self, class: ClassId) -> u64 {
        self.contract(class).broken
    }

    fn contract(&self, class: ClassId) -> Contract {
        self.contracts.get(class.index()).copied().unwrap_or_default()
    }

    /// The books of the classes, by number.
    pub fn accounts(&self) -> &[Account] {
        self.books.accounts()
    }
}

#[cfg(test)]
mod tests;
