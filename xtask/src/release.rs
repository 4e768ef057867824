//! The command as users get it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::{Outcome, Status};
use crate::steps::Step;
use crate::workspace::Workspace;

/// Built, and tried on what its users try first.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::new("release build", |workspace| {
            workspace.run(workspace.cargo().args(["build", "--release"]).args(PACKAGES))
        }),
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

/// What the release build makes: cargo picks the features of all at once, so that all steps share
/// one build.
pub(crate) const PACKAGES: [&str; 6] =
    ["--package", "laxity-cli", "--package", "laxity-search", "--package", "laxity-capi"];

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

/// Where it is in a folder of builds.
pub(crate) fn within(folder: &Path, profile: &str) -> PathBuf {
    executable(folder.join(profile).join("laxity"))
}

/// Where the release build has a program.
pub(crate) fn program(workspace: &Workspace, name: &str) -> PathBuf {
    executable(workspace.target().join(RELEASE).join(name))
}

/// A program's file as this system names it.
pub(crate) fn executable(path: PathBuf) -> PathBuf {
    path.with_extension(std::env::consts::EXE_EXTENSION)
}
