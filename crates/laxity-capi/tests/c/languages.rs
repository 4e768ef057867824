//! What is installed serves programs in C by pkg-config, in Go by cgo and in Python by ctypes.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::program::{is_there, libraries, root, succeed};

/// Packets of the class with priority first, then by arrival.
const BY_PRIORITY: &str = "1\n3\n0\n2\n";

/// The library as `install.sh` puts it into a folder.
pub(crate) fn installed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut install = Command::new("sh");
    install.arg(root().join("install.sh")).arg(libraries()).arg(folder.path());
    succeed(&mut install, "");
    folder
}

fn example(name: &str) -> std::path::PathBuf {
    root().join("../../examples").join(name)
}

/// A command that finds what is installed.
pub(crate) fn with_library(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("PKG_CONFIG_PATH", folder.join("lib/pkgconfig"));
    command.env("LD_LIBRARY_PATH", folder.join("lib"));
    command
}

#[test]
fn what_is_installed_is_found_by_pkg_config() {
    if !is_there("pkg-config", "--version") {
        return;
    }
    let folder = installed();
    let program = folder.path().join("link");
    let mut flags = with_library("pkg-config", folder.path());
    let flags = succeed(flags.args(["--cflags", "--libs", "laxity"]), "");
    let mut compile = Command::new("gcc");
    compile.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"]).arg(&program);
    compile.arg(example("embedding/c/link.c")).args(flags.split_whitespace());
    succeed(&mut compile, "");
    let mut run = with_library(program.to_str().unwrap(), folder.path());
    let printed = succeed(run.arg(example("home-uplink.toml")), "");
    assert_eq!(printed.lines().count(), 20, "{printed}");
}

#[test]
fn a_program_in_go_orders_packets() {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/local/go/bin";
    let go = path.split(':').map(|folder| Path::new(folder).join("go")).find(|go| go.exists());
    let Some(go) = go.filter(|go| is_there(go.to_str().unwrap_or("go"), "version")) else {
        return eprintln!("SKIPPED: go is not installed");
    };
    let folder = installed();
    let mut run = with_library(go.to_str().unwrap(), folder.path());
    run.current_dir(example("embedding/go")).args(["run", "."]);
    run.env("CGO_ENABLED", "1").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off");
    assert_eq!(succeed(&mut run, ""), BY_PRIORITY);
}

#[test]
fn a_program_in_python_orders_packets() {
    if !is_there("python3", "--version") {
        return;
    }
    let folder = installed();
    let mut run = with_library("python3", folder.path());
    run.arg(example("embedding/link.py"));
    assert_eq!(succeed(&mut run, ""), BY_PRIORITY);
}
