//! Plans for an access link, from what a household knows of it.
//!
//! A [`Household`] has two sides, what is sent and what is received, and what matters to its
//! people. Each side becomes a plan: shares of the link for what has no deadline, each fair to its
//! flows, and a share in which the earliest deadline goes first. Its deadlines are the shortest of
//! a few that the admission test proves, its share is the smallest that proves them, and its
//! contracts are the largest that fit.

mod application;
mod draft;
mod fit;
mod link;
mod router;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

use laxity::overhead::Overhead;
use laxity::sched::cake::{CakeSettings, Diffserv, Isolation};
use laxity::units::Rate;
use laxity_exchange::router::{RouterPromise, Rule};
use laxity_plan::model::CakeSpec;
use laxity_plan::{Plan, PlanError};

use crate::CheckResult;

pub use application::{Application, DelayNeed, Need, UnknownApplication};
pub use fit::Misfit;
pub use link::{AccessLink, UnknownLink};
pub use router::{RouterError, Tool, UnknownTool, read_router};

/// The most devices of a household.
pub const MOST_DEVICES: u32 = 1000;

/// A direction through an access link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a link has two")]
pub enum Direction {
    /// From the household.
    Up,
    /// To the household.
    Down,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Up, Direction::Down];

    /// Its word, which is also the name of its plan.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who uses an access link, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Household {
    /// What is sent.
    pub up: Side,
    /// What is received.
    pub down: Side,
    /// What matters.
    pub applications: Vec<Application>,
    /// Devices that are in use at the same time, from 1 to [`MOST_DEVICES`].
    pub devices: u32,
    /// Traffic that has a class by the settings of a router.
    pub rules: Vec<Rule>,
    /// What the plans are made from, and what of it they leave out; empty for answers of people.
    pub remarks: Vec<String>,
}

/// One direction of an access link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What the link carries.
    pub link: Rate,
    /// How much of that the plan uses, in percent.
    pub percent: u64,
    /// What the link adds to frames.
    pub overhead: Overhead,
    /// How packets are sorted by their DSCP, beside what matters, and what shares without a
    /// deadline do with flows.
    pub queues: CakeSpec,
    /// What a router promises its most urgent traffic.
    pub promise: Option<RouterPromise>,
    /// Why the rate and the overhead are what they are, in lines.
    pub reasons: Vec<String>,
}

impl Side {
    /// The side of a link that carries `rate`.
    pub fn new(link: &AccessLink, rate: Rate, direction: Direction) -> Side {
        let percent = link.percent(direction);
        let (place, isolation) = match direction {
            Direction::Up => ("not in the modem", Isolation::DualSrchost),
            Direction::Down => ("not at the provider", Isolation::DualDsthost),
        };
        Side {
            link: rate,
            percent,
            overhead: link.overhead,
            queues: CakeSpec {
                settings: CakeSettings {
                    diffserv: Diffserv::Besteffort,
                    isolation,
                    ..CakeSettings::USUAL
                },
                ..CakeSpec::USUAL
            },
            promise: None,
            reasons: vec![
                format!(
                    "{percent} % of {rate}, so that packets wait here, where their order is decided, and"
                ),
                format!("{place}. {}", link.advice()),
            ],
        }
    }

    /// The rate of the plan, rounded down.
    pub fn rate(&self) -> Rate {
        let bits = u128::from(self.link.0) * u128::from(self.percent) / 100;
        Rate(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
    }
}

/// A plan for one direction, and what is proved of it.
#[derive(Clone, Debug)]
pub struct HouseholdPlan {
    /// The direction.
    pub direction: Direction,
    /// The text of the plan, with comments.
    pub text: String,
    /// The plan.
    pub plan: Plan,
    /// What is proved: it is admitted.
    pub checked: CheckResult,
}

/// Why there is no plan for a household.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HouseholdError {
    /// The link is too small for what matters.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// A rule of a router does not become a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Household {
    /// The plans for both directions, admitted.
    ///
    /// # Errors
    /// If a direction is too small for what matters, or a rule makes no match.
    pub fn plans(&self) -> Result<[HouseholdPlan; 2], HouseholdError> {
        Ok([self.plan(Direction::Up)?, self.plan(Direction::Down)?])
    }

    /// The plan for one direction, admitted.
    ///
    /// # Errors
    /// If this direction is too small for what matters, or a rule makes no match.
    pub fn plan(&self, direction: Direction) -> Result<HouseholdPlan, HouseholdError> {
        match fit::fitting(self, direction)? {
            Some(plan) => Ok(plan),
            None => Err(Misfit::new(self, direction)?.into()),
        }
    }

    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }
}
