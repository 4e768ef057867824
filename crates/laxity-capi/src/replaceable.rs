//! A scheduler whose plan may be replaced while packets are queued.

mod adopting;

use std::collections::HashMap;

use laxity::handover::{HandedPacket, hand_over};
use laxity::packet::{ClassId, FlowId, Hosts, Packet};
use laxity::scheduler::{
    Backlog, Dispatch, DropReason, DropSink, Place, QueueMemory, Reach, Scheduler, Withdraw,
};
use laxity::units::Nanos;
use laxity_plan::Plan;
use slab::Slab;

use crate::error::Failure;
use crate::status::lx_status::*;
use crate::ticket::{Ticket, number_after};

use adopting::Adopting;

/// A scheduler of a plan that knows what it holds, so that another plan can take over.
pub(crate) struct Replaceable {
    discipline: Discipline,
    held: Slab<HeldPacket>,
    /// By class number.
    classes: Vec<Class>,
    /// That of the last packet.
    number: u64,
    /// Packets of classes that are gone, and others dropped with them, until somebody takes drops.
    gone: Vec<(Packet, DropReason)>,
}

/// What is known of a class.
struct Class {
    name: String,
    longest: u32,
}

/// A plan's scheduler, empty.
pub(crate) struct Built {
    discipline: Discipline,
    classes: Vec<Class>,
}

enum Discipline {
    /// It gives back any packet.
    Withdrawing(Box<dyn Withdraw + Send>),
    /// Queues stand before it, or schedulers in it.
    Plain(Box<dyn Scheduler + Send>),
}

/// A queued packet.
#[derive(Clone, Copy)]
struct HeldPacket {
    /// As it came.
    packet: Packet,
    place: Place,
    /// Above those of all that came before.
    number: u64,
}

impl Built {
    /// The scheduler of a plan of one link, whose random draws are made from `seed`.
    pub(crate) fn new(plan: &Plan, seed: u64) -> Result<Built, Failure> {
        if plan.network.is_some() {
            let message = "the plan is of a network: a scheduler is that of one link";
            return Err(Failure::new(LX_ERR_UNSUPPORTED, message));
        }
        let discipline = match plan.build_withdrawing(seed) {
            Some(scheduler) => Discipline::Withdrawing(scheduler),
            None => Discipline::Plain(plan.build_scheduler(seed)),
        };
        let class = |class: &laxity_plan::model::Class| {
            let longest = plan.max_packet(class).min(plan.link.max_packet).0;
            Class { name: class.name.clone(), longest: u32::try_from(longest).unwrap_or(u32::MAX) }
        };
        Ok(Built { discipline, classes: plan.classes.iter().map(class).collect() })
    }
}

impl Discipline {
    #[inline(always)]
    fn scheduler(&mut self) -> &mut (dyn Scheduler + Send) {
        match self {
            Discipline::Withdrawing(scheduler) => &mut **scheduler,
            Discipline::Plain(scheduler) => &mut **scheduler,
        }
    }

    #[inline(always)]
    fn look(&self) -> &(dyn Scheduler + Send) {
        match self {
            Discipline::Withdrawing(scheduler) => &**scheduler,
            Discipline::Plain(scheduler) => &**scheduler,
        }
    }
}

impl Replaceable {
    /// A scheduler that holds nothing.
    pub(crate) fn new(Built { discipline, classes }: Built) -> Replaceable {
        let (held, gone) = (Slab::new(), Vec::new());
        Replaceable { discipline, held, classes, number: 0, gone }
    }

    /// Takes in a packet; the ticket of one that is queued.
    #[inline]
    pub(crate) fn push(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
    ) -> Option<Ticket> {
        let longest = self.classes.get(packet.class.index()).map(|class| class.longest);
        if longest.is_some_and(|longest| packet.length > longest) {
            drops.dropped(packet, DropReason::TooLong);
            return None;
        }
        let number = number_after(self.number);
        self.number = number;
        let slot = self.held.insert(HeldPacket { packet, place: Place::default(), number });
        let inner = Packet { handle: slot as u64, ..packet };
        let drops = &mut Drops { held: &mut self.held, drops };
        match &mut self.discipline {
            Discipline::Withdrawing(scheduler) => {
                let place = scheduler.place(now, inner, drops)?;
                self.held.get_mut(slot)?.place = place;
            }
            Discipline::Plain(scheduler) => {
                scheduler.enqueue(now, inner, drops);
                self.held.get(slot)?;
            }
        }
        Some(Ticket::new(slot, number))
    }

    /// Takes out a queued packet; `None` if none has the ticket.
    pub(crate) fn withdraw(
        &mut self,
        now: Nanos,
        ticket: Ticket,
        drops: &mut dyn DropSink,
    ) -> Result<Option<Packet>, Failure> {
        let Discipline::Withdrawing(scheduler) = &mut self.discipline else {
            let message = "packets can be withdrawn where no queue management stands before the \
                           scheduler and no class holds one of its own";
            return Err(Failure::new(LX_ERR_UNSUPPORTED, message));
        };
        let held = self.held.get(ticket.slot()).filter(|held| ticket.is_of(held.number));
        let Some(&HeldPacket { place, .. }) = held else { return Ok(None) };
        let drops = &mut Drops { held: &mut self.held, drops };
        let packet = scheduler.withdraw(now, place, ticket.slot() as u64, drops);
        Ok(packet.map(|packet| self.outside(packet)))
    }

    /// Lets another plan take over what is queued, in the order of its arrival. A packet stays in
    /// the class of its name, or is dropped as [`NoClass`](DropReason::NoClass) with the next
    /// drops. The caller frees what it gets back.
    ///
    /// # Errors
    /// If a queued packet is longer than its class has them under the plan. Nothing has changed
    /// then.
    pub(crate) fn replace(
        &mut self,
        now: Nanos,
        Built { discipline, classes }: Built,
        drops: &mut dyn DropSink,
    ) -> Result<Built, Failure> {
        let numbers = (0..).map(ClassId).zip(&classes);
        let numbers: HashMap<&str, _> =
            numbers.map(|(id, class)| (class.name.as_str(), (id, class.longest))).collect();
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (slot, held) in self.by_arrival() {
            let Packet { class, length, .. } = held.packet;
            let name = &self.classes[class.index()].name;
            match numbers.get(name.as_str()) {
                Some((_, longest)) if length > *longest => {
                    let message = format!(
                        "a packet of {length} bytes is queued, and the plan has packets of class \
                         {name} of up to {longest}"
                    );
                    return Err(Failure::new(LX_ERR_ARGUMENT, message));
                }
                Some(&(new, _)) => {
                    let packet = Packet { class: new, handle: slot as u64, ..held.packet };
                    kept.push(HandedPacket { packet, remembered: Some(class) });
                }
                None => gone.push(slot),
            }
        }
        let gone = gone.into_iter().map(|slot| self.held.remove(slot).packet);
        self.gone.extend(gone.map(|packet| (packet, DropReason::NoClass)));
        for HandedPacket { packet, .. } in &kept {
            if let Some(held) = self.held.get_mut(packet.handle as usize) {
                held.packet.class = packet.class;
            }
        }
        let before = std::mem::replace(&mut self.discipline, discipline);
        let classes = std::mem::replace(&mut self.classes, classes);
        let drops = &mut Drops { held: &mut self.held, drops };
        match &mut self.discipline {
            Discipline::Withdrawing(scheduler) => {
                let mut places = Vec::with_capacity(kept.len());
                let mut adopting = Adopting { scheduler: &mut **scheduler, places: &mut places };
                hand_over(now, before.look(), &mut adopting, &kept, drops);
                for (handle, place) in places {
                    if let Some(held) = self.held.get_mut(handle as usize) {
                        held.place = place;
                    }
                }
            }
            Discipline::Plain(scheduler) => {
                hand_over(now, before.look(), &mut **scheduler, &kept, drops);
            }
        }
        Ok(Built { discipline: before, classes })
    }

    /// The same where nobody takes drops now: they are told with the next ones.
    pub(crate) fn replace_later(&mut self, now: Nanos, next: Built) -> Result<Built, Failure> {
        let mut dropped = Vec::new();
        let before = self.replace(now, next, &mut |packet, reason| dropped.push((packet, reason)));
        self.gone.extend(dropped);
        before
    }

    /// Drops all that is queued, in the order of its arrival.
    pub(crate) fn drop_all(self, drops: &mut dyn DropSink) {
        for (_, held) in self.by_arrival() {
            drops.dropped(held.packet, DropReason::Scheduler);
        }
    }

    /// All that is queued, by slot, in the order of its arrival. A list in that order would cost
    /// every packet the memory of its neighbours; this is asked for when plans change.
    fn by_arrival(&self) -> Vec<(usize, &HeldPacket)> {
        let mut held: Vec<_> = self.held.iter().collect();
        held.sort_unstable_by_key(|(_, held)| held.number);
        held
    }

    /// Tells of the packets whose classes are gone.
    pub(crate) fn tell_gone(&mut self, drops: &mut dyn DropSink) {
        for (packet, reason) in self.gone.drain(..) {
            drops.dropped(packet, reason);
        }
    }

    /// A packet that leaves, as it came but for its marks.
    #[inline(always)]
    fn outside(&mut self, packet: Packet) -> Packet {
        Packet { handle: self.held.remove(packet.handle as usize).packet.handle, ..packet }
    }
}

impl Scheduler for Replaceable {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.push(now, packet, drops);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.discipline.scheduler().introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        self.discipline.look().memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.discipline.scheduler().recall(class, flow, memory);
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        self.discipline.look().prefetch(class, flow, reach);
    }

    #[inline]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if !self.gone.is_empty() {
            self.tell_gone(drops);
        }
        let drops = &mut Drops { held: &mut self.held, drops };
        let dispatch = self.discipline.scheduler().dequeue(now, drops)?;
        Some(Dispatch { packet: self.outside(dispatch.packet), ..dispatch })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.discipline.look().next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.discipline.look().has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.discipline.look().backlog()
    }

    fn footprint(&self) -> usize {
        self.discipline.look().footprint() + self.held.capacity() * size_of::<HeldPacket>()
    }
}

/// Where a scheduler's drops go, as packets that are held.
struct Drops<'a> {
    held: &'a mut Slab<HeldPacket>,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Drops<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let held = self.held.remove(packet.handle as usize).packet;
        self.drops.dropped(Packet { handle: held.handle, ..packet }, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(class, arrival);
    }
}
