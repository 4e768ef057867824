//! A link while it is looked after.

use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::clock::Clock;
use laxity_linux::frames::Side;

use crate::bridge::Counts;
use crate::capture::Capture;
use crate::daemon::{Keeper, PlanText};
use crate::forwarding::{Forwarding, Stopped};
use crate::ledgers::Ledgers;
use crate::links::Links;
use crate::log::{Log, Period, Reader, Told};
use crate::request::Request;
use crate::status::Status;

/// A link that is forwarded over, as it is looked after.
pub(crate) struct Running<'k, K> {
    pub links: Links,
    pub log: Log,
    pub books: Books<'k, K>,
    pub started: Nanos,
    pub real_time: bool,
    /// Those that were followed, and those that were refused.
    pub reloads: [u64; 2],
}

impl<K: Keeper> Running<'_, K> {
    /// Takes note of what has happened.
    pub fn look(&mut self, forwarding: &Forwarding) -> Result<(), Stopped> {
        self.log.read(&mut self.books);
        self.books.hand_over();
        self.links.follow(forwarding, &mut |what| self.books.keeper.say(what))
    }

    pub fn answer(&mut self, request: Request, forwarding: &Forwarding) -> Result<(), Stopped> {
        // Who asked may have gone.
        match request {
            Request::Status(answer) => {
                let _ = answer.send(self.status(&forwarding.counts()?));
            }
            Request::Reload(answer) => {
                let _ = answer.send(self.reload(forwarding));
            }
        }
        Ok(())
    }

    /// Follows plans that are read again; says what came of it.
    pub fn reload(&mut self, forwarding: &Forwarding) -> Result<(), String> {
        let mut reloaded = Ok(());
        for at in self.log.sides() {
            let followed = self.follow(at, forwarding);
            self.reloads[usize::from(followed.is_err())] += 1;
            match &followed {
                Ok(()) => self.books.keeper.say("the plan is reloaded"),
                Err(why) => self.books.keeper.say(&format!("the plan is not reloaded: {why}")),
            }
            reloaded = reloaded.and(followed);
        }
        reloaded
    }

    /// Follows the plan of a side that is read again.
    fn follow(&mut self, at: Side, forwarding: &Forwarding) -> Result<(), String> {
        let PlanText { plan, text } = self.books.keeper.reread(at)?;
        self.books.next = Some(text);
        let follow = |plan| forwarding.reload(at, plan).map_err(|error| error.to_string());
        self.log.reload(at, plan, &mut self.books, follow)
    }

    fn status(&self, counts: &Counts) -> Status {
        let [reloads, reloads_refused] = self.reloads;
        Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            uptime_ns: Clock::Monotonic.now().saturating_sub(self.started).0,
            real_time: Some(self.real_time),
            reloads: Some(reloads),
            reloads_refused: Some(reloads_refused),
            events_lost: Some(self.log.lost()),
            interfaces: self.links.status(counts),
            ways: self.log.present().map(Period::status).collect(),
        }
    }

    pub fn end(mut self, counts: &Counts) -> Status {
        self.log.read(&mut self.books);
        let status = self.status(counts);
        self.log.end().iter().for_each(|period| self.books.keeper.ended(period));
        let say = &mut |what: &str| self.books.keeper.say(what);
        self.books.ledgers.finish(say);
        if let Some(capture) = self.books.capture {
            capture.finish(say);
        }
        status
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
