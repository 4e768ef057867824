//! The longest delays for people.

use laxity_plan::Plan;
use laxity_report::worst;

use crate::WorstCases;

impl WorstCases {
    /// All of them as a table and sentences.
    pub fn text(&self) -> String {
        worst::text(&self.0)
    }

    /// A page with a picture of who sends when, for each class and path.
    pub fn page(&self, plan: &Plan) -> String {
        worst::page(plan, &self.0)
    }
}
