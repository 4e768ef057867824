//! Form: format, clippy and documentation.

use crate::comments;
use crate::steps::Step;

/// All of it.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new("format", |workspace| {
            workspace.run(workspace.cargo().args(["fmt", "--all", "--check"]))?;
            let fuzz = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
            workspace.run(workspace.cargo().args(fuzz))
        }),
        Step::new("comments", comments::check),
        Step::new("clippy", |workspace| {
            let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
            workspace.run(workspace.cargo().args(clippy))
        }),
        Step::new("schedulers alone", |workspace| {
            let library = ["clippy", "--package", "laxity", "--no-default-features"];
            workspace.run(workspace.cargo().args(library).args(["--", "-D", "warnings"]))
        }),
        Step::new("documentation", |workspace| {
            let doc = ["doc", "--workspace", "--lib", "--no-deps"];
            workspace.run(workspace.cargo().args(doc).env("RUSTDOCFLAGS", "-D warnings"))
        }),
    ]
}
