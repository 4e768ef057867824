//! Quick Fair Queueing Plus, QFQ+ (Valente 2014, *Reducing the execution time of fair-queueing
//! packet schedulers*), on Quick Fair Queueing (Checconi, Rizzo, Valente 2013, *QFQ: Efficient
//! packet scheduling with tight guarantees*).
//!
//! Classes with equal weights and largest packets form aggregates of at most eight. Within an
//! aggregate they take turns by deficit round robin. An aggregate that is chosen sends until its
//! budget, a largest packet for each of its classes, does not suffice for its next packet.
//!
//! Aggregates are scheduled as by WF2Q+: among those that have started by the virtual time, the one
//! that finishes first. That takes constant time because start times are rounded: aggregates whose
//! budgets last up to sigma_i = 2^i of virtual time form group i, start at multiples of sigma_i and
//! finish two slots later. The groups of a set (see `groups`) are in the order of their finishing
//! times, so that one word of bits holds all that has to be compared.

mod aggregate;
mod explain;
mod group;
mod groups;
pub(crate) mod share;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::error::SetupError;
use crate::explain::Explain;
use crate::packet::{ClassId, Packet};
use crate::queue::{Fifos, Position};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;
use aggregate::{Aggregate, AggregateId, Member, MemberId};
use groups::Groups;
use share::Share;
pub use share::{AGGREGATE, QfqClass};

/// QFQ+, for links with tens of thousands of classes: no operation depends on their number.
///
/// The virtual time counts the bytes that the link sends, in 2^-32 of a byte and 128 bits: at 10
/// Tbit/s they last longer than the sun. Shares are rounded down to such a part, so that errors do
/// not add up.
///
/// In five places it is stricter than Linux (`sch_qfq`):
///
/// - Groups become eligible when the virtual time reaches them, not at the choice after that.
/// - An aggregate that comes back starts no later than the group finishes that would block its own,
///   as in the paper.
/// - Slots are at least a sixteenth of the largest budget, so that start times need not be moved to
///   fit the slots of a group.
/// - When the queues are empty, earlier service is forgotten, as in WF2Q+.
/// - A packet longer than its class's largest is dropped.
#[derive(Clone, Debug)]
pub struct Qfq {
    /// A class without a seat takes no packets.
    classes: Vec<Option<Seat>>,
    /// By member, with their lengths as keys.
    packets: Fifos<u32, Packet>,
    members: Vec<Member>,
    aggregates: Vec<Aggregate>,
    groups: Groups,
    /// The aggregate that is served. It has a packet, and budget for that.
    in_service: Option<AggregateId>,
    /// Whether the last packet went on with the service of its aggregate.
    went_on: bool,
    backlog: Backlog,
}

/// Where a class is.
#[derive(Clone, Copy, Debug)]
struct Seat {
    /// Its number where classes are counted from aggregate to aggregate.
    member: MemberId,
    aggregate: AggregateId,
    max_packet: u32,
}

impl Qfq {
    /// A scheduler for these classes; one that is `None` takes no packets.
    ///
    /// # Errors
    /// If a weight is less than 2^-31 of all, or a largest packet is zero or above 2^30.
    pub fn new(classes: &[Option<QfqClass>]) -> Result<Self, SetupError> {
        let shares = Share::all(classes)?;
        let groups = Groups::new(&shares);
        let mut classes = alloc::vec![None; classes.len()];
        let (mut aggregates, mut members) = (Vec::new(), Vec::new());
        for (aggregate, share) in (0..).map(AggregateId).zip(&shares) {
            let first = MemberId::from_index(members.len());
            aggregates.push(Aggregate::new(share, groups.number_of(share), first));
            for class in &share.classes {
                let member = MemberId::from_index(members.len());
                let max_packet = share.class.max_packet;
                classes[class.index()] = Some(Seat { member, aggregate, max_packet });
                members.push(Member::default());
            }
        }
        Ok(Qfq {
            classes,
            packets: Fifos::new(members.len()),
            members,
            aggregates,
            groups,
            in_service: None,
            went_on: false,
            backlog: Backlog::default(),
        })
    }

    fn seat(&self, class: ClassId) -> Option<Seat> {
        *self.classes.get(class.index())?
    }

    /// Ends the service of an aggregate that has no packet, or no budget for it.
    fn end_service(&mut self, number: AggregateId) {
        let aggregate = &mut self.aggregates[number.index()];
        if aggregate.goes_on(&self.members) {
            self.in_service = Some(number);
            return;
        }
        self.in_service = None;
        self.groups.end(&mut self.aggregates, number);
    }
}

impl Scheduler for Qfq {
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        self.went_on = self.in_service.is_some();
        let number = match self.in_service {
            Some(number) => number,
            None => self.groups.next(&self.aggregates)?,
        };
        let aggregate = &mut self.aggregates[number.index()];
        let (packet, next) = self.packets.pop(aggregate.turn().index())?;
        self.backlog.remove(packet.length);
        aggregate.send(&mut self.members, packet.length, next);
        self.groups.pass(packet.length);
        self.end_service(number);
        let criterion = Criterion::EligibleVirtualFinish;
        Some(Dispatch { packet, deadline: None, criterion })
    }

    fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Seat>()
            + self.packets.footprint()
            + self.members.capacity() * size_of::<Member>()
            + self.aggregates.capacity() * size_of::<Aggregate>()
            + self.groups.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Qfq {
    #[inline(always)]
    fn place(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let Some(Seat { member, aggregate: number, max_packet }) = self.seat(packet.class) else {
            return turn_away(packet, DropReason::NoClass, drops);
        };
        if packet.length > max_packet {
            return turn_away(packet, DropReason::TooLong, drops);
        }
        if self.backlog.packets == 0 {
            self.groups.begin();
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(member.index(), packet.length, packet);
        if place.is_at_front() {
            let aggregate = &mut self.aggregates[number.index()];
            let was_idle = aggregate.is_idle();
            aggregate.join(&mut self.members, member, packet.length);
            if was_idle {
                self.groups.activate(&mut self.aggregates, number);
            }
        }
        Some(place)
    }

    /// A class whose first packet is withdrawn keeps its turn if the rest of it suffices for the
    /// packet behind. An aggregate without packets is charged no more than it has been served.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let class = self.packets.get(place).class;
        let Seat { member, aggregate: number, .. } = self.seat(class)?;
        let (packet, withdrawn) = self.packets.withdraw(member.index(), place)?;
        self.backlog.remove(packet.length);
        if let Position::Front(next) = withdrawn {
            let aggregate = &mut self.aggregates[number.index()];
            aggregate.lead(&mut self.members, member, next);
            if self.in_service == Some(number) {
                self.end_service(number);
            } else if aggregate.is_idle() {
                self.groups.end(&mut self.aggregates, number);
            }
        }
        Some(packet)
    }
}
