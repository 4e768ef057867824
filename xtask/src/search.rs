//! The standing adversary: traffic that is searched for harm, and faults that it has to find.

use crate::release;
use crate::steps::Step;

/// Searches as the arguments of `laxity-search` say, optimized, with arithmetic that is checked.
pub(crate) fn step(arguments: Vec<String>) -> Step {
    Step::new("search", move |workspace| {
        let mut run = workspace.cargo();
        run.args(["run", "--quiet", "--release", "--package", "laxity-search", "--"]);
        workspace.run(run.args(&arguments))
    })
}

/// Minutes of search, and every planted fault, with the build of [`release::steps`].
pub(crate) fn steps(minutes: f64) -> Vec<Step> {
    vec![
        Step::new("search", move |workspace| {
            let mut run = workspace.program(release::program(workspace, "laxity-search"));
            workspace.run(run.args(["--minutes", &minutes.to_string()]))
        }),
        Step::new("planted faults", |workspace| {
            let mut test = workspace.cargo();
            test.args(["test", "--release"]).args(release::PACKAGES);
            workspace.run(test.args(["--test", "faults", "--", "--nocapture"]))
        }),
    ]
}
