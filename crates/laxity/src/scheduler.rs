//! The contract of every scheduler: time is an argument, no packet is lost, none is invented.

pub use crate::aqm::QueueMemory;
use crate::explain::Explain;
pub use crate::memory::Reach;
use crate::memory::{self, FirstHalf, SecondHalf};
use crate::named::named;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::units::Nanos;

/// A packet scheduler. Every discipline is one, and so is anything that wraps another.
///
/// A packet of an unknown class is dropped at once as [`NoClass`](DropReason::NoClass) and has no
/// other effect. A scheduler without a list of classes, such as
/// [`Fifo::new`](crate::sched::Fifo::new), knows all classes. A scheduler that lists classes and
/// wraps another knows the classes that both know.
///
/// `now` never decreases from one call to the next. Operations take at most logarithmic time in the
/// number of classes, and their time never depends on the number of queued packets. A discipline
/// that takes longer says so.
pub trait Scheduler {
    /// Takes in a packet at time `now`. The packet itself, or one queued before it, may be dropped
    /// into `drops`; everything else leaves through [`dequeue`](Self::dequeue).
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink);

    /// Takes in a packet at time `now` that another scheduler has let in before, as when a plan is
    /// reloaded: as [`enqueue`](Self::enqueue), but no limit and no queue management drops this
    /// packet or another for it. Packets are handed over in the order of their arrival. Schedulers
    /// that wrap others, or that have limits, override this.
    ///
    /// What a packet is promised counts from its [`arrival`](Packet::arrival), such as a deadline.
    /// Shares of the link count from `now`: what others had before gives no claim under this
    /// scheduler, and takes none away. So the link is not late for a class that comes later.
    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.enqueue(now, packet, drops);
    }

    /// Says between which hosts a flow goes, before its packets come. Disciplines that share by
    /// hosts listen, and schedulers that wrap others pass it on.
    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        let _ = (class, flow, hosts);
    }

    /// What is remembered of the queue of a flow, for a scheduler that takes over its packets.
    /// Default nothing.
    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        let _ = (class, flow);
        None
    }

    /// Goes on with what another scheduler remembers of the queue of a flow, whose packets have
    /// been taken over. Default not at all.
    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        let _ = (class, flow, memory);
    }

    /// Says that a packet of this flow comes soon, so that the memory that it needs may be loaded
    /// while others are taken in. Nothing else changes. Default nothing.
    ///
    /// Memory is found through other memory. Who expects several packets calls this for all of them
    /// at one [`Reach`] before the next, so that what they need is loaded at the same time.
    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        let _ = (class, flow, reach);
    }

    /// Chooses the packet whose transmission starts at `now`.
    ///
    /// `None` means that nothing may be sent at this instant: either nothing is queued, or
    /// [`next_ready`](Self::next_ready) says when that changes.
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch>;

    /// The earliest time at which [`dequeue`](Self::dequeue) may return a packet without another
    /// arrival: `now` for a work-conserving discipline with a backlog, later for one that holds
    /// packets back, `None` when nothing is queued.
    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        (self.backlog().packets > 0).then_some(now)
    }

    /// Whether the limits let this packet in when `ahead` is queued before it, in addition to the
    /// present backlog; `true` without a limit. The packet may still be dropped for other reasons.
    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        let _ = (packet, ahead);
        true
    }

    /// Packets and bytes queued.
    fn backlog(&self) -> Backlog;

    /// Bytes of memory held for queues and history.
    fn footprint(&self) -> usize;

    /// The rules by which it sends one packet before another, if it can say them.
    fn explain(&self) -> Option<&dyn Explain> {
        None
    }
}

impl<S: Scheduler + ?Sized> Scheduler for alloc::boxed::Box<S> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        (**self).enqueue(now, packet, drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        (**self).take_over(now, packet, drops);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        (**self).introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        (**self).memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        (**self).recall(class, flow, memory);
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        (**self).prefetch(class, flow, reach);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        (**self).dequeue(now, drops)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        (**self).next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        (**self).has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }

    fn footprint(&self) -> usize {
        (**self).footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        (**self).explain()
    }
}

/// A scheduler that gives back any packet it holds, wherever that is queued, as queue management
/// asks for.
pub trait Withdraw: Scheduler {
    /// Takes in a packet as [`enqueue`](Scheduler::enqueue) does and returns its place; `None` if
    /// the packet was dropped.
    ///
    /// A caller that withdraws packets gives all queued packets different handles.
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place>;

    /// Takes over a packet as [`take_over`](Scheduler::take_over) does and tells its place.
    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        self.place(now, packet, drops)
    }

    /// Takes out the packet at this place with this handle, as if it had been dropped instead of
    /// sent: no class is charged, and the packet behind moves up. Each discipline says what that
    /// means for the order of the others. Takes no more time than [`dequeue`](Scheduler::dequeue).
    ///
    /// For a place or handle that no queued packet has, the result is `None` or any packet, or a
    /// panic.
    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        handle: u64,
        drops: &mut dyn DropSink,
    ) -> Option<Packet>;
}

impl<S: Withdraw + ?Sized> Withdraw for alloc::boxed::Box<S> {
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        (**self).place(now, packet, drops)
    }

    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        (**self).adopt(now, packet, drops)
    }

    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        handle: u64,
        drops: &mut dyn DropSink,
    ) -> Option<Packet> {
        (**self).withdraw(now, place, handle, drops)
    }
}

/// What is alike in disciplines that have a `backlog` and tell the place of each packet.
macro_rules! by_place {
    () => {
        #[inline(always)]
        fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
            self.place(now, packet, drops);
        }

        #[inline(always)]
        fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
            self.adopt(now, packet, drops);
        }

        fn backlog(&self) -> Backlog {
            self.backlog
        }
    };
}
pub(crate) use by_place;

/// Drops a packet that gets no place.
#[inline(always)]
pub(crate) fn turn_away(
    packet: Packet,
    reason: DropReason,
    drops: &mut dyn DropSink,
) -> Option<Place> {
    #[cold]
    #[inline(never)]
    fn drop(first: FirstHalf, second: SecondHalf, reason: DropReason, drops: &mut dyn DropSink) {
        drops.dropped(memory::join(first, second), reason);
    }
    let (first, second) = memory::split(packet);
    drop(first, second, reason, drops);
    None
}

/// Where a packet is queued, as its scheduler numbers it; no other packet has the number until it
/// leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

impl Place {
    /// That of a packet which found its queue empty.
    pub(crate) fn at_front(queue: usize) -> Self {
        Place((queue as u32) << 1 | 1)
    }

    /// A cell of the memory that queues share.
    pub(crate) fn behind(cell: u32) -> Self {
        Place(cell << 1)
    }

    /// Whether its packet found its queue empty.
    pub(crate) fn is_at_front(self) -> bool {
        self.0 & 1 == 1
    }

    /// The queue that its packet found empty.
    pub(crate) fn queue(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// The cell, if its packet did not find its queue empty.
    pub(crate) fn cell(self) -> Option<u32> {
        (!self.is_at_front()).then_some(self.0 >> 1)
    }
}

/// A packet on its way to the link, and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The packet.
    pub packet: Packet,
    /// The absolute deadline that ordered it, if the discipline gives one.
    pub deadline: Option<Nanos>,
    /// The rule that chose it.
    pub criterion: Criterion,
}

/// The rule by which a packet was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Criterion {
    /// It had arrived first.
    ArrivalOrder,
    /// It had the earliest deadline.
    EarliestDeadline,
    /// It had the smallest virtual finishing time.
    VirtualFinish,
    /// Among those that the fluid would have begun to serve, it had the smallest virtual finishing
    /// time.
    EligibleVirtualFinish,
    /// It was its class's turn.
    RoundRobin,
    /// Nothing was waiting on a level before its own.
    Priority,
    /// Its leaf was eligible and its deadline the earliest.
    RealTime,
    /// From the root down, its classes had the smallest virtual times.
    LinkSharing,
    /// Nothing with a guarantee was waiting.
    Background,
    /// Its stream came first by loss tolerance and deadline.
    WindowConstraint,
    /// The time frame in which it is to be sent had begun.
    ReservedFrame,
    /// It had the least rank.
    Rank,
}

named! {
    /// Why a packet was not sent. Tables show the reasons in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum DropReason {
        /// The queue's limit was reached.
        QueueFull = "queue-full",
        /// It broke its class's arrival curve, and the plan says to drop such packets.
        Contract = "contract",
        /// Its class takes no packets: there is none of this number, it is not a leaf, or was
        /// removed.
        NoClass = "no-class",
        /// Its deadline had passed, and its class or stream does not want late packets.
        Late = "late",
        /// Random early detection: its queue was long on average.
        Red = "red",
        /// CHOKe: it and another packet of its flow met.
        Choke = "choke",
        /// CoDel: packets had been waiting for too long.
        CoDel = "codel",
        /// It missed the time frame in which it was to be sent, or there is none that it can be
        /// sent in.
        Frame = "frame",
        /// It is longer than any packet that is expected of its class.
        TooLong = "too-long",
        /// The scheduler wants it no more, for a reason of its own.
        Scheduler = "scheduler",
        /// PIE: packets wait for too long, and chance chose it.
        Pie = "pie",
        /// DualPI2: packets of its queue wait for too long, or marks are not enough any more.
        DualPi2 = "dualpi2",
        /// COBALT: packets had been waiting for too long, or too many had come before.
        Cobalt = "cobalt",
        /// A later acknowledgement of its flow made it superfluous.
        AckFilter = "ack-filter",
        /// It had been demoted for breaking its class's arrival curve, and there was no room left
        /// for it.
        Demoted = "demoted",
    }
}

impl DropReason {
    /// Why a packet is dropped for which there is no room.
    #[inline]
    pub const fn no_room(packet: &Packet) -> DropReason {
        if packet.demoted { DropReason::Demoted } else { DropReason::QueueFull }
    }
}

/// Receives dropped packets, so that the owner of the payload can free it and count the packet.
pub trait DropSink {
    /// Called once for every dropped packet.
    fn dropped(&mut self, packet: Packet, reason: DropReason);

    /// Called when a packet of this class, which arrived then, is marked as having met congestion.
    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        let _ = (class, arrival);
    }
}

/// Any closure can take the drops.
impl<F: FnMut(Packet, DropReason)> DropSink for F {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self(packet, reason);
    }
}

/// An amount of queued packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets queued.
    pub packets: usize,
    /// Their lengths' sum in bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Counts a packet in.
    #[inline]
    pub fn add(&mut self, length: u32) {
        self.packets += 1;
        // Saturates, here and below, so that each sum is changed by itself: one load of both, as a
        // vector, would wait for the two stores before it.
        self.bytes = self.bytes.saturating_add(u64::from(length));
    }

    /// Both together.
    pub fn and(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }

    /// This less a part of it.
    pub fn without(self, part: Backlog) -> Backlog {
        Backlog { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }

    /// Counts a packet out.
    #[inline]
    pub fn remove(&mut self, length: u32) {
        debug_assert!(self.bytes >= u64::from(length), "what leaves was counted in");
        self.packets -= 1;
        self.bytes = self.bytes.saturating_sub(u64::from(length));
    }
}
