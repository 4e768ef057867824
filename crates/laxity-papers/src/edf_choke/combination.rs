//! The six combinations of an order and a queue management.

use laxity_plan::Plan;
use toml::{Table, Value};

/// Who is sent first, and who gets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Combination {
    /// Whether packets are sent by deadline and dropped when they are late; by arrival if not.
    pub edf: bool,
    /// `kind = …` of the queue.
    pub queue: &'static str,
}

/// All of them, in the order of the paper's tables.
pub(super) const COMBINATIONS: [Combination; 6] = [
    Combination { edf: false, queue: "droptail" },
    Combination { edf: false, queue: "red" },
    Combination { edf: false, queue: "choke" },
    Combination { edf: true, queue: "droptail" },
    Combination { edf: true, queue: "red" },
    Combination { edf: true, queue: "choke" },
];

impl Combination {
    /// The paper's name for it.
    pub(super) fn name(self) -> String {
        let order = if self.edf { "EDF" } else { "FCFS" };
        let queue = match self.queue {
            "droptail" => "DropTail",
            "red" => "RED",
            _ => "CHOKe",
        };
        format!("{order}-{queue}")
    }

    /// A plan of EDF with CHOKe as one of this combination.
    pub(super) fn plan(self, text: &str) -> Plan {
        let mut plan: Table = text.parse().expect("the paper's plans are TOML");
        let scheduler = plan["scheduler"].as_table_mut().expect("plans have a scheduler");
        if !self.edf {
            scheduler.insert("kind".into(), Value::from("fifo"));
            scheduler.remove("late");
        }
        let queue = scheduler["queue"].as_table_mut().expect("the paper's plans manage a queue");
        queue.insert("kind".into(), Value::from(self.queue));
        if self.queue == "droptail" {
            queue.retain(|key, _| key == "kind" || key == "limit");
        }
        crate::experiment::plan(&plan.to_string())
    }
}
