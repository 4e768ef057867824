//! Laxity as a module for browsers: no terminal, no threads.

use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where Debian's `rustc-web` is, next to any toolchain of rustup's.
const DEBIAN: &str = "/usr/bin/rustc";

/// Why there is no standard library for browsers.
const MISSING: &str = "there is no standard library for browsers (rustup target add wasm32-unknown-unknown, or \
                       Debian's rustc-web and rust-web-src)";

/// A module, or why there is none.
pub(crate) enum Module {
    /// Where it lies.
    Built(PathBuf),
    /// What is missing on this machine.
    Missing(&'static str),
}

/// Builds the module, small. The standard library of a browser is the toolchain's, or else is made
/// from the sources that Debian has of it.
pub(crate) fn build(workspace: &Workspace) -> Result<Module, String> {
    let folder = workspace.target().join("wasm");
    let mut build = workspace.cargo();
    build.args(["build", "--package", "laxity-web", "--lib", "--profile", "web"]);
    build.args(["--target", TARGET, "--target-dir"]).arg(&folder);
    if !holds(workspace, "rustc", TARGET) {
        if !holds(workspace, DEBIAN, "src/rust/library/Cargo.lock") {
            return Ok(Module::Missing(MISSING));
        }
        // A released compiler builds a standard library only with RUSTC_BOOTSTRAP.
        build.arg("-Zbuild-std=std,panic_abort").env("RUSTC", DEBIAN).env("RUSTC_BOOTSTRAP", "1");
    }
    // Flags of this machine's programs, such as another linker, are none of a browser's.
    workspace.run(build.env_remove("RUSTFLAGS"))?;
    Ok(Module::Built(folder.join(TARGET).join("web/laxity_web.wasm")))
}

/// Whether a compiler has this beside the libraries of its targets.
fn holds(workspace: &Workspace, compiler: &str, file: &str) -> bool {
    let output = workspace.program(compiler).args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout);
        Path::new(sysroot.trim()).join("lib/rustlib").join(file).exists()
    })
}
