//! The command as users get it.

use std::path::PathBuf;

use crate::steps::{Done, Outcome, Step};
use crate::workspace::Workspace;

/// Built, and tried on what its users try first.
pub fn steps() -> Vec<Step> {
    vec![
        Step::new("release build", build),
        Step::new("first example", |workspace| {
            let out = workspace.scratch("home-uplink")?.join("out");
            let run = ["run", "examples/home-uplink.toml", "--out"];
            workspace.run(workspace.program(binary(workspace)).args(run).arg(&out))?;
            for name in ["summary.json", "report.html", "manifest.json", "packets.csv"] {
                let length = std::fs::metadata(out.join(name)).map_or(0, |file| file.len());
                if length == 0 {
                    return Err(format!("{} was not written", out.join(name).display()));
                }
            }
            Ok(Done::Passed)
        }),
        Step::new("papers, shortened", |workspace| {
            let out = workspace.scratch("papers")?;
            let reproduce = ["reproduce", "--duration", "30s", "--seeds", "2", "--out"];
            workspace.run(workspace.program(binary(workspace)).args(reproduce).arg(out))
        }),
    ]
}

/// Builds it.
pub fn build(workspace: &Workspace) -> Outcome {
    workspace.run(workspace.cargo().args(["build", "--release", "--package", "laxity-cli"]))
}

/// Where it is.
pub fn binary(workspace: &Workspace) -> PathBuf {
    workspace
        .target()
        .join("release")
        .join("laxity")
        .with_extension(std::env::consts::EXE_EXTENSION)
}
