//! The codes of causes, which stay the same for programs.

use laxity::explain::{self, Rule};
use laxity::packet::ClassId;

use super::Cause;

impl Cause {
    /// The code of every kind of cause.
    pub const CODES: [&'static str; 11] = [
        "on-link",
        "before",
        "held",
        "slow-link",
        "late-choice",
        "transmission",
        "slow-transmission",
        "propagation",
        "wire",
        "regulator",
        "wire-and-regulator",
    ];

    /// The place of its code in [`CODES`](Cause::CODES).
    pub fn kind(self) -> usize {
        match self {
            Cause::Wait(explain::Cause::OnLink(_)) => 0,
            Cause::Wait(explain::Cause::Before(..)) => 1,
            Cause::Wait(explain::Cause::Held(_)) => 2,
            Cause::Wait(explain::Cause::SlowLink) => 3,
            Cause::Wait(explain::Cause::LateChoice) => 4,
            Cause::Transmission => 5,
            Cause::SlowTransmission => 6,
            Cause::Propagation => 7,
            Cause::Wire => 8,
            Cause::Regulator => 9,
            Cause::WireAndRegulator => 10,
        }
    }

    /// Its code, without the class and the rule.
    pub fn code(self) -> &'static str {
        Cause::CODES[self.kind()]
    }

    /// The class whose packets were in the way.
    pub fn class(self) -> Option<ClassId> {
        match self {
            Cause::Wait(wait) => wait.class(),
            _ => None,
        }
    }

    /// The rule by which others went first, or nothing was sent.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Cause::Wait(explain::Cause::Before(_, rule) | explain::Cause::Held(rule)) => Some(rule),
            _ => None,
        }
    }
}
