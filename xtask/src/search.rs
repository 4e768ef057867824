//! The standing adversary: traffic that is searched for harm, and faults that it has to find.

use crate::outcome::Outcome;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Optimized, with arithmetic that is checked.
const PROFILE: [&str; 3] = ["--release", "--package", "laxity-search"];

/// Searches as the arguments of `laxity-search` say.
pub(crate) fn step(arguments: Vec<String>) -> Step {
    Step::new("search", move |workspace| search(workspace, &arguments))
}

/// Minutes of search, and every planted fault.
pub(crate) fn steps(minutes: u32) -> Vec<Step> {
    vec![
        step(vec!["--minutes".to_string(), minutes.to_string()]),
        Step::new("planted faults", |workspace| {
            let mut test = workspace.cargo();
            test.arg("test").args(PROFILE).args(["--", "--nocapture"]);
            workspace.run(&mut test)
        }),
    ]
}

fn search(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let mut run = workspace.cargo();
    run.args(["run", "--quiet"]).args(PROFILE).arg("--").args(arguments);
    workspace.run(&mut run)
}
