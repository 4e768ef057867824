//! Answers as text, figures and pages, for people.

mod fit;
mod result;
mod worst;

use laxity_answers::link::Admission;
use laxity_plan::Plan;
use laxity_report::admission::curves::CurveFigure;
use laxity_report::{admission, network, quantity};

use crate::{CheckResult, Corrections, LinuxCheck};

pub use result::Delays;

impl CheckResult {
    /// The proof as a table and sentences.
    pub fn text(&self, plan: &Plan) -> String {
        match self {
            CheckResult::Link(proof) => admission::text(proof, plan),
            CheckResult::Network(proof) => network::proof::text(proof, plan),
            CheckResult::Frames(proof) => network::frames::text(proof, plan),
        }
    }

    /// The same as a page of HTML, of one link with the curves that its test compares.
    pub fn page(&self, plan: &Plan) -> String {
        match self {
            CheckResult::Link(proof) => admission::page(proof, plan, &curves(plan)),
            CheckResult::Network(proof) => network::proof::page(proof, plan),
            CheckResult::Frames(proof) => network::frames::page(proof, plan),
        }
    }
}

/// The figures of the curves that the test of a plan's discipline compares, if it has any; of one
/// link only.
pub fn curves(plan: &Plan) -> Vec<CurveFigure> {
    let test = if plan.network_plan().is_some() { None } else { Admission::test(plan) };
    test.map_or_else(Vec::new, |test| admission::figures(plan, &test))
}

impl LinuxCheck {
    /// The proof as a table and sentences, and what Linux adds to the bounds.
    pub fn text(&self) -> String {
        let time = |ns: u64| quantity::time(ns as f64);
        let Corrections { stall_ns, link_rate_bps, max_packet_bytes, remarks } = &self.linux;
        let mut text = self.checked.text(&self.carried.plan);
        text += &format!(
            "\nUnder Linux: a packet may be {} late because of timers, which the bounds count; after rounding the \
             classes share {}, and the longest packet takes {} bytes.\n",
            time(*stall_ns),
            quantity::rate(*link_rate_bps as f64),
            quantity::count(*max_packet_bytes),
        );
        for remark in remarks {
            text += &format!("- {remark}\n");
        }
        text
    }
}
