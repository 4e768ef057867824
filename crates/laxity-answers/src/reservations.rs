//! Reservations on the link of a plan: each is a class that comes and goes.
//!
//! A request has the keys of a class, in the words of plans. It is granted if the plan with the
//! class is admitted, and so are all plans that follow from what is promised for later. So an
//! answer is that of the admission test of the whole plan.
//!
//! What is granted stands before the classes of the plan, so that its `match` is tested first. A
//! class that has ended takes no more packets, and leaves the plan when it is [no longer
//! felt](laxity_plan::Plan::settling_time). So does the class of a reservation whose contract is
//! changed: what it holds keeps its promise, and a class of another name takes what comes.
//!
//! Where best effort has deadlines, a newcomer [waits](laxity_plan::Plan::newcomers_wait) until the
//! link was clear once. A link that follows a plan some time after an answer follows that of a
//! newcomer early: its place is booked for as long before its first packet.

pub mod calls;
mod frames;
#[cfg(test)]
mod tests;
mod way;

use std::path::{Path, PathBuf};

use laxity::admit::Unbounded;
use laxity::police::TokenBucket;
use laxity::reserve::bookings::{Admission, Booking, Bookings, Period, Refusal, State};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::edit::{self, ClassKeys, Draft, EditError};
use laxity_plan::error::PlanError;
use laxity_plan::model::{BestEffort, Class, SchedulerSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::way::Way;
use crate::link;
use crate::network::limits::{MOST, bisected, smallest};
use crate::{Finding, Reason};

/// What is asked for.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever asks")]
pub struct Request {
    /// The name of the class.
    pub name: String,
    /// Its keys.
    pub keys: ClassKeys,
    /// In a network, the nodes of its path or its two ends; empty on one link.
    pub path: Vec<String>,
    /// When it is to be.
    pub period: Period,
    /// Until when it has to be committed, if it is only to be held.
    pub commit_by: Option<Nanos>,
}

/// What is granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asks")]
pub struct Granted {
    /// The name of the reservation.
    pub name: String,
    /// No packet that conforms takes longer, in ns. Reservations that are granted later do not
    /// change that. Absent if no delay was asked for.
    pub bound_ns: Option<u64>,
    /// When its first packet may come, in ns.
    pub from_ns: u64,
    /// When no packet may come any more, in ns; absent if it lasts until it is released.
    pub until_ns: Option<u64>,
    /// The nodes of its path through a network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// The deadlines over the links of its path; absent where it has one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlines: Vec<LinkDeadline>,
    /// The time frames in which the links of its path send the first packet of a period, under
    /// time-driven priority.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<LinkFrame>,
}

/// A deadline over a link of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asks")]
pub struct LinkDeadline {
    /// The name of the link.
    pub link: String,
    /// No packet takes longer from its arrival in front of the link to its last bit out, in ns.
    pub deadline_ns: u64,
}

/// A time frame of a link of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asks")]
pub struct LinkFrame {
    /// The name of the link.
    pub link: String,
    /// The number of the frame in its period, from 0.
    pub frame: u32,
}

impl Granted {
    fn new(
        name: String,
        bound: Option<Nanos>,
        Period { from, until }: Period,
        contract: &Contract,
    ) -> Self {
        let [bound_ns, until_ns] = [bound, until].map(|time| time.map(|Nanos(time)| time));
        let over = contract.keys.times("deadline-over");
        let over = over
            .map(|(link, Nanos(deadline_ns))| LinkDeadline { link: link.to_string(), deadline_ns });
        let frames = contract.keys.numbers("frame-at");
        let frames = frames.map(|(link, frame)| LinkFrame { link: link.to_string(), frame });
        let (path, deadlines) = (contract.path().to_vec(), over.collect());
        let (from_ns, frames) = (from.0, frames.collect());
        Granted { name, bound_ns, from_ns, until_ns, path, deadlines, frames }
    }
}

/// Why a request is not granted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The request, or the plan with it, makes no sense.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The same, before it is a plan.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// There is one of this name.
    #[error("there is a reservation `{0}` already")]
    Exists(String),
    /// There is none of this name.
    #[error("there is no reservation `{0}`")]
    Unknown(String),
    /// It has no path, or none that can be.
    #[error("{0}")]
    Path(&'static str),
    /// It would be over before it begins.
    #[error("it would be over before it begins")]
    Empty,
    /// It is being changed.
    #[error("it is being changed: the class that it is to have has not begun")]
    Pending,
    /// There are too many.
    #[error("there are {} reservations already", Book::MOST)]
    TooMany,
    /// It does not fit beside all that is promised.
    #[error("it does not fit")]
    NoRoom(Box<NoRoom>),
}

/// A request that does not fit.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asks")]
pub struct NoRoom {
    /// The first time at which it does not, in ns.
    pub at_ns: u64,
    /// Why not.
    pub reasons: Vec<Reason>,
    /// What would fit then.
    pub offer: Offer,
}

/// What of a request would fit, each with all else as requested. Absent where nothing would, or
/// nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "a request has these parts")]
pub struct Offer {
    /// The shortest deadline, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// The highest rate of its slowest token bucket, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// The largest size of its slowest token bucket, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_bytes: Option<u64>,
    /// In a network, the nodes of another path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<String>>,
    /// Other time frames on its path than those that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<LinkFrame>,
}

/// A reservation as front ends list it. Times are in ns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asks")]
pub struct ListedReservation {
    /// Until when it has to be committed, if it is only held.
    pub commit_by: Option<u64>,
    /// When it ends; absent if it lasts until it is released.
    pub end: Option<u64>,
    /// Its name.
    pub name: String,
    /// The nodes of its path through a network.
    pub path: Vec<String>,
    /// When it begins.
    pub start: u64,
    /// `ahead`, `held`, `active`, or `leaving` while it is still felt.
    pub state: &'static str,
}

/// The reservations of a plan's link.
#[derive(Clone, Debug)]
pub struct Book {
    base: Base,
    bookings: Bookings<Key, Contract>,
    /// How long it takes until the link follows the plan.
    delay: Nanos,
}

/// The name of a reservation, and how often its contract has changed.
type Key = (String, u32);

/// The plan without any reservation.
#[derive(Clone, Debug)]
struct Base {
    draft: Draft,
    /// The same while something begins or has ended and is still felt: best effort under EDF waits
    /// without deadlines then, so that the link is sure to have sent what is promised soon.
    settling: Draft,
    /// Whether newcomers wait.
    waits: bool,
    /// The time frames of its own classes, by name, so that newcomers do not move them.
    frames: Vec<(String, ClassKeys)>,
    /// Whether its discipline has time frames.
    is_framed: bool,
    name: String,
    folder: PathBuf,
}

/// A class that is promised something.
#[derive(Clone, Debug)]
pub struct Contract {
    name: String,
    keys: ClassKeys,
    way: Option<Way>,
}

impl Contract {
    /// Its keys.
    pub fn keys(&self) -> &ClassKeys {
        &self.keys
    }

    /// The nodes of its path through a network.
    pub fn path(&self) -> &[String] {
        self.way.as_ref().map_or(&[], |way| &way.nodes)
    }
}

impl Book {
    /// The most reservations at once, later ones included.
    pub const MOST: usize = 4096;

    /// The empty book of a plan's text, which is called `name` in errors. Files that it names lie
    /// in a folder.
    ///
    /// # Errors
    /// If it is no plan whose discipline proves what it promises, or if a class has time frames at
    /// a link that it passes twice.
    pub fn new(text: &str, name: &str, folder: &Path) -> Result<Book, RequestError> {
        let base = Base::new(text, name.to_string(), folder.to_path_buf())?;
        base.test(&[], "", Nanos::ZERO)?;
        Ok(Book { base, bookings: Bookings::default(), delay: Nanos::ZERO })
    }

    /// Takes the text of another plan for all that is promised. Under time-driven priority classes
    /// keep their time frames where that is possible.
    ///
    /// # Errors
    /// If that is no plan, not all that is promised fits there, or it has time frames and what is
    /// promised has none. The book is then as before.
    pub fn change_plan(&mut self, now: Nanos, text: &str) -> Result<(), RequestError> {
        let base = Base::new(text, self.base.name.clone(), self.base.folder.clone())?;
        base.test(&[], "", now)?;
        let mut bookings = self.bookings.clone();
        let contracts: Vec<Contract> =
            bookings.iter().map(|(_, booking)| booking.contract().clone()).collect();
        if base.is_framed && !self.base.is_framed && !contracts.is_empty() {
            return Err(RequestError::Path("what is promised has no time frames"));
        }
        let (base, retested) = base.beside(&self.base.frames, &contracts, |base| {
            bookings.retest(now, &mut Test::new(base, "", self.delay))
        })?;
        self.answered("", retested)?;
        // After a start each has a class of its own name.
        let named = |(name, booking): (&String, &Booking<Contract>)| Contract {
            name: name.clone(),
            ..booking.contract().clone()
        };
        let stay = self.reservations().filter(|(_, booking)| {
            matches!(booking.state(now), Some(State::Ahead | State::Held | State::Active))
        });
        let named: Vec<Contract> = stay.map(named).collect();
        base.plan(&named.iter().collect::<Vec<_>>(), false)?;
        (self.base, self.bookings) = (base, bookings);
        Ok(())
    }

    /// The same book for a link that follows a plan up to this long after an answer. What ends is
    /// felt from then on, and what begins later has its place as much earlier.
    #[must_use]
    pub fn followed_within(self, delay: Nanos) -> Book {
        Book { delay, ..self }
    }

    /// When the first packet of a reservation may come that did not begin at once.
    pub fn begin(&self, booking: &Booking<Contract>) -> Nanos {
        booking.period().from.saturating_add(self.delay)
    }

    /// Asks for a reservation.
    ///
    /// # Errors
    /// If it makes no sense or does not fit. The book is then as before.
    pub fn request(&mut self, now: Nanos, request: Request) -> Result<Granted, RequestError> {
        let Request { name, keys, path, period, commit_by } = request;
        if self.is_full(now) {
            return Err(RequestError::TooMany);
        }
        if self.of_name(&name).any(|(_, booking)| booking.state(now).is_some()) {
            return Err(RequestError::Exists(name));
        }
        let contract = self.contract(&name, keys, &path, period)?;
        let mut test = Test::new(&self.base, &name, self.delay);
        let key = (name.clone(), 0);
        let asked = contract.clone();
        let early = self.early(now, period);
        let entered =
            self.bookings.request(now, key.clone(), contract, early, commit_by, &mut test);
        let bound = test.bound;
        self.answered(&name, entered)?;
        Ok(Granted::new(name, bound, self.granted(now, period, &key), &asked))
    }

    /// When the place of a reservation begins, so that the plan with it is followed in time.
    fn early(&self, now: Nanos, Period { from, until }: Period) -> Period {
        Period { from: from.saturating_sub(self.delay).max(now), until }
    }

    /// When the packets of a reservation may come that was just granted for a time.
    fn granted(&self, now: Nanos, asked: Period, key: &Key) -> Period {
        let from = asked.from.max(now);
        let Some(booking) = self.bookings.get(key) else { return Period { from, ..asked } };
        let Period { from: begin, until } = booking.period();
        // What begins at once is followed before it is answered.
        let from = if begin > now { from.max(self.begin(booking)) } else { from };
        Period { from, until }
    }

    /// Gives a reservation other keys, from when it is [granted](Granted::from_ns) on. What is
    /// queued of it keeps the promise that it came with, so there has to be room for both until
    /// that is no longer felt.
    ///
    /// # Errors
    /// If there is none, it is being changed already, or the keys make no sense or do not fit. The
    /// book is then as before.
    pub fn change(
        &mut self,
        now: Nanos,
        name: &str,
        keys: ClassKeys,
    ) -> Result<Granted, RequestError> {
        if self.is_full(now) {
            return Err(RequestError::TooMany);
        }
        let old = self.last(name);
        let class = |revision: u32| format!("{name}#{revision}");
        let is_free = |revision: &u32| self.of_name(&class(*revision)).next().is_none();
        let revision = (old.1 + 1..).find(is_free).ok_or(RequestError::TooMany)?;
        let new = (name.to_string(), revision);
        let class = class(revision);
        let former = self.bookings.get(&old).map(|booking| booking.contract().path().to_vec());
        let path = former.unwrap_or_default();
        let contract = self.contract(&class, keys, &path, Period { from: now, until: None })?;
        let mut test = Test::new(&self.base, &class, self.delay);
        let asked = contract.clone();
        let changed = self.bookings.change(now, [&old, &new], contract, &mut test);
        let bound = test.bound;
        self.answered(name, changed)?;
        let period = self.granted(now, Period { from: now, until: None }, &new);
        Ok(Granted::new(name.to_string(), bound, period, &asked))
    }

    /// Enters reservations that were granted before. None of their packets are queued. Leaves out
    /// what is over.
    ///
    /// # Errors
    /// If they do not fit together. The book is then as before.
    pub fn restore(
        &mut self,
        now: Nanos,
        granted: impl IntoIterator<Item = Request>,
    ) -> Result<(), RequestError> {
        let mut granted: Vec<Request> = granted.into_iter().collect();
        // Those that have no time frames yet get some beside all others.
        granted.sort_by_key(|request| request.keys.get("frame-at").is_none());
        let mut entries: Vec<(Key, Contract, Period, Option<Nanos>)> = Vec::new();
        for Request { name, keys, path, period, commit_by } in granted {
            let is_to_be_framed = self.base.is_framed && keys.get("frame-at").is_none();
            let others = entries.iter().map(|(_, contract, ..)| contract);
            let others: Vec<&Contract> = others.filter(|_| is_to_be_framed).collect();
            let contract = self.base.contract(&name, keys, &path, &others)?;
            // What has begun is followed from the start.
            let ahead = if period.from > now { self.delay } else { Nanos::ZERO };
            let early = Period { from: period.from.saturating_sub(ahead), ..period };
            entries.push(((name, 0), contract, early, commit_by));
        }
        let contracts: Vec<Contract> =
            entries.iter().map(|(_, contract, ..)| contract.clone()).collect();
        let (base, restored) = self.base.clone().beside(&[], &contracts, |base| {
            let mut test = Test::new(base, "", self.delay);
            self.bookings.restore(now, entries.iter().cloned(), &mut test)
        })?;
        self.answered("", restored)?;
        self.base = base;
        Ok(())
    }

    /// Grants a reservation that was only held.
    ///
    /// # Errors
    /// If there is none, or its time is over.
    pub fn commit(&mut self, now: Nanos, name: &str) -> Result<(), RequestError> {
        let committed = self.bookings.commit(now, &self.last(name));
        self.answered(name, committed)
    }

    /// Gives a reservation another end; none if it is to last until it is released.
    ///
    /// # Errors
    /// If there is none, or the time behind its end is promised to others.
    pub fn renew(
        &mut self,
        now: Nanos,
        name: &str,
        until: Option<Nanos>,
    ) -> Result<(), RequestError> {
        let key = self.last(name);
        let class = self.bookings.get(&key).map_or("", |booking| &booking.contract().name);
        let class = class.to_string();
        let mut test = Test::new(&self.base, &class, self.delay);
        let renewed = self.bookings.renew(now, &key, until, &mut test);
        self.answered(name, renewed)
    }

    /// Ends a reservation.
    ///
    /// # Errors
    /// If there is none.
    pub fn release(&mut self, now: Nanos, name: &str) -> Result<(), RequestError> {
        let last = self.last(name);
        let released = self.bookings.release(now, &last);
        self.answered(name, released)?;
        // One that is being changed has its former class until then.
        let former: Vec<Key> = self.of_name(name).map(|(key, _)| key.clone()).collect();
        for key in former.iter().filter(|key| **key != last) {
            let _: Result<(), Refusal<RequestError>> = self.bookings.release(now, key);
        }
        Ok(())
    }

    /// Takes out what has ended and is no longer felt. Returns the names.
    pub fn expire(&mut self, now: Nanos) -> Vec<String> {
        self.bookings.expire(now).into_iter().map(|(name, _)| name).collect()
    }

    /// When the plan changes by itself next.
    pub fn next_change(&self, now: Nanos) -> Option<Nanos> {
        self.bookings.next_change(now)
    }

    /// All reservations, by name. One whose contract was changed is there twice until the old one
    /// is no longer felt.
    pub fn reservations(&self) -> impl Iterator<Item = (&String, &Booking<Contract>)> {
        self.bookings.iter().map(|((name, _), booking)| (name, booking))
    }

    /// All reservations at a time, as front ends list them. What was not committed in time has
    /// ended.
    pub fn list(&self, now: Nanos) -> Vec<ListedReservation> {
        let mut book = self.clone();
        book.expire(now);
        let listed = |(name, booking): (&String, &Booking<Contract>)| {
            let Period { from, until } = booking.period();
            let [end, commit_by] = [until, booking.commit_by()].map(|time| time.map(|time| time.0));
            Some(ListedReservation {
                commit_by,
                end,
                name: name.clone(),
                path: booking.contract().path().to_vec(),
                start: from.0,
                state: match booking.state(now)? {
                    State::Ahead => "ahead",
                    State::Held => "held",
                    State::Active => "active",
                    State::Leaving => "leaving",
                },
            })
        };
        book.reservations().filter_map(listed).collect()
    }

    /// The plan at a time, and its text.
    ///
    /// # Errors
    /// Never: all that is promised was tested in it.
    pub fn plan(&self, now: Nanos) -> Result<(Plan, String), RequestError> {
        let mut contracts = Vec::new();
        for (_, booking) in self.bookings.iter() {
            let mut contract = booking.contract().clone();
            match booking.state(now) {
                Some(State::Held | State::Active) => {}
                Some(State::Leaving) => contract.keys.set("match", NOTHING)?,
                Some(State::Ahead) | None => continue,
            }
            contracts.push(contract);
        }
        let is_settling = self.bookings.is_settling(now);
        self.base.plan(&contracts.iter().collect::<Vec<_>>(), is_settling)
    }

    /// The contract of a request for a period, beside all that is promised in it.
    fn contract(
        &self,
        name: &str,
        keys: ClassKeys,
        path: &[String],
        Period { from, until }: Period,
    ) -> Result<Contract, RequestError> {
        let is_beside = |booking: &Booking<Contract>| {
            booking.free_at().is_none_or(|free| free > from)
                && until.is_none_or(|until| booking.period().from < until)
        };
        let others = self.bookings.iter().map(|(_, booking)| booking);
        let others = others.filter(|booking| is_beside(booking)).map(Booking::contract);
        self.base.contract(name, keys, path, &others.collect::<Vec<_>>())
    }

    fn is_full(&self, now: Nanos) -> bool {
        let there = self.bookings.iter().filter(|(_, booking)| booking.state(now).is_some());
        there.count() >= Book::MOST
    }

    fn of_name(&self, name: &str) -> impl Iterator<Item = (&Key, &Booking<Contract>)> {
        self.bookings.iter().filter(move |((other, _), _)| other == name)
    }

    /// The key that a reservation has now.
    fn last(&self, name: &str) -> Key {
        self.of_name(name).last().map_or((name.to_string(), 0), |(key, _)| key.clone())
    }

    fn answered(
        &self,
        name: &str,
        answer: Result<(), Refusal<RequestError>>,
    ) -> Result<(), RequestError> {
        answer.map_err(|refusal| match refusal {
            Refusal::Exists => RequestError::Exists(name.to_string()),
            Refusal::Unknown => RequestError::Unknown(name.to_string()),
            Refusal::Empty => RequestError::Empty,
            Refusal::Pending => RequestError::Pending,
            Refusal::NoRoom { at, why: RequestError::NoRoom(mut no_room) } => {
                no_room.at_ns = at.0;
                RequestError::NoRoom(no_room)
            }
            Refusal::NoRoom { why, .. } => why,
        })
    }
}

/// A match that never holds. A class without one could be that of all that no other takes.
const NOTHING: &str = "'tcp and udp'";

impl Base {
    fn new(text: &str, name: String, folder: PathBuf) -> Result<Base, RequestError> {
        let draft = Draft::parse(text, &name)?;
        let mut settling = draft.clone();
        let plan = Plan::parse(text, &name, &folder)?;
        let waits = plan.newcomers_wait();
        if let SchedulerSpec::Edf(_) = plan.scheduler {
            let key = edit::Path::new(["scheduler", "best-effort"]);
            settling.set(&key, &format!("'{}'", BestEffort::Background.name()))?;
        }
        let is_framed = plan.framed_network().is_some();
        let base = Base { draft, settling, waits, frames: Vec::new(), is_framed, name, folder };
        base.with_frames(&[], &[])
    }

    /// The plan with contracts, and its text.
    fn plan(
        &self,
        contracts: &[&Contract],
        is_settling: bool,
    ) -> Result<(Plan, String), RequestError> {
        let mut draft = if is_settling { &self.settling } else { &self.draft }.clone();
        for (class, keys) in &self.frames {
            let key = edit::Path::new(["class", class, "frame-at"]);
            draft.set(&key, &keys.get("frame-at").unwrap_or_default())?;
        }
        if !contracts.is_empty() {
            draft.put_first(contracts.iter().map(|one| (one.name.as_str(), &one.keys)))?;
        }
        for one in contracts {
            if let Some(Way { nodes, packet }) = &one.way {
                draft.add_source(&one.name, *packet, nodes)?;
            }
        }
        let text = draft.text();
        Ok((Plan::parse(&text, &self.name, &self.folder)?, text))
    }

    /// Tests a plan with contracts. Returns the bound of one of them, and the settling time.
    fn test(
        &self,
        contracts: &[&Contract],
        newcomer: &str,
        at: Nanos,
    ) -> Result<(Option<Nanos>, Option<Nanos>), RequestError> {
        let (plan, _) = self.plan(contracts, false)?;
        let class = plan.classes.iter().position(|class| class.name == newcomer);
        match promises(&plan) {
            Ok(promises) => {
                let bound = class.and_then(|class| promises[class]);
                Ok((bound, plan.settling_time()))
            }
            Err(reasons) => {
                let offer = class.map(|class| Offer::new(&plan, class)).unwrap_or_default();
                let no_room = NoRoom { at_ns: at.0, reasons, offer };
                Err(RequestError::NoRoom(Box::new(no_room)))
            }
        }
    }
}

/// What each class is promised for as long as it stays, if the plan is admitted: the delay that it
/// asks for. Today's bound may be shorter, and later reservations may raise it. Else why not.
fn promises(plan: &Plan) -> Result<Vec<Option<Nanos>>, Vec<Reason>> {
    if plan.network.is_some() {
        return way::promises(plan);
    }
    let no_test = || Finding::NoTest { scheduler: plan.scheduler.name() };
    let admission = link::Admission::test(plan).ok_or_else(|| vec![Reason::whole(no_test())])?;
    if admission.admitted() != Some(true) {
        return Err(admission.reasons);
    }
    let promise = |(class, bound): (&Class, &Result<Nanos, Unbounded>)| {
        let asked = class.relative_deadline()?;
        bound.ok().map(|bound| bound.max(asked))
    };
    Ok(plan.classes.iter().zip(&admission.bounds).map(promise).collect())
}

/// The test of a book's bookings, which notes the longest bound of a newcomer.
struct Test<'a> {
    base: &'a Base,
    newcomer: &'a str,
    delay: Nanos,
    bound: Option<Nanos>,
}

impl<'a> Test<'a> {
    fn new(base: &'a Base, newcomer: &'a str, delay: Nanos) -> Self {
        Test { base, newcomer, delay, bound: None }
    }
}

impl Admission<Contract> for Test<'_> {
    type Error = RequestError;

    fn test(&mut self, contracts: &[&Contract]) -> Result<Option<Nanos>, RequestError> {
        let (bound, settling) = self.base.test(contracts, self.newcomer, Nanos::ZERO)?;
        self.bound = self.bound.max(bound);
        Ok(settling.map(|settling| settling.saturating_add(self.delay)))
    }

    fn waits(&self) -> bool {
        self.base.waits
    }
}

impl Offer {
    /// What of a class would fit in a plan that is refused with it: exactly under EDF but for the
    /// bucket, else to a percent.
    fn new(plan: &Plan, class: usize) -> Offer {
        let search = OfferSearch { plan, class };
        let (deadline_ns, rate_bps) = search
            .edf()
            .unwrap_or_else(|| (search.deadline(), search.largest(1, |line| &mut line.rate.0)));
        let arrival = plan.classes[class].arrival.as_ref();
        let packet = arrival.and_then(|arrival| arrival.packet.max(arrival.shortest));
        let least = packet.map_or(1, |Bytes(packet)| packet);
        let bucket_bytes = search.largest(least, |line| &mut line.bucket.0);
        let frames = search.frames();
        Offer { deadline_ns, rate_bps, bucket_bytes, path: None, frames }
    }
}

/// A plan that is refused with a class.
#[derive(Clone, Copy)]
struct OfferSearch<'a> {
    plan: &'a Plan,
    class: usize,
}

impl OfferSearch<'_> {
    /// The shortest deadline and the highest rate, where EDF says both.
    fn edf(self) -> Option<(Option<u64>, Option<u64>)> {
        let OfferSearch { plan, class } = self;
        if plan.network.is_some() || !matches!(plan.scheduler, SchedulerSpec::Edf(_)) {
            return None;
        }
        let (system, numbers) = (plan.edf_system(), plan.real_time_classes());
        let k = numbers.iter().position(|number| *number == class)?;
        let deadline = system.shortest_admitted_deadline(k).map(|Nanos(deadline)| deadline);
        Some((deadline, system.highest_admitted_rate(k).map(|Rate(rate)| rate)))
    }

    /// The shortest deadline. Bounds may depend on it.
    fn deadline(self) -> Option<u64> {
        if self.plan.network.is_some() {
            let Nanos(asked) = self.plan.classes[self.class].end_to_end?;
            let fits = |within| self.fits(|class| class.end_to_end = Some(Nanos(within)));
            return smallest(None, asked..=asked.saturating_mul(MOST), fits);
        }
        let Nanos(asked) = self.plan.classes[self.class].deadline?;
        let fits = |deadline| self.fits(|class| class.deadline = Some(Nanos(deadline)));
        let relaxed = self.with(|class| class.deadline = None);
        let bound = link::Admission::test(&relaxed).and_then(|test| test.bounds[self.class].ok());
        let bound = bound.map(|Nanos(bound)| bound).filter(|bound| fits(*bound));
        match bound {
            Some(bound) if !fits(bound.saturating_sub(1)) => Some(bound),
            known => smallest(known, asked..=asked.saturating_mul(MOST), fits),
        }
    }

    /// The largest value of a part of its slowest token bucket, below what was asked for.
    fn largest(self, least: u64, part: fn(&mut TokenBucket) -> &mut u64) -> Option<u64> {
        let most = *part(slowest(&mut self.plan.classes[self.class].clone())?);
        let holds = |value| {
            self.fits(|class| {
                if let Some(line) = slowest(class) {
                    *part(line) = value;
                }
            })
        };
        (most > least && holds(least)).then(|| bisected(least, most - 1, holds).0)
    }

    fn fits(self, change: impl FnOnce(&mut Class)) -> bool {
        promises(&self.with(change)).is_ok()
    }

    fn with(self, change: impl FnOnce(&mut Class)) -> Plan {
        let mut plan = self.plan.clone();
        change(&mut plan.classes[self.class]);
        plan
    }
}

fn slowest(class: &mut Class) -> Option<&mut TokenBucket> {
    class.arrival.as_mut()?.buckets.iter_mut().min_by_key(|line| line.rate)
}
