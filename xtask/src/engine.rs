//! The threads around a scheduler, checked in every order.

use crate::steps::Step;

/// The models of what threads do where they meet.
pub(crate) fn step() -> Step {
    Step::new("loom", |workspace| {
        let mut test = workspace.cargo();
        test.args(["test", "--package", "laxity-engine", "--release", "--lib"])
            .arg("--target-dir")
            .arg(workspace.target().join("loom"))
            .arg("loom_")
            .env("RUSTFLAGS", "--cfg loom")
            .env("LOOM_MAX_PREEMPTIONS", "2");
        workspace.run(&mut test)
    })
}
