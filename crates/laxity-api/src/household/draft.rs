//! What is in a household's plan: classes with a deadline, and shares.

use laxity::units::{Bytes, Nanos, Rate};
use laxity_exchange::router::{RouterPromise, Rule, Urgency};

use super::application::{Application, DelayNeed, Need};
use super::{Direction, Household, Side};

/// A plan in the making. What does not depend on what is proved is in the household.
pub(super) struct Draft<'a> {
    pub household: &'a Household,
    pub direction: Direction,
    pub promises: Promises,
}

/// What the admission test decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promises {
    /// The part of the best quality that contracts allow, in percent; never less than an
    /// application needs.
    pub quality: u64,
    /// By how much deadlines are longer than the best, in tenths.
    pub patience: u64,
    /// The share of classes with a deadline, in percent of the link.
    pub share: u64,
}

/// A class with a deadline.
pub(super) struct DelayClass {
    pub application: Application,
    pub deadline: Nanos,
    /// How many are promised at the same time.
    pub uses: u32,
    /// The rate of each.
    pub rate_each: Rate,
    pub bucket: Bytes,
    pub packet: Bytes,
    /// Tests that its packets pass one of.
    pub matching: Vec<String>,
}

/// A share without a deadline.
pub(super) struct Share {
    pub name: &'static str,
    pub examples: String,
    /// In percent of the link.
    pub weight: u64,
    /// Tests that its packets pass one of.
    pub matching: Vec<String>,
}

/// Of the link, for what has time.
const BACKGROUND_PERCENT: u64 = 5;
/// Parts of everything that has no class of its own, beside those of the applications.
const REST_PARTS: u64 = 4;
/// Parts of the video tins of cake.
const VIDEO_PARTS: u64 = 4;

impl Draft<'_> {
    pub(super) fn side(&self) -> &Side {
        self.household.side(self.direction)
    }

    /// Whether a packet of each class alone is sent within its deadline.
    pub(super) fn is_possible(&self) -> bool {
        let rate = self.side().rate();
        self.delay_classes().iter().all(|class| rate.time_for(class.packet) <= class.deadline)
    }

    /// The classes with a deadline.
    pub(super) fn delay_classes(&self) -> Vec<DelayClass> {
        let needs = delay_needs(self.household, self.direction).into_iter();
        needs.map(|(application, need)| self.delay_class(application, need)).collect()
    }

    fn delay_class(&self, application: Application, need: DelayNeed) -> DelayClass {
        let Promises { quality, patience, .. } = self.promises;
        let uses = need.uses(self.household.devices);
        let rate_each = rate_each(&need, self.direction, quality);
        let frame = need.packet + ETHERNET_HEADER;
        let packet = Bytes(self.side().overhead.on_link(frame).into());
        DelayClass {
            application,
            deadline: Nanos(need.delay.0 * patience / 10),
            uses,
            rate_each,
            bucket: Bytes(burst(rate_each, packet).0 * u64::from(uses)),
            packet,
            matching: self.delay_matching(application),
        }
    }

    /// Packets of an application. Those that a router has as the most urgent belong to what it
    /// promises, or else to calls.
    fn delay_matching(&self, application: Application) -> Vec<String> {
        let urgent = match self.side().promise {
            Some(_) => Application::GAMES,
            None => Application::CALLS,
        };
        let urgent = (application == urgent).then(|| self.sorted(Urgency::RealTime));
        let own = application.tests(self.direction);
        own.into_iter().chain(urgent.into_iter().flatten()).collect()
    }

    /// What a router sorts as this urgent.
    fn sorted(&self, urgency: Urgency) -> Vec<String> {
        let rules = self.household.rules.iter().filter(|rule| rule.urgency == urgency);
        let rules = rules.map(|Rule { matching, .. }| matching.clone());
        let points = urgency.code_points(self.side().queues.settings.diffserv);
        rules.chain(points.map(|points| format!("dscp {{{points}}}"))).collect()
    }

    /// The shares without a deadline, the last for everything else.
    pub(super) fn shares(&self) -> Vec<Share> {
        let mut parts: Vec<(Share, u64)> = Vec::new();
        for application in &self.household.applications {
            let Need::Share { up, down } = application.need else { continue };
            let share = Share {
                name: application.word,
                examples: application.examples.into(),
                weight: 0,
                matching: application.tests(self.direction),
            };
            parts.push((share, if self.direction == Direction::Up { up } else { down }));
        }
        let video = self.sorted(Urgency::Video);
        if !video.is_empty() {
            let examples = "what the router sorts as video".into();
            let share = Share { name: "video", examples, weight: 0, matching: video };
            parts.push((share, VIDEO_PARTS));
        }
        let left = 100u64.saturating_sub(self.promises.share + BACKGROUND_PERCENT);
        let all: u64 = REST_PARTS + parts.iter().map(|(_, parts)| parts).sum::<u64>();
        let mut shares: Vec<Share> = parts
            .into_iter()
            .map(|(share, parts)| Share { weight: (left * parts / all).max(1), ..share })
            .collect();
        let given: u64 = shares.iter().map(|share| share.weight).sum();
        let application = Application::BACKGROUND;
        let own = application.tests(self.direction).into_iter();
        shares.push(Share {
            name: application.word,
            examples: application.examples.into(),
            weight: BACKGROUND_PERCENT,
            matching: own.chain(self.sorted(Urgency::Bulk)).collect(),
        });
        shares.push(Share {
            name: "rest",
            examples: "pages, downloads, video in a browser".into(),
            weight: left.saturating_sub(given).max(1),
            matching: vec!["any".into()],
        });
        shares
    }
}

const ETHERNET_HEADER: u32 = 14;

/// The applications with a deadline, and lookups, which every household has. A router's promise is
/// one to games, as it says it.
pub(super) fn delay_needs(
    household: &Household,
    direction: Direction,
) -> Vec<(Application, DelayNeed)> {
    let promise = household.side(direction).promise;
    let games = promise.map(|_| &Application::GAMES);
    let others = household
        .applications
        .iter()
        .filter(|application| promise.is_none() || **application != Application::GAMES);
    let all = others.chain(games).chain([&Application::LOOKUPS]);
    let needs = all.filter_map(|application| match application.need {
        Need::Delay(need) => Some((*application, promised(application, need, promise))),
        Need::Share { .. } => None,
    });
    needs.collect()
}

fn promised(
    application: &Application,
    need: DelayNeed,
    promise: Option<RouterPromise>,
) -> DelayNeed {
    match promise {
        Some(RouterPromise { rate, delay }) if *application == Application::GAMES => DelayNeed {
            delay,
            devices_per_use: u32::MAX,
            up: rate,
            down: rate,
            least: rate,
            ..need
        },
        _ => need,
    }
}

/// The rate of one use, with this quality in percent.
pub(super) fn rate_each(need: &DelayNeed, direction: Direction, quality: u64) -> Rate {
    Rate((need.best(direction).0 / 100 * quality).max(need.least.0))
}

/// What one use sends at once: a picture is sent over some milliseconds, and a packet of sound may
/// meet it.
fn burst(rate: Rate, packet: Bytes) -> Bytes {
    const MILLISECONDS: u64 = 20;
    Bytes((rate.0 * MILLISECONDS / 8000).max(2 * packet.0))
}
