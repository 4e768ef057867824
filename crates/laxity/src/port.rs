//! Books around a scheduler: packets that arrived, were sent and were dropped, by reason, and their
//! delays.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::histogram::Delays;
use crate::memory::prefetch;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::scheduler::{Dispatch, DropReason, DropSink, QueueMemory, Reach, Scheduler};
use crate::units::Nanos;

/// A scheduler with books for every class. When every transmission has been reported, arrived =
/// sent + dropped + queued for every class. Packets of the warm-up count as queued only.
#[derive(Debug)]
pub struct Port<S> {
    scheduler: S,
    books: Books,
}

/// The books of all classes.
#[derive(Clone, Debug)]
pub struct Books {
    accounts: Vec<Account>,
    /// Of packets of classes that there are not.
    strays: Account,
    /// Packets that arrive before are counted in `queued` only.
    measured_from: Nanos,
    /// Whether delays are kept, rather than packets counted alone.
    keeps_delays: bool,
}

/// The delays promised to a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// The delay that its plan asks for.
    pub deadline: Option<Nanos>,
    /// The delay that an admission test proves.
    pub bound: Option<Nanos>,
}

/// The books of one class. What every packet changes lies in one cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Account {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that were demoted to best effort, of those that were sent or dropped.
    pub demoted: u64,
    /// Packets that are in the scheduler, measured or not.
    pub queued: u64,
    /// Boxed, for few classes have any and there may be a million.
    troubles: Option<Box<Troubles>>,
    /// The promise to its packets; demoted packets have none.
    pub promise: Promise,
    /// Packets sent after their deadline, and those that still waited then.
    pub deadline_misses: u64,
    /// Packets delayed for longer than the bound, and those that waited longer.
    pub bound_misses: u64,
    /// The longest delay of any packet that was promised one.
    pub longest_promised: Nanos,
    /// From a packet's last bit in to its last bit out.
    pub delay: Delays,
}

/// Packets by reason.
type Dropped = [u64; DropReason::ALL.len()];

/// Packets that met congestion, or were not welcome.
#[derive(Clone, Copy, Debug, Default)]
struct Troubles {
    /// Those that were dropped, in the order of [`DropReason::ALL`].
    dropped: Dropped,
    /// Those that were marked.
    marked: u64,
}

impl<S: Scheduler> Port<S> {
    /// A port with these books.
    pub fn new(scheduler: S, books: Books) -> Self {
        Port { scheduler, books }
    }

    /// The books, by class number.
    pub fn accounts(&self) -> &[Account] {
        self.books.accounts()
    }

    /// The books of all packets of unknown classes.
    pub fn strays(&self) -> &Account {
        self.books.strays()
    }

    /// The books alone, without the scheduler.
    pub fn into_books(self) -> Books {
        self.books
    }

    /// The scheduler alone, without the books.
    pub fn into_scheduler(self) -> S {
        self.scheduler
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Hands a packet to the scheduler.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.scheduler.enqueue(now, packet, &mut Booking { books: &mut self.books, drops });
    }

    /// Loads what taking in a packet of this flow needs, as one comes soon: see
    /// [`Scheduler::prefetch`].
    pub fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        if reach == Reach::Class
            && let Some(account) = self.books.accounts.get(class.index())
        {
            prefetch(&account.queued);
        }
        self.scheduler.prefetch(class, flow, reach);
    }

    /// Says between which hosts a flow goes, before its packets come.
    pub fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    /// Goes on with what another scheduler remembers of a flow: see [`Scheduler::recall`].
    pub fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    /// Hands a packet to the scheduler that another one had let in.
    pub fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.scheduler.take_over(now, packet, &mut Booking { books: &mut self.books, drops });
    }

    /// Counts a packet that was dropped before it reached the scheduler.
    pub fn refuse(&mut self, packet: Packet, reason: DropReason, drops: &mut dyn DropSink) {
        self.books.arrived(&packet);
        self.books.dropped(&packet, reason);
        drops.dropped(packet, reason);
    }

    /// Takes the next packet from the scheduler.
    pub fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let dispatch =
            self.scheduler.dequeue(now, &mut Booking { books: &mut self.books, drops })?;
        self.books.dispatched(&dispatch.packet);
        Some(dispatch)
    }

    /// When the scheduler may have a packet.
    pub fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    /// Counts a packet as sent; its last bit leaves at `departure`.
    pub fn sent(&mut self, packet: &Packet, departure: Nanos) {
        self.books.sent(packet, departure);
    }
}

/// Where a scheduler's drops and marks go: into the books, and on.
struct Booking<'a> {
    books: &'a mut Books,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Booking<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.books.dropped(&packet, reason);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(class, arrival);
        self.drops.marked(class, arrival);
    }
}

/// A packet that arrived in the measured time, was not demoted, and was sent, as books know it: 16
/// bytes.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Its class.
    pub class: ClassId,
    /// Its length in bytes.
    pub length: u32,
    /// From its arrival until its last bit left.
    pub delay: Nanos,
}

const _: () = assert!(size_of::<Delivery>() == 16);

impl Books {
    /// Books of classes that are promised this; packets that arrive before `measured_from` are not
    /// measured.
    pub fn new(promises: impl IntoIterator<Item = Promise>, measured_from: Nanos) -> Self {
        let accounts = promises.into_iter().map(Account::new).collect();
        let strays = Account::new(Promise::default());
        Books { accounts, strays, measured_from, keeps_delays: true }
    }

    /// Books that count packets and bytes and keep no delays, of classes that are promised nothing.
    /// They serve where others measure delays.
    pub fn of_counts(classes: usize) -> Self {
        let promises = core::iter::repeat_n(Promise::default(), classes);
        Books { keeps_delays: false, ..Books::new(promises, Nanos::ZERO) }
    }

    /// Goes on with what was counted of a class elsewhere, where it may have another number. What
    /// is queued there is counted when it arrives here.
    pub fn go_on(&mut self, class: ClassId, before: Account) {
        if let Some(account) = self.accounts.get_mut(class.index()) {
            let arrived = before.arrived - before.queued.min(before.arrived);
            *account = Account { promise: account.promise, arrived, queued: 0, ..before };
        }
    }

    /// The books, by class number.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The books of all packets of unknown classes.
    pub fn strays(&self) -> &Account {
        &self.strays
    }

    fn account(&mut self, packet: &Packet) -> &mut Account {
        self.accounts.get_mut(packet.class.index()).unwrap_or(&mut self.strays)
    }

    /// A packet has arrived.
    pub fn arrived(&mut self, packet: &Packet) {
        let is_measured = packet.arrival >= self.measured_from;
        let account = self.account(packet);
        account.queued += 1;
        account.arrived += u64::from(is_measured);
    }

    /// A packet that had arrived was dropped.
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        let is_measured = packet.arrival >= self.measured_from;
        let account = self.account(packet);
        account.queued -= 1;
        if is_measured {
            account.demoted += u64::from(packet.demoted);
            account.troubles.get_or_insert_default().dropped[reason as usize] += 1;
        }
    }

    /// A packet that had arrived was marked: of this class, and come then.
    pub fn marked(&mut self, class: ClassId, arrival: Nanos) {
        if arrival >= self.measured_from {
            let account = self.accounts.get_mut(class.index()).unwrap_or(&mut self.strays);
            account.troubles.get_or_insert_default().marked += 1;
        }
    }

    /// A packet that had arrived goes to the link.
    pub fn dispatched(&mut self, packet: &Packet) {
        self.account(packet).queued -= 1;
    }

    /// A packet that was dispatched leaves, with its last bit at `departure`.
    pub fn sent(&mut self, packet: &Packet, departure: Nanos) {
        if packet.arrival < self.measured_from {
            return;
        }
        let keeps_delays = self.keeps_delays;
        let account = self.account(packet);
        account.count_sent(packet.length, packet.demoted);
        if keeps_delays {
            account.delayed(packet.demoted, departure - packet.arrival);
        }
    }

    /// Counts packets that arrived, were dispatched and sent, as one call each of
    /// [`arrived`](Self::arrived), [`dispatched`](Self::dispatched) and [`sent`](Self::sent) does.
    pub fn carried(&mut self, packets: &[Delivery]) {
        for alike in packets.chunk_by(|one, next| one.class == next.class) {
            let account = self.accounts.get_mut(alike[0].class.index()).unwrap_or(&mut self.strays);
            account.arrived += alike.len() as u64;
            for Delivery { length, delay, .. } in alike {
                account.count_sent(*length, false);
                if self.keeps_delays {
                    account.delayed(false, *delay);
                }
            }
        }
    }

    /// A packet is still queued at the `end` of a run: counts the promises that it has broken by
    /// then.
    pub fn waits(&mut self, packet: &Packet, end: Nanos) {
        if packet.arrival < self.measured_from || packet.demoted {
            return;
        }
        self.account(packet).miss(end - packet.arrival);
    }
}

impl Account {
    /// Packets that were dropped, in the order of [`DropReason::ALL`].
    pub fn dropped(&self) -> Dropped {
        self.troubles.as_deref().copied().unwrap_or_default().dropped
    }

    /// Number of packets that a queue marked as having met congestion (ECN), whether they were sent
    /// or dropped later.
    pub fn marked(&self) -> u64 {
        self.troubles.as_deref().map_or(0, |troubles| troubles.marked)
    }

    #[inline]
    fn count_sent(&mut self, length: u32, demoted: bool) {
        self.sent += 1;
        self.bytes_sent += u64::from(length);
        self.demoted += u64::from(demoted);
    }

    /// Notes the delay of a packet that was sent.
    #[inline]
    fn delayed(&mut self, demoted: bool, delay: Nanos) {
        if !demoted {
            self.miss(delay);
            self.longest_promised = self.longest_promised.max(delay);
        }
        self.delay.record(delay);
    }

    /// Counts the promises that a delay breaks.
    fn miss(&mut self, delay: Nanos) {
        let later_than = |limit: Option<Nanos>| limit.is_some_and(|limit| delay > limit);
        self.deadline_misses += u64::from(later_than(self.promise.deadline));
        self.bound_misses += u64::from(later_than(self.promise.bound));
    }

    fn new(promise: Promise) -> Self {
        Account { promise, ..Account::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// All at once is one by one, strays included.
        #[test]
        fn what_is_carried_has_arrived_and_was_sent(
            packets in prop::collection::vec((0u32..4, 1u32..2_000, 1u64..99), 0..40),
        ) {
            let promise = |limit| Promise { deadline: Some(Nanos(limit)), bound: Some(Nanos(limit / 2)) };
            let mut one_by_one = Books::new([50, 70].map(promise), Nanos(100));
            let mut at_once = one_by_one.clone();
            let carried = packets.into_iter().map(|(class, length, delay)| Delivery {
                class: ClassId(class),
                length,
                delay: Nanos(delay),
            });
            let carried: Vec<_> = carried.collect();
            for &Delivery { class, length, delay } in &carried {
                let arrival = Nanos(100);
                let packet = Packet { class, length, arrival, ..Packet::default() };
                one_by_one.arrived(&packet);
                one_by_one.dispatched(&packet);
                one_by_one.sent(&packet, arrival.saturating_add(delay));
            }
            at_once.carried(&carried);
            prop_assert_eq!(std::format!("{one_by_one:?}"), std::format!("{at_once:?}"));
        }
    }
}
