//! Reservations over time: for now or in advance, held or granted, with a lease, and leaving.
//!
//! A booking *occupies* a link from its begin until what it sent can no longer delay a newcomer.
//! That is later than its end: its packets are still queued, and others wait because of those that
//! were sent. Let W be the [settling time](super::settling) of all that is promised together.
//!
//! **Theorem.** Let a flow send nothing from T on. Flows that begin at T + W or later have the
//! bounds that are proved of them without it.
//!
//! *Proof.* At some time u in \[T, T + W\] no promised packet is queued. A bound counts what
//! arrives from the begin of a busy period on, in which promised packets are queued without a
//! break. For packets that come at u or later this begins at u or later, and the flow sends nothing
//! then. ∎
//!
//! What is promised together changes when a booking begins. So [`Bookings`] asks whether all that
//! occupy the link fit at the begin of each of them, now and later. What fits there fits until the
//! next begin, because no promise is harder to keep with one flow less.

#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::units::Nanos;

/// A reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking<C> {
    contract: C,
    from: Nanos,
    until: Option<Nanos>,
    commit_by: Option<Nanos>,
    clearing: Option<Nanos>,
}

/// When a reservation is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request has these times")]
pub struct Period {
    /// Its first packet may come then.
    pub from: Nanos,
    /// No packet comes from then on. `None` for a reservation that lasts until it is released.
    pub until: Option<Nanos>,
}

/// Where a reservation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a booking goes through these")]
pub enum State {
    /// It has not begun.
    Ahead,
    /// It may send, and ends unless it is committed in time.
    Held,
    /// It may send.
    Active,
    /// It may not send any more, and still occupies the link.
    Leaving,
}

/// Why a reservation is not entered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request fails for one of these")]
pub enum Refusal<E> {
    /// One of this name is there.
    Exists,
    /// There is none of this name that has not ended.
    Unknown,
    /// It would be over before it begins.
    Empty,
    /// It does not fit beside all others.
    NoRoom {
        /// The first time at which it does not.
        at: Nanos,
        /// Why not.
        why: E,
    },
}

/// The test of what is promised together.
pub trait Admission<C> {
    /// Why contracts cannot be promised together.
    type Error;

    /// Tests contracts. Returns the time after which those that end are no longer felt: W of the
    /// theorem. `None` if nobody knows.
    ///
    /// # Errors
    /// If they cannot be promised together.
    fn test(&mut self, contracts: &[&C]) -> Result<Option<Nanos>, Self::Error>;
}

/// The reservations of a link, by name.
#[derive(Clone, Debug)]
pub struct Bookings<K, C> {
    bookings: BTreeMap<K, Booking<C>>,
}

impl<C> Booking<C> {
    /// What is promised.
    pub fn contract(&self) -> &C {
        &self.contract
    }

    /// When its packets may come.
    pub fn period(&self) -> Period {
        Period { from: self.from, until: self.until }
    }

    /// Until when it has to be committed, if it is only held.
    pub fn commit_by(&self) -> Option<Nanos> {
        self.commit_by
    }

    /// Until when it has to be committed, if it is still to be at a time.
    pub fn held_until(&self, now: Nanos) -> Option<Nanos> {
        self.commit_by.filter(|by| *by > now)
    }

    /// Where it stands at a time; `None` when it no longer occupies the link.
    pub fn state(&self, now: Nanos) -> Option<State> {
        if !self.occupies(now) {
            return None;
        }
        Some(match self.until {
            _ if now < self.from => State::Ahead,
            Some(until) if now >= until => State::Leaving,
            _ if self.held_until(now).is_some() => State::Held,
            _ => State::Active,
        })
    }

    /// When the link is free of it; `None` if nobody knows yet.
    pub fn free_at(&self) -> Option<Nanos> {
        let until = self.until?;
        if until <= self.from { Some(until) } else { Some(until.saturating_add(self.clearing?)) }
    }

    fn end(&mut self, now: Nanos) {
        self.from = self.from.min(now);
        self.until = Some(now);
        self.commit_by = None;
    }

    /// Whether it occupies the link at a time or will later.
    fn occupies(&self, at: Nanos) -> bool {
        self.free_at().is_none_or(|free| at < free)
    }
}

impl<K: Ord + Clone, C> Default for Bookings<K, C> {
    fn default() -> Self {
        Bookings { bookings: BTreeMap::new() }
    }
}

impl<K: Ord + Clone, C: Clone> Bookings<K, C> {
    /// Enters a reservation. If it is to be committed by a time and is not, it ends then.
    ///
    /// # Errors
    /// If one of this name is there, its period is empty, or it does not fit. Nothing has changed
    /// then.
    pub fn request<A: Admission<C>>(
        &mut self,
        now: Nanos,
        name: K,
        contract: C,
        period: Period,
        commit_by: Option<Nanos>,
        admission: &mut A,
    ) -> Result<(), Refusal<A::Error>> {
        let Period { from, until } = period;
        if self.bookings.get(&name).is_some_and(|booking| booking.state(now).is_some()) {
            return Err(Refusal::Exists);
        }
        let from = from.max(now);
        if until.is_some_and(|until| until <= from) {
            return Err(Refusal::Empty);
        }
        let clearing = Some(Nanos::ZERO);
        self.enter(now, admission, |bookings| {
            bookings.insert(name, Booking { contract, from, until, commit_by, clearing });
        })
    }

    /// Enters reservations that were granted before. Nothing that they sent is felt any more.
    /// Leaves out what is over.
    ///
    /// # Errors
    /// If they do not fit together. Nothing has changed then.
    pub fn restore<A: Admission<C>>(
        &mut self,
        now: Nanos,
        granted: impl IntoIterator<Item = (K, C, Period, Option<Nanos>)>,
        admission: &mut A,
    ) -> Result<(), Refusal<A::Error>> {
        let is_over = |end: Option<Nanos>| end.is_some_and(|end| end <= now);
        self.enter(now, admission, |bookings| {
            for (name, contract, Period { from, until }, commit_by) in granted {
                if !is_over(until) && !is_over(commit_by) {
                    let clearing = Some(Nanos::ZERO);
                    let booking = Booking { contract, from, until, commit_by, clearing };
                    bookings.insert(name, booking);
                }
            }
        })
    }

    /// Tests all that is promised once more, since the link is another one from now on.
    ///
    /// # Errors
    /// If it does not fit. Nothing has changed then.
    pub fn retest<A: Admission<C>>(
        &mut self,
        now: Nanos,
        admission: &mut A,
    ) -> Result<(), Refusal<A::Error>> {
        self.enter(now, admission, |_| {})
    }

    /// Makes a reservation that is held one that is granted.
    ///
    /// # Errors
    /// [`Unknown`](Refusal::Unknown) if there is none, or its time to be committed is over.
    pub fn commit<E>(&mut self, now: Nanos, name: &K) -> Result<(), Refusal<E>> {
        self.unended(now, name).ok_or(Refusal::Unknown)?.commit_by = None;
        Ok(())
    }

    /// Gives a reservation another end.
    ///
    /// # Errors
    /// If there is none, it would be over already, or it does not fit for so long: another one may
    /// have been promised the time behind its end. Nothing has changed then.
    pub fn renew<A: Admission<C>>(
        &mut self,
        now: Nanos,
        name: &K,
        until: Option<Nanos>,
        admission: &mut A,
    ) -> Result<(), Refusal<A::Error>> {
        self.unended(now, name).ok_or(Refusal::Unknown)?;
        if until.is_some_and(|until| until <= now) {
            return Err(Refusal::Empty);
        }
        self.enter(now, admission, |bookings| {
            bookings.entry(name.clone()).and_modify(|booking| booking.until = until);
        })
    }

    /// Gives a reservation another contract from now on, and another name. What was sent under the
    /// old contract stays promised: the old reservation ends now, as if it were
    /// [released](Self::release).
    ///
    /// # Errors
    /// If there is none of the old name or one of the new name, or the new contract does not fit
    /// beside all others and the old one. Nothing has changed then.
    pub fn change<A: Admission<C>>(
        &mut self,
        now: Nanos,
        [old, new]: [&K; 2],
        contract: C,
        admission: &mut A,
    ) -> Result<(), Refusal<A::Error>> {
        let former = self.unended(now, old).ok_or(Refusal::Unknown)?.clone();
        if self.bookings.get(new).is_some_and(|booking| booking.state(now).is_some()) {
            return Err(Refusal::Exists);
        }
        let (from, clearing) = (former.from.max(now), Some(Nanos::ZERO));
        let changed = Booking { contract, from, clearing, ..former };
        self.enter(now, admission, |bookings| {
            bookings.entry(old.clone()).and_modify(|old| old.end(now));
            bookings.insert(new.clone(), changed);
        })
    }

    /// Ends a reservation. The caller sees to it that nothing of it is sent from now on.
    ///
    /// # Errors
    /// [`Unknown`](Refusal::Unknown) if there is none.
    pub fn release<E>(&mut self, now: Nanos, name: &K) -> Result<(), Refusal<E>> {
        self.unended(now, name).ok_or(Refusal::Unknown)?.end(now);
        Ok(())
    }

    /// Time has come to `now`: what was held and not committed ends, and what no longer occupies
    /// the link is taken out. Returns the names of the latter.
    pub fn expire(&mut self, now: Nanos) -> Vec<K> {
        self.lapse(now);
        let gone =
            |(name, booking): (&K, &Booking<C>)| booking.state(now).is_none().then(|| name.clone());
        let gone: Vec<K> = self.bookings.iter().filter_map(gone).collect();
        gone.iter().for_each(|name| drop(self.bookings.remove(name)));
        gone
    }

    /// What was held and not committed by now ends.
    fn lapse(&mut self, now: Nanos) {
        for booking in self.bookings.values_mut() {
            if let Some(by) = booking.commit_by.filter(|by| *by <= now) {
                let end = by.max(booking.from);
                booking.until = Some(booking.until.map_or(end, |until| until.min(end)));
                booking.commit_by = None;
            }
        }
    }

    /// When something begins, ends or expires next, after `now`.
    pub fn next_change(&self, now: Nanos) -> Option<Nanos> {
        let times = |booking: &Booking<C>| {
            [Some(booking.from), booking.until, booking.commit_by, booking.free_at()]
        };
        self.bookings.values().flat_map(times).flatten().filter(|time| *time > now).min()
    }

    /// All reservations, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Booking<C>)> {
        self.bookings.iter()
    }

    /// The reservation of a name.
    pub fn get(&self, name: &K) -> Option<&Booking<C>> {
        self.bookings.get(name)
    }

    fn unended(&mut self, now: Nanos, name: &K) -> Option<&mut Booking<C>> {
        let booking = self.bookings.get_mut(name)?;
        let is_over = |end: Option<Nanos>| end.is_some_and(|end| end <= now);
        (!is_over(booking.until) && !is_over(booking.commit_by)).then_some(booking)
    }

    /// Makes a change if all bookings fit then whenever one begins.
    fn enter<A: Admission<C>>(
        &mut self,
        now: Nanos,
        admission: &mut A,
        change: impl FnOnce(&mut BTreeMap<K, Booking<C>>),
    ) -> Result<(), Refusal<A::Error>> {
        let mut changed = self.clone();
        changed.lapse(now);
        change(&mut changed.bookings);
        // What is promised beside more takes longer to clear, and may so meet what begins later.
        while changed.test_all(now, admission)? {}
        *self = changed;
        Ok(())
    }

    /// Tests what is promised together at the begin of each booking. Returns whether one takes
    /// longer to clear than it was known to.
    fn test_all<A: Admission<C>>(
        &mut self,
        now: Nanos,
        admission: &mut A,
    ) -> Result<bool, Refusal<A::Error>> {
        let mut begins: Vec<Nanos> = self.bookings.values().map(|one| one.from.max(now)).collect();
        begins.sort_unstable();
        begins.dedup();
        let mut grows = false;
        for at in begins {
            let together = |booking: &Booking<C>| booking.from <= at && booking.occupies(at);
            let contracts = self.bookings.values().filter(|one| together(one));
            let contracts: Vec<&C> = contracts.map(|booking| &booking.contract).collect();
            let clearing = admission.test(&contracts).map_err(|why| Refusal::NoRoom { at, why })?;
            for booking in self.bookings.values_mut().filter(|one| together(one)) {
                let longest = booking.clearing.zip(clearing).map(|(old, new)| old.max(new));
                grows |= longest != booking.clearing;
                booking.clearing = longest;
            }
        }
        Ok(grows)
    }
}
