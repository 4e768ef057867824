//! Plans that the kernel carries out, in User-mode Linux.

use crate::steps::Step;

/// All rounds of tests that are sampled for a change.
pub(crate) fn step() -> Step {
    Step::new("kernel", |workspace| {
        let mut test = workspace.cargo();
        test.args(["test", "--release", "--package", "laxity-cli", "--test", "kernel", "--"]);
        workspace.run(test.arg("--nocapture").env("LAXITY_WHOLE", "1"))
    })
}
