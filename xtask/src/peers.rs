//! Networks that another simulator knows: ns-2 and `laxity run` are given the same dumbbells, and
//! what they measure is put side by side.

mod case;
mod laxity;
mod measures;
mod ns2;
mod run;
pub mod speed;

use crate::outcome::Done;
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;
use case::{CASES, Case};

/// Runs every network with seeds 1 to `seeds` under both; fails where they differ more than
/// [`measures`] tolerates.
pub fn step(seeds: u32) -> Step {
    Step::new("peers", move |workspace| {
        if !ns2::is_installed(workspace) {
            return Ok(Done::Skipped("ns-2 is not installed (Debian's package ns2)".into()));
        }
        release::build(workspace, release::DIST)?;
        let mut apart = Vec::new();
        for case in &CASES {
            apart.extend(compare(workspace, case, seeds)?);
        }
        match apart.is_empty() {
            true => Ok(Done::Passed),
            false => Err(format!("beyond what is tolerated:\n  {}", apart.join("\n  "))),
        }
    })
}

/// Prints one network's table; gives what is beyond its tolerance.
fn compare(workspace: &Workspace, case: &Case, seeds: u32) -> Result<Vec<String>, String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for seed in 1..=seeds {
        theirs.push(ns2::run(workspace, case, seed)?);
        ours.push(laxity::run(workspace, case, seed)?);
    }
    println!("\n{}, {} s, seeds 1 to {seeds}", case.title, case.duration);
    let (table, apart) = measures::table(&theirs, &ours);
    print!("{table}");
    Ok(apart.into_iter().map(|name| format!("{}: {name}", case.title)).collect())
}
