//! `laxity check` of plans with a network.

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_report::network::proof::Proof;

use crate::args::Check;
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// Proves what can be proved of a network's paths.
pub fn check_network(
    arguments: &Check,
    plan: &Plan,
    scheduler: SchedulerSpec,
) -> Result<Promises, Failure> {
    if plan.sources.is_empty() {
        return Err(Failure::input(
            "the plan has no [[source]], so it is not known who takes which path: add one with a `path`",
        ));
    }
    let proof = Proof::of(plan, scheduler);
    if arguments.json {
        print_json(&proof)?;
    } else {
        print(&text(&proof, plan))?;
    }
    Ok(Promises::kept_if(proof.admitted != Some(false)))
}

fn text(proof: &Proof, plan: &Plan) -> String {
    let verdict = match proof.admitted {
        Some(true) => "Admitted. ",
        Some(false) => "NOT ADMITTED. ",
        None => "",
    };
    let mut text = format!(
        "{}\n{} where links name no other\n\n{}\n\n{verdict}{}\n",
        plan.title.as_deref().unwrap_or("Network"),
        proof.scheduler,
        proof.tables(),
        proof.statement,
    );
    text += EXPLAINED;
    for remark in proof.remarks() {
        text += &format!("Note: {remark}.\n");
    }
    text
}

const EXPLAINED: &str = "A class's `deadline` is compared with its bound at every output, `end-to-end` with \
    the bound of the whole path: the lesser one of all hops added and of hops in a row at which a burst \
    waits once. Both hold for classes that keep to their arrival curves.\n";
