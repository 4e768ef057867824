//! The package for Debian.

use std::path::Path;

use crate::guided;
use crate::outcome::{Outcome, Status};
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Built as it is installed, with the manual pages and completions that the command writes, into
/// `target/debian`.
pub(crate) fn step() -> Step {
    Step::new("Debian package", |workspace| {
        guided::build_or_not(workspace)?;
        let package = workspace.target().join("debian");
        make(workspace, release::DIST, &package)
    })
}

/// From the command that is built already; what is in the package is there and works.
pub(crate) fn check() -> Step {
    Step::new("Debian package", |workspace| {
        let scratch = workspace.scratch("debian")?;
        let package = scratch.join("laxity.deb");
        if let Status::Skipped(reason) = make(workspace, release::RELEASE, &package)? {
            return Ok(Status::Skipped(reason));
        }
        let root = scratch.join("root");
        workspace.run(workspace.program("dpkg-deb").arg("-x").args([&package, &root]))?;
        for name in FILES {
            if !root.join(name).exists() {
                return Err(format!("the package has no {name}"));
            }
        }
        let plan = root.join("usr/share/doc/laxity/examples/home-uplink.toml");
        let command = root.join("usr/bin/laxity");
        workspace.run(workspace.program(command).arg("check").arg(plan))
    })
}

/// What its users look for.
const FILES: [&str; 9] = [
    "usr/lib/systemd/system/laxity@.service",
    "usr/lib/systemd/system/laxity-dev@.service",
    "usr/lib/systemd/system/laxity-apply@.service",
    "usr/lib/networkd-dispatcher/routable.d/50-laxity",
    "etc/network/if-up.d/laxity",
    "usr/share/man/man1/laxity-live.1.gz",
    "usr/share/bash-completion/completions/laxity",
    "usr/share/zsh/vendor-completions/_laxity",
    "usr/share/fish/vendor_completions.d/laxity.fish",
];

fn make(workspace: &Workspace, profile: &str, package: &Path) -> Outcome {
    let has_deb = workspace.cargo().args(["deb", "--version"]).output();
    if !has_deb.is_ok_and(|output| output.status.success()) {
        return Ok(Status::Skipped("cargo-deb is not installed (cargo install cargo-deb)".into()));
    }
    let command = release::binary(workspace, profile);
    let written = workspace.target().join("written");
    std::fs::create_dir_all(&written).map_err(|error| error.to_string())?;
    workspace.run(workspace.program(&command).arg("manual").arg(written.join("man1")))?;
    for shell in ["bash", "zsh", "fish"] {
        let script = workspace.program(&command).args(["completions", shell]).output();
        let script = script.map_err(|error| error.to_string())?;
        std::fs::write(written.join(shell), script.stdout).map_err(|error| error.to_string())?;
    }
    let mut deb = workspace.cargo();
    deb.args(["deb", "--package", "laxity-cli", "--no-build", "--no-strip", "--profile", profile]);
    workspace.run(deb.arg("--output").arg(package))
}
