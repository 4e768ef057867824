//! Deficit round robin (Shreedhar, Varghese 1996).

mod explain;
mod rounds;
#[cfg(test)]
mod tests;

use crate::error::{SetupError, check_of};
use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Packet};
use crate::queue::{Fifos, Position};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Reach, Scheduler, Withdraw,
    by_place, turn_away,
};
use crate::units::Nanos;
use rounds::Rounds;

/// Serves classes in turn: in every round a class may send its quantum, plus what it saved in the
/// rounds before because its next packet was longer.
///
/// A packet takes constant time, amortised, for any number of classes. As published, that requires
/// quanta of at least the longest packet; with smaller ones there are rounds in which some class,
/// or every class, only saves. Such rounds are counted, not walked through: a class whose next
/// packet needs k quanta has its next turn in the k-th round from now, with k quanta in hand.
///
/// Within a round, turns come in the order in which they were fixed. That is the published order,
/// packet for packet, if no class waits for more than one round. Otherwise it differs within rounds
/// only.
///
/// Over any interval in which two classes are both backlogged, the numbers of quanta that they get
/// differ by less than 1 + M/q + M'/q' (their Theorem), or by less than 2 + M/q + M'/q' if one of
/// the two needs more than a quantum for a packet. q is a class's quantum, M its longest packet.
#[derive(Clone, Debug)]
pub struct Drr {
    /// With their lengths as keys.
    packets: Fifos<u32, Packet>,
    rounds: Rounds<Class>,
    /// The class that has its turn. It has packets.
    turn: Option<usize>,
    backlog: Backlog,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    quantum: u32,
    /// Bytes that it may send: in its turn, or in the turn to come.
    deficit: u64,
}

impl Drr {
    /// A scheduler for classes with these quanta, in bytes per round.
    ///
    /// # Errors
    /// If a quantum is zero.
    pub fn new(quanta: &[u32]) -> Result<Self, SetupError> {
        for (class, &quantum) in (0..).map(ClassId).zip(quanta) {
            check_of("the quantum in bytes", class, quantum.into(), 1..=u32::MAX.into())?;
        }
        Ok(Drr {
            packets: Fifos::new(quanta.len()),
            rounds: Rounds::new(quanta.iter().map(|&quantum| Class { quantum, deficit: 0 })),
            turn: None,
            backlog: Backlog::default(),
        })
    }

    /// Puts a class off to the round in which its first packet, this long, can be sent.
    #[inline(always)]
    fn put_off(&mut self, class: usize, length: u32) {
        let Class { quantum, deficit } = self.rounds.class(class);
        let quantum = u64::from(*quantum);
        let missing = u64::from(length).saturating_sub(*deficit);
        let rounds = if missing <= quantum { 1 } else { missing.div_ceil(quantum) };
        *deficit += rounds * quantum;
        self.rounds.add(class, rounds);
    }

    /// A packet this long, or none, comes to the front of a class in place of one that was not
    /// sent.
    fn lead(&mut self, class: usize, length: Option<u32>) {
        let deficit = self.rounds.class(class).deficit;
        let suffices = length.is_some_and(|length| u64::from(length) <= deficit);
        let has_turn = self.turn == Some(class);
        let ahead = if has_turn { 0 } else { self.rounds.ahead(class) };
        if suffices && ahead == 0 {
            return;
        }
        if has_turn {
            self.turn = None;
        } else {
            self.rounds.remove(class);
        }
        let Class { quantum, deficit } = self.rounds.class(class);
        match length {
            None => *deficit = 0,
            Some(length) => {
                *deficit -= ahead * u64::from(*quantum);
                self.put_off(class, length);
            }
        }
    }
}

impl Scheduler for Drr {
    // Inlined, packets come and go in registers: one that was written in parts is not read whole.
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let class = self.turn.or_else(|| self.rounds.next())?;
        let (packet, next_length) = self.packets.pop(class)?;
        self.backlog.remove(packet.length);
        let deficit = &mut self.rounds.class(class).deficit;
        *deficit -= u64::from(packet.length);
        self.turn = None;
        match next_length {
            None => *deficit = 0,
            Some(length) if u64::from(length) <= *deficit => self.turn = Some(class),
            Some(length) => self.put_off(class, length),
        }
        Some(Dispatch { packet, deadline: None, criterion: Criterion::RoundRobin })
    }

    fn prefetch(&self, class: ClassId, _: FlowId, reach: Reach) {
        if reach == Reach::Class && class.index() < self.rounds.classes() {
            self.packets.prefetch(class.index());
            self.rounds.prefetch(class.index());
        }
    }

    fn footprint(&self) -> usize {
        self.packets.footprint() + self.rounds.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Drr {
    #[inline(always)]
    fn place(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        if class >= self.rounds.classes() {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(class, packet.length, packet);
        if place.is_at_front() {
            self.put_off(class, packet.length);
        }
        Some(place)
    }

    /// A class whose first packet is withdrawn keeps the quanta of the rounds that it has waited
    /// for. Its turn comes when they suffice for the packet behind, not before the next round
    /// unless it was due in this one.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let class = self.packets.get(place).class.index();
        let (packet, withdrawn) = self.packets.withdraw(class, place)?;
        self.backlog.remove(packet.length);
        if let Position::Front(next_length) = withdrawn {
            self.lead(class, next_length);
        }
        Some(packet)
    }
}
