//! The threads around a scheduler: checked in every order, and at work.

use crate::steps::Step;

/// The models of what threads do where they meet, and the example server.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new("loom", |workspace| {
            let mut test = workspace.cargo();
            test.args(["test", "--package", "laxity-engine", "--release", "--lib"])
                .arg("--target-dir")
                .arg(workspace.target().join("loom"))
                .arg("loom_")
                .env("RUSTFLAGS", "--cfg loom")
                .env("LOOM_MAX_PREEMPTIONS", "2");
            workspace.run(&mut test)
        }),
        Step::new("rtp server", |workspace| {
            let server =
                ["run", "--release", "--package", "laxity-engine", "--example", "rtp_server"];
            workspace.run(workspace.cargo().args(server).args(["--", "--seconds", "1"]))
        }),
    ]
}
