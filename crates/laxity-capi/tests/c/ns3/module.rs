//! The module's programs, as its Makefile builds them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::c::program::{is_there, libraries, root, succeed};

/// Whether ns-3 is there; says so if not.
fn has_ns3() -> bool {
    is_there("make", "--version") && is_there("pkg-config", "--version") && {
        let found = Command::new("pkg-config").args(["--exists", "ns3-core"]).status();
        let is_there = found.is_ok_and(|status| status.success());
        if !is_there {
            eprintln!("SKIPPED: ns-3 is not installed (Debian's package libns3-dev)");
        }
        is_there
    }
}

/// The module's programs, which its Makefile makes once for all tests; none without ns-3.
pub(crate) fn module() -> Option<&'static Module> {
    static MODULE: OnceLock<Option<Module>> = OnceLock::new();
    MODULE.get_or_init(|| has_ns3().then(Module::build)).as_ref()
}

pub(crate) struct Module {
    folder: PathBuf,
}

impl Module {
    fn build() -> Module {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns-3");
        // What was built against an earlier library is not used again.
        let _ = std::fs::remove_dir_all(&folder);
        let mut make = Command::new("make");
        make.args(["-j2", "CXXFLAGS=-O1 -Wall -Wextra -Werror", "-C"]).arg(source());
        let include = root().join("include");
        let library = libraries().join("liblaxity_c.a");
        make.arg(format!("BUILD={}", folder.display()));
        make.arg(format!("LAXITY_CFLAGS=-I{}", include.display()));
        make.arg(format!("LAXITY_LIBS={} -lpthread -ldl -lm", library.display()));
        succeed(make.arg("all").arg(folder.join("test/laxity-test-suite")), "");
        Module { folder }
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }
}

pub(crate) fn repository() -> PathBuf {
    root().join("../..")
}

pub(crate) fn source() -> PathBuf {
    repository().join("contrib/ns-3/laxity")
}
