//! A counterexample of any kind.

use crate::case::broken_plan::BrokenPlan;
use crate::case::shrink;
use crate::faults::{CallsFault, Fault};
use crate::reservations::{BrokenCalls, shrink as calls};
use crate::testbed::judge::Violation;

/// What breaks what is proved.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// Packets of a plan.
    Plan(BrokenPlan),
    /// Calls and their packets.
    Calls(BrokenCalls),
}

impl Broken {
    /// What it breaks.
    pub fn what(&self) -> &Violation {
        match self {
            Broken::Plan(broken) => &broken.what,
            Broken::Calls(broken) => &broken.what,
        }
    }

    /// Its plan in TOML.
    pub fn text(&self) -> String {
        match self {
            Broken::Plan(broken) => broken.draft.text(),
            Broken::Calls(broken) => broken.draft.text(),
        }
    }

    /// The simplest that is found of the same sort.
    pub fn shrunk(self, fault: Option<&'static Fault>) -> Broken {
        match self {
            Broken::Plan(broken) => Broken::Plan(shrink::shrunk(broken, fault)),
            Broken::Calls(broken) => {
                let fault: Option<&CallsFault> = fault.and_then(Fault::of_calls);
                Broken::Calls(calls::shrunk(broken, fault))
            }
        }
    }
}

impl From<BrokenCalls> for Broken {
    fn from(broken: BrokenCalls) -> Broken {
        Broken::Calls(broken)
    }
}
