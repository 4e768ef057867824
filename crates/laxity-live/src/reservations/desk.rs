//! Takes orders: the book, on disk and in the plan that is followed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use laxity::reserve::bookings::{Booking, Period, State};
use laxity::units::Nanos;
use laxity_answers::Reason;
use laxity_answers::reservations::{Book, Contract, NoRoom, Request, RequestError};
use laxity_linux::clock::Stopwatch;
use laxity_plan::Plan;
use serde_json::{Map, Value};

use super::fullest::Fullest;
use super::journal::{Journal, JournalError, Record};
use super::{Answer, Order, Refused, Reservation, Stage, Why, Wish, keys};
use crate::error::LiveError;
use crate::file::folder_of;
use crate::process::{PlanText, wall_clock};
use crate::status::{PromisedBoard, PromisedStatus};

/// Says in a sentence why a plan is not admitted.
pub(crate) type Explain = fn(&[Reason]) -> String;

/// Takes orders for the plan of a link.
pub(crate) struct Desk {
    book: Book,
    /// The file of the plan.
    path: PathBuf,
    journal: Journal,
    explain: Explain,
    time: WallTime,
    /// When the plan that was made last is to be another one by itself.
    due: Option<Nanos>,
    board: PromisedBoard,
    /// The book before the last order, and the reservation that it changed.
    before: Option<(Book, String)>,
}

/// The time since 1970 when it began, and from then on that of a clock that nobody sets.
struct WallTime {
    began: Nanos,
    since: Stopwatch,
}

impl WallTime {
    fn begin() -> Self {
        let began = u64::try_from(wall_clock().as_nanos()).unwrap_or(u64::MAX);
        WallTime { began: Nanos(began), since: Stopwatch::start() }
    }

    fn now(&self) -> Nanos {
        self.began.saturating_add(self.since.elapsed())
    }
}

/// Within this time an answer is on disk, and the plan with it is read, proved, built and
/// followed.
const FOLLOWED_WITHIN: Nanos = Nanos(1_000_000_000);

impl Desk {
    /// Takes orders for a plan, beside what the journal says is promised.
    ///
    /// # Errors
    /// If the plan proves nothing, or no longer has room for what is promised.
    pub(crate) fn open(
        plan: &PlanText,
        mut journal: Journal,
        explain: Explain,
    ) -> Result<Desk, LiveError> {
        let time = WallTime::begin();
        let name = plan.path.display().to_string();
        let path = journal.path().to_path_buf();
        let refused = |error: &RequestError| LiveError::Reservations {
            why: said(error, explain),
            path: path.clone(),
        };
        let book = Book::new(&plan.text, &name, &folder_of(&plan.path));
        let mut book = book.map_err(|error| refused(&error))?.followed_within(FOLLOWED_WITHIN);
        let (records, mut requests) = (journal.take_records(), Vec::new());
        for (name, record) in &records {
            let Record { keys, path, from_ns, until_ns, commit_by_ns } = record;
            let keys = keys.parse().map_err(|error| refused(&RequestError::Edit(error)))?;
            let period = Period { from: Nanos(*from_ns), until: until_ns.map(Nanos) };
            let commit_by = commit_by_ns.map(Nanos);
            let (name, path) = (name.clone(), path.clone());
            requests.push(Request { name, keys, path, period, commit_by });
        }
        book.restore(time.now(), requests).map_err(|error| refused(&error))?;
        let board = PromisedBoard::default();
        let path = plan.path.clone();
        Ok(Desk { book, path, journal, explain, time, due: None, board, before: None })
    }

    /// The plan with all that is promised now.
    pub(crate) fn plan(&mut self) -> Result<PlanText, String> {
        let now = self.time.now();
        // On disk it is known by its end that a reservation is over.
        self.book.expire(now);
        self.due = self.book.next_change(now);
        let (plan, text) = self.book.plan(now).map_err(|error| said(&error, self.explain))?;
        self.show(now, &plan);
        Ok(PlanText { path: self.path.clone(), plan, text })
    }

    /// Where it shows what is promised.
    pub(crate) fn board(&self) -> PromisedBoard {
        self.board.clone()
    }

    /// Shows what is promised, by the plan that is followed from now on.
    fn show(&self, now: Nanos, plan: &Plan) {
        let mut reservations = self.reservations(now);
        let mut stages = BTreeMap::new();
        for reservation in &reservations {
            *stages.entry(reservation.state.name().to_string()).or_default() += 1;
        }
        reservations.truncate(PromisedStatus::SHOWN);
        let Fullest { at, promised, rate } = Fullest::new(plan);
        let shown = PromisedStatus {
            at_ns: now.0,
            stages,
            at,
            promised_bps: promised.0,
            rate_bps: rate.0,
            reservations,
        };
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }

    /// How long the plan that was made last stays as it is, unless orders come.
    pub(crate) fn patience(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.due?.saturating_sub(self.time.now()).0))
    }

    /// Follows another plan from now on, beside what is promised, if `ready` makes it ready with
    /// that.
    pub(crate) fn follow<N>(
        &mut self,
        plan: &PlanText,
        ready: impl FnOnce(PlanText) -> Result<N, String>,
    ) -> Result<N, String> {
        let before = self.book.clone();
        let changed = self.book.change_plan(self.time.now(), &plan.text);
        changed.map_err(|error| said(&error, self.explain))?;
        let next = self.plan().and_then(ready);
        if next.is_err() {
            self.book = before;
        }
        next
    }

    /// Carries out an order. If the plan is another one now, `ready` makes it ready; if it cannot
    /// be followed, the order is refused.
    pub(crate) fn carry_out<N>(
        &mut self,
        order: Order,
        ready: impl FnOnce(PlanText) -> Result<N, String>,
    ) -> (Option<N>, Answer) {
        let (is_changed, answer) = self.order(order);
        if !is_changed {
            return (None, answer);
        }
        match self.plan().and_then(ready) {
            Ok(next) => (Some(next), answer),
            Err(why) => {
                self.take_back();
                (None, Answer::refused(Why::Unavailable, why))
            }
        }
    }

    /// Carries out an order. Returns whether the plan is another one now.
    fn order(&mut self, order: Order) -> (bool, Answer) {
        let now = self.time.now();
        let before = self.book.clone();
        let done = match order {
            Order::List => {
                let reservations = self.reservations(now);
                return (false, Answer::Listed { reservations });
            }
            Order::Reserve(wish) => self.reserve(now, *wish),
            Order::Change { name, class } => self.change(now, name, &class),
            Order::Commit { name } => self.book.commit(now, &name).map(|()| (name, Answer::Done)),
            Order::Renew { name, for_ns } => {
                let until = for_ns.map(|lasts| now.saturating_add(Nanos(lasts)));
                self.book.renew(now, &name, until).map(|()| (name, Answer::Done))
            }
            Order::Release { name } => self.book.release(now, &name).map(|()| (name, Answer::Done)),
        };
        let (name, answer) = match done {
            Ok(done) => done,
            Err(error) => return (false, self.refused(&error)),
        };
        if let Err(error) = self.note(now, &name) {
            self.book = before;
            let why = format!("{}: {error}", self.journal.path().display());
            return (false, Answer::refused(Why::Unavailable, why));
        }
        self.before = Some((before, name));
        (true, answer)
    }

    /// Undoes the last order, since the plan with it cannot be followed.
    fn take_back(&mut self) {
        if let Some((before, name)) = self.before.take() {
            self.book = before;
            // Where the disk refuses, what it says is promised after the next start.
            let _ = self.note(self.time.now(), &name);
        }
    }

    fn reserve(&mut self, now: Nanos, wish: Wish) -> Result<(String, Answer), RequestError> {
        let Wish { name, class, path, from_ns, for_ns, hold_ns } = wish;
        let after = |begin: Nanos, lasts: u64| begin.saturating_add(Nanos(lasts));
        let from = from_ns.map_or(now, Nanos).max(now);
        let period = Period { from, until: for_ns.map(|lasts| after(from, lasts)) };
        let commit_by = hold_ns.map(|held| after(now, held));
        let keys = keys(&class)?;
        let request = Request { name: name.clone(), keys, path, period, commit_by };
        Ok((name, Answer::Granted(self.book.request(now, request)?)))
    }

    fn change(
        &mut self,
        now: Nanos,
        name: String,
        class: &Map<String, Value>,
    ) -> Result<(String, Answer), RequestError> {
        let granted = self.book.change(now, &name, keys(class)?)?;
        Ok((name, Answer::Changed(granted)))
    }

    /// When the first packet of a reservation may come, or could come.
    fn begin(&self, now: Nanos, booking: &Booking<Contract>) -> Nanos {
        match booking.state(now) {
            Some(State::Ahead) => self.book.begin(booking),
            _ => booking.period().from,
        }
    }

    /// Notes on disk what a reservation is now.
    fn note(&mut self, now: Nanos, name: &str) -> std::io::Result<()> {
        // Nothing of what leaves is queued any more where it is read again.
        let stays = |booking: &Booking<Contract>| {
            !matches!(booking.state(now), None | Some(State::Leaving))
        };
        let own = self.book.reservations().filter(|(other, _)| *other == name);
        // Of one that is being changed the last contract stays.
        let there = own.filter(|(_, booking)| stays(booking)).last();
        let record = there.map(|(_, booking)| Record {
            keys: booking.contract().keys().to_string(),
            path: booking.contract().path().to_vec(),
            from_ns: self.begin(now, booking).0,
            until_ns: booking.period().until.map(|Nanos(until)| until),
            commit_by_ns: booking.commit_by().map(|Nanos(by)| by),
        });
        self.journal.note(name, record)
    }

    fn reservations(&self, now: Nanos) -> Vec<Reservation> {
        let reservations = self.book.reservations().filter_map(|(name, booking)| {
            let held = booking.held_until(now);
            let state = Stage::from(booking.state(now)?);
            Some(Reservation {
                name: name.clone(),
                state,
                keys: booking.contract().keys().to_string(),
                path: booking.contract().path().to_vec(),
                from_ns: self.begin(now, booking).0,
                until_ns: booking.period().until.map(|Nanos(until)| until),
                held_until_ns: held.map(|Nanos(by)| by),
            })
        });
        reservations.collect()
    }

    fn refused(&self, error: &RequestError) -> Answer {
        let message = said(error, self.explain);
        let reason = match error {
            RequestError::NoRoom(no_room) => {
                let NoRoom { offer, .. } = (**no_room).clone();
                return Answer::Refused(Refused {
                    reason: Why::NoRoom,
                    message,
                    offer: Box::new(offer),
                });
            }
            RequestError::Exists(_) | RequestError::Pending => Why::Exists,
            RequestError::Unknown(_) => Why::Unknown,
            RequestError::TooMany => Why::TooMany,
            _ => Why::Senseless,
        };
        Answer::refused(reason, message)
    }
}

fn said(error: &RequestError, explain: Explain) -> String {
    match error {
        RequestError::NoRoom(no_room) => explain(&no_room.reasons),
        error => error.to_string(),
    }
}

/// The journal at a path, which may lie in a folder that is not there yet.
///
/// # Errors
/// As [`Journal::open`].
pub(crate) fn journal(path: &Path) -> Result<Journal, JournalError> {
    // What is missing is told when the file is opened.
    let _ = fs::create_dir_all(folder_of(path));
    Journal::open(path)
}
