//! The standing adversary: traffic that is searched for harm, and faults that it has to find.

use crate::outcome::Outcome;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Optimised, and built faster than a release.
const PROFILE: [&str; 4] = ["--profile", "search", "--package", "laxity-search"];

/// Searches as the arguments of `laxity-search` say.
pub fn step(arguments: Vec<String>) -> Step {
    Step::new("search", move |workspace| search(workspace, &arguments))
}

/// A minute of search, and every planted fault.
pub fn steps() -> Vec<Step> {
    let minute = ["--minutes", "1"].map(str::to_string).to_vec();
    vec![
        step(minute),
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
