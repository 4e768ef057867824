//! `laxity check` of plans with a network.

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::tdp::{Assignment, TdpSpec};
use laxity_report::network::framing::FramingProof;
use laxity_report::network::proof::Proof;
use laxity_report::quantity;

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
    if let SchedulerSpec::Tdp(spec) = scheduler {
        let assignment = if arguments.exact { Assignment::Exact } else { spec.assignment };
        return check_frames(arguments, plan, &TdpSpec { assignment, ..spec });
    }
    let proof = Proof::of(plan, scheduler);
    if arguments.json {
        print_json(&proof)?;
    } else {
        print(&text(&proof, plan))?;
    }
    Ok(Promises::kept_if(proof.admitted != Some(false)))
}

/// Assigns frames and proves what follows.
fn check_frames(arguments: &Check, plan: &Plan, spec: &TdpSpec) -> Result<Promises, Failure> {
    let proof = FramingProof::of(plan, spec);
    if arguments.json {
        print_json(&proof)?;
    } else {
        print(&framing(&proof, plan))?;
    }
    Ok(Promises::kept_if(proof.admitted))
}

fn framing(proof: &FramingProof, plan: &Plan) -> String {
    let mut text = format!(
        "{}\ntdp, frames of {}, reserved for periods of {}\n\n{}\n\n{}{}\n",
        plan.title.as_deref().unwrap_or("Network"),
        quantity::time(proof.frame_ns as f64),
        proof.period_frames,
        proof.tables(),
        if proof.admitted { "Admitted. " } else { "NOT ADMITTED. " },
        proof.statement,
    );
    text += FRAMES_EXPLAINED;
    for remark in proof.remarks() {
        text += &format!("Note: {remark}.\n");
    }
    text
}

const FRAMES_EXPLAINED: &str = "A packet waits at the edge for a frame of its class (edge) and is then sent by one \
    output after another in the frames that its forwarding delays say (transit). Bounds hold for classes that \
    keep to what they say they send, in packets of their largest length; from its first transmission on a \
    packet's time varies by less than two frames.\n";

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
