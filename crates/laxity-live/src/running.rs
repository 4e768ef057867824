//! A link while it is looked after.

use laxity::units::Nanos;
use laxity_forward::{Event, Prepared};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Port, Side};

use crate::bridge::Counts;
use crate::capture::Capture;
use crate::daemon::{Keeper, LiveError};
use crate::forwarding::{Forwarding, Stopped};
use crate::ledgers::Ledgers;
use crate::links::Links;
use crate::log::{Log, Period, Reader, Told};
use crate::process::Task;
use crate::status::Status;

/// A link that is forwarded over, as it is looked after.
pub(crate) struct Running<'k, K> {
    forwarding: Forwarding,
    seen: Seen<'k, K>,
}

/// A plan that was read again and proved.
pub(crate) struct Ready {
    pub text: String,
    pub prepared: Prepared,
}

/// By the side at which frames arrive, the plan that was read again, or why it cannot be followed;
/// nothing where there is none.
pub(crate) type Reloads = [Option<Result<Ready, String>>; 2];

/// What has been seen of it.
struct Seen<'k, K> {
    links: Links,
    log: Log,
    books: Books<'k, K>,
    started: Nanos,
    real_time: bool,
    /// Those that were followed, and those that were refused.
    reloads: [u64; 2],
}

impl<'k, K: Keeper> Running<'k, K> {
    /// It has just begun.
    pub(crate) fn begin(
        forwarding: Forwarding,
        links: Links,
        log: Log,
        books: Books<'k, K>,
    ) -> Self {
        let (started, real_time) = (Clock::Monotonic.now(), forwarding.is_real_time());
        let seen = Seen { links, log, books, started, real_time, reloads: [0; 2] };
        Running { forwarding, seen }
    }

    /// Follows the plan of a side that was read again.
    fn follow_at(&mut self, at: Side, next: Result<Ready, String>) -> Result<(), String> {
        let Running { forwarding, seen: Seen { log, books, .. } } = self;
        let Ready { text, prepared } = next?;
        books.next = Some(text);
        // What is said at the end of the plan that was followed.
        if let Ok(counts) = forwarding.counts() {
            log.held(counts.held());
        }
        let plan = prepared.plan().clone();
        let follow = || forwarding.follow(at, prepared).map_err(|error| error.to_string());
        log.reload(at, plan, books, follow)
    }

    /// Sends what is queued, as far as that does not take too long, and ends.
    pub(crate) fn end(self, patience: Nanos) -> Result<Status, LiveError> {
        let Running { forwarding, mut seen } = self;
        let counts = forwarding.drain(patience)?;
        seen.log.read(&mut seen.books);
        seen.log.held(counts.held());
        Ok(seen.end(&counts))
    }
}

impl<K: Keeper> Seen<'_, K> {
    fn status(&self, counts: &Counts) -> Status {
        let [reloads, reloads_refused] = self.reloads;
        Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            uptime_ns: Clock::Monotonic.now().saturating_sub(self.started).0,
            real_time: Some(self.real_time),
            reloads: Some(reloads),
            reloads_refused: Some(reloads_refused),
            events_lost: Some(self.log.lost()),
            interfaces: self.links.status(&counts.interfaces, &counts.cut),
            ways: self.log.present().map(Period::status).collect(),
            network: None,
        }
    }

    fn end(self, counts: &Counts) -> Status {
        let (status, Books { keeper, ledgers, capture, .. }) = (self.status(counts), self.books);
        self.log.end().iter().for_each(|period| keeper.ended(period));
        let say = &mut |what: &str| keeper.say(what);
        ledgers.finish(say);
        if let Some(capture) = capture {
            capture.finish(say);
        }
        status
    }
}

impl<K: Keeper> Task for Running<'_, K> {
    type Next = Reloads;

    fn is_running(&self) -> bool {
        self.forwarding.is_running()
    }

    fn look(&mut self) -> Result<(), Stopped> {
        let Seen { links, log, books, .. } = &mut self.seen;
        log.read(books);
        books.hand_over();
        let reattach = |at: Port, to| self.forwarding.reattach(at, to);
        links.follow(reattach, &mut |what| books.keeper.say(what))
    }

    fn status(&mut self) -> Result<Status, Stopped> {
        let counts = self.forwarding.counts()?;
        self.seen.log.held(counts.held());
        Ok(self.seen.status(&counts))
    }

    fn follow(&mut self, next: Self::Next) -> Result<(), String> {
        let mut reloaded = Ok(());
        for (at, next) in Side::BOTH.into_iter().zip(next) {
            let Some(next) = next else { continue };
            let followed = self.follow_at(at, next);
            self.seen.reloads[usize::from(followed.is_err())] += 1;
            self.seen.books.keeper.say(&match &followed {
                Ok(()) => "the plan is reloaded".to_string(),
                Err(why) => format!("the plan is not reloaded: {why}"),
            });
            reloaded = reloaded.and(followed);
        }
        reloaded
    }
}

/// Who is told what happens.
pub(crate) struct Books<'k, K> {
    pub keeper: &'k mut K,
    pub ledgers: Ledgers,
    pub capture: Option<Capture>,
    /// The text of the plan that is followed from the next reload on.
    pub next: Option<String>,
}

impl<K: Keeper> Books<'_, K> {
    fn hand_over(&mut self) {
        let say = &mut |what: &str| self.keeper.say(what);
        self.ledgers.hand_over(say);
        if let Some(capture) = &mut self.capture {
            capture.hand_over(say);
        }
    }
}

impl<K: Keeper> Reader for Books<'_, K> {
    fn event(&mut self, told: Told<'_>) {
        if let Event::Reloaded { .. } = told.event
            && let Some(text) = self.next.take()
        {
            self.ledgers.plan(told.at, &text);
        }
        self.ledgers.event(told.at, told.event);
        if let Some(capture) = &mut self.capture {
            capture.event(told);
        }
    }

    fn gap(&mut self, at: Side) {
        self.ledgers.gap(at, &mut |what| self.keeper.say(what));
    }

    fn ended(&mut self, period: Period) {
        self.keeper.ended(&period);
    }
}
