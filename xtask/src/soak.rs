//! A live link for a long time.

use crate::steps::Step;

/// The test of a link at half load, with reloads and a flapping interface, for `minutes` minutes.
pub(crate) fn step(minutes: u32) -> Step {
    Step::new("soak", move |workspace| {
        let mut test = workspace.cargo();
        test.args(["test", "--release", "--package", "laxity-cli", "--test", "cli", "--"]);
        test.args(["live::soak", "--nocapture"]);
        workspace.run(test.env("LAXITY_SOAK_SECONDS", (60 * minutes).to_string()))
    })
}
