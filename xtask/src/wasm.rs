//! Laxity as modules for browsers: no terminal, no threads.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where Debian's `rustc-web` is, next to any toolchain of rustup's.
const DEBIAN: &str = "/usr/bin/rustc";

/// Why there is no standard library for browsers.
const MISSING: &str = "there is no standard library for browsers (rustup target add wasm32-unknown-unknown, or \
                       Debian's rustc-web and rust-web-src)";

/// Nothing is drawn but from seeds, so a page needs no source of chance.
const FLAGS: &str = "--cfg getrandom_backend=\"unsupported\"";

/// The modules of a page.
pub(crate) struct Modules {
    /// It proves, and is small.
    pub prover: PathBuf,
    /// It simulates, too.
    pub whole: PathBuf,
}

/// Builds the modules, or says what is missing on this machine. The standard library of a browser
/// is the toolchain's, or else is made from the sources that Debian has of it.
pub(crate) fn build(workspace: &Workspace) -> Result<Result<Modules, &'static str>, String> {
    let is_debian = !holds(workspace, "rustc", TARGET);
    if is_debian && !holds(workspace, DEBIAN, "src/rust/library/Cargo.lock") {
        return Ok(Err(MISSING));
    }
    let module = |name: &str, features: &[&str]| {
        let folder = workspace.target().join("wasm");
        let mut build = workspace.cargo();
        build.args(["build", "--package", "laxity-web", "--lib", "--profile", "web"]);
        build.args(features).args(["--target", TARGET, "--target-dir"]).arg(&folder);
        // Flags of this machine's programs, such as another linker, are none of a browser's.
        build.env_remove("RUSTFLAGS").env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS);
        if is_debian {
            with_debian(workspace, &mut build);
        }
        workspace.run(&mut build)?;
        let [built, module] = [folder.join(TARGET).join("web/laxity_web.wasm"), folder.join(name)];
        std::fs::copy(&built, &module).map_err(|error| format!("{}: {error}", built.display()))?;
        Ok::<_, String>(module)
    };
    let prover = module("prover.wasm", &["--no-default-features"])?;
    Ok(Ok(Modules { prover, whole: module("laxity.wasm", &[])? }))
}

/// Builds with Debian's compiler, which has no linker of its own for browsers.
fn with_debian(workspace: &Workspace, build: &mut Command) {
    // A released compiler builds a standard library only with RUSTC_BOOTSTRAP.
    build.arg("-Zbuild-std=std,panic_abort").env("RUSTC", DEBIAN).env("RUSTC_BOOTSTRAP", "1");
    if let Some(linker) = linker(workspace) {
        build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
}

/// The linker of the toolchain that builds the rest.
fn linker(workspace: &Workspace) -> Option<PathBuf> {
    let output = workspace.program("rustc").args(["--print", "target-libdir"]).output().ok()?;
    let libraries = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Some(libraries.parent()?.join("bin/rust-lld")).filter(|linker| linker.exists())
}

/// Whether a compiler has this beside the libraries of its targets.
fn holds(workspace: &Workspace, compiler: &str, file: &str) -> bool {
    let output = workspace.program(compiler).args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout);
        Path::new(sysroot.trim()).join("lib/rustlib").join(file).exists()
    })
}
