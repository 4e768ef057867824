//! The crate `laxity-api` is for pages in browsers too: no terminal, no threads.

use std::path::Path;

use crate::outcome::Status;
use crate::steps::Step;
use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where Debian's `rustc-web` is, next to any toolchain of rustup's.
const DEBIAN: &str = "/usr/bin/rustc";

/// Without its default features the crate compiles for a machine that has neither. The standard
/// library of that machine is the toolchain's, or else is made from the sources that Debian has of
/// it.
pub(crate) fn step() -> Step {
    Step::new("wasm", |workspace| {
        let mut check = workspace.cargo();
        check.args(["check", "--package", "laxity-api", "--no-default-features"]);
        check.args(["--target", TARGET, "--target-dir"]).arg(workspace.target().join("wasm"));
        if holds(workspace, "rustc", TARGET) {
            return workspace.run(&mut check);
        }
        if !holds(workspace, DEBIAN, "src/rust/library/Cargo.lock") {
            let reason = "there is no standard library for browsers (rustup target add \
                          wasm32-unknown-unknown, or Debian's rustc-web and rust-web-src)";
            return Ok(Status::Skipped(reason.into()));
        }
        // A released compiler builds a standard library only with RUSTC_BOOTSTRAP.
        check.arg("-Zbuild-std=std,panic_abort").env("RUSTC", DEBIAN).env("RUSTC_BOOTSTRAP", "1");
        workspace.run(&mut check)
    })
}

/// Whether a compiler has this beside the libraries of its targets.
fn holds(workspace: &Workspace, compiler: &str, file: &str) -> bool {
    let output = workspace.program(compiler).args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout);
        Path::new(sysroot.trim()).join("lib/rustlib").join(file).exists()
    })
}
