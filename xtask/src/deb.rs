//! The packages for Debian: `laxity`, and `liblaxity-dev` for programs in C.

use std::path::Path;

use crate::guided;
use crate::outcome::{Outcome, Status};
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// Built as they are installed, with the manual pages and completions that the command writes, into
/// `target/debian`.
pub(crate) fn step() -> Step {
    Step::new("Debian packages", |workspace| {
        guided::build_or_not(workspace)?;
        let packages = workspace.target().join("debian");
        if let skipped @ Status::Skipped(_) = make(workspace, release::DIST, &packages)? {
            return Ok(skipped);
        }
        let build = ["build", "--profile", release::DIST, "--package", LIBRARY];
        workspace.run(workspace.cargo().args(build))?;
        make_library(workspace, release::DIST, &packages)
    })
}

/// From what is built already; what is in the packages is there and works.
pub(crate) fn check() -> Step {
    Step::new("Debian packages", |workspace| {
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
        workspace.run(workspace.program(command).arg("check").arg(plan))?;
        check_library(workspace, &scratch)
    })
}

/// A program in C is built with what pkg-config says of the package, and runs.
fn check_library(workspace: &Workspace, scratch: &Path) -> Outcome {
    let (package, root) = (scratch.join("liblaxity-dev.deb"), scratch.join("root-dev"));
    make_library(workspace, release::RELEASE, &package)?;
    workspace.run(workspace.program("dpkg-deb").arg("-x").args([&package, &root]))?;
    let lib = root.join("usr/lib");
    let program = scratch.join("link");
    let script = "cc \"$0\" $(pkg-config --cflags --libs laxity) -o \"$1\"";
    let source = root.join("usr/share/doc/liblaxity-dev/examples/link.c");
    let mut cc = workspace.program("sh");
    cc.args(["-c", script]).args([&source, &program]);
    cc.env("PKG_CONFIG_PATH", lib.join("pkgconfig")).env("PKG_CONFIG_SYSROOT_DIR", &root);
    workspace.run(&mut cc)?;
    let mut link = workspace.program(program);
    workspace.run(link.arg("examples/home-uplink.toml").env("LD_LIBRARY_PATH", lib))
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

/// The crate of the library.
const LIBRARY: &str = "laxity-capi";

/// The package of the library that is built with a profile.
fn make_library(workspace: &Workspace, profile: &str, package: &Path) -> Outcome {
    let written = workspace.target().join("written/liblaxity");
    if written.exists() {
        std::fs::remove_dir_all(&written).map_err(|error| error.to_string())?;
    }
    let install = workspace.root().join("crates/laxity-capi/install.sh");
    let mut install = workspace.program(install);
    install.arg(workspace.target().join(profile)).arg("/usr").env("DESTDIR", &written);
    workspace.run(&mut install)?;
    package_of(workspace, LIBRARY, profile, package)
}

/// The package of the command that is built with a profile.
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
    package_of(workspace, "laxity-cli", profile, package)
}

fn package_of(workspace: &Workspace, name: &str, profile: &str, package: &Path) -> Outcome {
    let mut deb = workspace.cargo();
    deb.args(["deb", "--package", name, "--no-build", "--no-strip", "--profile", profile]);
    workspace.run(deb.arg("--output").arg(package))
}
