//! The interface through which a process reports to the program that starts it.

use laxity_answers::verdict::LiveVerdict;
use laxity_plan::Plan;

use crate::status::history::History;
use crate::status::{NetworkStatus, WayStatus};

/// Looks after a process that forwards: a terminal, or a service manager's log.
pub trait Keeper {
    /// Shows a sentence.
    fn say(&mut self, what: &str);

    /// Frames are forwarded from now on.
    fn begun(&mut self) {}

    /// Frames that come from now on are not forwarded; those that are queued still are.
    fn ending(&mut self) {}

    /// Receives what was measured under a plan that is no longer followed.
    fn ended(&mut self, results: &Results<'_>);
}

/// What was measured of a direction, or of routers, while it followed a plan.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made from what is measured")]
pub struct Results<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What its classes got.
    pub way: WayStatus,
    /// Of routers: what a link does not have.
    pub network: Option<NetworkStatus>,
    /// What was sent over time, and how delays are spread.
    pub history: History,
}

impl Results<'_> {
    /// Judges the results of a plan that is `admitted` or not.
    pub fn verdict(&self, admitted: Option<bool>) -> LiveVerdict {
        self.way.verdict(self.network.as_ref(), admitted)
    }
}
