//! Networks that other simulators know: ns-2, ns-3 and `laxity run` are given the same ones, and
//! what they measure is put side by side.

mod case;
mod laxity;
mod measures;
mod ns2;
mod ns3;
mod run;
mod script;
pub(crate) mod speed;

use crate::guided;
use crate::outcome::Status;
use crate::steps::Step;
use crate::workspace::Workspace;
use case::{CASES, Case};
use measures::Peer;
use run::Run;

/// Runs every network with seeds 1 to `seeds` under all that are installed; fails where they differ
/// from us more than [`measures`] tolerates.
pub(crate) fn step(seeds: u32) -> Step {
    Step::new("peers", move |workspace| {
        let installed =
            Programs { ns2: ns2::is_installed(workspace), ns3: ns3::Programs::build(workspace)? };
        let missing = [
            (installed.ns2, "ns-2 is not installed (Debian's package ns2)"),
            (
                installed.ns3.is_some(),
                "ns-3 is not installed (Debian's package libns3-dev, and g++)",
            ),
        ];
        let missing: Vec<_> =
            missing.into_iter().filter_map(|(there, what)| (!there).then_some(what)).collect();
        if missing.len() == 2 {
            return Ok(Status::Skipped(missing.join("; ")));
        }
        guided::build_or_not(workspace)?;
        for what in missing {
            println!("skipped: {what}");
        }
        let mut apart = Vec::new();
        for case in &CASES {
            apart.extend(compare(workspace, &installed, case, seeds)?);
        }
        if apart.is_empty() {
            Ok(Status::Passed)
        } else {
            Err(format!("beyond what is tolerated:\n  {}", apart.join("\n  ")))
        }
    })
}

struct Programs {
    ns2: bool,
    ns3: Option<ns3::Programs>,
}

/// Prints one network's tables; gives what is beyond its tolerance.
fn compare(
    workspace: &Workspace,
    installed: &Programs,
    case: &Case,
    seeds: u32,
) -> Result<Vec<String>, String> {
    let (mut ns2, mut ns3, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 1..=seeds {
        if installed.ns2 {
            ns2.push(ns2::run(workspace, case, seed)?);
        }
        if let (Some(programs), Some(told)) = (&installed.ns3, &case.ns3)
            && seed <= told.seeds
        {
            ns3.push(programs.run(workspace, case, told, seed)?);
        }
        ours.push(laxity::run(workspace, case, seed)?);
    }
    let mut apart = Vec::new();
    println!("\n{}, {} s, seeds 1 to {seeds}", case.title, case.duration);
    for (name, has_our_tcp, theirs) in [("ns-2", true, ns2), ("ns-3", false, ns3)] {
        if !theirs.is_empty() {
            let peer = Peer { name: head(name, &theirs, seeds), has_our_tcp };
            let (table, beyond) = measures::table(&peer, &theirs, &ours);
            print!("{table}");
            apart.extend(beyond.iter().map(|what| format!("{}: {name}: {what}", case.title)));
        }
    }
    Ok(apart)
}

/// What stands over a peer's column.
fn head(name: &str, theirs: &[Run], seeds: u32) -> String {
    match theirs.len() {
        count if count == seeds as usize => name.into(),
        count => format!("{name}, {count} seeds"),
    }
}
