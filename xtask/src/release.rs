//! The command as users get it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::{Outcome, Status};
use crate::steps::Step;
use crate::workspace::Workspace;

/// Built, and tried on what its users try first.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new("release build", |workspace| build(workspace, RELEASE)),
        Step::new("first example", |workspace| {
            let out = workspace.scratch("home-uplink")?.join("out");
            let run = ["run", "examples/home-uplink.toml", "--out"];
            workspace.run(workspace.program(binary(workspace, RELEASE)).args(run).arg(&out))?;
            for name in ["summary.json", "report.html", "manifest.json", "packets.csv"] {
                let length = std::fs::metadata(out.join(name)).map_or(0, |file| file.len());
                if length == 0 {
                    return Err(format!("{} was not written", out.join(name).display()));
                }
            }
            Ok(Status::Passed)
        }),
        Step::new("papers, shortened", |workspace| {
            let out = workspace.scratch("papers")?;
            let reproduce = ["reproduce", "--duration", "30s", "--seeds", "2", "--out"];
            workspace.run(workspace.program(binary(workspace, RELEASE)).args(reproduce).arg(out))
        }),
    ]
}

/// As it is tried first: quick to build.
pub(crate) const RELEASE: &str = "release";

/// As it is installed and measured.
pub(crate) const DIST: &str = "dist";

/// Builds it with a profile.
pub(crate) fn build(workspace: &Workspace, profile: &str) -> Outcome {
    workspace.run(&mut building(workspace, profile))
}

/// What builds it with a profile.
pub(crate) fn building(workspace: &Workspace, profile: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--profile", profile, "--package", "laxity-cli"]);
    cargo
}

/// Where it is.
pub(crate) fn binary(workspace: &Workspace, profile: &str) -> PathBuf {
    within(workspace.target(), profile)
}

/// Where it is in a folder of what is built.
pub(crate) fn within(folder: &Path, profile: &str) -> PathBuf {
    folder.join(profile).join("laxity").with_extension(std::env::consts::EXE_EXTENSION)
}
