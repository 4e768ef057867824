//! Results that promises are held against.

use laxity_plan::Plan;
use laxity_sim::summary::{ClassSummary, Summary};

use super::broken::{Broken, Owed, broken_by};

/// Results that promises are held against.
pub trait Measured {
    /// The discipline, as `--scheduler` names it.
    fn scheduler(&self) -> &str;

    /// Whether any class was promised a delay or windows.
    fn promised(&self, plan: &Plan) -> bool;

    /// Every broken promise, in the plan's order.
    fn broken(&self, plan: &Plan) -> Vec<Broken>;
}

impl Measured for Summary {
    fn scheduler(&self) -> &str {
        &self.scheduler
    }

    fn promised(&self, _: &Plan) -> bool {
        self.promises_delay() || self.classes.iter().any(|class| class.windows.is_some())
    }

    fn broken(&self, _: &Plan) -> Vec<Broken> {
        // A class that tolerates losses is promised its windows, not every deadline.
        let owed = |class: &ClassSummary| {
            let deadline = class.deadline_ns.is_some() && class.windows.is_none();
            let bound = class.deadline_ns.is_some() || class.nonconforming == 0;
            let nonconforming = class.nonconforming;
            Owed { deadline, bound, room: deadline, lossless: false, nonconforming }
        };
        self.classes.iter().flat_map(|class| broken_by(class, owed(class))).collect()
    }
}
