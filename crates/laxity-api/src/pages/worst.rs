//! Longest delays that were found, as text and as a page.

use laxity::units::Nanos;
use laxity_adversary::worst::TimedPacket;
use laxity_plan::Plan;
use laxity_report::worst::{self, Burst};

use crate::{WorstCase, WorstCases};

impl WorstCase {
    fn row(&self) -> worst::Row {
        worst::Row {
            class: self.class.clone(),
            nodes: self.nodes.clone(),
            bound: Nanos(self.bound_ns),
            found: Nanos(self.found_ns),
            arrival: Nanos(self.arrival_ns),
            packets: self.packets,
        }
    }
}

impl WorstCases {
    /// All of them as a table and sentences.
    pub fn text(&self) -> String {
        let rows: Vec<_> = self.0.iter().map(WorstCase::row).collect();
        worst::text(&rows)
    }

    /// A page with a picture of who sends when, for each class and path.
    pub fn page(&self, plan: &Plan) -> String {
        let burst = |sent: &TimedPacket| Burst {
            time: sent.time,
            class: sent.class,
            source: sent.source,
            length: sent.length,
        };
        let drawn = |case: &WorstCase| (case.row(), case.sent.iter().map(burst).collect());
        worst::page(plan, &self.0.iter().map(drawn).collect::<Vec<_>>())
    }
}
