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
//!
//! Under EDF best effort has deadlines, too, by the capacity that the promises leave. It may have
//! used what a newcomer counts on. So a newcomer [waits](Admission::waits): best effort is in the
//! background for W, and the newcomer begins at the end of that time.
//!
//! **Theorem.** Let the promises change at time T. Let best effort be in the background from T - W
//! to T, and let it have deadlines from T on by the new residual curve, as if what is queued of it
//! had come at T. Flows that leave send nothing from T - W on, flows that join send nothing before
//! T. Then every packet with a deadline is in time.
//!
//! *Proof.* Before T this is the test of the old promises, because best effort only demands less.
//! Let a packet be due at D and sent after T. At some time u in \[T - W, T\] no promised packet is
//! queued. Let s be the last time before the packet at which the link began a packet that is due
//! after D, or was idle; let t be the later one of s and u. From t on the link is busy, and but
//! for one packet that was under way it sends what came from t on and is due by D. Of the flows
//! that is at most the sum of `A_k(D - t - d_k)`, with the newcomers' curves. Best effort in the
//! background is due after all others. What gets its deadline from T on by the new residual curve
//! S demands at most `S(D - t)`, and at most `S(D - T)` if t is before T, which is no more. The
//! test of the new promises says that all of this fits into `C (D - t - theta)`. ∎
//!
//! The theorem holds with several such changes whose times in the background overlap, because these
//! times together are one. It also holds for a flow that joins while best effort stays in the
//! background.

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
    /// How long before its begin best effort is in the background.
    opening: Nanos,
    /// Whether it takes the place of another one at its begin.
    replaces: bool,
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
    /// It takes the place of another one, and that has not happened yet.
    Pending,
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

    /// Whether a newcomer waits until best effort has been in the background for W. Default no.
    fn waits(&self) -> bool {
        false
    }
}

/// The reservations of a link, by name.
#[derive(Clone, Debug)]
pub struct Bookings<K, C> {
    bookings: BTreeMap<K, Booking<C>>,
    /// Until then best effort is in the background for reservations that were given up before they
    /// began.
    background_until: Nanos,
}

/// A reservation that is entered, and the one whose place it takes.
struct Newcomer<'a, K> {
    name: &'a K,
    former: Option<&'a K>,
}

impl<C> Booking<C> {
    fn new(contract: C, Period { from, until }: Period, commit_by: Option<Nanos>) -> Self {
        Booking {
            contract,
            from,
            until,
            commit_by,
            clearing: Some(Nanos::ZERO),
            opening: Nanos::ZERO,
            replaces: false,
        }
    }

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
        let until = self.until_at(now);
        if until.and_then(|until| self.free_after(until)).is_some_and(|free| now >= free) {
            return None;
        }
        Some(match until {
            _ if now < self.from => State::Ahead,
            Some(until) if now >= until => State::Leaving,
            _ if self.held_until(now).is_some() => State::Held,
            _ => State::Active,
        })
    }

    /// Its end as it is known at a time. What was held and not committed by then has ended.
    fn until_at(&self, now: Nanos) -> Option<Nanos> {
        let lapsed = self.commit_by.filter(|by| *by <= now).map(|by| by.max(self.from));
        self.until.into_iter().chain(lapsed).min()
    }

    /// When the link is free of it; `None` if nobody knows yet.
    pub fn free_at(&self) -> Option<Nanos> {
        self.free_after(self.until?)
    }

    fn free_after(&self, until: Nanos) -> Option<Nanos> {
        if until <= self.from { Some(until) } else { Some(until.saturating_add(self.clearing?)) }
    }

    /// When best effort goes to the background for it, if it does.
    fn opens_at(&self) -> Option<Nanos> {
        (self.opening > Nanos::ZERO).then(|| self.from.saturating_sub(self.opening))
    }

    /// Whether best effort is in the background because it begins or has ended.
    fn settles(&self, now: Nanos) -> bool {
        match self.state(now) {
            Some(State::Ahead) => self.opens_at().is_some_and(|at| at <= now),
            Some(State::Leaving) => true,
            Some(State::Held | State::Active) | None => false,
        }
    }

    /// Whether it occupies the link at a time or will later.
    fn occupies(&self, at: Nanos) -> bool {
        self.free_at().is_none_or(|free| at < free)
    }
}

impl<K: Ord + Clone, C> Default for Bookings<K, C> {
    fn default() -> Self {
        Bookings { bookings: BTreeMap::new(), background_until: Nanos::ZERO }
    }
}

impl<K: Ord + Clone, C: Clone> Bookings<K, C> {
    /// Enters a reservation. If it is to be committed by a time and is not, it ends then. Where
    /// newcomers [wait](Admission::waits), it may begin later, and lasts as long.
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
        let booking = Booking::new(contract, Period { from, until }, commit_by);
        let newcomer = Newcomer { name: &name, former: None };
        self.enter(now, Some(newcomer), admission, |changed| {
            changed.bookings.insert(name.clone(), booking);
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
        self.enter(now, None, admission, |changed| {
            for (name, contract, period, commit_by) in granted {
                if !is_over(period.until) && !is_over(commit_by) {
                    changed.bookings.insert(name, Booking::new(contract, period, commit_by));
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
        self.enter(now, None, admission, |_| {})
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
        let from = self.unended(now, name).ok_or(Refusal::Unknown)?.from;
        if until.is_some_and(|until| until <= now.max(from)) {
            return Err(Refusal::Empty);
        }
        self.enter(now, None, admission, |changed| {
            changed.bookings.entry(name.clone()).and_modify(|booking| booking.until = until);
        })
    }

    /// Gives a reservation another contract, and another name. The old contract lasts until the new
    /// one begins, which is now, or later where newcomers [wait](Admission::waits). What was sent
    /// under the old one stays promised, as if it were [released](Self::release).
    ///
    /// # Errors
    /// If there is none of the old name or one of the new name, it is being changed already, it
    /// would end before, or the new contract does not fit beside all others and the old one.
    /// Nothing has changed then.
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
        let has_begun = former.from <= now;
        if former.replaces && !has_begun {
            return Err(Refusal::Pending);
        }
        let period = Period { from: former.from.max(now), until: former.until };
        let changed = Booking::new(contract, period, former.commit_by);
        let changed = Booking { replaces: has_begun, ..changed };
        let newcomer = Newcomer { name: new, former: has_begun.then_some(old) };
        self.enter(now, Some(newcomer), admission, |bookings| {
            bookings.end(now, old);
            bookings.bookings.insert(new.clone(), changed);
        })
    }

    /// Ends a reservation. The caller sees to it that nothing of it is sent from now on.
    ///
    /// # Errors
    /// [`Unknown`](Refusal::Unknown) if there is none.
    pub fn release<E>(&mut self, now: Nanos, name: &K) -> Result<(), Refusal<E>> {
        self.unended(now, name).ok_or(Refusal::Unknown)?;
        self.end(now, name);
        Ok(())
    }

    fn end(&mut self, now: Nanos, name: &K) {
        let Some(booking) = self.bookings.get_mut(name) else { return };
        if booking.settles(now) {
            // No promised packet may have been gone yet since best effort went to the background.
            self.background_until = self.background_until.max(booking.from);
        }
        booking.from = booking.from.min(now);
        booking.until = Some(now);
        booking.commit_by = None;
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
            if booking.commit_by.is_some_and(|by| by <= now) {
                if now < booking.from && booking.settles(now) {
                    self.background_until = self.background_until.max(booking.from);
                }
                booking.until = booking.until_at(now);
                booking.commit_by = None;
            }
        }
    }

    /// When something begins, ends or expires next, or best effort goes to the background or comes
    /// back, after `now`.
    pub fn next_change(&self, now: Nanos) -> Option<Nanos> {
        let times = |booking: &Booking<C>| {
            let Booking { from, until, commit_by, .. } = booking;
            [booking.opens_at(), Some(*from), *until, *commit_by, booking.free_at()]
        };
        let times = self.bookings.values().flat_map(times).flatten();
        times.chain([self.background_until]).filter(|time| *time > now).min()
    }

    /// Whether something begins or has ended, so that best effort is to have no deadlines.
    pub fn is_settling(&self, now: Nanos) -> bool {
        now < self.background_until || self.bookings.values().any(|booking| booking.settles(now))
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
        newcomer: Option<Newcomer<'_, K>>,
        admission: &mut A,
        change: impl FnOnce(&mut Self),
    ) -> Result<(), Refusal<A::Error>> {
        let mut changed = self.clone();
        changed.lapse(now);
        change(&mut changed);
        if let Some(newcomer) = newcomer.as_ref().filter(|_| admission.waits()) {
            changed.postpone(newcomer, now.saturating_add(Nanos(1)));
        }
        // What is promised beside more takes longer to clear, and may so meet what begins later.
        while changed.test_all(now, newcomer.as_ref(), admission)? {}
        let new = newcomer.and_then(|newcomer| changed.bookings.get(newcomer.name));
        if new.is_some_and(|new| new.until.is_some_and(|until| until <= new.from)) {
            return Err(Refusal::Empty);
        }
        *self = changed;
        Ok(())
    }

    /// Tests what is promised together at the begin of each booking. Returns whether one takes
    /// longer to clear than it was known to, or the newcomer begins later.
    fn test_all<A: Admission<C>>(
        &mut self,
        now: Nanos,
        newcomer: Option<&Newcomer<'_, K>>,
        admission: &mut A,
    ) -> Result<bool, Refusal<A::Error>> {
        let mut begins: Vec<Nanos> = self.bookings.values().map(|one| one.from.max(now)).collect();
        begins.extend(admission.waits().then_some(now));
        begins.sort_unstable();
        begins.dedup();
        let (mut grows, mut before) = (false, None);
        for at in begins {
            if let (true, Some(opening)) = (admission.waits(), before)
                && self.open(now, at, opening, newcomer)
            {
                return Ok(true);
            }
            let together = |booking: &Booking<C>| booking.from <= at && booking.occupies(at);
            let contracts = self.bookings.values().filter(|one| together(one));
            let contracts: Vec<&C> = contracts.map(|booking| &booking.contract).collect();
            let clearing = admission.test(&contracts).map_err(|why| Refusal::NoRoom { at, why })?;
            for booking in self.bookings.values_mut().filter(|one| together(one)) {
                let longest = booking.clearing.zip(clearing).map(|(old, new)| old.max(new));
                grows |= longest != booking.clearing;
                booking.clearing = longest;
            }
            before = clearing;
        }
        Ok(grows)
    }

    /// What begins at a time finds others there, who are gone once from the queue within `opening`.
    /// Best effort is in the background for so long before. Returns whether the newcomer has to
    /// begin later for that.
    ///
    /// Others keep their begin. Where it is less than `opening` away, the newcomer is the reason
    /// and begins before them: the time in the background before its begin is part of theirs.
    fn open(
        &mut self,
        now: Nanos,
        at: Nanos,
        opening: Nanos,
        newcomer: Option<&Newcomer<'_, K>>,
    ) -> bool {
        let earliest = now.saturating_add(opening);
        let new = newcomer.filter(|new| self.bookings.get(new.name).is_some_and(|n| n.from == at));
        if let Some(new) = new.filter(|_| at < earliest) {
            self.postpone(new, earliest);
            return true;
        }
        for booking in self.bookings.values_mut().filter(|booking| booking.from == at) {
            booking.opening = booking.opening.max(opening);
        }
        false
    }

    /// Lets a newcomer begin at a time at the earliest, and what it takes the place of end then. A
    /// new reservation lasts as long as was asked for.
    fn postpone(&mut self, newcomer: &Newcomer<'_, K>, earliest: Nanos) {
        let Some(new) = self.bookings.get_mut(newcomer.name) else { return };
        let later = earliest.saturating_sub(new.from);
        new.from = new.from.max(earliest);
        if newcomer.former.is_none() {
            new.until = new.until.map(|until| until.saturating_add(later));
        }
        let begin = new.from;
        if let Some(old) = newcomer.former.and_then(|old| self.bookings.get_mut(old)) {
            old.until = Some(begin);
        }
    }
}
