//! A rate for a link that nobody knows.
//!
//! A shaper in front of a modem keeps the queue on its own side as long as it sends no faster than
//! the modem. Over the air, by cable and by satellite that rate changes. [`Autorate`] watches the
//! delay of probes to the far end, counts what the shaper sent meanwhile, and says how fast the
//! shaper is to send: never slower than [`Settings::from`], never faster than [`Settings::to`].
//!
//! Probes are packets of its own that a reflector answers ([`poll`](Autorate::poll),
//! [`answered`](Autorate::answered)), or packets of others whose acknowledgements are seen
//! ([`observe`](Autorate::observe), [`timestamps`]).
//!
//! Two rules stand side by side. [`Rule::Delay`] measures the capacity of the link while a queue
//! stands behind the shaper, and keeps that queue short. [`Rule::CakeAutorate`] is the rule of
//! cake-autorate, from its documentation.

mod baseline;
mod cake;
mod capacity;
mod delay;
mod probes;
mod seconds;
pub mod timestamps;

#[cfg(test)]
mod tests;

use self::baseline::{Baselines, Finding};
use self::cake::CakeAutorate;
use self::capacity::Point;
use self::delay::DelayRule;
use self::probes::Probes;
use crate::named::named;
use crate::units::{Nanos, Rate};

pub use self::probes::Probe;
pub use self::seconds::{BoundsByRate, Second, Seconds};

named! {
    /// How a rate is found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Rule {
        /// The capacity is measured while a queue stands behind the shaper.
        Delay = "delay",
        /// Steps up and down, as cake-autorate makes them.
        CakeAutorate = "cake-autorate",
    }
}

/// A share in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "it is a number")]
pub struct Millionths(pub u32);

impl Millionths {
    /// All of it.
    pub const ONE: Millionths = Millionths(1_000_000);

    /// This share of an amount, rounded down.
    pub fn of(self, amount: u64) -> u64 {
        scale(amount, self.0.into(), Millionths::ONE.0.into())
    }
}

/// What a controller is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plan says all of it")]
pub struct Settings {
    /// How the rate is found.
    pub rule: Rule,
    /// The least rate: what the link always carries.
    pub from: Rate,
    /// The highest rate, at least [`from`](Settings::from).
    pub to: Rate,
    /// The rate at the beginning, between the two. Cake-autorate comes back to it when little is
    /// sent.
    pub start: Rate,
    /// The delay that may stand behind the shaper. For cake-autorate the one above which a probe
    /// counts as delayed.
    pub delay: Nanos,
    /// Time between two probes. Not zero.
    pub interval: Nanos,
    /// The most by which the rate rises at once.
    pub rise: Millionths,
    /// The most by which it falls at once; below the measured capacity for [`Rule::Delay`].
    pub fall: Millionths,
    /// The time in which [`Rule::Delay`] drains a queue that is too long. Not zero.
    pub drain: Nanos,
}

impl Settings {
    /// Careful settings of a rule between two rates. It starts at their geometric mean.
    pub fn new(rule: Rule, from: Rate, to: Rate) -> Self {
        let start = Rate((u128::from(from.0) * u128::from(to.0)).isqrt() as u64);
        let (delay, rise, fall) = match rule {
            Rule::Delay => (10, 250_000, 750_000),
            Rule::CakeAutorate => (30, 40_000, 250_000),
        };
        Settings {
            rule,
            from,
            to,
            start,
            delay: Nanos(delay * MILLISECOND),
            interval: Nanos(50 * MILLISECOND),
            rise: Millionths(rise),
            fall: Millionths(fall),
            drain: Nanos(100 * MILLISECOND),
        }
    }

    /// What may wait behind the shaper in a second that counts as kept: the delay that is aimed at
    /// and as much again, as queues swing around it.
    pub fn allowance(&self) -> Nanos {
        Nanos(self.delay.0.saturating_mul(2))
    }
}

const MILLISECOND: u64 = 1_000_000;
/// How often the rate is looked at between two probes: one that is overdue is noticed then.
const LOOKS: u64 = 5;
/// Without any answer for so long the rate is the least.
const SILENCE: Nanos = Nanos(2_000 * MILLISECOND);

/// A controller of a shaper's rate. It reads no clock: times are arguments and never decrease.
#[derive(Clone, Debug)]
pub struct Autorate {
    settings: Settings,
    rule: AnyRule,
    probes: Probes,
    baselines: Baselines,
    rate: Rate,
    /// Bytes that the shaper sent so far.
    carried: u64,
    last_answer: Nanos,
    next_probe: Nanos,
    next_look: Nanos,
}

#[derive(Clone, Debug)]
enum AnyRule {
    Delay(DelayRule),
    CakeAutorate(CakeAutorate),
}

impl AnyRule {
    fn new(settings: &Settings, now: Nanos) -> Self {
        match settings.rule {
            Rule::Delay => AnyRule::Delay(DelayRule::new(settings, now)),
            Rule::CakeAutorate => AnyRule::CakeAutorate(CakeAutorate::new(now)),
        }
    }
}

/// What is known of a probe that came back.
#[derive(Clone, Copy, Debug)]
struct Sample {
    path: u32,
    sent: Nanos,
    /// Bytes that the shaper had sent when the probe was.
    carried: u64,
    round_trip: Nanos,
    /// What that says of the queue.
    finding: Finding,
}

impl Sample {
    fn point(&self) -> Point {
        Point { sent: self.sent, queueing: self.finding.queueing, carried: self.carried }
    }
}

/// The state of the shaper when a rule decides.
#[derive(Clone, Copy, Debug)]
struct Shaper {
    now: Nanos,
    rate: Rate,
    carried: u64,
}

impl Autorate {
    /// A controller that begins at `now` and probes this many reflectors in turn.
    pub fn new(settings: Settings, reflectors: u32, now: Nanos) -> Self {
        Autorate {
            settings,
            rule: AnyRule::new(&settings, now),
            probes: Probes::new(reflectors),
            baselines: Baselines::default(),
            rate: settings.start.clamp(settings.from, settings.to),
            carried: 0,
            last_answer: now,
            next_probe: now,
            next_look: now,
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Goes on with other settings from `now` on. What was measured stays, unless the rule is
    /// another one.
    pub fn set_settings(&mut self, settings: Settings, now: Nanos) {
        match &mut self.rule {
            _ if settings.rule != self.settings.rule => self.rule = AnyRule::new(&settings, now),
            AnyRule::Delay(rule) => rule.set_settings(&settings),
            AnyRule::CakeAutorate(_) => {}
        }
        self.settings = settings;
        self.set_rate(self.rate.0);
    }

    /// The rate at which the shaper is to send now.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Bytes that the shaper has sent so far.
    pub fn carried(&self) -> u64 {
        self.carried
    }

    /// The shaper has sent more bytes, probes included.
    pub fn carries(&mut self, bytes: u64) {
        self.carried += bytes;
    }

    /// When to call [`poll`](Self::poll) next.
    pub fn next_poll(&self) -> Nanos {
        self.next_look
    }

    /// Looks at the rate again, some times in an interval. Returns the probe to send, once in an
    /// interval if there are reflectors; at first one for each of them.
    pub fn poll(&mut self, now: Nanos) -> Option<Probe> {
        if now < self.next_look {
            return None;
        }
        let interval = self.settings.interval;
        if self.probes.is_first_round() {
            // All at once, before there is a queue: so their least round trips agree.
            self.next_probe = now.saturating_add(interval);
            return self.probes.send(now, self.carried);
        }
        self.next_look = after(self.next_look, Nanos(interval.0.div_ceil(LOOKS)), now);
        let is_time = now >= self.next_probe;
        if is_time {
            self.next_probe = after(self.next_probe, interval, now);
        }
        self.look(now, is_time);
        if is_time { self.probes.send(now, self.carried) } else { None }
    }

    fn look(&mut self, now: Nanos, is_time: bool) {
        self.probes.forget(now);
        let shaper = self.shaper(now);
        let overdue = self.probes.overdue().map(|(path, sent, carried)| {
            let round_trip = now.saturating_sub(sent);
            let queueing = self.baselines.excess(path, round_trip);
            Sample { path, sent, carried, round_trip, finding: Finding { queueing, emptied: None } }
        });
        let rate = match &mut self.rule {
            AnyRule::Delay(rule) => {
                let rate = rule.look(&self.settings, shaper, overdue.as_ref());
                if is_time {
                    rule.rise(&self.settings, Shaper { rate: Rate(rate), ..shaper })
                } else {
                    rate
                }
            }
            AnyRule::CakeAutorate(rule) => rule.look(shaper),
        };
        let is_silent = now.saturating_sub(self.last_answer) > SILENCE;
        self.set_rate(if is_silent { self.settings.from.0 } else { rate });
    }

    /// A probe came back. Returns for how long it waited in queues; `None` if it is unknown, was
    /// answered before, or is older than some seconds.
    pub fn answered(&mut self, now: Nanos, number: u64) -> Option<Nanos> {
        let (path, sent, carried) = self.probes.answered(number)?;
        Some(self.sample(now, path, sent, carried))
    }

    /// A packet of others came back, or what acknowledges it. It was `sent` when the shaper had
    /// `carried` this number of bytes. Paths are numbered below [`Autorate::PATHS`]; one that is
    /// `new` has no known delay yet. Returns for how long it waited in queues.
    pub fn observe(
        &mut self,
        now: Nanos,
        path: u32,
        is_new: bool,
        sent: Nanos,
        carried: u64,
    ) -> Nanos {
        let path = self.probes.reflectors().saturating_add(path % Autorate::PATHS);
        if is_new {
            self.baselines.forget(path);
        }
        self.sample(now, path, sent, carried)
    }

    /// The most paths of others at once.
    pub const PATHS: u32 = 1024;

    fn sample(&mut self, now: Nanos, path: u32, sent: Nanos, carried: u64) -> Nanos {
        let round_trip = now.saturating_sub(sent);
        let settings = &self.settings;
        let (reference, capacity) = match &self.rule {
            AnyRule::Delay(rule) => {
                (rule.reference(settings, now, path, (sent, carried)), rule.capacity())
            }
            AnyRule::CakeAutorate(_) => (None, u64::MAX),
        };
        let noise = delay::floor(settings);
        let finding = self.baselines.add(path, now, (sent, carried), capacity, reference, noise);
        self.last_answer = now;
        let (shaper, is_evidence) =
            (self.shaper(now), reference.is_none() || finding.is_known(now));
        let sample = Sample { path, sent, carried, round_trip, finding };
        let rate = match &mut self.rule {
            // Others know better.
            AnyRule::Delay(_) if !is_evidence => self.rate.0,
            AnyRule::Delay(rule) => rule.sample(settings, shaper, &sample),
            AnyRule::CakeAutorate(rule) => rule.sample(settings, shaper, &sample),
        };
        self.set_rate(rate);
        finding.queueing
    }

    fn shaper(&self, now: Nanos) -> Shaper {
        Shaper { now, rate: self.rate, carried: self.carried }
    }

    fn set_rate(&mut self, rate: u64) {
        self.rate = Rate(rate).clamp(self.settings.from, self.settings.to);
    }
}

/// The next of times that are a step apart, or a step from now if that has passed.
fn after(last: Nanos, step: Nanos, now: Nanos) -> Nanos {
    let next = last.saturating_add(step);
    if next > now { next } else { now.saturating_add(step) }
}

/// `amount * of / whole`, rounded down; the largest number if that is too large.
fn scale(amount: u64, of: u64, whole: u64) -> u64 {
    let scaled = u128::from(amount) * u128::from(of) / u128::from(whole.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Bits a second of a number of bytes in a time; `None` in no time.
fn bits_per_second(bytes: u64, time: Nanos) -> Option<u64> {
    (time > Nanos::ZERO).then(|| scale(bytes, 8_000_000_000, time.0))
}
